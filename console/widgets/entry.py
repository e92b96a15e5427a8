"""A labelled line to type into, and what is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal
from textual.widgets import Label

from console.present import Cell, Tone, own, safe
from console.styles import beside
from console.widgets.band import Band
from console.widgets.typed import Typed

if TYPE_CHECKING:
    from textual.app import ComposeResult


class Entry(Horizontal):
    """`most` characters; `cells` wide, or what room is left. What is said of it stands behind it."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(self, label: str, *, most: int, cells: int | None = None, classes: str = "") -> None:
        super().__init__(classes=classes)
        self._label = label
        self._cells = cells
        self.line = Typed()
        self.line.max_length = most
        self.line.cursor_blink = False
        self._told = Band(classes="told -raised")

    def compose(self) -> ComposeResult:
        """Label, line, remark."""
        yield Label(own(self._label), markup=False)
        yield self.line
        if self._cells is not None:
            self.line.styles.width = self._cells
            yield self._told

    @property
    def value(self) -> str:
        """What was typed."""
        return self.line.value

    def tell(self, text: str, tone: Tone = Tone.MUTED) -> None:
        """What is made of it: an instant, a digest, what is wrong."""
        self._told.say((Cell(safe(f" {text}" if text else "", 300), tone),))
