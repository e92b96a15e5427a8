"""One of a closed set, changed by keys: `< provider console >`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from textual.message import Message

from console.present import Cell, Tone, own, width
from console.widgets.band import Band

if TYPE_CHECKING:
    from textual.events import Click, Key

T = TypeVar("T", bound=StrEnum)
_ON = {"right", "space", "enter"}


class Cycle(Band, Generic[T], can_focus=True):
    """Left, right and Space go through the words of an enumeration; `Turned` tells of each change."""

    @dataclass
    class Turned(Message):
        """It is another now."""

        cycle: Cycle[Any]

    def __init__(self, value: T, *, classes: str = "") -> None:
        super().__init__(classes=f"-raised {classes}")
        self._words: tuple[T, ...] = tuple(type(value))
        self.value: T = value

    def on_mount(self) -> None:
        """As wide as its longest word."""
        self.styles.width = max(width(own(word.value)) for word in self._words) + 5
        self.show()

    def show(self) -> None:
        """Draw it, with or without the focus."""
        tone = Tone.HEAD if self.has_focus else Tone.STRONG
        self.say((Cell(own(f"< {self.value.value} >"), tone),))

    def watch_has_focus(self, has_focus: bool) -> None:
        """Drawn with the focus, or without."""
        super().watch_has_focus(has_focus)
        self.show()

    def on_click(self, event: Click) -> None:
        """A click goes on by one."""
        event.stop()
        self._turn(1)

    def on_key(self, event: Key) -> None:
        """The keys that turn it; the others are the form's."""
        if event.key in _ON or event.key == "left":
            event.stop()
            event.prevent_default()
            self._turn(-1 if event.key == "left" else 1)

    def _turn(self, by: int) -> None:
        self.value = self._words[(self._words.index(self.value) + by) % len(self._words)]
        self.show()
        self.post_message(self.Turned(self))
