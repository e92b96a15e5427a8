"""Marks: the ids that an operator has picked out of a list, each with the row as it was last read.

A mark belongs to its id alone: it outlives refreshes, page turns, filters and other screens, and goes when the
operator drops it (console.md F2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic

from console.model import Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST: Final = 10_000
"""Marks that a list takes: as many as a plan has items (ruling 55)."""


class Marks(Generic[Row]):
    """Marked ids in the order of marking. `anchor` is the id that an open range began at."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}
        self.anchor: str | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, row_id: object) -> bool:
        return row_id in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    @property
    def holding(self) -> bool:
        """Whether the list must keep its order: something is marked, or a range is being marked."""
        return bool(self._rows) or self.anchor is not None

    @property
    def room(self) -> int:
        """How many more may be made."""
        return MOST - len(self._rows)

    def rows(self) -> tuple[Row, ...]:
        """The marked rows as last read."""
        return tuple(self._rows.values())

    def add(self, row_id: str, row: Row) -> None:
        """Mark a row; the caller has looked at `room`."""
        self._rows[row_id] = row

    def drop(self, row_id: str) -> None:
        """Take a mark away."""
        del self._rows[row_id]

    def clear(self) -> None:
        """Take all of them away, and the open range."""
        self._rows.clear()
        self.anchor = None

    def renew(self, rows: Mapping[str, Row]) -> None:
        """The store has told some of the rows anew."""
        for row_id in self._rows.keys() & rows.keys():
            self._rows[row_id] = rows[row_id]
