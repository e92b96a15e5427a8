"""A pane of lines that are too long for a list: JSON, facts, help. Lines are folded at the pane's width."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console import theme
from console.present import Cell, Tone, split, width
from console.styles import beside
from console.widgets.painter import difference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.events import Resize

    from console.jsontext import Line


def nothing(_width: int) -> tuple[Line, ...]:
    """The content of an empty pane."""
    return ()


class Pane(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines of cells. The content is a function of the width, asked again when the width changes."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._content: Callable[[int], Sequence[Line]] = nothing
        self._lines: tuple[Line, ...] = ()
        self._wraps = True

    def show(self, content: Callable[[int], Sequence[Line]], *, from_top: bool = False) -> None:
        """Show what the function makes for the pane's width; `from_top` when it is about something else."""
        self._content = content
        self._lay_out()
        if from_top:
            self.scroll_to(y=0, animate=False, immediate=True, force=True)

    @property
    def text(self) -> str:
        """All lines as text, for tests and for copying."""
        return "\n".join("".join(cell.text for cell in line) for line in self._lines)

    @property
    def wraps(self) -> bool:
        """Whether long lines are folded at the pane's width; else they are cut there."""
        return self._wraps

    def wrap(self, *, on: bool) -> None:
        """Fold long lines, or cut them."""
        self._wraps = on
        self._lay_out()

    def retell(self) -> None:
        """Make the same content again: how times are told, or what they are told from, is another now."""
        self._lay_out()

    def do_up(self) -> None:
        self._scroll_by(-1)

    def do_down(self) -> None:
        self._scroll_by(1)

    def do_page_up(self) -> None:
        self._scroll_by(-self.size.height)

    def do_page_down(self) -> None:
        self._scroll_by(self.size.height)

    def do_first(self) -> None:
        self._scroll_by(-len(self._lines))

    def do_last(self) -> None:
        self._scroll_by(len(self._lines))

    def do_end(self) -> None:
        self.do_last()

    def _scroll_by(self, count: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + count, animate=False, immediate=True)

    def on_resize(self, _event: Resize) -> None:
        """Lines follow the width."""
        self._lay_out()

    def _lay_out(self) -> None:
        room = self.scrollable_content_region.width
        if room < 1:
            return
        before, lines = (
            self._lines,
            tuple(piece for line in self._content(room) for piece in self._pieces(line, room)),
        )
        self._lines = lines
        if len(lines) != len(before):
            self.virtual_size = Size(room, len(lines))
            self.refresh()
        elif changed := self._changed(before, room):
            self.refresh(*changed)

    def _pieces(self, line: Line, room: int) -> list[Line]:
        return folded(line, room) if self._wraps else [line]

    def _changed(self, before: tuple[Line, ...], room: int) -> list[Region]:
        """The parts of the lines in view that say something else (ruling 59)."""
        top, bottom = self.scroll_offset.y, self.scroll_offset.y + self.size.height
        regions: list[Region] = []
        for place in range(top, min(bottom, len(before))):
            span = difference(self._strip(before[place], room), self._strip(self._lines[place], room))
            if span is not None:
                regions.append(Region(span[0], place - top, span[1] - span[0], 1))
        return regions

    def render_line(self, y: int) -> Strip:
        """The finished line at a place of the screen."""
        index = self.scroll_offset.y + y
        return self._strip(self._lines[index] if index < len(self._lines) else (), self.size.width)

    def _strip(self, line: Line, room: int) -> Strip:
        look = theme.look_of(self.app)
        ground = look.raised if self.has_class("-raised") else look.ground
        segments = [
            Segment(cell.text, ground if cell.tone is Tone.PLAIN else look.style(cell.tone, ground))
            for cell in line
        ]
        return Strip(segments).adjust_cell_length(room, ground).simplify()


def folded(line: Line, room: int) -> list[Line]:
    """A line in as many lines as it needs; a pane of one cell folds nothing."""
    if room < 2:
        return [line]
    rows: list[list[Cell]] = [[]]
    used = 0
    for cell in line:
        rest = cell.text
        while used + width(rest) > room:
            head, rest = split(rest, room - used)
            rows[-1].append(Cell(head, cell.tone))
            rows.append([])
            used = 0
        rows[-1].append(Cell(rest, cell.tone))
        used += width(rest)
    return [tuple(row) for row in rows]
