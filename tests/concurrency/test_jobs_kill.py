"""Runners that die without a word, wherever they are: the next one repeats no item and leaves none out (F10)."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import event, text

from engine import open_store
from engine.clock import ManualClock
from engine.desk.audit.verify import verify
from engine.desk.jobs import LEASE, Executor, JobState, execute, executors_for, runner, states
from engine.desk.money_views import ReservationKind
from engine.desk.plans import AnswerSource, ReconcileAsked, preview_delete, store_plan
from tests.support.builders import T0
from tests.support.cascades import check_only_tombstones, grow
from tests.support.daybooks import audit as audit_days
from tests.support.jobs import (
    ANN,
    Counting,
    counted,
    effects,
    made,
    open_intents,
    outcomes,
    results,
    state_of,
    table,
    tx,
    word,
)
from tests.support.jobs import runner as runner_of
from tests.support.processes import Program

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.jobs import Done, Job
    from engine.desk.jobs.executor import Between
    from engine.desk.plans import Item
    from engine.store import Store
    from tests.support.harness import Harness

TOTAL = 3
SMALL = 2
"""Items to a chunk, so that few items have every kind of boundary."""
MOST_LIVES = 20
HOUR = timedelta(hours=1)
TOLD = text("SELECT object_id FROM audit WHERE object_kind = 'reservation' AND phase = 'result' ORDER BY seq")
FAMILY_OF_THREE = {"root": None, "left": "root", "leaf": "left"}


def die(*_: object) -> None:
    """As kill -9 does it."""
    os.kill(os.getpid(), signal.SIGKILL)


def opened(url: str, life: int) -> Store:
    """The store as a process sees it whose clock is past the lease of the life before."""
    return open_store(url, clock=ManualClock(T0 + life * LEASE))


def doomed(url: str, job_id: str, life: int, point: str, n: int) -> str:
    """Run the job until item `n`: killed before it, or in the middle of its transaction; or at the very end."""
    if point == "end":
        states.hand_over = die  # type: ignore[assignment]
    with opened(url, life) as store:
        executor = Counting(job_id)
        if point in ("before", "during"):
            setattr(executor, point, lambda item: die() if item.n == n else None)
        return runner_of(store, executor, f"life-{life}", chunk=SMALL).run(job_id).state.value


def test_F10_a_job_killed_at_every_boundary_repeats_nothing(harness: Harness) -> None:
    table(harness)
    job_id = made(harness.store, TOTAL).job_id
    points = [(point, n) for n in range(1, TOTAL + 1) for point in ("before", "during")] + [("end", 0)]
    for life, (point, n) in enumerate(points):
        Program(doomed, harness.url, job_id, life, point, n).wait_killed()
        done = n - 1 if n else TOTAL
        found = state_of(harness.store, job_id)
        assert (found.state, found.next_n, found.token) == (JobState.RUNNING, done + 1, life + 1)
        assert effects(harness) == [number for number, _ in outcomes(harness.store, job_id)]
        assert effects(harness) == list(range(1, done + 1))
    assert open_intents(harness) == [job_id]

    last = Program(doomed, harness.url, job_id, len(points), "never", 0).answer().value
    assert last == JobState.DONE
    assert effects(harness) == list(range(1, TOTAL + 1))
    assert open_intents(harness) == []
    assert verify(tx(harness.store)).problem is None


def fallible(url: str, job_id: str, life: int, transactions: int) -> str:
    """Run a delete; killed at the end of so many transactions of this process, each time of more."""
    with opened(url, life) as store:
        left = [transactions]

        def count(*_: object) -> None:
            left[0] -= 1
            if not left[0]:
                die()

        event.listen(store.engine.pool, "checkin", count, insert=True)
        carry = executors_for(tx(store), {})
        return runner.Runner(tx(store), carry, f"life-{life}").run(job_id).state.value


def test_report_38_a_cascade_that_crashes_at_any_step_is_taken_up_again(harness: Harness) -> None:
    store = harness.store
    grow(store.checkpoints, FAMILY_OF_THREE)
    preview = tx(store).snapshot("test.preview", preview_delete, "prod", ["root"])
    plan = tx(store).write("test.plan", store_plan, preview, ANN)
    job_id = execute(tx(store), plan.plan_id, word(), plan.phrase).job_id

    lives = 0
    while state_of(store, job_id).state is not JobState.DONE:
        lives += 1
        assert lives < MOST_LIVES, "the job never ended"
        Program(fallible, harness.url, job_id, lives, 6 + 5 * lives).ended()
    assert lives > 1
    assert [outcome for _, outcome in outcomes(store, job_id)] == ["applied"] * 3
    check_only_tombstones(harness, FAMILY_OF_THREE)
    assert open_intents(harness) == []


@dataclass
class Dying(Executor):
    """An executor of the store's own, whose process dies before item `n`, or in the middle of its transaction."""

    inner: Executor
    point: str
    n: int

    def prepare(self, item: Item, still_ours: Between) -> Done | None:
        """See `Executor`."""
        if (self.point, self.n) == ("before", item.n):
            die()
        return self.inner.prepare(item, still_ours)

    def finish(self, connection: Connection, item: Item) -> Done:
        """See `Executor`."""
        done = self.inner.finish(connection, item)
        if (self.point, self.n) == ("during", item.n):
            die()
        return done

    def close(self) -> None:
        """See `Executor`."""
        self.inner.close()


def reconciling(url: str, job_id: str, life: int, point: str, n: int) -> str:
    """Run a reconcile job until it dies there."""
    if point == "end":
        states.hand_over = die  # type: ignore[assignment]
    with opened(url, life) as store:
        carry = executors_for(tx(store), {})
        run = runner.Runner(tx(store), lambda job: Dying(carry(job), point, n), f"life-{life}", chunk=SMALL)
        return run.run(job_id).state.value


def overdue(harness: Harness) -> Job:
    """The job that settles three reservations of days, of a micro-dollar, of two and of three."""
    days, desk = harness.store.days, harness.store.desk
    for micro in range(1, TOTAL + 1):
        days.reserve(kind="call", micro=micro, at=T0 - 2 * HOUR, expires=T0 - HOUR, cap_micro=10**9)
    asked = ReconcileAsked(AnswerSource.DEFAULT, kinds=frozenset({ReservationKind.DAY}))
    plan = desk.plan_reconcile(asked, actor=ANN, environment="prod")
    return desk.execute(plan.plan_id, word(), plan.phrase)


def check_books(harness: Harness, job_id: str, done: int) -> None:
    """So many rows are settled, the day's totals are their sums, and the audit tells of each of them once."""
    with harness.raw() as connection:
        audit_days(connection)
        rows = connection.execute(text("SELECT id, settled_micro FROM spend_day_reservations")).all()
        audited = list(connection.execute(TOLD).scalars())
    settled = {f"day:{row.id}": row.settled_micro for row in rows if row.settled_micro is not None}
    told = {item.object_id: item.detail["after"] for item in results(harness.store, job_id)}
    assert {name: after["settled_micro"] for name, after in told.items()} == settled
    assert (len(settled), audited) == (done, list(told)), "each once, in their order"
    if told:
        assert told[audited[-1]]["day"]["settled_micro"] == sum(settled.values())


def test_F10_a_reconcile_job_killed_at_every_boundary_settles_each_row_once(harness: Harness) -> None:
    job_id = overdue(harness).job_id
    points = [(point, n) for n in range(1, TOTAL + 1) for point in ("before", "during")] + [("end", 0)]
    for life, (point, n) in enumerate(points):
        Program(reconciling, harness.url, job_id, life, point, n).wait_killed()
        done = n - 1 if n else TOTAL
        found = state_of(harness.store, job_id)
        assert (found.state, found.next_n, found.token) == (JobState.RUNNING, done + 1, life + 1)
        check_books(harness, job_id, done)
    last = Program(reconciling, harness.url, job_id, len(points), "never", 0).answer().value
    assert last == JobState.DONE
    check_books(harness, job_id, TOTAL)
    assert counted(state_of(harness.store, job_id)) == (TOTAL, 0, 0)
    assert open_intents(harness) == []
    assert verify(tx(harness.store)).problem is None
