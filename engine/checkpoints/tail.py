"""Reading the events of every thread in the order of their positions, none missed, none twice (ruling 23)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, TypeVar

from engine.checkpoints.gaps import Gaps, Held, Hold
from engine.checkpoints.places import Place, place_of, undecided_place
from engine.checkpoints.records import Undecodable, event_of, undecodable
from engine.checkpoints.tail_rows import WINDOW, TailFilter, newest
from engine.database.snapshot import oldest_writer
from engine.paging import check_limit

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from engine.checkpoints.model import EventRecord
    from engine.database.transaction import Transactions

    T = TypeVar("T")

__all__ = ["PAGE", "EventTail", "Held", "TailFilter"]

PAGE: Final = 500
"""Events that one read brings at most (ruling 58)."""
OPERATION: Final = "watch_all"

_log = logging.getLogger(__name__)


class EventTail:
    """A reader over the committed events of every thread; each `read` is one bounded query and never waits.

    It starts with what is committed from now on, or with about `recent` events from before, or after a
    position it gave out, in any process. An event is delivered once everything drawn before it has been
    committed or never will be, so per thread the order is that of the thread. For one consumer: not to be
    shared between threads.
    """

    def __init__(
        self,
        transactions: Transactions,
        store: str,
        wanted: TailFilter,
        *,
        after: str | None = None,
        recent: int = 0,
    ) -> None:
        self._tx = transactions
        self._store = store
        self._searches = wanted.searches
        self._statement = wanted.statement()
        self._gaps = Gaps()
        self._hold = Hold()
        self.more = True
        self._place = self._begin(recent) if after is None else place_of(after)

    @property
    def position(self) -> str:
        """Where to resume; it moves past events that the filter left out as well."""
        return self._place.text

    @property
    def searched(self) -> int:
        """The number up to which the store's events were looked at: the N of "searched to #N"."""
        return self._place.done

    @property
    def held(self) -> Held | None:
        """What the tail waits for: a transaction that drew an earlier position and has not ended."""
        return self._hold.held

    def read(
        self, limit: int = PAGE, *, cancel: threading.Event | None = None
    ) -> list[tuple[str, EventRecord]]:
        """At most `limit` events, each with the position to resume from after it.

        `more` then says whether another read may bring more at once. Raises StoreFailure for a row that
        does not decode, once those before it are delivered, and WaitCancelled.
        """
        return self.read_as(event_of, limit, cancel=cancel)

    def read_as(
        self, make: Callable[[Any], T], limit: int = PAGE, *, cancel: threading.Event | None = None
    ) -> list[tuple[str, T]]:
        """`read` with the rows of the `event` table made into something else than records."""
        check_limit(limit, PAGE)
        rows = self._tx.read_until(OPERATION, cancel, self._page, limit)
        free = self._free(rows)
        self._hold.at(None if len(free) == len(rows) else self._missing(free))
        self._report()
        return self._deliver(rows, free, make, limit)

    def _page(self, connection: Connection, limit: int) -> list[Any]:
        return self._statement.all(connection, after=self._place.done, most=limit)

    def _free(self, rows: Sequence[Any]) -> Sequence[Any]:
        """The rows before the first gap that may still be filled."""
        if not rows:
            return rows
        self._gaps.saw(rows[0].oldest)
        free = self._before_gap(rows)
        if len(free) < len(rows):
            self._gaps.remember(rows[-1].at, rows[0].boundary)
            self._gaps.saw(
                rows[0].oldest
            )  # Where nothing was running at all, this very read is the final one.
            free = self._before_gap(rows)
        return free

    def _before_gap(self, rows: Sequence[Any]) -> Sequence[Any]:
        last = self._place.done
        for index, row in enumerate(rows):
            if row.at != last + 1 and row.at - 1 > self._gaps.settled:
                return rows[:index]
            last = row.at
        return rows

    def _missing(self, free: Sequence[Any]) -> int:
        return int(free[-1].at if free else self._place.done) + 1

    def _deliver(
        self, rows: Sequence[Any], free: Sequence[Any], make: Callable[[Any], T], limit: int
    ) -> list[tuple[str, T]]:
        delivered: list[tuple[str, T]] = []
        matching = 0
        for row in free:
            place = self._place.after(row.at)
            if row.thread_id is not None:
                matching += 1
                if not self._place.knows(row.at):
                    try:
                        delivered.append((place.text, make(row)))
                    except Undecodable as error:
                        if delivered:
                            break
                        raise undecodable(OPERATION, error, self._store) from error
            self._place = place
            if matching == limit:
                break
        full = len(rows) == (WINDOW if self._searches else limit)
        self.more = bool(free) and (matching == limit or (full and len(free) == len(rows)))
        return delivered

    def _report(self) -> None:
        if not self._hold.due:
            return
        self._hold.blame(self._tx.read(OPERATION, oldest_writer))
        held = self._hold.held
        if held is not None:
            _log.warning(
                "the event tail has waited %.1f s for position %d: process %s has a transaction open; end it",
                held.seconds,
                held.position,
                "(unknown)" if held.pid is None else held.pid,
            )

    def _begin(self, recent: int) -> Place:
        check_limit(recent + 1, PAGE)
        rows = self._newest(recent + 1)
        if rows and rows[0].oldest < rows[0].boundary:
            # Somebody may be about to commit below the newest event: those are "from now on" as well.
            rows = self._newest(WINDOW)
            visible = [row.at for row in reversed(rows)]
            whole = len(rows) < WINDOW
            return undecided_place([0, *visible] if whole else visible, _start(rows, recent))
        return Place(_start(rows, recent))

    def _newest(self, most: int) -> list[Any]:
        return self._tx.read(OPERATION, newest, most)


def _start(newest: Sequence[Any], recent: int) -> int:
    """The position below the `recent` newest events."""
    return int(newest[recent].at) if recent < len(newest) else 0
