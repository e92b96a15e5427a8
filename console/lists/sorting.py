"""In which order a list stands: the store's own, which an index serves, or the window's rows sorted by a column.

The store is never asked for an order that it has no index for (console.md, row 46): then only the rows of the
window are sorted, and the list says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from console.widgets.columns import Scene

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from console.model import Row
    from console.widgets.columns import Column

_ANY_TIME: Final = Scene(datetime(1970, 1, 1, tzinfo=UTC))
"""A column that shows more than text says what it is sorted by: no text in a sort depends on the time."""


@dataclass(frozen=True, slots=True)
class Served:
    """The column that the store's own order goes by."""

    title: str
    falling: bool = False


@dataclass(frozen=True, slots=True)
class Sort:
    """Rows of the window sorted by the column of this title, largest first where it is `falling`."""

    title: str
    falling: bool = False

    @property
    def words(self) -> str:
        """What the list says of itself."""
        return f"sorts this window: {self.title} {'falling' if self.falling else 'rising'}"


def following(sort: Sort | None, title: str, served: Served | None) -> Sort | None:
    """The order after a column was asked for once more: the store's own where an index serves it, else that of the
    window; asked for again it is reversed.
    """
    if sort is not None and sort.title == title:
        turned = Sort(title, not sort.falling)
        return None if served == Served(turned.title, turned.falling) else turned
    if served is not None and served.title == title:
        return Sort(title, not served.falling) if sort is None else None
    return Sort(title)


def reverse(served: Served) -> Sort:
    """The store's order, last row first."""
    return Sort(served.title, not served.falling)


def sorter(columns: Sequence[Column[Row]], sort: Sort | None) -> Callable[[Sequence[Row]], Sequence[Row]]:
    """Puts rows in the order; what a column says nothing of stands last, either way round."""
    column = next((each for each in columns if sort is not None and each.title == sort.title), None)
    if column is None or sort is None:
        return tuple
    return lambda rows: _sorted(rows, lambda row: _value(column, row), falling=sort.falling)


def _sorted(rows: Sequence[Row], value: Callable[[Row], Any], *, falling: bool) -> list[Row]:
    valued = [(value(row), row) for row in rows]
    told = sorted((pair for pair in valued if pair[0] is not None), key=lambda pair: pair[0], reverse=falling)
    return [row for _, row in (*told, *(pair for pair in valued if pair[0] is None))]


def _value(column: Column[Row], row: Row) -> Any:
    return column.cell(row, _ANY_TIME).text.casefold() if column.by is None else column.by(row)
