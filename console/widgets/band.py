"""One line of the screen, text at its left and at its right; drawn again only when it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from console import theme
from console.present import Cell, Tone, clip, own, width
from console.styles import beside
from console.widgets.painter import difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style


class Band(Widget):
    """A line of cells; the left part gives way when both do not fit."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._left: tuple[Cell, ...] = ()
        self._right: tuple[Cell, ...] = ()
        self._drawn: Strip | None = None

    def say(self, left: Sequence[Cell], right: Sequence[Cell] = ()) -> None:
        """Show these cells."""
        if (tuple(left), tuple(right)) == (self._left, self._right):
            return
        self._left, self._right = tuple(left), tuple(right)
        if not self.is_mounted or self.size.width < 1:
            self.refresh(layout=False)
        elif (span := difference(self._drawn, self._strip())) is not None:
            self.refresh(Region(span[0], 0, span[1] - span[0], 1), layout=False)

    @property
    def text(self) -> str:
        """What the line says, for tests and for copying."""
        return "".join(cell.text for cell in (*self._left, *self._right))

    def render_line(self, y: int) -> Strip:
        """The finished line."""
        if y > 0 or self.size.width < 1:
            return Strip.blank(max(self.size.width, 0), self._ground())
        self._drawn = self._strip()
        return self._drawn

    def _strip(self) -> Strip:
        look, ground, room = theme.look_of(self.app), self._ground(), self.size.width
        right = _cut(self._right, room)
        left = _cut(self._left, room - _cells(right))
        blank = Cell(own(" " * (room - _cells(left) - _cells(right))))
        return Strip([_segment(cell, ground, look) for cell in (*left, blank, *right)]).simplify()

    def _ground(self) -> Style:
        look = theme.look_of(self.app)
        if self.has_class("-plain"):
            return look.ground
        return look.raised if self.has_class("-raised") else look.band


def _segment(cell: Cell, ground: Style, look: theme.Look) -> Segment:
    return Segment(cell.text, ground if cell.tone is Tone.PLAIN else look.style(cell.tone, ground))


def _cells(cells: Sequence[Cell]) -> int:
    return sum(width(cell.text) for cell in cells)


def _cut(cells: Sequence[Cell], room: int) -> list[Cell]:
    kept: list[Cell] = []
    for cell in cells:
        if room <= 0:
            break
        text = clip(cell.text, room)
        kept.append(Cell(text, cell.tone))
        room -= width(text)
    return kept
