"""The operator's door: each method binds one reading verb to one transaction (design rule 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar

from sqlalchemy import select

from engine.checkpoints.model import ANY
from engine.checkpoints.records import Undecodable, undecodable
from engine.clock import from_ns
from engine.database.constructs import Now
from engine.database.statement import Statement
from engine.desk import detail, events, threads
from engine.desk.filters import EventFilter
from engine.desk.frontier import Frontier

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.checkpoints.model import Tenancy
    from engine.database.transaction import Transactions
    from engine.desk.filters import ThreadFilter
    from engine.desk.views import Capped, EventPage, Page, ThreadDetail, ThreadRow

    P = ParamSpec("P")
    T = TypeVar("T")

_NOW: Final = Statement(select(Now().label("at")))


class Desk:
    """What an operator may see of one store. Safe to share between threads; each call is one bounded read."""

    def __init__(self, transactions: Transactions, store: str) -> None:
        self._tx = transactions
        self._store = store
        self._frontier = Frontier()

    def now(self) -> datetime:
        """The store's clock: the injected one, else the server's or, on SQLite, the process's."""
        return self._tx.single("desk.now", _now)

    def threads(self, wanted: ThreadFilter, after: str | None = None, limit: int = 100) -> Page[ThreadRow]:
        """One keyset page of at most 200 threads, newest first; by id where the filter has a prefix."""
        return self._one("desk.threads", threads.threads, wanted, after, limit)

    def count_threads(self, wanted: ThreadFilter) -> Capped:
        """How many threads match, counted up to 10,000."""
        return self._one("desk.count_threads", threads.count_threads, wanted)

    def thread(self, thread_id: str) -> ThreadDetail | None:
        """All that is stored of one id, at one moment; None when nothing is."""
        try:
            return self._tx.snapshot("desk.thread", detail.thread_detail, thread_id)
        except Undecodable as error:
            raise undecodable("desk.thread", error, self._store) from error

    def snapshot(self, thread_id: str, checkpoint_id: str) -> str | None:
        """A checkpoint's body, JSON text exactly as stored; None without one."""
        return self._one("desk.snapshot", detail.snapshot, thread_id, checkpoint_id)

    def payload(self, thread_id: str, seq: int) -> str | None:
        """An event's payload, whole and exactly as stored; None without one."""
        return self._one("desk.payload", detail.payload, thread_id, seq)

    def events(
        self,
        after_position: str | None,
        *,
        thread_id: str | None = None,
        tenant: Tenancy = ANY,
        kinds: Collection[str] | None = None,
        limit: int = 500,
    ) -> EventPage:
        """The newest events after a position, oldest first; None gives the log's newest page.

        A position belongs to the store's log, or to the log of the one thread that was asked for.
        """
        wanted = EventFilter.of(thread_id, tenant, kinds)
        if after_position is None:
            return self._tx.read("desk.events", events.newest, self._frontier, wanted, limit)
        return self._tx.read("desk.events", events.events, self._frontier, wanted, after_position, limit)

    def events_before(
        self,
        position: str | None,
        *,
        thread_id: str | None = None,
        tenant: Tenancy = ANY,
        kinds: Collection[str] | None = None,
        limit: int = 500,
    ) -> EventPage:
        """The newest events before a position, newest first; None begins at the log's end."""
        wanted = EventFilter.of(thread_id, tenant, kinds)
        return self._tx.read(
            "desk.events_before", events.events_before, self._frontier, wanted, position, limit
        )

    def _one(
        self, name: str, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        try:
            return self._tx.single(name, verb, *args, **options)
        except Undecodable as error:
            raise undecodable(name, error, self._store) from error


def _now(connection: Connection) -> datetime:
    row = _NOW.one(connection)
    assert row is not None
    return from_ns(row.at)
