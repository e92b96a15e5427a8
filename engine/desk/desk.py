"""The operator's door: each method binds one reading verb to one transaction (design rule 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.checkpoints.model import ANY
from engine.clock import from_ns
from engine.database.identity import Identity, identity
from engine.database.locks import table_locks
from engine.desk import (
    claim,
    claims,
    descendants,
    detail,
    events,
    graves,
    holders,
    incomplete,
    queue,
    queue_entry,
    threads,
)
from engine.desk import threads_from_end as from_end
from engine.desk.acting_desk import ActingDesk
from engine.desk.claim_filter import ClaimFilter
from engine.desk.filters import EventFilter
from engine.desk.follow import StoreFollower, ThreadFollower
from engine.desk.gauges import gauges
from engine.desk.health import health
from engine.desk.moment import moment
from engine.desk.overview_desk import OverviewDesk
from engine.desk.queue_views import QueueFilter
from engine.desk.tail_desk import TailDesk

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.checkpoints.model import Tenancy
    from engine.checkpoints.queue_model import QueueState
    from engine.database.locks import TableLock
    from engine.desk.claim_views import ClaimRow, ClaimStory, ClaimTotals, HolderRow
    from engine.desk.filters import ThreadFilter
    from engine.desk.follow import Follower
    from engine.desk.gauges import Gauges
    from engine.desk.graves import TombstoneRow
    from engine.desk.health import Health
    from engine.desk.queue_views import QueueDepth, QueueDetail, QueueRow
    from engine.desk.views import Capped, EventPage, Page, ThreadDetail, ThreadRow
_EVERY_CLAIM: Final = ClaimFilter()


class Desk(ActingDesk, OverviewDesk, TailDesk):
    """What an operator may see of one store. Safe to share between threads; each call is one bounded read."""

    def now(self) -> datetime:
        """The store's clock: the injected one, else the server's or, on SQLite, the process's."""
        return self._tx.single("desk.now", _now)

    def threads(self, wanted: ThreadFilter, after: str | None = None, limit: int = 100) -> Page[ThreadRow]:
        """One keyset page of at most 200 threads, newest first; by id where the filter has a prefix."""
        return self._one("desk.threads", threads.threads, wanted, after, limit)

    def threads_from_end(
        self, wanted: ThreadFilter, after: str | None = None, limit: int = 100
    ) -> Page[ThreadRow]:
        """The same rows last one first; for a filter without prefix and metadata."""
        return self._one("desk.threads_from_end", from_end.threads_from_end, wanted, after, limit)

    def count_threads(self, wanted: ThreadFilter) -> Capped:
        """How many threads match, counted up to 10,000."""
        return self._counted("desk.count_threads", threads.count_threads, wanted)

    def thread(self, thread_id: str) -> ThreadDetail | None:
        """All that is stored of one id, at one moment; None when nothing is."""
        return self._whole("desk.thread", detail.thread_detail, thread_id)

    def incomplete(
        self, tenant: Tenancy = ANY, after: str | None = None, limit: int = 100
    ) -> Page[ThreadRow]:
        """One keyset page of IDLE threads, longest untouched first; a tenant's are its root threads."""
        return self._one("desk.incomplete", incomplete.incomplete, tenant, after, limit)

    def children(self, parent: str, after: str | None = None, limit: int = 100) -> Page[ThreadRow]:
        """One keyset page of a thread's direct children, earliest adopted first."""
        return self._one("desk.children", descendants.children, parent, after, limit)

    def tombstones(
        self, after: str | None = None, limit: int = 100, *, since: datetime | None = None
    ) -> Page[TombstoneRow]:
        """One keyset page of deleted ids, last deleted first; `since` leaves out those deleted before it."""
        return self._one("desk.tombstones", graves.tombstones, after, limit, since)

    def claims(
        self, wanted: ClaimFilter = _EVERY_CLAIM, after: str | None = None, limit: int = 100
    ) -> Page[ClaimRow]:
        """One keyset page of claims, live or over: oldest expiry first, or by thread id for one holder."""
        return self._one("desk.claims", claims.claims, wanted, after, limit)

    def count_claims(self, wanted: ClaimFilter = _EVERY_CLAIM) -> Capped:
        """How many claims match, counted up to 10,000."""
        return self._counted("desk.count_claims", claims.count_claims, wanted)

    def claim_totals(self) -> ClaimTotals:
        """How many claims are live and how many are over, each counted up to 10,000."""
        return self._counted("desk.claim_totals", claims.claim_totals)

    def holders(self, after: str | None = None, limit: int = 100) -> Page[HolderRow]:
        """One keyset page of those who hold claims, by name, with the number of each one's claims."""
        return self._one("desk.holders", holders.holders, after, limit)

    def claim(self, thread_id: str) -> ClaimStory | None:
        """The claim on one thread, with what to know before it is released; None when nobody holds it."""
        return self._whole("desk.claim", claim.claim_story, thread_id)

    def queue(
        self,
        state: QueueState | None = None,
        thread_id: str | None = None,
        after: str | None = None,
        limit: int = 100,
        *,
        tenant: Tenancy = ANY,
    ) -> Page[QueueRow]:
        """One keyset page of run-queue entries, in the order that `QueueFilter` tells."""
        return self._one("desk.queue", queue.queue, QueueFilter(tenant, state, thread_id), after, limit)

    def queue_entry(self, entry_id: str) -> QueueDetail | None:
        """One entry with the runs that it recorded; None when there is none of that id."""
        return self._whole("desk.queue_entry", queue_entry.queue_detail, entry_id)

    def queue_depth(self) -> QueueDepth:
        """How many entries are open, due and over, and for how long the first of them has been so."""
        return self._counted("desk.queue_depth", queue_entry.queue_depth)

    def gauges(self) -> Gauges:
        """The store in figures, for monitoring; see `gauges.Gauges`."""
        return self._whole("desk.gauges", gauges)

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

    def follow(
        self,
        after_position: str,
        *,
        thread_id: str | None = None,
        tenant: Tenancy = ANY,
        kinds: Collection[str] | None = None,
    ) -> Follower:
        """A reader of every event after a position of `events`, in order, none passed over. For one consumer."""
        wanted = EventFilter.of(thread_id, tenant, kinds)
        if thread_id is not None:
            return ThreadFollower(self._tx, wanted, after_position)
        return StoreFollower(self._tx, self._store, wanted, after_position)

    def identity(self) -> Identity:
        """Which server, database and role the store's connections have reached."""
        return self._tx.read("desk.identity", identity)

    def table_locks(self) -> tuple[TableLock, ...]:
        """Which tables nobody may read right now, and whose session that is: what a read may have waited for."""
        return self._tx.read("desk.table_locks", table_locks)

    def health(self) -> Health:
        """What a doctor finds in the store and its server; needs no more than the right to read."""
        return self._tx.read("desk.health", health)


def _now(connection: Connection) -> datetime:
    return from_ns(moment(connection))
