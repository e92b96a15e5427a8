"""Subscriptions across runtimes: cases 109 to 115 of checkpoints.md.

What a runtime shows its own subscribers without storing it ("live" events) is no business of the store, so
only the log is looked at.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from engine.checkpoints import watch
from engine.errors import CommitUnknown, ReplayUnavailable, StoreFailure, ThreadDeleted
from tests.support.background import LIMIT, background
from tests.support.builders import MANY, claim, emit, fresh_id, latest_id
from tests.support.intercept import Interceptor, failing
from tests.support.refusals import refused
from tests.support.subscriber import POLL, Subscriber
from tests.support.worker import Gate, Worker

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer, EventRecord
    from tests.support.harness import Harness


def log(checkpoints: Checkpointer, t: str) -> list[EventRecord]:
    """What every subscriber must have been given, neither more nor less."""
    return checkpoints.events_after(t, 0, MANY)


def delivers_the_log(subscriber: Subscriber, checkpoints: Checkpointer, t: str) -> None:
    expected = log(checkpoints, t)
    assert subscriber.wait_for(expected[-1].seq) == expected


def test_core_109_both_runtimes_deliver_exactly_the_log(harness: Harness) -> None:
    a, b = harness.checkpoints, harness.sibling().checkpoints
    t = fresh_id()
    here, there = Subscriber(a, t), Subscriber(b, t)

    worker = Worker(a)
    worker.start(t, ["x"], "run-1")
    worker.start(t, ["y", "z"], "run-2")

    delivers_the_log(here, a, t)
    delivers_the_log(there, a, t)
    here.cancel()
    there.cancel()


def test_core_110_a_subscription_made_in_the_middle_of_a_run(harness: Harness) -> None:
    a, b = harness.checkpoints, harness.sibling().checkpoints
    t, gate = fresh_id(), Gate("y")
    worker = Worker(a, gate)
    worker.start(t, ["x"], "run-1")
    run = background(worker.start, t, ["w", "y", "z"], "run-2")
    gate.wait_entered("y")

    subscriber = Subscriber(b, t)
    gate.open("y")
    run.result(LIMIT)

    delivers_the_log(subscriber, a, t)
    subscriber.cancel()


def test_core_111_runs_alternate_between_the_runtimes(harness: Harness) -> None:
    a, b = harness.checkpoints, harness.sibling().checkpoints
    t = fresh_id()
    here, there = Subscriber(a, t), Subscriber(b, t)

    for number in range(6):
        Worker((a, b)[number % 2]).start(t, [f"item-{number}"], f"run-{number}")

    delivers_the_log(here, b, t)
    delivers_the_log(there, a, t)
    here.cancel()
    there.cancel()


def test_core_112_a_new_store_goes_on_after_the_last_delivered_number(harness: Harness) -> None:
    a = harness.checkpoints
    t, worker = fresh_id(), Worker(harness.checkpoints)
    first = Subscriber(harness.sibling().checkpoints, t)
    worker.start(t, ["x"], "run-1")
    delivers_the_log(first, a, t)
    first.cancel()
    worker.start(t, ["y"], "run-2")

    second = Subscriber(harness.sibling().checkpoints, t, after=first.last)
    worker.start(t, ["z"], "run-3")

    expected = log(a, t)
    second.wait_for(expected[-1].seq)
    assert first.delivered + second.delivered == expected
    second.cancel()


def test_core_113_a_cancelled_subscription_watches_nothing(harness: Harness) -> None:
    a, b = harness.checkpoints, harness.sibling().checkpoints
    t, worker = fresh_id(), Worker(harness.checkpoints)
    subscriber = Subscriber(b, t)
    worker.start(t, ["x"], "run-1")
    delivers_the_log(subscriber, a, t)

    subscriber.cancel()
    worker.start(t, ["y"], "run-2")
    time.sleep(POLL.total_seconds() * 3)

    assert subscriber.ended_by is None
    assert len(subscriber.delivered) < len(log(a, t))
    assert subscriber.last == 3


def test_core_114_a_commit_reported_failed_still_reaches_the_subscribers(harness: Harness) -> None:
    a, b = Interceptor(harness.checkpoints), harness.sibling().checkpoints
    t = fresh_id()
    subscribers = [Subscriber(harness.checkpoints, t), Subscriber(b, t)]
    a.after("commit", failing(CommitUnknown("commit")))

    with pytest.raises(CommitUnknown):
        Worker(a.checkpoints).start(t, ["x"], "run-1")

    assert latest_id(b, t) == "run-1/1"
    for subscriber in subscribers:
        delivers_the_log(subscriber, b, t)
        subscriber.cancel()
    assert [record.kind for record in log(b, t)] == ["run_started"]


def test_core_115_a_store_that_fails_ends_the_subscription(harness: Harness) -> None:
    t, failing_store = fresh_id(), harness.sibling()
    token = claim(harness.checkpoints, t).token
    subscriber = Subscriber(failing_store.checkpoints, t)
    emit(harness.checkpoints, t, token, "a", "b")
    subscriber.wait_for(2)

    failing_store.close()
    subscriber.wait_ended()

    assert isinstance(subscriber.ended_by, StoreFailure)
    assert subscriber.numbers == [1, 2]


def test_core_115_what_is_queued_is_delivered_before_the_failure(harness: Harness) -> None:
    t, failing_store = fresh_id(), harness.sibling()
    emit(harness.checkpoints, t, claim(harness.checkpoints, t).token, "a", "b", "c")
    stream = watch(failing_store.checkpoints, t, poll_interval=POLL, cancel=threading.Event())
    assert next(stream).seq == 1

    failing_store.close()

    assert [next(stream).seq, next(stream).seq] == [2, 3]
    with pytest.raises(StoreFailure):
        next(stream)


def test_core_115_a_refused_cursor_ends_the_subscription_with_its_reason(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    emit(checkpoints, t, token, "a", "b", "c")
    checkpoints.compact_events(t, 3)
    refused(ReplayUnavailable(t, 3), next, watch(checkpoints, t, after_seq=1))

    subscriber = Subscriber(checkpoints, t, after=2)
    subscriber.wait_for(3)
    checkpoints.delete_thread(t, token)
    subscriber.wait_ended()
    assert subscriber.ended_by == ThreadDeleted(t)
