"""Processes that die without a word: case 127 of checkpoints.md and ruling 21."""

from __future__ import annotations

import os
import signal
import time
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from engine import open_store
from engine.checkpoints import Commit
from engine.errors import StaleClaim, ThreadBusy
from tests.support.background import LIMIT, background, until
from tests.support.builders import ck, claim, emit, ev, fresh_id, latest_id, seqs, task_ids
from tests.support.processes import Program
from tests.support.refusals import named, refused
from tests.support.subscriber import Subscriber
from tests.support.worker import ClaimPolicy, Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.store import Store
    from tests.support.harness import Harness

LEASE = ClaimPolicy(ttl=timedelta(seconds=1.5), renew_every=timedelta(milliseconds=300))
FOREVER = 600


def stuck_at_b(item: str) -> str:
    """A task that answers at once, but for "b", where its process must be killed."""
    if item == "b":
        time.sleep(FOREVER)
    return item.upper()


def doomed(url: str, t: str) -> None:
    """The first process: it finishes one task of two and hangs in the other, renewing its claim."""
    with open_store(url) as store:
        Worker(store.checkpoints, stuck_at_b, LEASE).start(t, ["a", "b"], "first")


def second_life(url: str, t: str) -> tuple[list[str], list[str], list[int], list[int]]:
    """The other process: results, items worked on, what its subscriber saw, and the log."""
    worked: list[str] = []

    def work(item: str) -> str:
        worked.append(item)
        return item.upper()

    with open_store(url) as store:
        subscriber = Subscriber(store.checkpoints, t)
        recovered = when_lapsed(store, t, work)
        log = seqs(store.checkpoints, t)
        subscriber.wait_for(log[-1])
        subscriber.cancel()
        return recovered, worked, subscriber.numbers, log


def when_lapsed(store: Store, t: str, work: Callable[[str], str]) -> list[str]:
    """Recover the thread as soon as its dead holder's claim runs out; at most LIMIT seconds."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        try:
            results: list[str] = Worker(store.checkpoints, work).recover(t, "second").snapshot["results"]
        except ThreadBusy:
            time.sleep(0.05)
        else:
            return results
    pytest.fail("the claim never lapsed")


def half_done(store: Store, t: str) -> bool:
    """Whether one task's answer is stored."""
    return latest_id(store.checkpoints, t) is not None and task_ids(store.checkpoints, t) == ["0.0"]


def test_core_127_a_killed_process_is_survived(harness: Harness) -> None:
    store = harness.open(clock=None)
    t = fresh_id()
    first = Program(doomed, harness.url, t)
    until(lambda: first.lives() and half_done(store, t), "one task of two is finished", limit=30)

    first.kill()
    refused(ThreadBusy(t, "first/1", named("first")), claim, store, t, "too early")

    results, worked, delivered, log = Program(second_life, harness.url, t).answer().value
    assert results == ["A", "B"]
    assert worked == ["b"]
    assert delivered == log == list(range(1, len(log) + 1))
    kinds = [record.kind for record in store.checkpoints.events_after(t, 0, 100)]
    assert kinds == ["run_started", "task_completed", "run_recovered", "task_completed", "run_completed"]


def test_core_127_the_dead_ones_token_writes_nothing_any_more(harness: Harness) -> None:
    store = harness.open(clock=None)
    t = fresh_id()
    first = Program(doomed, harness.url, t)
    until(lambda: first.lives() and half_done(store, t), "one task of two is finished", limit=30)
    token = store.checkpoints.events_after(t, 0, 1)[0].fencing_token
    first.kill()

    when_lapsed(store, t, str.upper)
    with pytest.raises(StaleClaim):
        store.checkpoints.commit(t, Commit(token, events=[ev("from the dead")]))
    assert seqs(store.checkpoints, t) == [1, 2, 3, 4, 5]


def die_after_commit(url: str, t: str, token: int, parts: str) -> None:
    """Commit one event and be killed before anybody is told: hints go out when the connection comes back."""
    store, onlooker = open_store(url), open_store(url)

    def die(*_: object) -> None:
        # The store may try a form of the commit that does nothing before the one that lands.
        if seqs(onlooker.checkpoints, t):
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(store.engine.pool, "checkin", die, insert=True)
    checkpoint = ck("c1", t=t) if parts == "checkpoint too" else None
    store.checkpoints.commit(t, Commit(token, checkpoint=checkpoint, events=[ev("untold")]))


@pytest.mark.parametrize("parts", ["event", "checkpoint too"])
def test_ruling_21_a_commit_whose_hint_was_lost_is_found(harness: Harness, parts: str) -> None:
    store = harness.open(clock=None)
    t = fresh_id()
    token = claim(store, t, ttl=timedelta(minutes=5)).token
    waiter = background(store.checkpoints.await_events_after, t, 0, 10, timedelta(hours=1))
    program = Program(die_after_commit, harness.url, t, token, parts)
    program.wait_killed()

    assert [record.seq for record in waiter.result(2)] == [1]
    assert emit(store.checkpoints, t, token, "next") == [2]


@pytest.mark.parametrize("waiters", [1, 20])
def test_ruling_21_a_lost_hint_wakes_every_waiter(harness: Harness, waiters: int) -> None:
    store = harness.open(clock=None)
    t = fresh_id()
    token = claim(store, t, ttl=timedelta(minutes=5)).token
    hour = timedelta(hours=1)
    waiting = [background(store.checkpoints.await_events_after, t, 0, 10, hour) for _ in range(waiters)]
    Program(die_after_commit, harness.url, t, token, "event").wait_killed()

    deadline = time.monotonic() + 2
    numbers = [waiter.result(max(0.0, deadline - time.monotonic()))[0].seq for waiter in waiting]
    assert numbers == [1] * waiters


def writer(url: str, t: str, token: int) -> None:
    """Commit single events for as long as the process lives."""
    with open_store(url) as store:
        while True:
            emit(store.checkpoints, t, token, "a")


def longer(program: Program, store: Store, t: str, than: int) -> bool:
    """Whether the living program has made the log longer than that."""
    return program.lives() and len(seqs(store.checkpoints, t)) > than


def test_core_127_a_log_cut_off_in_the_middle_of_a_commit_stays_whole(harness: Harness) -> None:
    store = harness.open(clock=None)
    t = fresh_id()
    token = claim(store, t, ttl=timedelta(minutes=5)).token
    for life in range(4):
        program = Program(writer, harness.url, t, token)
        enough = len(seqs(store.checkpoints, t)) + 10 + 3 * life
        until(partial(longer, program, store, t, enough), "events come", limit=30)
        program.kill()

        numbers = seqs(store.checkpoints, t)
        assert numbers == list(range(1, len(numbers) + 1))
    emitted = emit(store.checkpoints, t, token, "alive")
    assert emitted == [seqs(store.checkpoints, t)[-1]]
