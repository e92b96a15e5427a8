"""The list model: rows known by id, a cursor that belongs to an id, and the ghost of a row that went away.

Pure data, no widget: `Listing` draws it, and the tests drive it with random steps (console.md F2). Until the
operator moves, the cursor rests at one end of the list - the top of a list that is newest first, the bottom
of a tail. From the first move on it belongs to the id it stands on, wherever a refresh puts that row. If a
refresh does not bring the row back, its last known form stays in its place as a ghost until the operator
moves on.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Generic

from console.model import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Rest(StrEnum):
    """Where the cursor lies while the operator has not moved it."""

    TOP = "top"
    BOTTOM = "bottom"


class Window(Generic[Row]):
    """Rows and a cursor. Indexes are positions in `rows`; `cursor` is -1 only while there are no rows."""

    def __init__(self, key: Callable[[Row], str], rest: Rest = Rest.TOP) -> None:
        self._key = key
        self._rest = rest
        self._pinned: str | None = None
        self._ghost: int | None = None
        self._places: dict[str, int] = {}
        self.rows: tuple[Row, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def pinned(self) -> bool:
        """Whether the cursor belongs to a row the operator chose."""
        return self._pinned is not None

    @property
    def cursor(self) -> int:
        """The index under the cursor."""
        if self._pinned is not None:
            return self._places[self._pinned]
        return len(self.rows) - 1 if self._rest is Rest.BOTTOM else min(0, len(self.rows) - 1)

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    @property
    def current_id(self) -> str | None:
        """The id under the cursor."""
        row = self.current
        return None if row is None else self._key(row)

    def id_at(self, index: int) -> str:
        """The id of the row at an index."""
        return self._key(self.rows[index])

    def is_ghost(self, index: int) -> bool:
        """Whether the row at an index is no longer in the store's answer."""
        return index == self._ghost

    def find(self, wanted: Callable[[Row], bool]) -> int | None:
        """The first index whose row is wanted."""
        return next((index for index, row in enumerate(self.rows) if wanted(row)), None)

    def replace(self, rows: Sequence[Row]) -> None:
        """Take a fresh answer: the first of two rows with one id counts, and the cursor stays with its id."""
        unique = {self._key(row): row for row in reversed(rows)}
        fresh = [unique.pop(key) for row in rows if (key := self._key(row)) in unique]
        self._ghost = None
        if self._pinned is not None and all(self._key(row) != self._pinned for row in fresh):
            self._ghost = min(self._places[self._pinned], len(fresh))
            fresh.insert(self._ghost, self.rows[self._places[self._pinned]])
        self._hold(fresh)

    def clear(self) -> None:
        """Forget everything: the list now answers another question."""
        self._pinned = self._ghost = None
        self._hold(())

    def step(self, count: int) -> None:
        """Move the cursor by so many rows, stopping at the ends; a ghost is left behind for good."""
        if self.rows:
            self.go(self.cursor + count)

    def go(self, index: int) -> None:
        """Move the cursor to an index, stopping at the ends."""
        if not self.rows:
            return
        goal = max(0, min(index, len(self.rows) - 1))
        if self._ghost is not None and goal != self._ghost:
            goal = self._bury(self._ghost, goal)
        self._pinned = self.id_at(goal)

    def rest(self) -> None:
        """Give the cursor back to its end of the list."""
        if self._ghost is not None:
            self._bury(self._ghost, 0)
        self._pinned = None

    def _bury(self, ghost: int, goal: int) -> int:
        """Drop the ghost; the index that `goal` has afterwards."""
        self._ghost = self._pinned = None
        self._hold(self.rows[:ghost] + self.rows[ghost + 1 :])
        return goal - 1 if goal > ghost else goal

    def _hold(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)
        self._places = {self._key(row): index for index, row in enumerate(self.rows)}
