"""Columns: what a list shows of a row, and which of them fit.

On a narrow screen columns leave in a fixed order, so that the same screen always looks the same; what has
left is still to be read in the pane below the list. Widths follow from the screen alone, never from the data:
nothing jumps.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Generic

from console.model import Row
from console.present import Cell, Safe, clip, pad

if TYPE_CHECKING:
    from collections.abc import Callable

GAP: Final = 2
"""Blank cells between two columns."""
NEVER: Final = 0
"""The `leaves` of a column that is always shown."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a cell may know besides its row: the store's time of the answer, and how long ago it came."""

    as_of: datetime
    elapsed: timedelta = timedelta(0)
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column.

    `least` and `most` are widths in cells; `leaves` is its place in the order of leaving, from one. `drawn` makes
    the cell for its width, where that decides what it says. `by` is what rows are sorted by, None standing last; a
    column of text needs none.
    """

    title: Safe
    least: int
    cell: Callable[[Row, Scene], Cell]
    most: int = 0
    right: bool = False
    leaves: int = NEVER
    shorten: Callable[[Safe, int], Safe] = clip
    drawn: Callable[[Row, Scene, int], Cell] | None = None
    by: Callable[[Row], Any] | None = None

    def cell_of(self, row: Row, scene: Scene, cells: int) -> Cell:
        """What the column says of a row in so many cells."""
        return self.cell(row, scene) if self.drawn is None else self.drawn(row, scene, cells)

    def fitted(self, text: Safe, cells: int) -> Safe:
        """The text in exactly `cells` cells."""
        return pad(self.shorten(text, cells), cells, right=self.right)


@dataclass(frozen=True, slots=True)
class Fitted(Generic[Row]):
    """A column that is shown, with its width."""

    column: Column[Row]
    width: int


def fit(columns: tuple[Column[Row], ...], room: int) -> tuple[Fitted[Row], ...]:
    """The columns that fit into `room` cells, with the room that is left shared among those that may grow."""
    shown = list(columns)
    leaving = sorted((column for column in columns if column.leaves), key=lambda column: column.leaves)
    for column in leaving:
        if _least(shown) <= room:
            break
        shown.remove(column)
    return _grown(shown, room - _least(shown))


def fit_from(columns: tuple[Column[Row], ...], room: int, skipped: int) -> tuple[Fitted[Row], ...]:
    """As `fit`, the list scrolled to the side by so many columns: the first one stays, and behind it stand as many
    of the others in their order as fit.
    """
    if skipped < 1:
        return fit(columns, room)
    shown = list(columns[:1])
    for column in columns[1 + skipped :]:
        if _least([*shown, column]) > room:
            break
        shown.append(column)
    return _grown(shown, room - _least(shown))


def _least(columns: list[Column[Row]]) -> int:
    return sum(column.least for column in columns) + GAP * max(len(columns) - 1, 0)


def _grown(columns: list[Column[Row]], spare: int) -> tuple[Fitted[Row], ...]:
    widths = [column.least for column in columns]
    hungry = [index for index, column in enumerate(columns) if column.most > column.least]
    while spare > 0 and hungry:
        for index in hungry[:spare]:
            widths[index] += 1
            spare -= 1
        hungry = [index for index in hungry if widths[index] < columns[index].most]
    return tuple(Fitted(column, cells) for column, cells in zip(columns, widths, strict=True))
