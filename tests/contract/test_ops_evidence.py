"""Open queue entries keep what their runs left: cases 77 to 86 of checkpoints-operations.md 4.6.

Case 87, a retraction, is in test_ops_runs.py.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine.checkpoints import RetentionPolicy
from engine.errors import ReplayUnavailable, StaleLease
from tests.support.builders import MANY, TTL, chain, claim, fresh_id, seqs
from tests.support.refusals import refused
from tests.support.retention import hist, recorded, three_runs
from tests.support.tombs import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpointer, QueueEntry, RunQueue
    from tests.support.harness import Harness

KEEP_ONE = RetentionPolicy(max_checkpoints=1)
HOUR = timedelta(hours=1)


def newest(store: Checkpointer, t: str, run: str) -> str | None:
    """The id of the run's newest checkpoint."""
    found = store.latest_of_runs(t, {run})
    return None if found is None else found.id


def check_log_of_the_latest(store: Checkpointer, t: str) -> None:
    """Only the latest checkpoint's event is left: evidence holds nothing back."""
    refused(ReplayUnavailable(t, 5), store.events_after, t, 0, MANY)
    refused(ReplayUnavailable(t, 5), store.events_after, t, 3, MANY)
    assert read(store, t, 4) == [5]


def test_ops_77_without_an_entry_nothing_is_kept(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    three_runs(store, t)
    store.prune(t, KEEP_ONE)
    assert (hist(store, t), newest(store, t, "r1")) == (["c5"], None)


def test_ops_78_an_open_entry_keeps_its_runs_newest_checkpoint(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    store = harness.checkpoints
    three_runs(store, t)
    recorded(harness.store, t, "r1")

    store.prune(t, KEEP_ONE)

    assert (hist(store, t), newest(store, t, "r1")) == (["c5", "c2"], "c2")
    check_log_of_the_latest(store, t)


def test_ops_79_by_age_too(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    store = harness.checkpoints
    three_runs(store, t)
    recorded(harness.store, t, "r1")
    harness.advance(2 * HOUR)

    store.prune(t, RetentionPolicy(max_age=HOUR))

    assert hist(store, t) == ["c5", "c2"]
    refused(ReplayUnavailable(t, 6), store.events_after, t, 0, MANY)
    refused(ReplayUnavailable(t, 6), store.events_after, t, 4, MANY)
    assert read(store, t, 5) == []


def test_ops_80_every_attempt_of_an_entry(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    three_runs(harness.checkpoints, t)
    recorded(harness.store, t, "r1", "r2")
    harness.checkpoints.prune(t, KEEP_ONE)
    assert hist(harness.checkpoints, t) == ["c5", "c4", "c2"]


def test_ops_80_attempts_under_leases_of_their_own(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    queue = harness.store.queue
    three_runs(harness.checkpoints, t)
    first = recorded(harness.store, t, "r1")
    harness.advance(TTL)
    second = queue.lease("another worker", TTL)
    assert second is not None
    assert second.id == first.id
    queue.record_run(second.id, second.lease_token, "r2")
    harness.checkpoints.prune(t, KEEP_ONE)
    assert hist(harness.checkpoints, t) == ["c5", "c4", "c2"]


def test_ops_81_a_run_that_committed_nothing(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    three_runs(harness.checkpoints, t)
    recorded(harness.store, t, "r9")
    harness.checkpoints.prune(t, KEEP_ONE)
    assert hist(harness.checkpoints, t) == ["c5"]


ENDINGS: dict[str, Callable[[RunQueue, QueueEntry], None]] = {
    "completed": lambda queue, entry: queue.complete(entry.id, entry.lease_token),
    "killed": lambda queue, entry: queue.kill(entry.id, entry.lease_token, "no use"),
    "cancelled": lambda queue, entry: queue.cancel(entry.id),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_ops_82_a_closed_entry_keeps_nothing(harness_any_clock: Harness, ending: str) -> None:
    harness, t = harness_any_clock, fresh_id()
    store = harness.checkpoints
    three_runs(store, t)
    entry = recorded(harness.store, t, "r1")
    store.prune(t, KEEP_ONE)
    assert hist(store, t) == ["c5", "c2"]

    ENDINGS[ending](harness.store.queue, entry)
    store.prune(t, KEEP_ONE)

    assert (hist(store, t), newest(store, t, "r1")) == (["c5"], None)
    check_log_of_the_latest(store, t)


def test_ops_82_an_entry_given_back_is_still_open(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    three_runs(harness.checkpoints, t)
    entry = recorded(harness.store, t, "r1")
    harness.store.queue.retry(entry.id, entry.lease_token, HOUR)
    harness.checkpoints.prune(t, KEEP_ONE)
    assert hist(harness.checkpoints, t) == ["c5", "c2"]


def test_ops_83_an_entry_of_another_thread(harness_any_clock: Harness) -> None:
    harness, t, other = harness_any_clock, fresh_id(), fresh_id()
    for each in (t, other):
        three_runs(harness.checkpoints, each)
    recorded(harness.store, other, "r1")
    for each in (t, other):
        harness.checkpoints.prune(each, KEEP_ONE)
    assert hist(harness.checkpoints, t) == ["c5"]
    assert hist(harness.checkpoints, other) == ["c5", "c2"]


def test_ops_84_evidence_is_not_counted(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    three_runs(harness.checkpoints, t)
    recorded(harness.store, t, "r1")
    harness.checkpoints.prune(t, RetentionPolicy(max_checkpoints=2))
    assert hist(harness.checkpoints, t) == ["c5", "c4", "c2"]
    assert read(harness.checkpoints, t, 3) == [4, 5]
    refused(ReplayUnavailable(t, 4), harness.checkpoints.events_after, t, 0, MANY)


def test_ops_84_evidence_that_the_policy_keeps_anyway(harness_any_clock: Harness) -> None:
    """Neither the latest checkpoint nor one within the count is kept twice."""
    harness, t = harness_any_clock, fresh_id()
    three_runs(harness.checkpoints, t)
    recorded(harness.store, t, "r2", "r3")
    harness.checkpoints.prune(t, RetentionPolicy(max_checkpoints=2))
    assert hist(harness.checkpoints, t) == ["c5", "c4"]


def test_ops_85_the_thread_goes_on_over_the_gap(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    store = harness.checkpoints
    token = three_runs(store, t)
    recorded(harness.store, t, "r1")
    store.prune(t, KEEP_ONE)

    chain(store, t, token, ["c6"], run_id="r4")

    assert hist(store, t) == ["c6", "c5", "c2"]
    assert read(store, t, 4) == [5, 6]
    store.prune(t, KEEP_ONE)
    assert hist(store, t) == ["c6", "c2"]


def test_ops_86_an_entry_opened_through_a_sibling(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    three_runs(harness.checkpoints, t)
    recorded(harness.sibling(), t, "r1")
    harness.checkpoints.prune(t, KEEP_ONE)
    assert hist(harness.checkpoints, t) == ["c5", "c2"]


def test_evidence_never_moves_the_floor(harness_any_clock: Harness) -> None:
    """Invariant 7: beside the same policy, with and without an open entry, the log is the same."""
    harness, guarded, plain = harness_any_clock, fresh_id(), fresh_id()
    store = harness.checkpoints
    for t in (guarded, plain):
        chain(store, t, claim(store, t).token, ["a", "b"], run_id="r1")
        harness.advance(HOUR)
        chain(store, t, claim(store, t, "again").token, ["c", "d", "e"], run_id="r2")
    recorded(harness.store, guarded, "r1")
    policies = (
        RetentionPolicy(max_checkpoints=5),
        RetentionPolicy(max_checkpoints=4),
        RetentionPolicy(max_age=3 * HOUR),
        RetentionPolicy(max_events=3),
        RetentionPolicy(max_age=3 * HOUR / 2, max_checkpoints=2),
    )
    for policy in policies:
        for t in (guarded, plain):
            store.prune(t, policy)
        assert floor(store, guarded) == floor(store, plain)
        assert set(hist(store, guarded)) == {*hist(store, plain), "b"}


def floor(store: Checkpointer, t: str) -> int:
    """Where the log begins."""
    try:
        return seqs(store, t)[0]
    except ReplayUnavailable as refusal:
        return refusal.earliest_seq


def test_a_record_under_a_lost_lease_is_no_evidence(harness_any_clock: Harness) -> None:
    harness, t = harness_any_clock, fresh_id()
    queue = harness.store.queue
    three_runs(harness.checkpoints, t)
    first = recorded(harness.store, t)
    harness.advance(TTL)
    assert queue.lease("another worker", TTL) is not None
    lost = StaleLease(first.id, first.lease_token, first.lease_token + 1)
    refused(lost, queue.record_run, first.id, first.lease_token, "r1")
    harness.checkpoints.prune(t, KEEP_ONE)
    assert hist(harness.checkpoints, t) == ["c5"]
