"""Hints of commits (ruling 21): who wakes, how soon, and what a lost hint costs."""

from __future__ import annotations

import statistics
import subprocess
import sys
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from sqlalchemy import make_url, text

from engine.checkpoints import Commit, commits
from engine.database.listener import PROBE
from engine.database.notifier import CHANNEL
from engine.database.notify import NotifiedSignals
from engine.database.payloads import MAX_PAYLOADS, Hint, decode, encode
from engine.errors import StoreClosed, ThreadDeleted, WaitCancelled
from tests.support.background import LIMIT, background, until
from tests.support.builders import claim, emit, ev, fresh_id
from tests.support.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.checkpoints import EventRecord
    from engine.store import Store
    from tests.support.harness import Harness

HOUR = timedelta(hours=1)
BEGUN = 0.3
"""Seconds by which a waiter has begun and its store hears of other stores' commits."""
LOST = 2.0
"""Seconds that a lost hint may cost (ruling 21)."""

_LISTENERS = text(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ears'"
)


def started(harness: Harness, events: int = 0) -> tuple[str, int]:
    t = fresh_id()
    token = claim(harness.store, t).token
    if events:
        emit(harness.checkpoints, t, token, *(f"e{n}" for n in range(events)))
    return t, token


def waiting(store: Store, t: str, after: int = 0) -> Any:
    future = background(store.checkpoints.await_events_after, t, after, 10, HOUR)
    time.sleep(BEGUN)
    return future


def numbers(records: Sequence[EventRecord]) -> list[int]:
    return [record.seq for record in records]


def signals_of(store: Store) -> Any:
    return store._backend.signals


def mute(store: Store) -> Store:
    """A store whose hints nobody hears: as if its process had died between the commit and the hint."""
    signals_of(store).publish = lambda _threads: None
    return store


def helpers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("holdwatch-")]


# What a hint looks like.


def test_ruling_21_a_payload_names_its_threads() -> None:
    assert [decode(payload) for payload in encode("me", ["a", "", 'q"\\', "ü\x01"])] == [
        Hint("me", ("a", "", 'q"\\', "ü\x01"))
    ]


def test_ruling_21_payloads_stay_below_the_servers_limit() -> None:
    longest = [f"{n:04}" + "\x01" * 508 for n in range(MAX_PAYLOADS * 2)]
    payloads = encode("me", longest)
    assert all(len(payload.encode()) < 8000 for payload in payloads)
    named = [decode(payload).threads for payload in payloads]
    assert [thread for threads in named if threads is not None for thread in threads] == longest


def test_ruling_21_too_many_threads_become_every_thread() -> None:
    payloads = encode("me", [f"thread-{n:030}" for n in range(5000)])
    assert [decode(payload) for payload in payloads] == [Hint("me", None)]


@pytest.mark.parametrize("payload", ["", "x", "{}", "[1]", "[1, 2, 3]", '["a", "b"]', "null", "[" * 5000])
def test_ruling_21_a_foreign_payload_counts_as_every_thread(payload: str) -> None:
    assert decode(payload).threads is None


# Who is woken.


def test_ruling_21_another_stores_commit_wakes_soon(harness: Harness) -> None:
    t, token = started(harness)
    reader, writer = harness.sibling().checkpoints, harness.sibling().checkpoints
    emit(writer, t, token, "warm")
    assert numbers(reader.await_events_after(t, 0, 10, HOUR)) == [1]
    taken = []
    for seen in range(1, 40):
        waiter = background(_timed, reader, t, seen)
        time.sleep(0.02)
        sent = time.perf_counter()
        emit(writer, t, token, "a")
        found, at = waiter.result(LIMIT)
        assert numbers(found) == [seen + 1]
        taken.append((at - sent) * 1000)
    print(
        f"\n{harness.kind}: commit to waiter p50 {statistics.median(taken):.1f} ms, most {max(taken):.1f} ms"
    )
    assert statistics.median(taken) < 500


def _timed(reader: Any, t: str, seen: int) -> tuple[list[EventRecord], float]:
    return reader.await_events_after(t, seen, 10, HOUR), time.perf_counter()


def test_ruling_21_a_read_only_store_is_woken_too(harness: Harness) -> None:
    t, token = started(harness)
    reader = harness.open(read_only=True)
    waiter = waiting(reader, t)
    emit(harness.checkpoints, t, token, "a")
    assert numbers(waiter.result(LOST)) == [1]


def test_ruling_21_only_the_named_thread_is_woken_at_once(harness: Harness) -> None:
    t, token = started(harness)
    other, _ = started(harness)
    reader = harness.sibling()
    with signals_of(reader).waiting(t) as mine, signals_of(reader).waiting(other) as theirs:
        time.sleep(BEGUN)
        while mine.wait(1.5) | theirs.wait(0):
            pass  # The start wakes everybody, and so does the first probe.
        emit(harness.checkpoints, t, token, "a")
        assert mine.wait(1)
        assert not theirs.wait(0.05)


def test_ruling_21_a_callers_transaction_sends_its_hints_when_it_has_ended(harness: Harness) -> None:
    t, token = started(harness)
    with signals_of(harness.store).waiting(t) as waiter:
        time.sleep(BEGUN)
        while waiter.wait(1.5):
            pass
        with harness.store.engine.connect() as connection, connection.begin():
            commits.commit(connection, t, Commit(token, events=[ev("a")]))
            assert not waiter.wait(0.05)
        assert waiter.wait(0.05)


def test_ruling_21_a_rollback_wakes_nobody(harness: Harness) -> None:
    t, token = started(harness)
    with signals_of(harness.store).waiting(t) as waiter:
        time.sleep(BEGUN)
        while waiter.wait(1.5):
            pass
        with harness.store.engine.connect() as connection:
            connection.begin()
            commits.commit(connection, t, Commit(token, events=[ev("a")]))
            connection.rollback()
        assert not waiter.wait(0.2)


# Lost hints.


def test_ruling_21_a_lost_hint_costs_a_second(harness: Harness) -> None:
    t, token = started(harness)
    waiter = waiting(harness.sibling(), t)
    emit(mute(harness.sibling()).checkpoints, t, token, "a")
    assert numbers(waiter.result(LOST)) == [1]


def test_ruling_21_a_lost_hint_of_a_slow_commit_costs_a_second_too(harness: Harness) -> None:
    """Its position was drawn, and seen to be drawn, long before the commit landed."""
    t, token = started(harness)
    waiter = waiting(harness.sibling(), t)
    writer = mute(harness.sibling())
    with writer.engine.connect() as connection, connection.begin():
        commits.commit(connection, t, Commit(token, events=[ev("a")]))
        time.sleep(PROBE * 2.5)
        assert not waiter.done()
    assert numbers(waiter.result(LOST)) == [1]


def test_ruling_21_a_lost_hint_of_a_delete_costs_a_second(harness: Harness) -> None:
    t, token = started(harness, 2)
    waiter = waiting(harness.sibling(), t, after=2)
    mute(harness.sibling()).checkpoints.delete_thread(t, token)
    refused(ThreadDeleted(t), waiter.result, LOST)


KILLED = """
import os, signal, sys
from engine import open_store
from engine.checkpoints import Commit, EventDraft
url, t, token = sys.argv[1:]
store = open_store(url)
store._backend.signals.publish = lambda threads: os.kill(os.getpid(), signal.SIGKILL)
store.checkpoints.commit(t, Commit(int(token), events=[EventDraft("custom", {}, "run")]))
"""


def test_ruling_21_killed_between_commit_and_hint(harness: Harness) -> None:
    t, token = started(harness)
    waiter = waiting(harness.sibling(), t)
    arguments = [sys.executable, "-c", KILLED, harness.url, t, str(token)]
    killed = subprocess.run(arguments, timeout=30, check=False)
    assert killed.returncode == -9
    assert numbers(waiter.result(LOST)) == [1]


# Trouble with the connections.


@pytest.fixture
def ears(postgres_harness: Harness) -> Iterator[Store]:
    """A store whose own connections can be told from all others."""
    store = postgres_harness.open(application_name="ears")
    yield store
    store.close()


def end_the_ears(harness: Harness) -> None:
    with harness.raw() as connection:
        for pid in list(connection.execute(_LISTENERS).scalars()):
            connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})


def test_ruling_21_the_listener_comes_back(postgres_harness: Harness, ears: Store) -> None:
    t, token = started(postgres_harness)
    listener = signals_of(ears).listener
    for seen in range(3):
        waiter = waiting(ears, t, after=seen)
        until(lambda: listener.trusted, "the greeting has arrived")
        end_the_ears(postgres_harness)
        until(lambda: not listener.trusted, "the loss was noticed")
        emit(postgres_harness.checkpoints, t, token, "a")
        assert numbers(waiter.result(LOST)) == [seen + 1]


def test_ruling_21_a_pooler_gets_no_listen_and_the_probe_suffices(postgres_harness: Harness) -> None:
    t, token = started(postgres_harness)
    url = make_url(postgres_harness.url).update_query_dict({"pooler": "transaction"})
    pooled = postgres_harness.open(url.render_as_string(hide_password=False))
    for seen in range(3):
        waiter = waiting(pooled, t, after=seen)
        emit(postgres_harness.checkpoints, t, token, "a")
        assert numbers(waiter.result(LOST)) == [seen + 1]
    assert not signals_of(pooled).listener.trusted


def test_ruling_21_nobody_probes_while_nobody_waits(postgres_harness: Harness, ears: Store) -> None:
    t, _ = started(postgres_harness)
    assert ears.checkpoints.await_events_after(t, 0, 10, timedelta(seconds=PROBE * 1.5)) == []
    time.sleep(PROBE)
    before = _last_queries(postgres_harness)
    time.sleep(PROBE * 2.5)
    assert _last_queries(postgres_harness) == before


def _last_queries(harness: Harness) -> list[Any]:
    started_at = "SELECT pid, query_start FROM pg_stat_activity WHERE application_name = 'ears' ORDER BY 1"
    with harness.raw() as connection:
        return list(map(tuple, connection.execute(text(started_at))))


def test_ruling_21_publishing_survives_a_dead_server(postgres_harness: Harness) -> None:
    """Hints wait in bounded space for the connection, which then says that anything may have changed."""
    dead = threading.Event()
    dead.set()

    def connect() -> psycopg.Connection[Any]:
        if dead.is_set():
            raise psycopg.OperationalError("no server")
        return psycopg.connect(postgres_harness.url, autocommit=True)

    signals = NotifiedSignals(connect, listen=True)
    began = time.monotonic()
    for n in range(5000):
        signals.publish([f"thread-{n}"])
    assert time.monotonic() - began < 2
    with psycopg.connect(postgres_harness.url, autocommit=True) as heard:
        heard.execute(f"LISTEN {CHANNEL}")
        dead.clear()
        hints = [decode(notice.payload) for notice in heard.notifies(timeout=5, stop_after=1)]
    signals.close()
    assert [hint.threads for hint in hints] == [None]


def test_ruling_21_a_burst_is_gathered(postgres_harness: Harness) -> None:
    t, token = started(postgres_harness)
    with psycopg.connect(postgres_harness.url, autocommit=True) as heard:
        heard.execute(f"LISTEN {CHANNEL}")
        began = time.monotonic()
        for _ in range(100):
            emit(postgres_harness.checkpoints, t, token, "a")
        lasted = time.monotonic() - began
        hints = list(heard.notifies(timeout=0.3))
    assert 1 <= len(hints) <= lasted / 0.01 + 2
    assert {decode(hint.payload).threads for hint in hints} == {(t,)}


def test_ruling_21_the_hint_of_a_store_closed_at_once_is_sent(postgres_harness: Harness) -> None:
    t, token = started(postgres_harness)
    with psycopg.connect(postgres_harness.url, autocommit=True) as heard:
        heard.execute(f"LISTEN {CHANNEL}")
        with postgres_harness.open() as store:
            emit(store.checkpoints, t, token, "a")
        hints = list(heard.notifies(timeout=2, stop_after=1))
    assert [decode(hint.payload).threads for hint in hints] == [(t,)]


# The end.


def test_ruling_21_closing_ends_every_wait_and_every_helper(harness: Harness) -> None:
    t, _ = started(harness)
    harness.store.close()
    before = helpers()
    store = harness.open()
    waiters = [waiting(store, t) for _ in range(3)]
    polled = harness.open(wakeups=False)
    waiters.append(waiting(polled, t))
    other = fresh_id()
    emit(store.checkpoints, other, claim(store, other).token, "a")
    began = time.monotonic()
    store.close()
    polled.close()
    assert time.monotonic() - began < 1
    for waiter in waiters:
        refused(StoreClosed("await_events_after"), waiter.result, 1)
    until(lambda: helpers() == before, "the helper threads have ended")


def test_ruling_22_a_cancel_is_prompt_and_stays_set(harness: Harness) -> None:
    t, _ = started(harness)
    store, cancel = harness.sibling(), threading.Event()
    waiters = [background(store.checkpoints.await_events_after, t, 0, 10, HOUR, cancel) for _ in range(20)]
    time.sleep(BEGUN)
    began = time.monotonic()
    cancel.set()
    for waiter in waiters:
        refused(WaitCancelled("await_events_after"), waiter.result, 1)
    assert time.monotonic() - began < 0.5
    assert cancel.is_set()


def test_ruling_22_a_cancel_set_before_ends_the_call_before_it_reads(harness: Harness) -> None:
    t, _ = started(harness, 1)
    cancel = threading.Event()
    cancel.set()
    for store in (harness.store, harness.open(wakeups=False)):
        refused(
            WaitCancelled("await_events_after"),
            store.checkpoints.await_events_after,
            t,
            0,
            10,
            HOUR,
            cancel,
        )
