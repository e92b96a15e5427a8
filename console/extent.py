"""What a list says of itself: in which order its rows stand, which of how many are in view, how many are marked.

Nothing is claimed that was not counted: a count that stopped says `+`, and a window says that it is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from console.present import Cell, Safe, Tone, counted, number, own, safe, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.jsontext import Line
    from console.lists.sorting import Sort
    from console.model import Counted
    from console.widgets.picking import Picking


@dataclass(frozen=True, slots=True)
class Extent:
    """Rows `first` to `last` of the window's `held` are on the screen; `before` more lie between the window and that
    end of the list which it is counted from, the last one where `at_end`. `more`: there are rows beyond it.
    """

    first: int
    last: int
    held: int
    before: int = 0
    more: bool = False
    total: Counted | None = None
    at_end: bool = False

    @property
    def known(self) -> int:
        """Rows that were seen to be there."""
        return self.before + self.held

    @property
    def of(self) -> Safe:
        """How many rows the list has, as far as that is known."""
        whole = self.before == 0 and not self.more
        if self.total is None or whole or (not self.total.more and self.total.count < self.known):
            return own(f"{number(self.known)}{'+' if self.more else ''}")
        return counted(self.total)


def rows(extent: Extent, sort: Sort | None, *, only_marked: bool) -> Cell:
    """Which rows of how many."""
    if not extent.held:
        return Cell(own("0 rows "))
    return Cell(own(f"  {_rows(extent, sort, only_marked=only_marked)} "), Tone.MUTED)


def _rows(extent: Extent, sort: Sort | None, *, only_marked: bool) -> str:
    span = f"rows {extent.first:,}-{extent.last:,} of"
    if only_marked:
        return f"{span} {extent.held:,} marked"
    if sort is not None:
        return f"{span} {extent.held:,} sorted of {extent.of}"
    if extent.at_end:
        return f"{span} the last {extent.known:,}{f' of {extent.of}' if extent.more else ''}"
    return f"rows {extent.before + extent.first:,}-{extent.before + extent.last:,} of {extent.of}"


def marks(window: Picking[Any]) -> Line:
    """How many rows are marked, and how many of them are in the list."""
    if not window.marks:
        return ()
    hidden = window.marks_shown < len(window.marks)
    told = f"  marks {len(window.marks):,} ({window.marks_shown:,} visible)"
    return (Cell(own(told), Tone.BAD if hidden else Tone.WARN),)


def order(window: Picking[Any], usual: Safe, sort: Sort | None) -> Line:
    """In which order the rows stand, and why it does not change."""
    cells: list[Cell] = []
    if window.only_marked:
        cells.append(Cell(own("  only marked, ? not in this window"), Tone.WARN))
    elif sort is not None:
        cells.append(Cell(own(f"  {sort.words}"), Tone.WARN))
    elif not window.marks.holding:
        cells.append(Cell(own(f"  {usual}"), Tone.MUTED))
    if window.marks.anchor is not None:
        cells.append(Cell(own(f"  range of {len(window.ranged):,}: v marks it"), Tone.WARN))
    elif window.marks and not window.only_marked:
        cells.append(Cell(own("  order held"), Tone.WARN))
    if window.held_back:
        cells.append(Cell(own(f", {window.held_back:,} new wait"), Tone.WARN))
    return tuple(cells)


def sifted(words: Sequence[str], looked: int) -> Cell:
    """That some words of the filter were asked of the rows in hand only, and of how many."""
    return Cell(safe(f"  in this window of {looked:,}: {' '.join(words)}"), Tone.WARN)


def columns(hidden: int, keys: str, room: int, *others: Sequence[Cell]) -> Line:
    """How many columns are not on the screen, and the keys that bring them, where there is room to say so."""
    told = own(f"  {hidden} more column{'s' if hidden > 1 else ''}: {keys}")
    used = sum(width(cell.text) for cells in others for cell in cells)
    return (Cell(told, Tone.MUTED),) if hidden and used + width(told) <= room else ()
