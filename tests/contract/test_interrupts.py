"""Interrupted reads: case 66 of checkpoints.md and ruling 22."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.checkpoints import Commit
from engine.errors import WaitCancelled
from tests.support.background import LIMIT, background, promptly, until
from tests.support.builders import claim, emit, ev, fresh_id, latest_id, seqs
from tests.support.locks import waiting_for_locks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from engine.checkpoints import Checkpointer, EventRecord
    from tests.support.harness import Harness

ROUNDS = 100
BIG = 20_000
"""Events whose reading takes long enough to be interrupted in the middle."""


@contextmanager
def events_locked(harness: Harness) -> Iterator[None]:
    """Nobody can read an event meanwhile (PostgreSQL)."""
    with harness.raw() as connection:
        connection.execute(text("LOCK TABLE event IN ACCESS EXCLUSIVE MODE"))
        yield


def store_is_whole(checkpoints: Checkpointer, number: int) -> None:
    """Reads, claims and commits succeed from several threads at once."""

    def use() -> list[int]:
        t = fresh_id()
        token = claim(checkpoints, t).token
        assert latest_id(checkpoints, t) is None
        return emit(checkpoints, t, token, f"round-{number}")

    users = [background(use) for _ in range(3)]
    assert [user.result(LIMIT) for user in users] == [[1]] * 3


def test_core_66_a_read_interrupted_inside_the_database_harms_nobody(postgres_harness: Harness) -> None:
    checkpoints = postgres_harness.checkpoints
    t = fresh_id()
    emit(checkpoints, t, claim(checkpoints, t).token, "a")

    for number in range(ROUNDS):
        cancel = threading.Event()
        with events_locked(postgres_harness):
            reader = background(checkpoints.events_after, t, 0, 10, cancel=cancel)
            until(lambda: waiting_for_locks(postgres_harness) == 1, "the reader waits for the lock")
            cancel.set()
            with pytest.raises(WaitCancelled):
                reader.result(LIMIT)
        assert cancel.is_set()
        store_is_whole(checkpoints, number)
    assert seqs(checkpoints, t) == [1]


def test_core_66_a_wait_interrupted_inside_the_database_harms_nobody(postgres_harness: Harness) -> None:
    checkpoints = postgres_harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token

    for number in range(ROUNDS // 4):
        cancel = threading.Event()
        with events_locked(postgres_harness):
            hour = timedelta(hours=1)
            waiter = background(checkpoints.await_events_after, t, number, 10, hour, cancel)
            until(lambda: waiting_for_locks(postgres_harness) == 1, "the waiter's read waits for the lock")
            cancel.set()
            with pytest.raises(WaitCancelled):
                waiter.result(LIMIT)
        assert emit(checkpoints, t, token, "a") == [number + 1]


def big_log(checkpoints: Checkpointer) -> str:
    """A thread with BIG events."""
    t = fresh_id()
    token = claim(checkpoints, t).token
    for _ in range(BIG // 5000):
        checkpoints.commit(t, Commit(token, events=[ev("x") for _ in range(5000)]))
    return t


def test_core_66_a_big_read_interrupted_anywhere_harms_nobody(sqlite_harness: Harness) -> None:
    checkpoints = sqlite_harness.checkpoints
    t = big_log(checkpoints)
    interrupted = 0

    for number in range(ROUNDS):
        cancel = threading.Event()
        reader = background(checkpoints.events_after, t, 0, BIG, cancel=cancel)
        time.sleep(number % 25 * 0.0005)
        cancel.set()
        interrupted += was_interrupted(reader)
        store_is_whole(checkpoints, number)
    assert interrupted >= ROUNDS // 4
    assert len(promptly(checkpoints.events_after, t, 0, BIG)) == BIG


def was_interrupted(reader: Future[list[EventRecord]]) -> bool:
    """Whether the read was ended; one that finished before the interrupt has everything."""
    error = reader.exception(LIMIT)
    if error is None:
        assert len(reader.result()) == BIG
        return False
    assert isinstance(error, WaitCancelled)
    return True


@pytest.mark.parametrize("read", ["events_after", "await_events_after"])
def test_ruling_22_a_cancel_that_is_already_set_ends_the_call(harness: Harness, read: str) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    emit(checkpoints, t, claim(checkpoints, t).token, "a")
    cancel = threading.Event()
    cancel.set()

    def call() -> list[EventRecord]:
        if read == "events_after":
            return checkpoints.events_after(t, 0, 10, cancel=cancel)
        return checkpoints.await_events_after(t, 1, 10, timedelta(hours=1), cancel)

    with pytest.raises(WaitCancelled) as caught:
        promptly(call)
    assert read in caught.value.operation
    assert seqs(checkpoints, t) == [1]


def test_ruling_22_a_cancel_set_after_the_call_touches_nothing(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token
    for number in range(50):
        cancel = threading.Event()
        checkpoints.events_after(t, 0, 10, cancel=cancel)
        cancel.set()
        assert emit(checkpoints, t, token, "a") == [number + 1]
