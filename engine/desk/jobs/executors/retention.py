"""What a sweep takes of one thread: planned checkpoints, planned events, or a planned tombstone (ruling 54)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from engine.checkpoints.claims import LOCK
from engine.checkpoints.prune_planned import raise_towards, remove_planned
from engine.checkpoints.reclaim import reclaim_shown
from engine.clock import to_ns
from engine.database.columns import check_id
from engine.desk.audit.model import ObjectKind
from engine.desk.jobs.executors.outcomes import CHANGED, GIVEN_UP, GONE, Words
from engine.desk.jobs.executors.taken import Taken, noted, so_far
from engine.spend.answers import error_text

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.checkpoints.prune import Pruned
    from engine.checkpoints.retention import SweepGuard
    from engine.database.transaction import Transactions
    from engine.desk.jobs.executor import Between, Done
    from engine.desk.plans.model import Item

MAX_STEPS: Final = 100_000
"""Transactions that raise one floor: half a milliard events."""
_NAME: Final = "desk.sweep"
_SAY: Final = Words(ObjectKind.THREAD)


class Protection:
    """The guard's answer for the thread at hand, asked anew before each one and outside any transaction."""

    def __init__(self, guard: SweepGuard | None) -> None:
        self._guard = guard
        self.runs: frozenset[str] | None = None
        """The runs whose evidence stays; None where the guard says nothing of the thread."""

    def ask(self, thread_id: str) -> Done | None:
        """A `Done` where the guard failed: then nothing of the thread is touched."""
        self.runs = None
        if self._guard is None:
            return None
        try:
            answer = self._guard([thread_id])
            if thread_id in answer:
                self.runs = frozenset(check_id("guard", run) for run in answer[thread_id])
        except Exception as error:  # noqa: BLE001 - somebody else's code: without its word nothing goes
            return _SAY.failed(f"the guard raised {type(error).__name__}: {error_text(error)}"[:500])
        return None


class RetentionItems:
    """Checkpoints and events of a thread that lives."""

    def __init__(
        self, transactions: Transactions, job_id: str, guard: SweepGuard | None, planned_at: datetime
    ) -> None:
        self._tx = transactions
        self._job_id = job_id
        self._protection = Protection(guard)
        self._planned_at = to_ns(planned_at)
        self._events = 0
        self._first = True

    def prepare(self, item: Item, still_ours: Between) -> Done | None:
        """The guard is asked, and the floor brought within a step of the planned one."""
        taken = self._taken(item)
        self._events = taken.rows
        refused = self._protection.ask(item.object_id)
        if refused is not None or item.guard["floor"] is None:
            return refused
        for _ in range(MAX_STEPS):
            step, taken = self._tx.write(_NAME, _step_noted, item, taken)
            self._events = taken.rows
            if step.done:
                return None
            if still_ours(step.events):
                return _SAY.failed(GIVEN_UP, events=self._events)
        return _SAY.failed(f"the floor is not reached after {MAX_STEPS} steps; plan again")

    def _taken(self, item: Item) -> Taken:
        """Only a run's first item can have been begun by another runner."""
        first, self._first = self._first, False
        return self._tx.read(_NAME, so_far, self._job_id, item.n) if first else Taken(self._job_id, item.n)

    def finish(self, connection: Connection, item: Item) -> Done:
        """Remove the planned checkpoints, but for what is protected by now, and raise the floor."""
        row: Any = LOCK.one(connection, id=item.object_id)
        if row is None or (row.latest_id is None and row.first_seq is None):
            return _SAY.skipped(GONE)
        planned, floor = item.guard["checkpoints"], item.guard["floor"]
        gone = remove_planned(
            connection, row, planned, floor, self._planned_at, self._protection.runs or frozenset()
        )
        events = self._events + gone.events
        if not gone.checkpoints and not events:
            return _SAY.skipped("nothing of it was left to remove, or all of it is protected by now")
        before = {"checkpoints": len(planned), "floor": row.floor_seq}
        kept = len(planned) - gone.checkpoints
        return _SAY.applied(before, {"removed": gone.checkpoints, "kept": kept, "events": events})


def _step_noted(connection: Connection, item: Item, taken: Taken) -> tuple[Pruned, Taken]:
    step = raise_towards(connection, item.object_id, item.guard["floor"])
    return step, noted(connection, taken, item, ObjectKind.THREAD, step.events)


class TombstoneItems:
    """What deleted threads left behind."""

    def __init__(self, guard: SweepGuard | None) -> None:
        self._protection = Protection(guard)

    def prepare(self, item: Item, still_ours: Between) -> Done | None:  # noqa: ARG002 - as above
        """The guard is asked: a thread that it names keeps its tombstone."""
        refused = self._protection.ask(item.object_id)
        if refused is None and self._protection.runs is not None:
            return _SAY.skipped("protected by the guard")
        return refused

    def finish(self, connection: Connection, item: Item) -> Done:
        """The tombstone of that very delete goes, if the id did not come back to life."""
        deleted_at = item.guard["deleted_at"]
        row, went = reclaim_shown(connection, item.object_id, deleted_at)
        if went:
            return _SAY.applied({"deleted_at": deleted_at, "first": row.tomb_first}, {"reclaimed": True})
        if row is None or row.deleted_at is None:
            return _SAY.skipped(GONE)
        if row.deleted_at != deleted_at:
            return _SAY.skipped(CHANGED, now={"deleted_at": row.deleted_at})
        return _SAY.skipped("the id is in use again")
