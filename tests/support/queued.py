"""Entries of the run queue for its cases, and what a prune leaves of the threads they ask about."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from engine.checkpoints import QueueState, RetentionPolicy

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer, QueueEntry, RunQueue
    from engine.store import Store

LEASE = timedelta(seconds=30)
KEEP_ONE = RetentionPolicy(max_checkpoints=1)
MOST = 1000
"""More entries than any case makes."""


def leased(queue: RunQueue, t: str, *runs: str, worker: str = "w1", **options: Any) -> QueueEntry:
    """A new entry of the thread, leased by the worker with these runs recorded; nothing else may be due."""
    entry_id = queue.enqueue(t, {"ask": t}, **options)
    entry = queue.lease(worker, LEASE)
    assert entry is not None
    assert entry.id == entry_id, f"{entry.thread_id} was due before {t}"
    for run in runs:
        queue.record_run(entry_id, entry.lease_token, run)
    return entry


def entry_of(queue: RunQueue, entry_id: str) -> QueueEntry:
    """The entry as it is now."""
    (found,) = [entry for entry in queue.entries(limit=MOST) if entry.id == entry_id]
    return found


def states(queue: RunQueue) -> dict[str, QueueState]:
    """The state of every entry, by thread; one entry a thread."""
    return {entry.thread_id: entry.state for entry in queue.entries(limit=MOST)}


def pruned(store: Store, t: str) -> list[str]:
    """The thread's history, newest first, after all was pruned that may go."""
    store.checkpoints.prune(t, KEEP_ONE)
    return history(store.checkpoints, t)


def history(checkpointer: Checkpointer, t: str) -> list[str]:
    """The ids of the thread's checkpoints, newest first."""
    return [found.id for found in checkpointer.history(t)]
