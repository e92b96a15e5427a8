"""Where the phrase of a confirmation is typed: by hand, at its end, never pasted (console.md F4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from console.acting.confirmation import Typing
from console.present import Cell, Tone, own, safe
from console.widgets.band import Band

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.events import Key, Paste

_ROOM = 60


class PhraseField(Band, can_focus=True):
    """A line with a phrase in it. `Typed` tells of each change."""

    @dataclass
    class Typed(Message):
        """The phrase is another; `refused` says why nothing is left of what came."""

        text: str
        refused: str

    def __init__(self, wanted: str, monotonic: Callable[[], float], *, id: str) -> None:  # noqa: A002
        super().__init__(id=id, classes="-raised")
        self._wanted = wanted
        self._typing = Typing(monotonic)
        self._refused = ""

    @property
    def value(self) -> str:
        """What was typed."""
        return self._typing.text

    def on_mount(self) -> None:
        """An empty line."""
        self.show()

    def clear(self) -> None:
        """Begin anew."""
        self._typing.clear()
        if self.is_mounted:
            self.show()

    def show(self) -> None:
        """Draw it, with a cursor where it has the focus."""
        mark = "> " if self.has_focus else "  "
        fits = self.value == self._wanted
        typed = Cell(safe(self.value, _ROOM), Tone.GOOD if fits else Tone.STRONG)
        rest = Cell(own("_" * max(1, len(self._wanted) - len(self.value))), Tone.MUTED)
        self.say(
            (
                Cell(own(f"{mark}["), Tone.ACCENT),
                typed,
                *(() if fits else (rest,)),
                Cell(own("]"), Tone.ACCENT),
            )
        )

    def watch_has_focus(self, has_focus: bool) -> None:
        """Drawn with the focus, or without."""
        super().watch_has_focus(has_focus)
        self.show()

    def on_paste(self, event: Paste) -> None:
        """No paste: what was not typed was not read."""
        event.stop()
        self._refuse("paste is refused here: type the phrase")

    def on_key(self, event: Key) -> None:
        """Characters at the end, backspace, ctrl+u; all else goes on to the dialog."""
        if event.key == "backspace":
            self._typing.erase()
        elif event.key == "ctrl+u":
            self._typing.clear()
        elif event.is_printable and event.character is not None:
            self._add(event.character)
        else:
            return
        event.stop()
        event.prevent_default()
        self._changed()

    def _add(self, character: str) -> None:
        if len(self.value) < _ROOM and not self._typing.add(character):
            self._refused = "that came faster than hands type: pause, then type the phrase"

    def _refuse(self, text: str) -> None:
        self._typing.clear()
        self._refused = text
        self._changed()

    def _changed(self) -> None:
        self.show()
        self.post_message(self.Typed(self.value, self._refused))
        self._refused = ""
