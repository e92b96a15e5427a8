"""The facade of the run queue (`store.queue`, api.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from engine.checkpoints import queue, queue_lease
from engine.checkpoints.queue_model import QueueState
from engine.checkpoints.records import Undecodable, undecodable
from engine.database.columns import dump

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, timedelta

    from engine.checkpoints.queue_model import QueueEntry
    from engine.database.transaction import Transactions

    T = TypeVar("T")


class RunQueue:
    """Runs that should happen. Open entries keep the newest checkpoint of each run they recorded.

    Every call under a lease token that no longer holds the entry raises StaleLease.
    """

    def __init__(self, transactions: Transactions, store: str) -> None:
        self._tx = transactions
        self._store = store

    def enqueue(
        self,
        thread_id: str,
        input: Any,  # noqa: A002 - the public name, fixed by api.md
        *,
        tenant: str | None = None,
        available_at: datetime | None = None,
        max_attempts: int = 3,
    ) -> str:
        """Ask for a run of the thread with this JSON input; the entry's id."""
        text = dump("input", input)
        return self._tx.write("enqueue", queue.enqueue, thread_id, text, tenant, available_at, max_attempts)

    def lease(self, worker: str, ttl: timedelta) -> QueueEntry | None:
        """Take the first entry that is due, for `ttl`; None when there is none."""
        return self._decoded("lease", lambda: self._tx.write("lease", queue_lease.lease, worker, ttl))

    def record_run(self, entry_id: str, lease_token: int, run_id: str) -> None:
        """Note the attempt's run id, before the run is started with it."""
        self._tx.write("record_run", queue.record_run, entry_id, lease_token, run_id)

    def extend(self, entry_id: str, lease_token: int, ttl: timedelta) -> None:
        """Move the lease's end to `ttl` from now."""
        self._tx.write("extend", queue.extend, entry_id, lease_token, ttl)

    def complete(self, entry_id: str, lease_token: int) -> None:
        """The wish is fulfilled: close the entry; its runs are no longer kept."""
        self._tx.write("complete", queue.close, entry_id, lease_token, QueueState.DONE, None)

    def retry(self, entry_id: str, lease_token: int, delay: timedelta) -> None:
        """Give the entry back, due after `delay`; without an attempt left it is dead."""
        self._tx.write("retry", queue.retry, entry_id, lease_token, delay)

    def kill(self, entry_id: str, lease_token: int, error: str) -> None:
        """Close the entry as dead, with the reason."""
        self._tx.write("kill", queue.close, entry_id, lease_token, QueueState.DEAD, error)

    def cancel(self, entry_id: str) -> None:
        """Close an open entry; a closed one stays as it is. Needs no token."""
        self._tx.write("cancel", queue.cancel, entry_id)

    def cancel_thread(self, thread_id: str) -> list[str]:
        """Close every open entry of a thread, for whoever deletes it; the entries' ids.

        A worker that holds one of them is refused at its next call, so it does not bring the thread back.
        """
        closed: list[str] = []
        while page := self._tx.write("cancel_thread", queue.cancel_thread, thread_id):
            closed += page
        return closed

    def entries(
        self, state: QueueState | None = None, after: str | None = None, limit: int = 100
    ) -> list[QueueEntry]:
        """At most `limit` entries of the state, or of every one, by id behind the entry `after`."""
        return self._decoded(
            "entries", lambda: self._tx.snapshot("entries", queue.entries, state, after, limit)
        )

    def _decoded(self, name: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except Undecodable as error:
            raise undecodable(name, error, self._store) from error
