"""From a confirmed plan to a finished job (console.md F1, F8 and F10; ruling 55)."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.desk.audit.model import Deed, ObjectKind
from engine.desk.jobs import (
    LEASE,
    LOST,
    ItemOutcome,
    JobState,
    Pace,
    cancel,
    execute,
    item_operation,
    jobs,
    pause,
    progress,
    resume,
    take,
)
from engine.errors import JobRefused, PlanRefused, StaleClaim, ValidationError
from tests.support.jobs import (
    ANN,
    BOB,
    Counting,
    audited,
    counted,
    effects,
    is_known,
    known,
    made,
    open_intents,
    outcomes,
    planned,
    results,
    runner,
    skipped,
    state_of,
    table,
    tx,
    word,
)
from tests.support.together import errors, together, values

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.database.transaction import Transactions
    from engine.desk.actor import Mandate
    from engine.desk.jobs import Done, Job
    from engine.desk.plans import Item
    from engine.store import Store
    from tests.support.harness import Harness

    Act = Callable[[Transactions, str, Mandate], Job]


MOST_RUNS = 500


@pytest.fixture(autouse=True)
def _effects(harness: Harness) -> None:
    table(harness)


def test_a_plan_is_executed_to_its_end(harness: Harness) -> None:
    store, mandate = harness.store, word()
    plan = planned(store, 3)
    job = execute(tx(store), plan.plan_id, mandate, plan.phrase)
    assert (job.state, job.total, job.next_n, job.deed) == (JobState.READY, 3, 1, Deed.RELEASE)
    executor = Counting(job.job_id)

    done = runner(store, executor).run(job.job_id)

    assert done.state is JobState.DONE
    assert (counted(done), done.owner, done.next_n) == ((3, 0, 0), None, 4)
    assert effects(harness) == [1, 2, 3]
    assert outcomes(store, job.job_id) == [(1, "applied"), (2, "applied"), (3, "applied")]
    assert executor.closed == 1
    assert open_intents(harness) == []


def test_report_40_every_change_of_a_job_can_be_asked_for(harness: Harness) -> None:
    store, mandate = harness.store, word()
    job = made(store, 2, mandate)
    assert audited(harness, job.job_id) == ["intent"]
    assert not is_known(store, job.job_id)

    runner(store, Counting(job.job_id)).run(job.job_id)

    executed, whole, item = (
        known(store, each) for each in (mandate.operation_id, job.job_id, item_operation(job.job_id, 2))
    )
    assert executed.result["job"] == job.job_id
    assert (whole.object_kind, whole.actor) == (ObjectKind.JOB, ANN.name)
    assert whole.result == {"state": "done", "total": 2, "applied": 2, "skipped": 0, "failed": 0}
    assert (item.object_id, item.result["outcome"]) == ("t2", "applied")
    assert audited(harness, job.job_id) == audited(harness, mandate.operation_id) == ["intent", "result"]
    assert audited(harness, item_operation(job.job_id, 2)) == ["result"]


def test_report_29_executing_twice_names_the_job_by_whom_and_when(harness: Harness) -> None:
    store, again = harness.store, word(BOB)
    plan = planned(store, 1)
    job = execute(tx(store), plan.plan_id, word(ANN), plan.phrase)
    with pytest.raises(PlanRefused) as refused:
        execute(tx(store), plan.plan_id, again, plan.phrase)
    assert refused.value.why == "executed"
    for part in (job.job_id, ANN.name, "2026-10-09 12:00:00Z"):
        assert part in refused.value.message
    found = known(store, again.operation_id)
    assert found.result["refused"] == "executed"
    assert open_intents(harness) == [job.job_id]


def test_two_consoles_confirm_one_plan_into_one_job(harness: Harness) -> None:
    stores = [harness.store, harness.sibling()]
    plan = planned(stores[0], 5)
    came = together(*(lambda s=s: execute(tx(s), plan.plan_id, word(), plan.phrase) for s in stores))
    assert len(values(came)) == 1
    (refused,) = errors(came)
    assert isinstance(refused, PlanRefused)
    assert refused.why == "executed"


def test_ruling_55_a_plan_that_lost_an_item_is_not_executed(harness: Harness) -> None:
    store, mandate = harness.store, word()
    plan = planned(store, 3)
    with harness.raw() as connection:
        connection.execute(text("DELETE FROM plan_item WHERE n = 2"))
    with pytest.raises(PlanRefused):
        execute(tx(store), plan.plan_id, mandate, plan.phrase)
    assert tx(store).snapshot("test", jobs, None, None, 10).rows == ()
    assert audited(harness, mandate.operation_id) == ["intent", "result"]


@pytest.mark.parametrize("late", [timedelta(minutes=5), timedelta(hours=1)])
def test_report_24_a_plan_past_its_time_is_refused_not_renewed(harness: Harness, late: timedelta) -> None:
    store = harness.store
    plan = planned(store, 1)
    harness.advance(late)
    with pytest.raises(PlanRefused) as refused:
        execute(tx(store), plan.plan_id, word(), plan.phrase)
    assert refused.value.why == "expired"


def test_a_plan_needs_its_phrase_and_a_reason(harness: Harness) -> None:
    store = harness.store
    plan = planned(store, 1)
    with pytest.raises(PlanRefused, match="RELEASE 1 ON PROD"):
        execute(tx(store), plan.plan_id, word(), "yes")
    with pytest.raises(ValidationError):
        execute(tx(store), plan.plan_id, word(reason=" "), plan.phrase)
    with pytest.raises(PlanRefused, match="no plan"):
        execute(tx(store), "pln_none", word(), plan.phrase)


def test_each_item_gets_its_own_outcome_and_the_job_goes_on(harness: Harness) -> None:
    store = harness.store
    job = made(store, 4)

    def during(item: Item) -> Done | None:
        if item.n == 3:
            raise StaleClaim("t3", 3, 4)
        return None

    before = {2: skipped("version changed")}
    executor = Counting(job.job_id, lambda item: before.get(item.n), during)
    done = runner(store, executor).run(job.job_id)

    assert (done.state, counted(done)) == (JobState.DONE, (2, 1, 1))
    assert effects(harness) == [1, 4]
    (failed,) = results(store, job.job_id, ItemOutcome.FAILED)
    assert (failed.n, failed.detail["code"], failed.detail["retryable"]) == (3, "stale_claim", False)
    (left,) = results(store, job.job_id, ItemOutcome.SKIPPED)
    assert left.detail == {"why": "version changed"}


def test_ruling_54_an_item_that_was_not_planned_for_stops_the_job(harness: Harness) -> None:
    store = harness.store
    job = made(store, 3)
    why = "tree changed: plan again"
    executor = Counting(job.job_id, lambda item: skipped(why, stops=True) if item.n == 2 else None)
    done = runner(store, executor).run(job.job_id)
    assert (done.state, done.owner, counted(done)) == (JobState.STOPPED, None, (1, 1, 0))
    assert effects(harness) == [1]
    whole = known(store, job.job_id)
    assert (whole.result["state"], whole.result["why"]) == ("stopped", why)
    with pytest.raises(JobRefused, match="already stopped"):
        runner(store, executor).run(job.job_id)


def test_two_runners_never_run_one_job(harness: Harness) -> None:
    store = harness.store
    job = made(store, 3)
    other = runner(harness.sibling(), Counting(job.job_id), "console-b")
    seen: list[str] = []

    def while_running(_: Item) -> None:
        with pytest.raises(JobRefused) as refused:
            other.run(job.job_id)
        seen.append(refused.value.why)
        assert "console-a" in refused.value.message
        assert other.run_next() is None

    runner(store, Counting(job.job_id, while_running)).run(job.job_id)
    assert seen == ["running"] * 3
    assert effects(harness) == [1, 2, 3]


def test_a_runner_that_lost_its_lease_writes_nothing_more(harness: Harness) -> None:
    store, job_id = harness.store, made(harness.store, 3).job_id
    thief = harness.sibling()

    def steal(item: Item) -> None:
        if item.n == 2:
            harness.advance(LEASE)
            tx(thief).write("test.take", take, job_id, "console-b")

    # On a server also in the middle of the transaction: the job's row is locked behind the effect, and looked at then.
    executor = Counting(job_id, steal) if harness.kind == "sqlite" else Counting(job_id, during=steal)
    with pytest.raises(JobRefused) as refused:
        runner(store, executor).run(job_id)
    assert refused.value.why == LOST
    assert effects(harness) == [1]
    assert outcomes(store, job_id) == [(1, "applied")]
    assert state_of(store, job_id).owner == "console-b"

    harness.advance(LEASE)
    done = runner(thief, Counting(job_id), "console-c").run(job_id)
    assert (done.state, done.token, effects(harness)) == (JobState.DONE, 3, [1, 2, 3])


def test_a_long_preparation_learns_that_the_job_is_lost(harness: Harness) -> None:
    store, job_id = harness.store, made(harness.store, 1).job_id
    executor = Counting(job_id)

    def slow(_: Item) -> None:
        assert executor.still_ours is not None
        harness.advance(LEASE)
        executor.still_ours()  # over, but nobody took it: renewed
        assert not state_of(store, job_id).interrupted
        harness.advance(LEASE)
        tx(store).write("test.take", take, job_id, "console-b")
        executor.still_ours()

    executor.before = slow
    with pytest.raises(JobRefused, match="no longer"):
        runner(store, executor).run(job_id)
    assert effects(harness) == []


def test_interrupted_jobs_are_shown_and_taken_oldest_first(harness: Harness) -> None:
    store = harness.store
    first = made(store, 1)
    harness.advance(timedelta(seconds=1))
    second = made(store, 1)
    tx(store).write("test.take", take, first.job_id, "dead")
    assert not state_of(store, first.job_id).interrupted
    one = runner(store, Counting("any")).run_next()
    assert one is not None
    assert one.job_id == second.job_id
    harness.advance(LEASE)
    assert state_of(store, first.job_id).interrupted
    two = runner(store, Counting("any")).run_next()
    assert two is not None
    assert (two.job_id, two.state) == (first.job_id, JobState.DONE)
    assert runner(store, Counting("any")).run_next() is None


def test_stop_finishes_the_item_at_hand_and_hands_over(harness: Harness) -> None:
    store, stop = harness.store, threading.Event()
    job = made(store, 3)
    executor = Counting(job.job_id, lambda item: stop.set() if item.n == 2 else None)
    left = runner(store, executor, stop=stop).run(job.job_id)
    assert (left.state, left.owner, left.next_n) == (JobState.READY, None, 3)
    done = runner(harness.sibling(), Counting(job.job_id), "console-b").run(job.job_id)
    assert (done.state, effects(harness)) == (JobState.DONE, [1, 2, 3])


@pytest.mark.parametrize(("act", "state"), [(pause, JobState.PAUSED), (cancel, JobState.CANCELLED)])
def test_another_console_pauses_or_cancels_a_running_job(harness: Harness, act: Act, state: JobState) -> None:
    store, other, mandate = harness.store, harness.sibling(), word(BOB)
    job = made(store, 60)
    executor = Counting(job.job_id)

    def meanwhile(item: Item) -> None:
        if item.n == 2:
            led = act(tx(other), job.job_id, mandate)
            assert (led.state, led.owner) == (state, "console-a")

    executor.before = meanwhile
    left = runner(store, executor).run(job.job_id)
    assert (left.state, left.owner, left.next_n, counted(left)) == (state, None, 3, (2, 0, 0))
    assert effects(harness) == [1, 2]
    found = known(store, mandate.operation_id)
    assert found.result["after"] == state.value
    assert open_intents(harness) == ([job.job_id] if state is JobState.PAUSED else [])


def test_a_paused_job_is_resumed_where_it_stood(harness: Harness) -> None:
    store = harness.store
    job = made(store, 2)
    pause(tx(store), job.job_id, word(BOB))
    with pytest.raises(JobRefused, match=f"already paused, by {BOB.name}"):
        runner(store, Counting(job.job_id)).run(job.job_id)
    assert runner(store, Counting(job.job_id)).run_next() is None
    assert resume(tx(store), job.job_id, word()).state is JobState.READY
    assert runner(store, Counting(job.job_id)).run(job.job_id).state is JobState.DONE


def test_a_resume_before_the_runner_let_go_lets_it_go_on(harness: Harness) -> None:
    store, other = harness.store, harness.sibling()
    job = made(store, 3)

    def meanwhile(item: Item) -> None:
        if item.n == 2:
            pause(tx(other), job.job_id, word())
            led = resume(tx(other), job.job_id, word())
            assert (led.state, led.owner) == (JobState.RUNNING, "console-a")

    done = runner(store, Counting(job.job_id, meanwhile)).run(job.job_id)
    assert (done.state, done.token, effects(harness)) == (JobState.DONE, 1, [1, 2, 3])


def test_a_resume_under_a_slow_runner_never_lets_two_of_them_apply(harness: Harness) -> None:
    store, other = harness.store, harness.sibling()
    job = made(store, 4)
    second = Counting(job.job_id)

    def meanwhile(item: Item) -> None:
        if item.n == 2:
            harness.advance(LEASE)
            pause(tx(other), job.job_id, word())
            resume(tx(other), job.job_id, word())
            runner(other, second, "console-b").run(job.job_id)

    with pytest.raises(JobRefused, match="no longer"):
        runner(store, Counting(job.job_id, meanwhile)).run(job.job_id)
    assert second.prepared == [2, 3, 4]
    assert effects(harness) == [1, 2, 3, 4]


def test_a_slow_runner_adds_nothing_to_a_job_that_was_cancelled_without_it(harness: Harness) -> None:
    store = harness.store
    job = made(store, 3)

    def meanwhile(item: Item) -> None:
        if item.n == 2:
            harness.advance(LEASE)
            cancel(tx(harness.sibling()), job.job_id, word())

    with pytest.raises(JobRefused, match="no longer"):
        runner(store, Counting(job.job_id, meanwhile)).run(job.job_id)
    assert effects(harness) == [1]
    assert known(store, job.job_id).result["applied"] == 1
    assert open_intents(harness) == []


@pytest.mark.parametrize("act", [pause, resume, cancel])
def test_report_29_what_is_over_says_by_whom_and_when(harness: Harness, act: Act) -> None:
    store, mandate = harness.store, word(ANN)
    job = made(store, 2)
    cancel(tx(store), job.job_id, word(BOB))
    assert open_intents(harness) == []
    with pytest.raises(JobRefused) as refused:
        act(tx(store), job.job_id, mandate)
    assert f"already cancelled, by {BOB.name} at 2026-10-09 12:00:00Z" in refused.value.message
    with pytest.raises(JobRefused, match=BOB.name):
        act(tx(store), job.job_id, word(ANN))  # the refused attempt in between is not taken for the deed
    found = known(store, mandate.operation_id)
    assert found.result["refused"] == "cancelled"


def test_a_job_cancelled_under_a_runner_that_died_is_concluded(harness: Harness) -> None:
    store = harness.store
    job = made(store, 2)
    tx(store).write("test.take", take, job.job_id, "dead")
    cancel(tx(store), job.job_id, word())
    assert open_intents(harness) == [job.job_id]
    assert runner(store, Counting(job.job_id)).run_next() is None
    assert open_intents(harness) == [job.job_id]  # its runner may still be at an item
    harness.advance(LEASE)
    assert runner(store, Counting(job.job_id)).run_next() is None
    assert open_intents(harness) == []
    assert state_of(store, job.job_id).owner is None


def test_two_runners_and_who_pauses_them_never_deadlock(harness: Harness) -> None:
    stores = [harness.store, harness.sibling(), harness.sibling()]
    job_ids = [made(stores[0], 15).job_id for _ in range(2)]

    def done() -> bool:
        return all(state_of(stores[2], each).state is JobState.DONE for each in job_ids)

    def run(store: Store, owner: str) -> None:
        for _ in range(MOST_RUNS):
            if runner(store, Counting("any"), owner).run_next() is None and done():
                return

    def trouble() -> None:
        for n in range(MOST_RUNS):
            if done():
                return
            for act in (pause, resume):
                try:
                    act(tx(stores[2]), job_ids[n % 2], word(BOB))
                except JobRefused:  # it is over
                    continue

    came = together(lambda: run(stores[0], "a"), lambda: run(stores[1], "b"), trouble, within=20)
    assert errors(came) == []
    assert done()
    assert effects(harness) == sorted([*range(1, 16)] * 2)
    assert open_intents(harness) == []


def test_pages_are_newest_first_and_filtered(harness: Harness) -> None:
    store = harness.store
    made_jobs = []
    for _ in range(3):
        made_jobs.append(made(store, 1).job_id)
        harness.advance(timedelta(seconds=1))
    pause(tx(store), made_jobs[1], word())
    first = tx(store).snapshot("test", jobs, None, None, 2)
    rest = tx(store).snapshot("test", jobs, None, first.next, 2)
    assert [row.job_id for row in (*first.rows, *rest.rows)] == made_jobs[::-1]
    assert rest.next is None
    paused = tx(store).snapshot("test", jobs, JobState.PAUSED, None, 2)
    assert [row.job_id for row in paused.rows] == [made_jobs[1]]


def test_progress_tells_rate_and_time_left(harness: Harness) -> None:
    store, stop = harness.store, threading.Event()
    job = made(store, 30)

    def each(item: Item) -> None:
        harness.advance(timedelta(seconds=0.5))
        if item.n == 20:
            told = tx(store).snapshot("test.progress", progress, job.job_id)
            assert (told.done, told.job.total) == (19, 30)
            assert told.per_second == pytest.approx(19 / 9.5)
            assert told.left == timedelta(seconds=5.5)
            stop.set()

    runner(store, Counting(job.job_id, each), stop=stop).run(job.job_id)
    harness.advance(timedelta(minutes=2))
    told = tx(store).snapshot("test.progress", progress, job.job_id)
    assert (told.done, told.per_second, told.left) == (20, 0.0, None)


def test_the_rate_is_kept(harness: Harness) -> None:
    store, slept = harness.store, [0.0]

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    job = made(store, 12, rate=10)
    paced = runner(store, Counting(job.job_id), pace=lambda rate: Pace(rate, sleep, lambda: slept[0]))
    assert paced.run(job.job_id).state is JobState.DONE
    assert slept[0] == pytest.approx(1.1)
    with pytest.raises(ValidationError):
        made(store, 1, rate=-1)


def test_the_time_left_keeps_to_the_limit_and_is_not_told_right_after_a_pause(harness: Harness) -> None:
    store, stop = harness.store, threading.Event()
    job = made(store, 100, rate=2)
    told: dict[int, tuple[float, timedelta | None]] = {}

    def each(item: Item) -> None:
        harness.advance(timedelta(seconds=0.25))
        found = tx(store).snapshot("test.progress", progress, job.job_id)
        told[item.n] = (found.per_second, found.left)
        if item.n == 20:
            stop.set()

    def go_on() -> None:
        stop.clear()
        quick = Pace(0, lambda _seconds: None, lambda: 0.0)
        runner(store, Counting(job.job_id, each), stop=stop, pace=lambda _rate: quick).run(job.job_id)

    go_on()
    assert told[5][1] is None
    assert told[20][0] == pytest.approx(4.0)
    assert told[20][1] == timedelta(seconds=81 / 2)
    pause(tx(store), job.job_id, word())
    harness.advance(timedelta(seconds=20))
    resume(tx(store), job.job_id, word())
    go_on()
    assert told[25][1] is None
    assert told[60][0] == pytest.approx(4.0, rel=0.1)
    assert told[60][1] == timedelta(seconds=41 / 2)
