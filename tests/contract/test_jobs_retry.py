"""What failed says whether a retry can work, whoever found it out; what a retry did is final (console.md F10)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from engine.checkpoints import BusyHolder, HolderKind
from engine.desk.jobs import ItemOutcome
from engine.desk.money_views import ReservationKind
from engine.desk.plans import AnswerSource, ReconcileAsked
from engine.errors import EngineError, StaleClaim, ThreadBusy
from engine.spend.answers import Released
from tests.support.builders import T0
from tests.support.jobs import ANN, Counting, counted, made, results, runner, table, word

if TYPE_CHECKING:
    from engine.desk.jobs import Done, Job
    from engine.desk.plans import Item
    from tests.support.harness import Harness

HOUR = timedelta(hours=1)
FAILURES: dict[int, EngineError] = {
    1: ThreadBusy("t1", None, BusyHolder(HolderKind.UNNAMED)),
    2: StaleClaim("t2", 2, 4),
}


def marks(harness: Harness, job: Job) -> list[bool]:
    """Of each item that failed, whether it may be tried again; every one says so."""
    failed = results(harness.store, job.job_id, ItemOutcome.FAILED)
    return [item.detail["retryable"] for item in failed]


def test_console_F10_an_error_marks_its_item_as_it_is_marked_itself(harness: Harness) -> None:
    table(harness)
    job = made(harness.store, 3)

    def fail(item: Item) -> Done | None:
        if item.n in FAILURES:
            raise FAILURES[item.n]
        return None

    done = runner(harness.store, Counting(job.job_id, during=fail)).run(job.job_id)
    assert (counted(done), marks(harness, job)) == ((1, 0, 2), [True, False])
    (applied,) = results(harness.store, job.job_id, ItemOutcome.APPLIED)
    assert "retryable" not in applied.detail


def test_console_F10_an_executor_marks_what_a_new_plan_can_do(harness: Harness) -> None:
    desk = harness.store.desk
    harness.store.days.reserve(kind="call", micro=100, at=T0, expires=T0 + HOUR, cap_micro=10**9)
    harness.advance(2 * HOUR)

    def job() -> Job:
        asked = ReconcileAsked(AnswerSource.RESOLVER, kinds=frozenset({ReservationKind.DAY}))
        plan = desk.plan_reconcile(asked, actor=ANN, environment="prod")
        return desk.execute(plan.plan_id, word(), plan.phrase)

    without = job()
    assert counted(desk.runner("console-a").run(without.job_id)) == (0, 0, 1)
    assert marks(harness, without) == [True]
    again = job()
    assert counted(desk.runner("console-a", {"day": lambda _: Released()}).run(again.job_id)) == (1, 0, 0)
    assert marks(harness, again) == []
