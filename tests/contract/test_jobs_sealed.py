"""What a job does is what was confirmed, whatever was done to its rows since; and each item has a name that fits."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, text

from engine.checkpoints import Commit, EffectDraft, PendingWrite
from engine.clock import to_ns
from engine.desk.audit.pages import AuditFilter
from engine.desk.jobs import JobState, Pace, Runner, cancel, executors_for, pause, resume
from engine.desk.money_views import ReservationKind
from engine.desk.plans import AnswerSource, ReconcileAsked, SweepAsked, SweepPart
from engine.errors import StoreFailure
from engine.spend.meter.model import AfterLease
from tests.support.builders import TTL, claim, emit
from tests.support.cascades import check_only_tombstones, grow, marked
from tests.support.jobs import (
    ANN,
    BOB,
    Counting,
    counted,
    effects,
    known,
    made,
    results,
    runner,
    state_of,
    table,
    tx,
    word,
)
from tests.support.meters import DEFAULT, hold, metering
from tests.support.money import SPOTS, make_tables, tentative_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.desk.jobs import Job
    from engine.store import Store
    from tests.support.harness import Harness

LONGEST = "u" * 512
MINUTE = timedelta(minutes=1)
LATER = timedelta(seconds=1)
TAMPERED = (
    "UPDATE plan_item SET object_id = 't9' WHERE n = 2",
    "UPDATE plan_item SET guard = 'no json' WHERE n = 1",
    "DELETE FROM plan_item WHERE n = 3",
    'UPDATE plan SET params = \'{"guard":"os:system"}\'',
    "UPDATE job SET total = 2",
)


@pytest.mark.parametrize("tampering", TAMPERED)
def test_ruling_54_a_plan_that_was_changed_after_its_execution_is_not_run(
    harness: Harness, tampering: str
) -> None:
    table(harness)
    job = made(harness.store, 3)
    with harness.raw() as connection:
        connection.execute(text(tampering))
    executor = Counting(job.job_id)
    left = runner(harness.store, executor).run_next()
    assert left is not None
    assert (left.state, left.owner, counted(left), executor.prepared) == (
        JobState.STOPPED,
        None,
        (0, 0, 0),
        [],
    )
    assert "not what was confirmed" in known(harness.store, job.job_id).result["why"]
    assert effects(harness) == []


def test_rows_that_nobody_of_ours_wrote_are_told_as_such(harness: Harness) -> None:
    desk, plan_id = harness.store.desk, made(harness.store, 1).plan_id
    looks: dict[str, Callable[[], object]] = {
        "UPDATE plan_item SET guard = 'no json'": lambda: desk.plan_items(plan_id),
        "UPDATE plan SET params = 'no json'": desk.plans,
        "INSERT INTO audit (seq, hash, prev_hash, operation_id, phase, at, actor, route, object_kind, object_id, body)"
        " VALUES (99, 'x', 'y', 'o', 'guess', 1, 'a', 'key', 'plan', 'p', 'no json')": desk.audit,
    }
    for spoiled, look in looks.items():
        with harness.raw() as connection:
            connection.execute(text(spoiled))
        with pytest.raises(StoreFailure):
            look()


def written(store: Store, t: str) -> None:
    """What moves neither the thread's checkpoint nor its numbers, by a holder who then lets go of it."""
    token = claim(store, t, "another").token
    commit = {
        "effect": Commit(token, effects=[EffectDraft("paid", 1)]),
        "write": Commit(token, writes=[PendingWrite("c1", "task", "node", {"n": 1})]),
        "metadata": Commit(token, metadata={"key": "value"}),
    }
    store.checkpoints.commit(t, commit[t])
    store.checkpoints.release(t, token)


def test_console_F1_a_thread_that_was_written_to_since_is_left_alone(harness: Harness) -> None:
    store = harness.store
    threads = ("effect", "write", "metadata")
    grow(store.checkpoints, dict.fromkeys((*threads, "idle")))
    harness.advance(LATER)
    plan = store.desk.plan_delete((*threads, "idle"), actor=ANN, environment="prod")
    harness.advance(LATER)
    for t in threads:
        written(store, t)
    store.checkpoints.release("idle", claim(store, "idle", "another").token)
    job = store.desk.execute(plan.plan_id, word(), plan.phrase)
    assert counted(store.desk.runner("console-a").run(job.job_id)) == (1, 3, 0)
    assert {each.object_id: each.detail.get("why") for each in results(store, job.job_id)} == {
        **dict.fromkeys(threads, "version changed"),
        "idle": None,
    }
    assert all(store.checkpoints.latest(t) is not None for t in threads)


def test_an_id_of_the_longest_kind_is_carried_out_and_found_in_the_audit(harness: Harness) -> None:
    store, desk = harness.store, harness.store.desk
    hold(metering(harness, a=5), harness.now(), LONGEST, "short")
    harness.advance(MINUTE)
    asked = ReconcileAsked(
        AnswerSource.DEFAULT, kinds=frozenset({ReservationKind.METER}), after_lease=AfterLease.RELEASE
    )
    plan = desk.plan_reconcile(asked, actor=ANN, environment="prod")
    job = desk.execute(plan.plan_id, word(), plan.phrase)
    assert counted(desk.runner("console-a").run(job.job_id)) == (2, 0, 0)
    name = f"meter:{DEFAULT}:{LONGEST}"
    assert name in {each.object_id for each in results(store, job.job_id)}
    assert len(desk.audit(AuditFilter("reservation", name)).rows) == 1


def lapsing(harness: Harness, rows: int, rate: int) -> Job:
    """The job that sweeps a table of so many lapsed rows."""
    with harness.raw() as connection:
        make_tables(connection)
        values = [{"spot": f"s{n}"} | tentative_values(n) for n in range(rows)]
        connection.execute(insert(SPOTS), values)
        connection.execute(SPOTS.update().values(reserve_deadline=to_ns(harness.now())))
    harness.advance(TTL)
    desk = harness.store.desk
    asked = SweepAsked(frozenset({SweepPart.LAPSED}), tables=("spots",))
    plan = desk.plan_sweep(asked, actor=ANN, environment="prod")
    return desk.execute(plan.plan_id, word(), plan.phrase, rate=rate)


class Slept:
    """Time that passes by sleeping only; `meanwhile` happens in the first sleep."""

    def __init__(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.now, self.naps, self.meanwhile = 0.0, list[float](), meanwhile

    def pace(self, rate: int) -> Pace:
        """For a runner."""
        return Pace(rate, self.sleep, lambda: self.now)

    def sleep(self, seconds: float) -> None:
        """Pass it."""
        self.now += seconds
        self.naps.append(seconds)
        if len(self.naps) == 1:
            self.meanwhile()


def sweeper(harness: Harness, slept: Slept) -> Runner:
    """A runner of the store's own executors at that pace."""
    return Runner(tx(harness.store), executors_for(tx(harness.store), {}), "console-a", pace=slept.pace)


def test_console_F10_rows_that_go_many_at_once_keep_to_the_rate(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.desk.jobs.executors.batches.BATCH", 20)
    job, slept = lapsing(harness, 100, rate=10), Slept()
    done = sweeper(harness, slept).run(job.job_id)
    assert (done.state, counted(done)) == (JobState.DONE, (1, 0, 0))
    assert slept.now == pytest.approx(100 / 10, abs=0.5)
    assert max(slept.naps) <= 1, "the lease is renewed in between"


def test_console_F10_a_cancel_takes_effect_in_the_middle_of_a_large_table(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.desk.jobs.executors.batches.BATCH", 20)
    job, other = lapsing(harness, 100, rate=10), harness.sibling()
    slept = Slept(lambda: cancel(tx(other), job.job_id, word(BOB)))
    left = sweeper(harness, slept).run(job.job_id)
    assert (left.state, left.owner, counted(left)) == (JobState.CANCELLED, None, (0, 0, 1))
    (failed,) = results(harness.store, job.job_id)
    assert failed.detail["removed"] == 20
    assert "plan again" in failed.detail["why"]
    assert failed.detail["retryable"] is True
    assert known(harness.store, job.job_id).result["state"] == "cancelled"


def test_console_F10_a_pause_in_the_middle_of_a_large_table_leaves_the_rest_for_later(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.desk.jobs.executors.batches.BATCH", 20)
    job, other = lapsing(harness, 100, rate=10), harness.sibling()
    slept = Slept(lambda: pause(tx(other), job.job_id, word(BOB)))
    left = sweeper(harness, slept).run(job.job_id)
    assert (left.state, left.owner, left.next_n, counted(left)) == (JobState.PAUSED, None, 1, (0, 0, 0))
    with harness.raw() as connection:
        assert connection.execute(text("SELECT count(*) FROM spots")).scalar_one() == 80
    assert progress(harness, job) == (0, 20), "not one item is done, but its rows are told"
    resume(tx(other), job.job_id, word(BOB))
    done = sweeper(harness, Slept()).run(job.job_id)
    assert (done.state, state_of(harness.store, job.job_id).applied) == (JobState.DONE, 1)
    assert results(harness.store, job.job_id)[0].detail["after"] == {"removed": 100}
    assert progress(harness, job) == (1, 0)


def progress(harness: Harness, job: Job) -> tuple[int, int]:
    """How many items have a result, and how many rows of the next one have gone."""
    found = harness.store.desk.job_progress(job.job_id)
    return found.done, found.rows


def logged(harness: Harness, monkeypatch: pytest.MonkeyPatch, rate: int) -> Job:
    """The job that deletes one thread of 11 events, two of them to a step."""
    for module in ("deletion", "events"):
        monkeypatch.setattr(f"engine.checkpoints.{module}.COMPACT_STEP", 2)
    grow(harness.checkpoints, {"long": None})
    token = claim(harness.store, "long").token
    emit(harness.checkpoints, "long", token, *"abcdefghij")
    harness.checkpoints.release("long", token)
    desk = harness.store.desk
    plan = desk.plan_delete(("long",), actor=ANN, environment="prod")
    return desk.execute(plan.plan_id, word(), plan.phrase, rate=rate)


def log_left(harness: Harness) -> int:
    """Events that the thread still has."""
    with harness.raw() as connection:
        return int(connection.execute(text("SELECT count(*) FROM event")).scalar_one())


def test_console_F10_the_delete_of_a_long_log_keeps_to_the_rate(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, slept = logged(harness, monkeypatch, rate=1), Slept()
    done = sweeper(harness, slept).run(job.job_id)
    assert (done.state, counted(done)) == (JobState.DONE, (1, 0, 0))
    assert slept.now == pytest.approx(10, abs=1.5), "as many seconds as events went before the thread"
    check_only_tombstones(harness, ["long"])


def test_console_F10_a_cancel_takes_effect_in_the_middle_of_the_delete_of_a_long_log(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, other = logged(harness, monkeypatch, rate=1), harness.sibling()
    slept = Slept(lambda: cancel(tx(other), job.job_id, word(BOB)))
    left = sweeper(harness, slept).run(job.job_id)
    assert (left.state, left.owner, counted(left)) == (JobState.CANCELLED, None, (0, 0, 1))
    (failed,) = results(harness.store, job.job_id)
    assert "plan again" in failed.detail["why"]
    assert failed.detail["retryable"] is True
    assert (log_left(harness), marked(harness.checkpoints, "long")) == (9, True)
    assert known(harness.store, job.job_id).result["state"] == "cancelled"
    desk = harness.store.desk
    again = desk.plan_delete(("long",), actor=ANN, environment="prod")
    rest = desk.execute(again.plan_id, word(), again.phrase)
    assert counted(sweeper(harness, Slept()).run(rest.job_id)) == (1, 0, 0)
    check_only_tombstones(harness, ["long"])


@pytest.mark.parametrize("how", ["pause", "hand over"])
def test_console_F10_a_pause_or_a_stop_in_the_middle_of_a_long_log_leaves_the_rest_for_later(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    job, other, stop = logged(harness, monkeypatch, rate=1), harness.sibling(), threading.Event()
    slept = Slept(stop.set if how == "hand over" else lambda: pause(tx(other), job.job_id, word(BOB)))
    carry = executors_for(tx(harness.store), {})
    left = Runner(tx(harness.store), carry, "console-a", pace=slept.pace, stop=stop).run(job.job_id)
    state = JobState.READY if how == "hand over" else JobState.PAUSED
    assert (left.state, left.owner, left.next_n, counted(left)) == (state, None, 1, (0, 0, 0))
    assert log_left(harness) in (7, 9)
    if state is JobState.PAUSED:
        resume(tx(other), job.job_id, word(BOB))
    done = sweeper(harness, Slept()).run(job.job_id)
    assert (done.state, done.applied) == (JobState.DONE, 1)
    check_only_tombstones(harness, ["long"])
