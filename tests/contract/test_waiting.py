"""Waiting for events: cases 59 to 65 and 67 to 69 of checkpoints.md (66 is in test_interrupts.py)."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine.checkpoints import Commit
from engine.errors import CheckpointConflict, ReplayUnavailable, ThreadDeleted, WaitCancelled
from tests.support.background import LIMIT, background, promptly
from tests.support.builders import chain, ck, claim, emit, ev, fresh_id
from tests.support.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.checkpoints import Checkpointer, EventRecord
    from engine.store import Store
    from tests.support.harness import Harness

HOUR = timedelta(hours=1)
SHORT = timedelta(milliseconds=50)
MOMENT = 0.05
"""Seconds by which a waiter has surely begun."""


def numbers(records: Sequence[EventRecord]) -> list[int]:
    return [record.seq for record in records]


def started(harness: Harness, events: int) -> tuple[str, int]:
    """A claimed thread with so many events; its id and token."""
    t = fresh_id()
    token = claim(harness.store, t).token
    if events:
        emit(harness.checkpoints, t, token, *(f"e{n}" for n in range(events)))
    return t, token


def watcher(checkpoints: Checkpointer, t: str, after: int) -> list[EventRecord]:
    """Wait in short steps, as a subscription does, until something came; at most LIMIT seconds."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        records = checkpoints.await_events_after(t, after, 10, timedelta(milliseconds=100))
        if records:
            return records
    return []


def test_core_59_events_already_there_are_returned_at_once(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t, _ = started(harness_any_clock, 3)

    assert numbers(promptly(checkpoints.await_events_after, t, 1, 10, HOUR)) == [2, 3]
    assert numbers(promptly(checkpoints.await_events_after, t, 0, 2, HOUR)) == [1, 2]
    everything = promptly(checkpoints.await_events_after, t, 0, 10, HOUR)
    assert everything == checkpoints.events_after(t, 0, 10)


def test_core_60_nothing_comes_and_the_wait_ends_empty(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t, _ = started(harness_any_clock, 2)

    assert promptly(checkpoints.await_events_after, t, 2, 10, SHORT) == []
    assert promptly(checkpoints.await_events_after, fresh_id(), 0, 10, SHORT) == []


def test_core_60_a_cursor_behind_the_floor_is_refused(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t, _ = started(harness_any_clock, 2)
    checkpoints.compact_events(t, 2)

    refused(ReplayUnavailable(t, 2), checkpoints.await_events_after, t, 0, 10, SHORT)


def test_core_61_another_stores_commit_ends_the_wait(harness_any_clock: Harness) -> None:
    ours, theirs = harness_any_clock.checkpoints, harness_any_clock.sibling().checkpoints
    t, token = started(harness_any_clock, 1)

    first = background(watcher, ours, t, 1)
    time.sleep(MOMENT)
    emit(theirs, t, token, "b", "c")
    assert numbers(first.result(LIMIT)) == [2, 3]

    second = background(watcher, ours, t, 3)
    time.sleep(MOMENT)
    emit(ours, t, token, "d")
    assert numbers(second.result(LIMIT)) == [4]


def test_core_62_an_interrupt_ends_the_wait_and_stays_visible(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t, token = started(harness_any_clock, 0)
    cancel = threading.Event()

    waiter = background(checkpoints.await_events_after, t, 0, 10, HOUR, cancel)
    time.sleep(MOMENT)
    cancel.set()

    with pytest.raises(WaitCancelled) as caught:
        waiter.result(LIMIT)
    assert "await_events_after" in caught.value.operation
    assert cancel.is_set()
    assert emit(checkpoints, t, token, "later") == [1]
    assert numbers(promptly(checkpoints.await_events_after, t, 0, 10, HOUR)) == [1]


def test_core_62_only_the_interrupted_wait_ends(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t, token = started(harness_any_clock, 0)
    cancel = threading.Event()
    interrupted = background(checkpoints.await_events_after, t, 0, 10, HOUR, cancel)
    untouched = background(checkpoints.await_events_after, t, 0, 10, HOUR, threading.Event())
    time.sleep(MOMENT)
    cancel.set()

    with pytest.raises(WaitCancelled):
        interrupted.result(LIMIT)
    assert not untouched.done()
    emit(checkpoints, t, token, "a")
    assert numbers(untouched.result(LIMIT)) == [1]


def test_core_63_polling_returns_at_once_or_lasts_its_timeout(harness_any_clock: Harness) -> None:
    polled = harness_any_clock.open(wakeups=False).checkpoints
    t, _ = started(harness_any_clock, 1)
    assert numbers(promptly(polled.await_events_after, t, 0, 10, HOUR)) == [1]

    began = time.monotonic()
    assert promptly(polled.await_events_after, t, 1, 10, timedelta(milliseconds=120)) == []
    assert time.monotonic() - began >= 0.12


def test_core_63_polling_reads_once_a_timeout(harness_any_clock: Harness) -> None:
    polled = harness_any_clock.open(wakeups=False).checkpoints
    t, token = started(harness_any_clock, 0)

    waiter = background(polled.await_events_after, t, 0, 10, timedelta(milliseconds=600))
    time.sleep(0.2)
    emit(harness_any_clock.checkpoints, t, token, "meanwhile")

    assert waiter.result(LIMIT) == []
    assert numbers(promptly(polled.await_events_after, t, 0, 10, HOUR)) == [1]


@pytest.mark.parametrize("writer", ["same store", "sibling store"])
def test_core_64_a_commit_wakes_a_long_wait(harness_any_clock: Harness, writer: str) -> None:
    t, token = started(harness_any_clock, 0)
    waiter = background(harness_any_clock.checkpoints.await_events_after, t, 0, 10, HOUR)
    time.sleep(MOMENT)

    emit(_writer(harness_any_clock, writer).checkpoints, t, token, "a")

    assert numbers(waiter.result(5)) == [1]


def _writer(harness: Harness, writer: str) -> Store:
    return harness.store if writer == "same store" else harness.sibling()


@pytest.mark.parametrize("writer", ["same store", "sibling store"])
def test_core_65_a_delete_ends_a_long_wait(harness_any_clock: Harness, writer: str) -> None:
    t, token = started(harness_any_clock, 2)
    waiter = background(harness_any_clock.checkpoints.await_events_after, t, 2, 10, HOUR)
    time.sleep(MOMENT)

    _writer(harness_any_clock, writer).checkpoints.delete_thread(t, token)

    refused(ThreadDeleted(t), waiter.result, 5)


def test_core_65_a_delete_is_told_by_a_hint_and_not_found_by_chance(harness: Harness) -> None:
    theirs = harness.sibling().checkpoints
    seconds = 0.0
    for _ in range(6):
        t, token = started(harness, 1)
        waiter = background(harness.checkpoints.await_events_after, t, 1, 10, HOUR)
        time.sleep(MOMENT)
        began = time.monotonic()
        theirs.delete_thread(t, token)
        refused(ThreadDeleted(t), waiter.result, 5)
        seconds += time.monotonic() - began
    # Ruling 21's look for lost hints, once a second, would need half a second each time.
    assert seconds < 1.5


def test_core_65_a_polled_store_tells_of_the_delete_at_its_next_call(harness_any_clock: Harness) -> None:
    polled = harness_any_clock.open(wakeups=False).checkpoints
    t, token = started(harness_any_clock, 2)
    assert promptly(polled.await_events_after, t, 2, 10, SHORT) == []

    harness_any_clock.checkpoints.delete_thread(t, token)

    refused(ThreadDeleted(t), promptly, polled.await_events_after, t, 2, 10, SHORT)


def test_core_67_what_brings_no_event_neither_ends_nor_prolongs_the_wait(harness_any_clock: Harness) -> None:
    checkpoints, elsewhere = harness_any_clock.checkpoints, harness_any_clock.sibling().checkpoints
    t, token = started(harness_any_clock, 0)
    other, other_token = started(harness_any_clock, 0)

    began = time.monotonic()
    # No multiple of the second after which the store looks for lost hints by itself.
    waiter = background(checkpoints.await_events_after, t, 0, 10, timedelta(seconds=1.4))
    time.sleep(0.4)
    emit(elsewhere, other, other_token, "elsewhere")
    time.sleep(0.2)
    checkpoints.commit(t, Commit(token, checkpoint=ck("c1", t=t)))
    lost = Commit(token, checkpoint=ck("c2", "other", t=t), events=[ev("lost")])
    refused(CheckpointConflict(t, "other", "c1"), checkpoints.commit, t, lost)
    time.sleep(0.5)
    # A delete wakes the readers of the thread; as it had numbered nothing, there is nothing to tell them.
    checkpoints.delete_thread(t, token)

    assert waiter.result(LIMIT) == []
    assert 1.4 <= time.monotonic() - began < 2


def test_core_68_no_commit_slips_between_the_read_and_the_wait(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t, token = started(harness_any_clock, 0)

    for seen in range(200):
        waiter = background(checkpoints.await_events_after, t, seen, 10, HOUR)
        # Commits meet the waiter at every moment between its start and some milliseconds later.
        time.sleep(seen % 20 * 0.0002)
        emit(checkpoints, t, token, "a")
        assert numbers(waiter.result(1)) == [seen + 1]


def test_core_69_a_wait_never_returns_more_than_its_limit(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t, token = started(harness_any_clock, 0)
    waiter = background(checkpoints.await_events_after, t, 0, 2, HOUR)
    time.sleep(MOMENT)

    emit(checkpoints, t, token, "a", "b", "c")

    assert numbers(waiter.result(LIMIT)) == [1, 2]


def test_ruling_50_a_wait_for_nothing_answers_at_once(harness_any_clock: Harness) -> None:
    checkpoints = harness_any_clock.checkpoints
    t, token = started(harness_any_clock, 2)
    assert promptly(checkpoints.await_events_after, t, 2, 0, HOUR) == []
    assert promptly(checkpoints.await_events_after, t, 0, -1, HOUR) == []

    # Ruling 74: also where a read with a limit would refuse the cursor.
    checkpoints.delete_thread(t, token)
    assert promptly(checkpoints.await_events_after, t, 1, 0, HOUR) == []


def test_core_61_many_waiters_on_many_threads_each_get_their_own(harness: Harness) -> None:
    checkpoints, writer = harness.checkpoints, harness.sibling().checkpoints
    threads = [started(harness, 0) for _ in range(8)]
    waiters = [
        background(checkpoints.await_events_after, t, 0, 10, HOUR) for t, _ in threads for _ in range(3)
    ]
    time.sleep(MOMENT)

    for t, token in threads:
        emit(writer, t, token, "a")

    woken = [waiter.result(LIMIT) for waiter in waiters]
    assert [(record.thread_id, record.seq) for records in woken for record in records] == [
        (t, 1) for t, _ in threads for _ in range(3)
    ]


def test_core_60_a_waiter_holds_no_connection_that_others_need(harness: Harness) -> None:
    store = harness.open(pool_size=2)
    t, token = started(harness, 0)
    waiters = [background(store.checkpoints.await_events_after, t, 0, 10, HOUR) for _ in range(12)]
    time.sleep(MOMENT * 4)

    assert promptly(chain, store.checkpoints, t, token, ["c1"])[0].seq == 1

    assert [numbers(waiter.result(LIMIT)) for waiter in waiters] == [[1]] * 12


def test_core_60_a_compaction_is_learnt_at_the_next_read(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = started(harness, 3)
    waiter = background(watcher, checkpoints, t, 3)
    time.sleep(MOMENT)
    emit(checkpoints, t, token, "d")
    assert numbers(waiter.result(LIMIT)) == [4]

    checkpoints.compact_events(t, 4)
    refused(ReplayUnavailable(t, 4), promptly, checkpoints.await_events_after, t, 1, 10, SHORT)
