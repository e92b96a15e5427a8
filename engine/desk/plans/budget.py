"""How far the making of a plan may go: so many items, so much time (ruling 55; console.md 3.3, row 66)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TypeVar

from sqlalchemy.exc import DBAPIError

from engine.database.backend import Fault, backend_of
from engine.database.savepoint import savepoint
from engine.desk.plans.model import MOST_ITEMS, PLANNING
from engine.errors import PlanRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import timedelta

    from sqlalchemy import Connection

T = TypeVar("T")

BATCH: Final = 500
"""Objects that one statement looks at; between two of them the time is looked at."""

_GONE: Final = frozenset({Fault.LOST, Fault.ENDED, Fault.ENDED_IDLE})


class Budget:
    """Refuses a plan, why "too wide", once it takes too long or holds too much."""

    def __init__(self, span: timedelta = PLANNING, most: int = MOST_ITEMS) -> None:
        self._most = most
        self._span = span
        self._end = time.monotonic() + span.total_seconds()

    @property
    def most(self) -> int:
        """How many objects may be looked at: one more of them is refused."""
        return self._most

    def check(self, number: int = 0) -> None:
        """To be asked between two statements, with the number of objects found so far."""
        if number > self._most:
            raise _wide(f"more than {self._most:,} objects are meant")
        if time.monotonic() >= self._end:
            raise _wide(f"looking at all that is meant takes longer than {self._span.total_seconds():g} s")

    def batches(self, whole: Sequence[T]) -> Iterator[Sequence[T]]:
        """All of a sequence in bounded parts, with a look at the time before each."""
        self.check(len(whole))
        for start in range(0, len(whole), BATCH):
            self.check()
            yield whole[start : start + BATCH]


def _wide(found: str) -> PlanRefused:
    return PlanRefused(None, "too wide", f"{found}; narrow the filter")


def attempted(connection: Connection, look: Callable[[], T]) -> T | None:
    """What a count says; None where the database would not say it in time: the plan is usable without (row 44).

    A connection that is gone is no matter of the count: its error is let through, and the look is made anew.
    """
    backend = backend_of(connection)
    try:
        with savepoint(connection):
            return look()
    except (DBAPIError, backend.driver_error) as error:
        if backend.classify(getattr(error, "orig", None) or error) in _GONE:
            raise
        return None
