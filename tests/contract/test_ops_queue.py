"""The run queue: cases 125 to 132 of checkpoints-operations.md 4.9, rulings 26 and 73.

131 and the double lease of ruling 26 with real threads are in tests/concurrency/test_queue.py.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import (
    Attempt,
    CheckpointStatus,
    QueueEntry,
    QueueState,
    judge_attempt,
    queue,
    queue_lease,
)
from engine.checkpoints import claims as claim_verbs
from engine.checkpoints.queue import MAX_ERROR
from engine.errors import StaleLease, ValidationError
from tests.support.background import LIMIT, background, until
from tests.support.builders import RUNNING, STEP, chain, claim, fresh_id, latest_id
from tests.support.locks import waiting_for_locks
from tests.support.queued import LEASE, entry_of, history, leased, pruned, states
from tests.support.refusals import refused
from tests.support.threads import SECOND, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import RunQueue
    from tests.support.harness import Harness

SUSPENDED, COMPLETED, FAILED = (
    CheckpointStatus.SUSPENDED,
    CheckpointStatus.COMPLETED,
    CheckpointStatus.FAILED,
)


def under_token(queue: RunQueue, entry_id: str, token: int) -> list[Callable[[], Any]]:
    """Every call that needs the lease."""
    return [
        partial(queue.record_run, entry_id, token, "late"),
        partial(queue.extend, entry_id, token, LEASE),
        partial(queue.complete, entry_id, token),
        partial(queue.retry, entry_id, token, SECOND),
        partial(queue.kill, entry_id, token, "late"),
    ]


def test_ops_125_a_run_is_recorded_durably_before_it_starts(harness: Harness) -> None:
    entry = leased(harness.store.queue, "t", "r1", "r2", "r1")
    assert entry_of(harness.sibling().queue, entry.id).run_ids == ("r1", "r2")
    harness.store.close()
    again = harness.open().queue
    assert entry_of(again, entry.id).run_ids == ("r1", "r2")
    again.record_run(entry.id, entry.lease_token, "r3")
    assert entry_of(again, entry.id).run_ids == ("r1", "r2", "r3")


def test_ops_125_recording_with_an_old_token_is_refused(harness_any_clock: Harness) -> None:
    queue = harness_any_clock.store.queue
    entry = leased(queue, "t", "r1")
    for token in (entry.lease_token - 1, entry.lease_token + 1, 0, 2**70):
        refused(StaleLease(entry.id, token, entry.lease_token), queue.record_run, entry.id, token, "r2")
    harness_any_clock.advance(LEASE)
    second = queue.lease("w2", LEASE)
    assert second is not None
    refused(
        StaleLease(entry.id, entry.lease_token, second.lease_token),
        queue.record_run,
        entry.id,
        entry.lease_token,
        "r2",
    )
    assert entry_of(queue, entry.id).run_ids == ("r1",)


def test_ops_126_a_lapsed_lease_is_taken_over(harness_any_clock: Harness) -> None:
    queue = harness_any_clock.store.queue
    first = leased(queue, "t", "r1")
    assert (first.attempts, first.lease_owner, first.state) == (1, "w1", QueueState.LEASED)
    harness_any_clock.advance_to_just_before(LEASE)
    assert queue.lease("w2", LEASE) is None

    harness_any_clock.advance(LEASE)
    second = queue.lease("w2", LEASE)
    assert second is not None
    assert (second.id, second.attempts, second.lease_owner) == (first.id, 2, "w2")
    assert second.lease_token > first.lease_token
    assert second.run_ids == ("r1",)
    for call in under_token(queue, first.id, first.lease_token):
        refused(StaleLease(first.id, first.lease_token, second.lease_token), call)
    assert entry_of(queue, first.id) == second


def test_ops_126_an_extended_lease_is_kept(harness_any_clock: Harness) -> None:
    queue = harness_any_clock.store.queue
    first = leased(queue, "t")
    harness_any_clock.advance(LEASE / 2)
    queue.extend(first.id, first.lease_token, LEASE)
    harness_any_clock.advance(LEASE / 2 + SECOND)
    assert queue.lease("w2", LEASE) is None
    harness_any_clock.advance(LEASE)
    assert queue.lease("w2", LEASE) is not None


def test_ops_126_the_last_moment_of_a_lease(harness: Harness) -> None:
    queue = harness.store.queue
    entry = leased(queue, "t")
    assert entry.lease_until == harness.now() + LEASE
    harness.advance(LEASE - STEP)
    assert queue.lease("w2", LEASE) is None
    harness.advance(STEP)
    assert queue.lease("w2", LEASE) is not None


def attempt(harness: Harness, entry: QueueEntry) -> Attempt:
    """What the entry's worker has to do now."""
    return judge_attempt(harness.checkpoints, entry_of(harness.store.queue, entry.id))


def test_ops_127_nothing_was_admitted(harness: Harness) -> None:
    queue = harness.store.queue
    entry = leased(queue, "t")
    assert attempt(harness, entry) is Attempt.START
    queue.record_run(entry.id, entry.lease_token, "r1")
    assert attempt(harness, entry) is Attempt.START
    put(harness.checkpoints, "t", run_id="direct")
    assert attempt(harness, entry) is Attempt.START


@pytest.mark.parametrize(
    ("status", "next_step"),
    [
        (RUNNING, Attempt.RECOVER),
        (SUSPENDED, Attempt.COMPLETE),
        (COMPLETED, Attempt.COMPLETE),
        (FAILED, Attempt.COMPLETE),
    ],
)
def test_ops_127_the_run_is_the_latest(
    harness: Harness, status: CheckpointStatus, next_step: Attempt
) -> None:
    entry = leased(harness.store.queue, "t", "r1")
    token = put(harness.checkpoints, "t", "c1", run_id="r1")
    put(harness.checkpoints, "t", "c2", "c1", token=token, run_id="r1", status=status)
    assert attempt(harness, entry) is next_step
    # An attempt that came to nothing, recorded later, hides no earlier one.
    harness.store.queue.record_run(entry.id, entry.lease_token, "r2")
    assert attempt(harness, entry) is next_step


@pytest.mark.parametrize("status", [RUNNING, COMPLETED])
def test_ops_127_something_ran_since(harness: Harness, status: CheckpointStatus) -> None:
    entry = leased(harness.store.queue, "t", "r1")
    token = put(harness.checkpoints, "t", "c1", run_id="r1")
    put(harness.checkpoints, "t", "c2", "c1", token=token, run_id="direct", status=status)
    assert attempt(harness, entry) is Attempt.COMPLETE
    # What ran since has its history pruned: the answer does not turn into a second start.
    put(harness.checkpoints, "t", "c3", "c2", token=token, run_id="direct", status=status)
    assert pruned(harness.store, "t") == ["c3", "c1"]
    assert attempt(harness, entry) is Attempt.COMPLETE


def test_ops_128_who_deletes_a_thread_cancels_its_entries(harness: Harness) -> None:
    store = harness.store
    entry = leased(store.queue, "t", "r1")
    waiting = store.queue.enqueue("t", {})
    other = store.queue.enqueue("other", {})
    token = put(store.checkpoints, "t", run_id="r1")
    store.checkpoints.delete_thread("t", token)
    assert store.checkpoints.latest_of_runs("t", ["r1"]) is None

    assert sorted(store.queue.cancel_thread("t")) == sorted([entry.id, waiting])
    for call in under_token(store.queue, entry.id, entry.lease_token):
        refused(StaleLease(entry.id, entry.lease_token, None), call)
    taken = store.queue.lease("w2", LEASE)
    assert taken is not None
    assert (taken.id, taken.thread_id) == (other, "other")
    assert store.queue.lease("w2", LEASE) is None
    assert store.checkpoints.latest("t") is None
    assert store.queue.cancel_thread("t") == store.queue.cancel_thread(fresh_id()) == []


def test_ops_128_a_delete_leaves_the_entries_to_its_caller(harness: Harness) -> None:
    store = harness.store
    entry = leased(store.queue, "t", "r1")
    token = put(store.checkpoints, "t", run_id="r1")
    store.checkpoints.delete_thread("t", token)
    assert entry_of(store.queue, entry.id).run_ids == ("r1",)
    store.queue.complete(entry.id, entry.lease_token)


def test_ops_129_a_completed_entrys_evidence_may_go(harness: Harness) -> None:
    store = harness.store
    entry = leased(store.queue, "t", "r1")
    token = claim(store, "t").token
    chain(store.checkpoints, "t", token, ["c1", "c2"], run_id="r1")
    chain(store.checkpoints, "t", token, ["c3"], run_id="r2")
    assert pruned(store, "t") == ["c3", "c2"]
    store.queue.complete(entry.id, entry.lease_token)
    done = entry_of(store.queue, entry.id)
    assert (done.state, done.lease_owner, done.lease_until) == (QueueState.DONE, None, None)
    assert (done.attempts, done.run_ids, done.last_error) == (1, ("r1",), None)
    assert pruned(store, "t") == ["c3"]
    assert store.checkpoints.latest_of_runs("t", ["r1"]) is None


def dead_by_retries(harness: Harness, t: str) -> QueueEntry:
    """An entry whose two attempts were both given back."""
    queue = harness.store.queue
    first = leased(queue, t, "r1", max_attempts=2)
    queue.retry(first.id, first.lease_token, timedelta(0))
    second = queue.lease("w2", LEASE)
    assert second is not None
    assert (second.id, second.attempts) == (first.id, 2)
    queue.retry(second.id, second.lease_token, timedelta(0))
    return second


def dead_by_silence(harness: Harness, t: str) -> QueueEntry:
    """An entry whose two leases both ran out."""
    queue = harness.store.queue
    leased(queue, t, "r1", max_attempts=2)
    harness.advance(LEASE)
    second = queue.lease("w2", LEASE)
    assert second is not None
    harness.advance(LEASE)
    assert queue.lease("w3", LEASE) is None
    return second


def dead_by_verdict(harness: Harness, t: str) -> QueueEntry:
    """An entry whose worker gave it up."""
    entry = leased(harness.store.queue, t, "r1")
    harness.store.queue.kill(entry.id, entry.lease_token, "no such model")
    return entry


@pytest.mark.parametrize("die", [dead_by_retries, dead_by_silence, dead_by_verdict])
def test_ops_130_a_dead_entry_is_closed_and_listed(
    harness: Harness, die: Callable[[Harness, str], QueueEntry]
) -> None:
    store = harness.store
    put(store.checkpoints, "t", "c1", run_id="r1")
    last = die(harness, "t")
    assert store.queue.lease("w4", LEASE) is None
    (dead,) = store.queue.entries(QueueState.DEAD)
    assert (dead.id, dead.lease_owner, dead.lease_until, dead.run_ids) == (last.id, None, None, ("r1",))
    assert store.queue.entries(QueueState.LEASED) == store.queue.entries(QueueState.QUEUED) == []
    refused(StaleLease(last.id, last.lease_token, None), store.queue.extend, last.id, last.lease_token, LEASE)
    harness.advance(LEASE)
    token = claim(store, "t").token
    chain(store.checkpoints, "t", token, ["c2"], run_id="r2")
    assert pruned(store, "t") == ["c2"]


def test_ops_130_the_reason_is_kept(harness: Harness) -> None:
    queue = harness.store.queue
    dead_by_verdict(harness, "killed")
    dead_by_silence(harness, "silent")
    said = {entry.thread_id: entry.last_error for entry in queue.entries(QueueState.DEAD)}
    assert said["killed"] == "no such model"
    assert said["silent"] is not None
    assert "lease" in said["silent"]


@pytest.mark.parametrize("error", ["nul \0", "lone \ud800", "x" * (2 * MAX_ERROR), ""])
def test_ops_130_no_reason_is_too_odd_to_be_kept(harness: Harness, error: str) -> None:
    queue = harness.store.queue
    entry = leased(queue, "t")
    queue.kill(entry.id, entry.lease_token, error)
    kept = entry_of(queue, entry.id).last_error
    assert kept is not None
    assert kept[:4] == error[:4]
    assert len(kept) <= MAX_ERROR


def test_ops_130_a_cancelled_entry_keeps_no_evidence(harness: Harness) -> None:
    store = harness.store
    entry = leased(store.queue, "t", "r1")
    token = put(store.checkpoints, "t", "c1", run_id="r1")
    put(store.checkpoints, "t", "c2", "c1", token=token, run_id="r2")
    assert pruned(store, "t") == ["c2", "c1"]
    store.queue.cancel(entry.id)
    store.queue.cancel(entry.id)
    assert states(store.queue) == {"t": QueueState.CANCELLED}
    assert pruned(store, "t") == ["c2"]
    for call in under_token(store.queue, entry.id, entry.lease_token):
        refused(StaleLease(entry.id, entry.lease_token, None), call)


def test_ops_132_protection_is_read_in_prunes_own_transaction(harness: Harness) -> None:
    """Prune waits for the thread's row; what was recorded by the time it has it counts."""
    store = harness.store
    entry = leased(store.queue, "t")
    token = put(store.checkpoints, "t", "c1", run_id="r1")
    put(store.checkpoints, "t", "c2", "c1", token=token, run_id="r2")
    with store.engine.connect() as connection, connection.begin():
        claim_verbs.renew(connection, "t", token, LEASE)
        pruning = background(pruned, harness.sibling(), "t")
        queue.record_run(connection, entry.id, entry.lease_token, "r1")
    assert pruning.result(LIMIT) == ["c2", "c1"]


def test_ops_132_one_transaction_commits_both_or_neither(harness: Harness) -> None:
    store = harness.store
    entry = leased(store.queue, "t")
    token = put(store.checkpoints, "t", "c1", run_id="r1")
    put(store.checkpoints, "t", "c2", "c1", token=token, run_id="r2")
    with store.engine.connect() as connection:
        begun = connection.begin()
        queue.record_run(connection, entry.id, entry.lease_token, "r1")
        begun.rollback()
    assert entry_of(store.queue, entry.id).run_ids == ()
    assert pruned(store, "t") == ["c2"]


def test_ruling_26_one_entry_of_a_thread_runs_at_a_time(harness: Harness) -> None:
    queue = harness.store.queue
    first, second, other = (queue.enqueue(t, {}) for t in ("t", "t", "other"))
    taken = [queue.lease("w1", LEASE), queue.lease("w2", LEASE)]
    assert [entry.thread_id for entry in taken if entry is not None] in (["t", "other"], ["other", "t"])
    assert queue.lease("w3", LEASE) is None
    (of_t,) = [entry for entry in taken if entry is not None and entry.thread_id == "t"]
    queue.complete(of_t.id, of_t.lease_token)
    following = queue.lease("w3", LEASE)
    assert following is not None
    assert {of_t.id, following.id} == {first, second}
    assert other not in (of_t.id, following.id)


def test_ruling_26_a_stale_lease_names_entry_token_and_current(harness: Harness) -> None:
    queue = harness.store.queue
    unknown = fresh_id()
    refused(StaleLease(unknown, 1, None), queue.extend, unknown, 1, LEASE)
    entry_id = queue.enqueue("t", {})
    refused(StaleLease(entry_id, 0, None), queue.extend, entry_id, 0, LEASE)
    entry = queue.lease("w1", LEASE)
    assert entry is not None
    refused(StaleLease(entry_id, 9, entry.lease_token), queue.complete, entry_id, 9)


def test_ruling_73_a_lapsed_lease_nobody_took_over_still_counts(harness_any_clock: Harness) -> None:
    queue = harness_any_clock.store.queue
    entry = leased(queue, "t")
    harness_any_clock.advance(100 * LEASE)
    queue.record_run(entry.id, entry.lease_token, "r1")
    queue.extend(entry.id, entry.lease_token, LEASE)
    assert queue.lease("w2", LEASE) is None
    harness_any_clock.advance(100 * LEASE)
    queue.complete(entry.id, entry.lease_token)
    assert states(queue) == {"t": QueueState.DONE}


def test_ruling_73_entries_are_taken_by_time_and_id(harness: Harness) -> None:
    queue, now = harness.store.queue, harness.now()
    later = queue.enqueue("later", {}, available_at=now + SECOND)
    same = sorted(queue.enqueue(f"t{n}", {}) for n in range(5))
    past = queue.enqueue("past", {}, available_at=now - SECOND)
    order = []
    while (entry := queue.lease("w", LEASE)) is not None:
        order.append(entry.id)
    assert order == [past, *same]
    harness.advance(SECOND)
    last = queue.lease("w", LEASE)
    assert last is not None
    assert last.id == later


def test_ruling_73_a_lapsed_entry_stands_where_it_stood(harness: Harness) -> None:
    queue, now = harness.store.queue, harness.now()
    ids = [queue.enqueue(f"t{n}", {}, available_at=now + n * STEP) for n in range(4)]
    harness.advance(SECOND)
    for ttl in (3 * LEASE, 2 * LEASE, LEASE):
        assert queue.lease("w1", ttl) is not None
    harness.advance(LEASE)
    again = [queue.lease("w2", 9 * LEASE) for _ in range(2)]
    assert [entry.id for entry in again if entry is not None] == [ids[2], ids[3]]
    harness.advance(2 * LEASE)
    again = [queue.lease("w2", 9 * LEASE) for _ in range(2)]
    assert [entry.id for entry in again if entry is not None] == [ids[0], ids[1]]


def test_ruling_73_several_lapsed_entries_go_in_their_order(harness: Harness) -> None:
    """Whichever lease ended first."""
    queue, now = harness.store.queue, harness.now()
    ids = [queue.enqueue(f"t{n}", {}, available_at=now - (9 - n) * STEP) for n in range(6)]
    for n in range(6):
        assert queue.lease("w1", LEASE - n * SECOND) is not None
    last = queue.enqueue("last", {}, available_at=now)
    harness.advance(LEASE)
    again = [queue.lease("w2", LEASE) for _ in range(7)]
    assert [entry.id for entry in again if entry is not None] == [*ids, last]
    assert [entry.attempts for entry in again if entry is not None] == [2] * 6 + [1]


def test_ruling_73_who_passes_an_entry_over_leaves_it_free(postgres_harness: Harness) -> None:
    """A worker whose transaction is under way locks the one entry it takes."""
    harness, store = postgres_harness, postgres_harness.store
    now = harness.now()
    lapsed, due = (store.queue.enqueue(t, {}, available_at=now + n * STEP) for n, t in enumerate("ab"))
    harness.advance(SECOND)
    assert store.queue.lease("w1", LEASE) is not None
    harness.advance(LEASE)
    with store.engine.connect() as connection, connection.begin():
        mine = queue_lease.lease(connection, "w2", LEASE)
        yours = background(harness.sibling().queue.lease, "w3", LEASE).result(LIMIT)
    assert mine is not None
    assert yours is not None
    assert (mine.id, yours.id) == (lapsed, due)


def test_ruling_26_a_violation_means_the_next_entry(postgres_harness: Harness) -> None:
    """Two workers see two entries of one thread at once: the second waits for the first, and then moves on."""
    harness, store = postgres_harness, postgres_harness.store
    now = harness.now()
    names = ("busy", "busy", "other")
    ids = [store.queue.enqueue(t, {}, available_at=now - (9 - n) * STEP) for n, t in enumerate(names)]
    with store.engine.connect() as connection, connection.begin():
        mine = queue_lease.lease(connection, "w1", LEASE)
        leasing = background(harness.sibling().queue.lease, "w2", LEASE)
        until(lambda: waiting_for_locks(harness), "the second worker waits for the first one's lease")
    yours = leasing.result(LIMIT)
    assert mine is not None
    assert yours is not None
    assert (mine.id, yours.id) == (ids[0], ids[2])
    assert states(store.queue)["other"] is QueueState.LEASED
    assert store.queue.lease("w3", LEASE) is None


def test_ruling_73_retry_makes_it_due_later(harness: Harness) -> None:
    queue = harness.store.queue
    entry = leased(queue, "t", "r1")
    queue.retry(entry.id, entry.lease_token, SECOND)
    waiting = entry_of(queue, entry.id)
    assert (waiting.state, waiting.available_at) == (QueueState.QUEUED, harness.now() + SECOND)
    assert (waiting.attempts, waiting.lease_owner, waiting.run_ids) == (1, None, ("r1",))
    refused(StaleLease(entry.id, entry.lease_token, None), queue.extend, entry.id, entry.lease_token, LEASE)
    assert queue.lease("w2", LEASE) is None
    harness.advance(SECOND)
    again = queue.lease("w2", LEASE)
    assert again is not None
    assert (again.attempts, again.run_ids) == (2, ("r1",))
    assert again.lease_token > entry.lease_token


def test_ruling_73_an_entry_holds_what_it_was_given(harness: Harness) -> None:
    queue = harness.store.queue
    given = {"text": "é\U0001f600", "list": [1, 2.5, None, True], "nested": {"": []}}
    entry_id = queue.enqueue("t", given, tenant="acme", available_at=harness.now() + SECOND, max_attempts=7)
    assert queue.entries() == [
        QueueEntry(
            id=entry_id,
            thread_id="t",
            tenant="acme",
            input=given,
            state=QueueState.QUEUED,
            available_at=harness.now() + SECOND,
            lease_owner=None,
            lease_token=0,
            lease_until=None,
            attempts=0,
            max_attempts=7,
            last_error=None,
            run_ids=(),
        )
    ]


def test_ruling_73_entries_are_paged_by_id(harness: Harness) -> None:
    queue = harness.store.queue
    ids = sorted(queue.enqueue(f"t{n}", n) for n in range(7))
    for _ in range(2):
        taken = queue.lease("w", LEASE)
        assert taken is not None
        queue.record_run(taken.id, taken.lease_token, f"run of {taken.id}")
    assert [entry.id for entry in queue.entries()] == ids
    assert [entry.id for entry in queue.entries(limit=3)] == ids[:3]
    assert [entry.id for entry in queue.entries(after=ids[2], limit=3)] == ids[3:6]
    assert queue.entries(after=ids[-1]) == []
    running = queue.entries(QueueState.LEASED)
    assert [entry.run_ids for entry in running] == [(f"run of {entry.id}",) for entry in running]
    assert [len(queue.entries(state)) for state in QueueState] == [5, 2, 0, 0, 0]
    after_first = queue.entries(QueueState.LEASED, after=running[0].id)
    assert after_first == running[1:]


def test_ruling_73_arguments_out_of_bounds(harness: Harness) -> None:
    queue = harness.store.queue
    entry = leased(queue, "t")
    token = entry.lease_token
    calls: list[Callable[[], Any]] = [
        partial(queue.enqueue, "t\0", {}),
        partial(queue.enqueue, "t", float("nan")),
        partial(queue.enqueue, "t", {}, tenant="\ud800"),
        partial(queue.enqueue, "t", {}, max_attempts=0),
        partial(queue.enqueue, "t", {}, max_attempts=2**31),
        partial(queue.enqueue, "t", {}, available_at=harness.now().replace(tzinfo=None)),
        partial(queue.lease, "w", timedelta(0)),
        partial(queue.lease, "w", timedelta.max),
        partial(queue.lease, "w\0", LEASE),
        partial(queue.extend, entry.id, token, timedelta(0)),
        partial(queue.retry, entry.id, token, -SECOND),
        partial(queue.retry, entry.id, token, timedelta.max),
        partial(queue.record_run, entry.id, token, "\0"),
        partial(queue.cancel, fresh_id()),
        partial(queue.entries, limit=0),
        partial(queue.entries, limit=1001),
    ]
    for call in calls:
        with pytest.raises(ValidationError):
            call()
    assert entry_of(queue, entry.id) == entry


def test_ruling_16_a_suspended_runs_entry_is_closed_at_suspension(harness: Harness) -> None:
    """Decision 14: the entry is completed once its run waits for somebody, and is never asked again."""
    store = harness.store
    entry = leased(store.queue, "t", "r1")
    put(store.checkpoints, "t", "c1", run_id="r1", status=SUSPENDED)
    assert judge_attempt(store.checkpoints, entry_of(store.queue, entry.id)) is Attempt.COMPLETE
    store.queue.complete(entry.id, entry.lease_token)
    assert store.queue.lease("w2", LEASE) is None
    assert latest_id(store.checkpoints, "t") == "c1"


def test_ops_126_a_recovered_run_goes_on_under_the_second_lease(harness: Harness) -> None:
    """A whole attempt that dies half-way, and the next one that finishes the run instead of starting another."""
    store = harness.store
    first = leased(store.queue, "t", "r1")
    lost = put(store.checkpoints, "t", "c1", run_id="r1")
    harness.advance(LEASE)
    second = store.queue.lease("w2", LEASE)
    assert second is not None
    assert judge_attempt(store.checkpoints, second) is Attempt.RECOVER
    store.queue.record_run(second.id, second.lease_token, "r2")
    token = claim(store, "t", "r2").token
    put(store.checkpoints, "t", "c2", "c1", token=token, run_id="r2", status=COMPLETED)
    assert token > lost
    assert history(store.checkpoints, "t") == ["c2", "c1"]
    assert attempt(harness, second) is Attempt.COMPLETE
    store.queue.complete(second.id, second.lease_token)
    refused(StaleLease(first.id, first.lease_token, None), store.queue.complete, first.id, first.lease_token)
