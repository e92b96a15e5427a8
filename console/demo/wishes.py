"""Runs that are wanted: the agents put them into the run queue, and lease them from it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console.demo.stage import GOALS, Subject
from engine.checkpoints import CheckpointStatus, QueueState

if TYPE_CHECKING:
    import random

    from engine import Store
    from engine.checkpoints import QueueEntry

LEASE: Final = timedelta(seconds=12)
"""Longer than a claim's: a worker that dies loses its thread first, then its entry."""
MOST_QUEUED: Final = 30
"""Entries that wait at once; past that nobody wishes for more."""
LATEST: Final = 45.0
"""Seconds until the last of several entries is due."""
AGAIN: Final = (2.0, 15.0)
"""Seconds after which an entry is tried again, at least and at most."""


class Wish:
    """An entry under lease, and what becomes of it."""

    def __init__(self, store: Store, entry: QueueEntry, dice: random.Random) -> None:
        self._queue = store.queue
        self._entry = entry
        self._dice = dice
        self.subject = Subject(entry.thread_id, entry.tenant)

    @property
    def operation_id(self) -> str:
        """All attempts at the wish are one operation."""
        return self._entry.id

    def to_be_tried_again(self, status: CheckpointStatus) -> bool:
        """Whether the run failed, and another attempt is left."""
        return status is CheckpointStatus.FAILED and self._entry.attempts < self._entry.max_attempts

    def record(self, run_id: str) -> None:
        """Note the run before it starts: its evidence is kept from now on."""
        self._queue.record_run(self._entry.id, self._entry.lease_token, run_id)

    def extend(self) -> None:
        """The run goes on."""
        self._queue.extend(self._entry.id, self._entry.lease_token, LEASE)

    def postpone(self) -> None:
        """Not now: somebody else is at the thread, or the worker has to go."""
        delay = timedelta(seconds=self._dice.uniform(*AGAIN))
        self._queue.retry(self._entry.id, self._entry.lease_token, delay)

    def end(self, status: CheckpointStatus) -> None:
        """The run came to an end: done, or to be tried again, or given up after the last attempt."""
        if status is not CheckpointStatus.FAILED:
            self._queue.complete(self._entry.id, self._entry.lease_token)
        elif self.to_be_tried_again(status):
            self.postpone()
        else:
            error = f"attempt {self._entry.attempts} of {self._entry.max_attempts} failed: run.failed"
            self._queue.kill(self._entry.id, self._entry.lease_token, error)


def lease(store: Store, worker: str, dice: random.Random) -> Wish | None:
    """The first entry that is due, under lease; None when there is none."""
    entry = store.queue.lease(worker, LEASE)
    return None if entry is None else Wish(store, entry, dice)


def wish(store: Store, subject: Subject, dice: random.Random) -> None:
    """Ask for a run of a thread, now or soon; not while enough runs wait already."""
    if len(store.queue.entries(QueueState.QUEUED, limit=MOST_QUEUED)) == MOST_QUEUED:
        return
    soon = timedelta(seconds=dice.uniform(0, LATEST)) if dice.random() < 0.6 else timedelta(0)
    store.queue.enqueue(
        subject.thread_id,
        {
            "goal": dice.choice(GOALS),
            "priority": dice.randint(1, 5),
            "budget_tokens": dice.randint(1, 64) * 1000,
        },
        tenant=subject.tenant,
        available_at=store.clock.now() + soon,
        max_attempts=dice.randint(2, 5),
    )
