"""The reading calls of `console.reading.Gateway` over a store of the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import stores
from console.gateway import claim_rows, questions, queue_rows, rows
from console.gateway.held import HeldMoney, one, read
from console.gateway.jobs import JobsReading
from console.gateway.meant import MeantReading
from console.gateway.money import MoneyReading
from console.gateway.overview import OverviewReading
from console.gateway.plans import PlansReading
from console.gateway.records import RecordsReading
from console.gateway.resolving import ResolvingReading
from console.gateway.store import OpenedStore
from console.gateway.tailing import TailReading
from console.identity import Identity
from console.model import GatewayError, Page
from console.queue_model import QueueState

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.claims_model import ClaimQuery, ClaimRow, ClaimStory, ClaimTotals, HolderRow
    from console.model import (
        Counted,
        IncompleteQuery,
        StoreLabel,
        ThreadQuery,
        ThreadRow,
        ThreadStory,
        TombstoneQuery,
        TombstoneRow,
    )
    from console.queue_model import QueueDepth, QueueQuery, QueueRow, QueueRuns
    from engine import desk
    from engine.clock import Clock

_OPEN: Final = (QueueState.LEASED, QueueState.QUEUED)
"""The open entries' states, in the order in which they are listed."""


class EngineGateway(
    TailReading,
    MoneyReading,
    MeantReading,
    OverviewReading,
    PlansReading,
    JobsReading,
    RecordsReading,
    ResolvingReading,
):
    """Reads a store through `engine.desk`. Safe to share between threads."""

    def __init__(self, url: str, clock: Clock | None = None, secret: Callable[[], str] | None = None) -> None:
        self._store = OpenedStore(url, clock, secret)
        self._held = HeldMoney()
        self.label: StoreLabel = stores.label_of(url)

    def close(self) -> None:
        """End running calls and give the connections back."""
        self._store.close()

    def interrupt(self) -> None:
        """End the calls that run now, in the database as well."""
        self._store.interrupt()

    def identity(self) -> Identity:
        """Which server, database and role the connection has reached."""
        with self._store.desk() as door:
            found = door.identity()
        return Identity(
            found.server, found.database, found.role, found.login, found.version, standby=found.standby
        )

    # Threads

    def threads(self, query: ThreadQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """Threads, newest first, or by id where a prefix is asked for."""
        with self._store.desk() as door:
            found = door.threads(questions.thread_filter(door, query), after, limit)
            return self._held.beside(door, rows.page(found, rows.thread_row))

    def threads_from_end(self, query: ThreadQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """Threads, longest untouched first."""
        with self._store.desk() as door:
            found = door.threads_from_end(questions.thread_filter(door, query), after, limit)
            return self._held.beside(door, rows.page(found, rows.thread_row))

    def count_threads(self, query: ThreadQuery) -> Counted:
        """How many threads match, capped."""
        with self._store.desk() as door:
            return rows.counted(door.count_threads(questions.thread_filter(door, query)))

    def incomplete(self, query: IncompleteQuery, after: str | None, limit: int) -> Page[ThreadRow]:
        """Idle threads, longest untouched first."""
        with self._store.desk() as door:
            found = door.incomplete(questions.tenant_of(query.tenant), after, limit)
            return self._held.beside(door, rows.page(found, rows.thread_row))

    def children(self, parent: str, after: str | None, limit: int) -> Page[ThreadRow]:
        """The direct children of a thread, earliest adopted first."""
        with self._store.desk() as door:
            found = door.children(parent, after, limit)
            return self._held.beside(door, rows.page(found, rows.thread_row))

    def tombstones(self, query: TombstoneQuery, after: str | None, limit: int) -> Page[TombstoneRow]:
        """Deleted ids, last deleted first."""
        with self._store.desk() as door:
            since = questions.since_of(door, query.since)
            return rows.page(door.tombstones(after, limit, since=since), rows.tombstone_row)

    def story(self, thread: str) -> ThreadStory | None:
        """Everything about one thread; None if the store holds nothing of it."""
        with self._store.desk() as door:
            detail = door.thread(thread)
            if detail is None:
                return None
            claim = None if detail.claim is None else door.claim(thread)
            held = one(read(door, (thread,)), thread)
        return rows.story(detail, None if claim is None else claim_rows.claim_story(claim), held)

    def snapshot(self, thread: str, checkpoint: str) -> str:
        """A checkpoint's body, JSON text exactly as stored."""
        with self._store.desk() as door:
            return _stored(door.snapshot(thread, checkpoint), "this checkpoint")

    def payload(self, thread: str, seq: int) -> str:
        """An event's payload, whole, JSON text exactly as stored."""
        with self._store.desk() as door:
            return _stored(door.payload(thread, seq), "this event")

    # Claims

    def claims(self, query: ClaimQuery, after: str | None, limit: int) -> Page[ClaimRow]:
        """Claims, first expiry first, or by thread for one holder."""
        with self._store.desk() as door:
            return claim_rows.claims(door.claims(questions.claim_filter(door, query), after, limit))

    def count_claims(self, query: ClaimQuery) -> Counted:
        """How many claims match, capped."""
        with self._store.desk() as door:
            return rows.counted(door.count_claims(questions.claim_filter(door, query)))

    def claim_totals(self) -> ClaimTotals:
        """How many claims are live and how many are over, capped."""
        with self._store.desk() as door:
            return claim_rows.claim_totals(door.claim_totals())

    def claim(self, thread: str) -> ClaimStory | None:
        """The claim on a thread; None when nobody holds it."""
        with self._store.desk() as door:
            found = door.claim(thread)
        return None if found is None else claim_rows.claim_story(found)

    def holders(self, after: str | None, limit: int) -> Page[HolderRow]:
        """Who holds claims, by name."""
        with self._store.desk() as door:
            return claim_rows.holders(door.holders(after, limit))

    # The run queue

    def queue(self, query: QueueQuery, after: str | None, limit: int) -> Page[QueueRow]:
        """Entries of the run queue; without a state and a thread, leased ones and then queued ones."""
        with self._store.desk() as door:
            if query.state is None and query.thread is None:
                return _open_entries(door, query, after, limit)
            state = None if query.state is None else questions.queue_state(query.state)
            tenant = questions.tenant_of(query.tenant)
            return rows.page(
                door.queue(state, query.thread, after, limit, tenant=tenant), queue_rows.queue_row
            )

    def queue_depth(self) -> QueueDepth:
        """How full the run queue is, capped."""
        with self._store.desk() as door:
            return queue_rows.queue_depth(door.queue_depth())

    def queue_runs(self, entry: str) -> QueueRuns | None:
        """The runs that an entry recorded; None when there is no such entry."""
        with self._store.desk() as door:
            found = door.queue_entry(entry)
        return None if found is None else queue_rows.queue_runs(found)


def _stored(text: str | None, what: str) -> str:
    if text is None:
        raise GatewayError(
            f"{what} is no longer stored; r reads the list again", code="gone", retryable=False
        )
    return text


def _open_entries(door: desk.Desk, query: QueueQuery, after: str | None, limit: int) -> Page[QueueRow]:
    """The leased entries and behind them the queued ones; a cursor says in which of the two it stands."""
    word, _, cursor = (after or "").partition(" ")
    tenant = questions.tenant_of(query.tenant)
    found: list[QueueRow] = []
    for state in _OPEN[_OPEN.index(QueueState(word)) if word else 0 :]:
        page = door.queue(
            questions.queue_state(state), None, cursor or None, limit - len(found), tenant=tenant
        )
        found += map(queue_rows.queue_row, page.rows)
        cursor = ""
        if page.next is not None:
            return Page(tuple(found), f"{state.value} {page.next}", page.as_of)
        if len(found) == limit and state is not _OPEN[-1]:
            return Page(tuple(found), f"{_OPEN[-1].value} ", page.as_of)
    return Page(tuple(found), None, page.as_of)
