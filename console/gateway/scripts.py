"""The reading calls of the commands: the engine's records as documents, under the engine's own names.

A script gets what the engine's views hold, field for field, so that nothing has to be invented twice; the
console's rows, which leave out and rename, are for its screens.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from console.gateway import questions
from console.gateway.job_scripts import JobReads
from console.gateway.money_scripts import MoneyReads
from console.gateway.overview_scripts import OverviewReads
from console.gateway.records_scripts import RecordsReads
from console.gateway.store import OpenedStore
from console.read.documents import document, page_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.claims_model import ClaimQuery
    from console.model import Tenancy, ThreadQuery, TombstoneQuery
    from console.queue_model import QueueState
    from console.read.documents import Document


@contextmanager
def reading(url: str) -> Iterator[Reads]:
    """The calls on one store, read-only, closed in the end."""
    store = OpenedStore(url)
    try:
        yield Reads(store)
    finally:
        store.close()


class Reads(MoneyReads, OverviewReads, JobReads, RecordsReads):
    """Each call is one bounded read; raises GatewayError. Pages are `{as_of, next, rows}`."""

    def __init__(self, store: OpenedStore) -> None:
        self._store = store

    def threads(self, query: ThreadQuery, after: str | None, limit: int) -> Document:
        """Threads, newest first, or by id where a prefix is asked for."""
        with self._store.desk() as door:
            return page_of(door.threads(questions.thread_filter(door, query), after, limit))

    def count_threads(self, query: ThreadQuery) -> Document:
        """How many threads match, counted up to 10,000."""
        with self._store.desk() as door:
            return document(door.count_threads(questions.thread_filter(door, query)))

    def incomplete(self, tenant: Tenancy, after: str | None, limit: int) -> Document:
        """Idle threads, longest untouched first."""
        with self._store.desk() as door:
            return page_of(door.incomplete(questions.tenant_of(tenant), after, limit))

    def children(self, parent: str, after: str | None, limit: int) -> Document:
        """The direct children of a thread, earliest adopted first."""
        with self._store.desk() as door:
            return page_of(door.children(parent, after, limit))

    def tombstones(self, query: TombstoneQuery, after: str | None, limit: int) -> Document:
        """Deleted ids, last deleted first."""
        with self._store.desk() as door:
            return page_of(door.tombstones(after, limit, since=questions.since_of(door, query.since)))

    def thread(self, thread: str) -> Document | None:
        """All that is stored of one id; None when nothing is."""
        with self._store.desk() as door:
            return _optional(door.thread(thread))

    def claims(self, query: ClaimQuery, after: str | None, limit: int) -> Document:
        """Claims, oldest expiry first, or by thread for one holder."""
        with self._store.desk() as door:
            return page_of(door.claims(questions.claim_filter(door, query), after, limit))

    def claim(self, thread: str) -> Document | None:
        """The claim on one thread; None when nobody holds it."""
        with self._store.desk() as door:
            return _optional(door.claim(thread))

    def claim_totals(self) -> Document:
        """How many claims are live and how many are over, each counted up to 10,000."""
        with self._store.desk() as door:
            return document(door.claim_totals())

    def holders(self, after: str | None, limit: int) -> Document:
        """Who holds claims, by name, and how many."""
        with self._store.desk() as door:
            return page_of(door.holders(after, limit))

    def queue(
        self,
        state: QueueState | None,
        thread: str | None,
        tenant: Tenancy,
        after: str | None,
        limit: int,
    ) -> Document:
        """Entries of the run queue."""
        wanted = None if state is None else questions.queue_state(state)
        with self._store.desk() as door:
            return page_of(door.queue(wanted, thread, after, limit, tenant=questions.tenant_of(tenant)))

    def queue_entry(self, entry: str) -> Document | None:
        """One entry with its runs; None when there is none of that id."""
        with self._store.desk() as door:
            return _optional(door.queue_entry(entry))

    def queue_depth(self) -> Document:
        """How full the run queue is."""
        with self._store.desk() as door:
            return document(door.queue_depth())


def _optional(found: Any) -> Document | None:
    return None if found is None else document(found)
