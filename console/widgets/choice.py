"""One answer of a dialog: a word in brackets that Enter or Space chooses while it has the focus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from console.present import Cell, Tone, own, width
from console.widgets.band import Band

if TYPE_CHECKING:
    from textual.events import Click, Key


class Choice(Band, can_focus=True):
    """Says by `Chosen` that it was chosen, by which key or, with an empty one, by the mouse."""

    @dataclass
    class Chosen(Message):
        """Enter or Space came while it had the focus, or a click."""

        choice: Choice
        key: str

    @dataclass
    class Pressed(Message):
        """Any other key came while it had the focus."""

        choice: Choice
        key: str
        character: str | None

    def __init__(self, label: str, tone: Tone = Tone.STRONG, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes="-raised")
        self._label, self._tone = label, tone
        self.enabled = True

    def on_mount(self) -> None:
        """Take the room that the label needs."""
        self.styles.width = width(own(f"  [ {self._label} ]")) + 2
        self.show()

    def show(self) -> None:
        """Draw it as it is now: with the focus, off, or neither."""
        mark = "> " if self.has_focus else "  "
        tone = Tone.HEAD if self.has_focus else self._tone if self.enabled else Tone.MUTED
        off = "" if self.enabled else " (not yet)"
        self.styles.width = width(own(f"  [ {self._label}{off} ]")) + 2
        self.say((Cell(own(f"{mark}[ {self._label}{off} ]"), tone),))

    def allow(self, enabled: bool) -> None:
        """Turn it on or off; off, it is still reached, so that its place stays the same."""
        if enabled != self.enabled:
            self.enabled = enabled
            self.show()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Drawn with the focus, or without."""
        super().watch_has_focus(has_focus)
        self.show()

    def on_click(self, event: Click) -> None:
        """The mouse chose it."""
        event.stop()
        self.post_message(self.Chosen(self, ""))

    def on_key(self, event: Key) -> None:
        """Enter and Space choose; the others are for the dialog."""
        if event.key in {"enter", "space"}:
            event.stop()
            event.prevent_default()
            self.post_message(self.Chosen(self, event.key))
        elif event.key not in {"escape", "up", "down", "tab", "shift+tab", "left", "right"}:
            event.stop()
            event.prevent_default()
            self.post_message(self.Pressed(self, event.key, event.character))
