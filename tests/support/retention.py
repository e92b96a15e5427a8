"""What the cases of prune and sweep begin with, and what they look at (checkpoints-operations.md 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from engine.errors import ReplayUnavailable
from tests.support.builders import MANY, TTL, chain, claim, emit, seqs, task_ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.checkpoints import Checkpointer, QueueEntry, SweepGuard, SweepPolicy, SweepResult
    from engine.store import Store
    from tests.support.harness import Harness

MAX_CALLS = 200
"""More calls of sweep than any case needs for a pass."""


def hist(checkpoints: Checkpointer, t: str) -> list[str]:
    """The ids of the thread's history, newest first."""
    return [found.id for found in checkpoints.history(t, limit=MANY)]


def three_runs(checkpoints: Checkpointer, t: str) -> int:
    """The thread of section 4.6: r1 wrote c1 and c2, r2 c3 and c4, r3 c5, an event each; its token."""
    token = claim(checkpoints, t).token
    for run, names in (("r1", ["c1", "c2"]), ("r2", ["c3", "c4"]), ("r3", ["c5"])):
        chain(checkpoints, t, token, names, run_id=run)
    return token


def recorded(store: Store, t: str, *runs: str) -> QueueEntry:
    """An open queue entry of the thread, leased, that records the runs."""
    entry = store.queue.enqueue(t, {})
    leased = store.queue.lease("worker", TTL)
    assert leased is not None
    assert leased.id == entry
    for run in runs:
        store.queue.record_run(entry, leased.lease_token, run)
    return leased


def buried(checkpoints: Checkpointer, t: str, events: int = 5) -> None:
    """A thread that numbered so many events, deleted."""
    token = claim(checkpoints, t).token
    emit(checkpoints, t, token, *(f"e{number}" for number in range(events)))
    checkpoints.delete_thread(t, token)


def nothing(_ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """A guard that protects nothing."""
    return {}


def sweep_through(
    checkpoints: Checkpointer, policy: SweepPolicy, guard: SweepGuard = nothing
) -> list[SweepResult]:
    """A whole pass: the result of each call."""
    results = [checkpoints.sweep(policy, guard)]
    while results[-1].next is not None:
        assert len(results) < MAX_CALLS, "the pass does not end"
        results.append(checkpoints.sweep(policy, guard, after=results[-1].next))
    return results


class Noting:
    """A guard with a fixed answer that notes what it was asked."""

    def __init__(self, answer: Mapping[str, frozenset[str]] | None = None) -> None:
        self.asked: list[list[str]] = []
        self._answer = answer or {}

    def __call__(self, ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
        """See `SweepGuard`."""
        self.asked.append(list(ids))
        return self._answer


def mark(harness: Harness) -> int:
    """The store's reclamation mark."""
    with harness.raw() as connection:
        return int(connection.execute(text("SELECT reclamation_mark FROM meta")).scalar_one())


def state(harness: Harness, *ids: str, store: Store | None = None) -> dict[str, Any]:
    """Of each thread its checkpoints, the numbers its log holds, and the latest one's pending writes."""
    checkpoints = (store or harness.store).checkpoints
    return {
        t: (
            hist(checkpoints, t),
            log_of(checkpoints, t),
            checkpoints.history(t, limit=1) and task_ids(checkpoints, t),
        )
        for t in ids
    }


def log_of(checkpoints: Checkpointer, t: str) -> tuple[int, list[int]]:
    """The floor as a reader from the start is told, 0 for none, and the numbers above it."""
    try:
        return 0, seqs(checkpoints, t)
    except ReplayUnavailable as refusal:
        floor = refusal.earliest_seq
        return floor, [record.seq for record in checkpoints.events_after(t, floor - 1, MANY)]
