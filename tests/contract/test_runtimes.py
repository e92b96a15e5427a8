"""Several runtimes over one store: cases 96 to 108 of checkpoints.md, with the small worker of the tests.

Where a case names an error of the runtime, the store's own error passes unchanged (ruling 47).
"""

from __future__ import annotations

import threading
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import CheckpointStatus, Commit
from engine.errors import CheckpointConflict, StaleClaim, StoreFailure, TenantMismatch, ThreadBusy
from tests.support.background import LIMIT, background, until
from tests.support.builders import MANY, TTL, ck, claim, ev, fresh_id, latest_id, seqs, task_ids
from tests.support.intercept import Interceptor, failing
from tests.support.refusals import busy, named, refused
from tests.support.together import together, values
from tests.support.worker import NEVER_RENEWED, Blocked, ClaimPolicy, Gate, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpoint, Checkpointer
    from tests.support.harness import Harness

QUICK = ClaimPolicy(ttl=TTL, renew_every=timedelta(milliseconds=20))
COMPLETED, FAILED, RUNNING = CheckpointStatus.COMPLETED, CheckpointStatus.FAILED, CheckpointStatus.RUNNING


def two_stores(harness: Harness) -> tuple[Checkpointer, Checkpointer]:
    """What two runtimes hold: a store each, over one storage."""
    return harness.checkpoints, harness.sibling().checkpoints


def results(checkpoint: Checkpoint) -> Any:
    return checkpoint.snapshot["results"]


def latest(checkpoints: Checkpointer, t: str) -> Checkpoint:
    stored = checkpoints.latest(t)
    assert stored is not None
    return stored.checkpoint


def test_core_96_a_live_run_keeps_every_other_runtime_out(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t, gate = fresh_id(), Gate("a")
    second = Worker(theirs, gate)
    run = background(Worker(ours, gate).start, t, ["a"], "first")
    gate.wait_entered("a")
    at, logged = latest_id(ours, t), seqs(ours, t)

    busy(t, at, named("first"), second.recover, t, "second")
    busy(t, at, named("first"), second.delete, t, "second")
    busy(t, at, named("first"), second.start, t, ["b"], "second")
    assert (latest_id(ours, t), seqs(ours, t)) == (at, logged)

    gate.open("a")
    assert results(run.result(LIMIT)) == ["A"]
    assert results(second.start(t, ["b"], "second")) == ["A", "B"]
    assert gate.runs == {"a": 1, "b": 1}


def test_core_97_a_renewed_claim_outlives_its_ttl(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t, gate = fresh_id(), Gate("a")
    first = Worker(ours, gate, QUICK)
    run = background(first.start, t, ["a"], "first")
    gate.wait_entered("a")
    assert first.run is not None
    renewer = first.run.renewer

    harness.advance(timedelta(seconds=20))
    # Two more: the one that was under way when the clock moved may have read the time before.
    before = renewer.renewals
    until(lambda: renewer.renewals >= before + 2, "the claim is renewed")
    harness.advance(timedelta(seconds=20))

    busy(t, latest_id(ours, t), named("first"), Worker(theirs, gate).recover, t, "second")
    gate.open("a")
    assert results(run.result(LIMIT)) == ["A"]


def test_core_98_a_lapsed_run_is_recovered_and_its_late_commit_refused(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t, held, free = fresh_id(), Gate("b"), Gate()
    second = Worker(theirs, free)
    run = background(Worker(ours, held).start, t, ["a", "b"], "first")
    until(lambda: latest_id(theirs, t) is not None and task_ids(theirs, t) == ["0.0"], "the answer is stored")
    held.wait_entered("b")
    busy(t, latest_id(ours, t), named("first"), second.recover, t, "second")

    harness.advance(NEVER_RENEWED.ttl)
    assert results(second.recover(t, "second")) == ["A", "B"]
    assert held.runs + free.runs == {"a": 1, "b": 2}
    closed, logged = latest(ours, t), seqs(ours, t)
    assert (closed.status, closed.run_id) == (COMPLETED, "second")

    held.open("b")
    assert isinstance(run.exception(LIMIT), StaleClaim)
    assert (latest(ours, t), seqs(ours, t)) == (closed, logged)
    records = ours.events_after(t, 0, MANY)
    recovered = next(place for place, record in enumerate(records) if record.kind == "run_recovered")
    assert {record.run_id for record in records[:recovered]} == {"first"}
    assert {record.run_id for record in records[recovered:]} == {"second"}
    assert results(Worker(ours).start(t, ["c"], "third")) == ["A", "B", "C"]


class Crash(Exception):
    """A task that takes its run down without an outcome."""


def crash(item: str) -> str:
    raise Crash(item)


def test_core_99_of_four_recoveries_one_is_admitted(harness: Harness) -> None:
    t, gate = fresh_id(), Gate("x")
    with pytest.raises(Crash):
        Worker(harness.checkpoints, crash).start(t, ["x"], "failed")
    assert latest(harness.checkpoints, t).status is RUNNING

    workers = [Worker(harness.sibling().checkpoints, gate) for _ in range(4)]
    calls = [partial(worker.recover, t, f"run-{number}") for number, worker in enumerate(workers)]
    refusals: list[ThreadBusy] = []

    def recover(call: Callable[[], Checkpoint]) -> Checkpoint | None:
        try:
            return call()
        except ThreadBusy as error:
            refusals.append(error)
            return None

    race = background(together, *(partial(recover, call) for call in calls))
    until(lambda: len(refusals) == 3, "three are refused")
    gate.wait_entered("x")
    gate.open("x")

    admitted = [checkpoint for checkpoint in values(race.result(LIMIT)) if checkpoint is not None]
    assert [results(checkpoint) for checkpoint in admitted] == [["X"]]
    assert {refusal.holder for refusal in refusals} == {named(admitted[0].run_id)}
    assert gate.runs == {"x": 1}


def test_core_100_others_may_read_and_fork_but_not_write(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t, target, gate = fresh_id(), fresh_id(), Gate("b")
    first, second = Worker(ours, gate), Worker(theirs, gate)
    earlier = first.start(t, ["a"], "earlier")
    run = background(first.start, t, ["b"], "live")
    gate.wait_entered("b")

    busy(t, latest_id(ours, t), named("live"), second.update_state, t, ["Z"], "editor")
    assert results(second.fork(t, earlier.id, target, "forker")) == ["A"]
    gate.open("b")
    assert results(run.result(LIMIT)) == ["A", "B"]

    edited = second.update_state(t, ["Z"], "editor")
    assert edited.fencing_token is not None
    assert ours.history(t, limit=1) == [edited]
    assert results(first.start(t, ["c"], "after edit")) == ["Z", "C"]
    assert results(second.start(target, ["d"], "after fork")) == ["A", "D"]


def test_core_101_of_a_blocked_run_only_the_closing_checkpoint_stays(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    Worker(checkpoints).start(t, ["a"], "good")
    before = checkpoints.history(t, limit=MANY)

    def block(item: str) -> str:
        raise Blocked(item)

    failed = Worker(checkpoints, block).start(t, ["b"], "blocked")

    assert failed.status is FAILED
    assert checkpoints.history(t, limit=MANY) == [failed, *before]


def test_core_102_the_runs_token_is_in_its_last_checkpoint(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, worker = fresh_id(), Worker(harness.checkpoints)

    last = worker.start(t, ["a"], "run")

    assert worker.run is not None
    assert last.fencing_token == worker.run.claim.token
    assert latest(checkpoints, t).fencing_token == worker.run.claim.token
    assert {record.fencing_token for record in checkpoints.events_after(t, 0, MANY)} == {last.fencing_token}
    assert claim(checkpoints, t, "next").token > worker.run.claim.token


def test_core_103_an_admission_that_lost_a_race_gives_its_claim_back(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t, store = fresh_id(), Interceptor(ours)
    store.before("claim", lambda: Worker(theirs).start(t, ["a"], "quicker"))

    lost = CheckpointConflict(t, None, "quicker/2")
    refused(lost, Worker(store.checkpoints).start, t, ["b"], "slower")

    assert store.calls["release"] == 1
    assert latest_id(ours, t) == "quicker/2"
    assert results(Worker(theirs).start(t, ["c"], "next")) == ["A", "C"]


def test_core_103_a_release_of_a_lost_claim_frees_nobody_else(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t, store = fresh_id(), Interceptor(ours)

    def take_over() -> None:
        harness.advance(NEVER_RENEWED.ttl)
        claim(theirs, t, "successor")

    store.before("commit", take_over)
    with pytest.raises(StaleClaim):
        Worker(store.checkpoints).start(t, ["b"], "slower")

    assert store.calls["release"] == 1
    busy(t, None, named("successor"), claim, ours, t, "third")


@pytest.mark.parametrize("error", [StoreFailure("claim", "the disk is gone"), RuntimeError("thrown")])
def test_core_104_a_claim_that_fails_admits_nobody(harness: Harness, error: Exception) -> None:
    t, store = fresh_id(), Interceptor(harness.checkpoints)
    store.before("claim", failing(error))

    with pytest.raises(type(error)) as caught:
        Worker(store.checkpoints).start(t, ["a"], "run")

    assert caught.value is error
    assert (latest_id(harness.checkpoints, t), seqs(harness.checkpoints, t)) == (None, [])
    assert results(Worker(harness.checkpoints).start(t, ["a"], "next")) == ["A"]


def test_core_104_a_closed_store_admits_nobody(harness: Harness) -> None:
    t, store = fresh_id(), harness.sibling()
    worker = Worker(store.checkpoints)
    store.close()

    with pytest.raises(StoreFailure):
        worker.start(t, ["a"], "run")

    assert latest_id(harness.checkpoints, t) is None
    assert claim(harness.checkpoints, t).taken_over_from is None


def test_core_105_renewal_goes_on_after_failures(harness: Harness) -> None:
    t, gate, store = fresh_id(), Gate("a"), Interceptor(harness.checkpoints)
    down, thrown = StoreFailure("renew", "down"), RuntimeError("thrown")
    store.before("renew", failing(down), failing(thrown), failing(down))
    worker = Worker(store.checkpoints, gate, QUICK)
    run = background(worker.start, t, ["a"], "run")
    gate.wait_entered("a")
    assert worker.run is not None
    renewer = worker.run.renewer
    until(lambda: renewer.renewals >= 2, "renewals go on")

    assert renewer.failures == 3
    gate.open("a")
    assert results(run.result(LIMIT)) == ["A"]


def test_core_105_renewal_stops_for_good_at_the_first_stale_claim(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t, gate, store = fresh_id(), Gate("a"), Interceptor(ours)
    first = Worker(store.checkpoints, gate, QUICK)
    run = background(first.start, t, ["a", "b"], "run")
    gate.wait_entered("a")
    assert first.run is not None
    renewer = first.run.renewer
    taken = take_over(harness, theirs, t)

    until(lambda: renewer.lost is not None, "the renewal learns of the takeover")
    assert renewer.lost == StaleClaim(t, first.run.claim.token, taken)
    asked = store.calls["renew"]
    gate.open("a")

    assert run.exception(LIMIT) == StaleClaim(t, first.run.claim.token, taken)
    assert store.calls["renew"] == asked
    assert gate.runs == {"a": 1}


def take_over(harness: Harness, checkpoints: Checkpointer, t: str) -> int:
    """Let the claim lapse and take it, between two of the holder's renewals; the new token."""
    for attempt in range(100):
        harness.advance(TTL)
        try:
            return claim(checkpoints, t, f"successor-{attempt}").token
        except ThreadBusy:
            continue  # Renewed in between: let the lease lapse once more.
    pytest.fail("the holder renewed a hundred times in between")


def test_core_106_recovery_reads_the_writes_again_after_its_claim(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t, gate = fresh_id(), Gate("a")
    first, second = Interceptor(ours), Interceptor(theirs)
    closing = threading.Event()
    # The holder commits its opening checkpoint, the answer, and a closing checkpoint that comes too late.
    first.before("commit", nothing, nothing, partial(closing.wait, LIMIT))
    run = background(Worker(first.checkpoints, gate).start, t, ["a"], "first")
    gate.wait_entered("a")
    harness.advance(NEVER_RENEWED.ttl)

    def last_word() -> None:
        gate.open("a")
        until(lambda: task_ids(theirs, t) == ["0.0"], "the expired holder has stored its answer")

    second.before("claim", last_word)
    assert results(Worker(second.checkpoints, gate).recover(t, "second")) == ["A"]
    closing.set()
    assert isinstance(run.exception(LIMIT), StaleClaim)
    assert gate.runs == {"a": 1}


def nothing() -> None:
    """An action that lets its call pass."""


def test_core_107_a_delete_that_fails_gives_its_claim_back(harness: Harness) -> None:
    t, store = fresh_id(), Interceptor(harness.checkpoints)
    worker = Worker(store.checkpoints)
    worker.start(t, ["a"], "run")
    store.calls.clear()
    store.before("delete_thread", failing(StoreFailure("delete_thread", "the disk is gone")))

    refused(StoreFailure("delete_thread", "the disk is gone"), worker.delete, t, "deleter")
    assert store.calls["release"] == 1
    assert latest_id(harness.checkpoints, t) == "run/2"

    worker.delete(t, "deleter")
    assert store.calls["release"] == 1
    assert harness.checkpoints.latest(t) is None
    assert claim(harness.checkpoints, t, "next").taken_over_from is None


def test_core_107_another_tenants_thread_is_not_deleted(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t, store = fresh_id(), Interceptor(ours)
    store.before("claim", lambda: Worker(theirs).start(t, ["a"], "run", tenant="other"))

    refused(TenantMismatch(t, "mine"), Worker(store.checkpoints).delete, t, "deleter", tenant="mine")

    assert store.calls["release"] == 1
    assert store.calls["delete_thread"] == 0
    assert latest_id(ours, t) == "run/2"
    assert results(Worker(theirs).start(t, ["b"], "next", tenant="other")) == ["A", "B"]


def test_core_108_a_run_is_named_before_its_first_checkpoint(harness: Harness) -> None:
    ours, theirs = two_stores(harness)
    t = fresh_id()
    token = claim(ours, t, "elsewhere", tenant="tenant").token
    ours.commit(t, Commit(token, events=[ev("only an event")]))

    busy(t, None, named("elsewhere"), Worker(theirs).start, t, ["a"], "mine", tenant="tenant")
    ours.commit(t, Commit(token, checkpoint=ck("c1", t=t, tenant="tenant")))
    busy(t, "c1", named("elsewhere"), Worker(theirs).start, t, ["a"], "mine", tenant="tenant")
