"""The tail over a real store: its connections, what it costs the writers, and the two times of an event."""

from __future__ import annotations

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy import text

from console.gateway import APPLICATION_NAME, EngineGateway
from console.model import EventQuery, ThreadQuery
from console.tail import Tail, Way
from console.tail_model import ThreadEvent
from engine import open_store
from engine.checkpoints import ClaimRequest, Commit, EventDraft
from tests.support.background import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine import Store
    from tests.support.harness import Harness

LEASE = timedelta(minutes=5)
SESSIONS = text("SELECT count(*) FROM pg_stat_activity WHERE application_name = :name")
IDLE_IN_TRANSACTION = (
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
    " AND starts_with(state, 'idle in transaction')"
)


@pytest.fixture
def store(harness: Harness) -> Iterator[Store]:
    """A writer with the clock that operators have."""
    with open_store(harness.url) as opened:
        yield opened


@pytest.fixture
def door(harness: Harness) -> Iterator[EngineGateway]:
    """The gateway under test."""
    opened = EngineGateway(harness.url)
    yield opened
    opened.close()


class Agent:
    """One thread's worker."""

    def __init__(self, store: Store, thread: str) -> None:
        self.store, self.thread = store, thread
        self.token = store.checkpoints.claim(thread, ClaimRequest(holder="w", ttl=LEASE)).token

    def emit(self, count: int = 1, at: datetime | None = None) -> None:
        """So many events in one commit."""
        drafts = tuple(EventDraft("step", {"n": n}, "run", timestamp=at) for n in range(count))
        self.store.checkpoints.commit(self.thread, Commit(self.token, events=drafts))


def test_report_72_the_producers_instant_and_the_arrival_are_two(store: Store, door: EngineGateway) -> None:
    said = datetime(2020, 5, 4, 14, 3, 22, 118_000, tzinfo=UTC)
    agent = Agent(store, "t")
    agent.emit(at=said)
    agent.emit()
    first, second = door.newest_events(EventQuery(), 10).rows
    assert first.own == said
    assert second.own is None
    assert abs(datetime.now(UTC) - first.at) < LEASE
    assert first.at <= second.at


def test_ruling_58_a_paused_tail_reads_on_without_skipping(store: Store, door: EngineGateway) -> None:
    agent = Agent(store, "t")
    agent.emit()
    tail = Tail(EventQuery())
    tail.take(tail.ask(door))
    agent.emit(700)
    tail.take(tail.ask_by(door, Way.COUNT))
    assert (tail.waiting, len(tail.rows)) == (700, 1)
    for _ in range(2):
        tail.take(tail.ask_by(door, Way.FORWARD))
    assert [row.seq for row in tail.rows] == list(range(1, 702))
    assert (tail.received, tail.dropped, tail.waiting) == (701, 0, 0)
    agent.emit(700)
    tail.take(tail.ask(door))
    assert (tail.received, tail.dropped) == (1_401, 200)


def test_a_tail_is_taken_to_a_time_and_to_a_number(store: Store, door: EngineGateway) -> None:
    agents = [Agent(store, name) for name in ("a", "b")]
    for _ in range(20):
        for agent in agents:
            agent.emit()
    tail = Tail(EventQuery())
    tail.take(tail.ask(door))
    wanted = tail.rows[17]
    found = tail.elsewhere(door, wanted.at)
    assert found is not None
    assert found[1] == wanted.position
    assert [row.position for row in found[0].rows] == [row.position for row in tail.rows]
    by_number = tail.elsewhere(door, ThreadEvent("b", 5))
    assert by_number is not None
    row = next(row for row in by_number[0].rows if row.position == by_number[1])
    assert (row.thread, row.seq) == ("b", 5)
    assert tail.elsewhere(door, ThreadEvent("b", 500)) is None


class Ear:
    """Somebody who listens, in a thread, and counts."""

    def __init__(self, door: EngineGateway) -> None:
        self.heard = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=door.hear, args=(self._stop, self._count), daemon=True)
        self._thread.start()

    def _count(self) -> None:
        self.heard += 1

    def end(self) -> None:
        """Stop listening; it ends within moments."""
        self._stop.set()
        self._thread.join(5)
        assert not self._thread.is_alive()


def test_ruling_58_commits_are_heard(store: Store, door: EngineGateway) -> None:
    agent = Agent(store, "t")
    door.newest_events(EventQuery(), 1)
    ear = Ear(door)
    time.sleep(0.2)
    for _ in range(3):
        before = ear.heard
        agent.emit()
        until(lambda before=before: ear.heard > before, "the commit was heard")  # type: ignore[misc]
    ear.end()


def test_ruling_58_hints_are_passed_on_ten_times_a_second_at_most(store: Store, door: EngineGateway) -> None:
    agent = Agent(store, "t")
    ear = Ear(door)
    began = time.monotonic()
    while time.monotonic() - began < 0.5:
        agent.emit()
    spent = time.monotonic() - began
    ear.end()
    assert ear.heard <= spent / 0.1 + 2


def sessions(harness: Harness) -> int:
    """Connections that a console has now."""
    with harness.raw() as connection:
        return int(connection.execute(SESSIONS, {"name": APPLICATION_NAME}).scalar_one())


def test_ruling_57_a_console_reads_on_one_connection_and_listens_on_another(
    postgres_harness: Harness,
) -> None:
    """However many calls there are at once; and the listening one is given back."""
    door = EngineGateway(postgres_harness.url)
    most: list[int] = []
    try:
        door.newest_events(EventQuery(), 1)
        assert sessions(postgres_harness) == 1
        ear = Ear(door)
        until(lambda: sessions(postgres_harness) == 2, "the listener is connected")
        with ThreadPoolExecutor(6) as pool:
            calls = [pool.submit(door.threads, ThreadQuery(), None, 10) for _ in range(60)]
            while not all(call.done() for call in calls):
                most.append(sessions(postgres_harness))
            for call in calls:
                call.result()
        until(lambda: sessions(postgres_harness) == 2, "one to read, one to listen")
        ear.end()
        until(lambda: sessions(postgres_harness) == 1, "the listener has let go")
    finally:
        door.close()
    assert max(most, default=2) <= 3
    until(lambda: sessions(postgres_harness) == 0, "all connections are given back")


def test_report_60_a_tail_is_never_idle_in_transaction(postgres_harness: Harness) -> None:
    with open_store(postgres_harness.url) as store:
        agent = Agent(store, "t")
        door = EngineGateway(postgres_harness.url)
        ear, tail = Ear(door), Tail(EventQuery())
        try:
            assert list(_left_open(postgres_harness.url, agent, tail, door)) == [0] * 30
        finally:
            ear.end()
            door.close()


def _left_open(url: str, agent: Agent, tail: Tail, door: EngineGateway) -> Iterator[int]:
    """How many transactions of the console's are open between two frames."""
    with psycopg.connect(url, autocommit=True) as watching:
        for number in range(30):
            agent.emit(20)
            tail.take(tail.ask_by(door, list(Way)[number % len(Way)]))
            found = watching.execute(IDLE_IN_TRANSACTION, (APPLICATION_NAME,)).fetchone()
            assert found is not None
            yield int(found[0])


def test_report_61_a_tailing_console_lets_the_writers_checkpoint(sqlite_harness: Harness) -> None:
    """The short version: a second of load, the log cut to nothing each time; minutes of it in the long check."""
    path = sqlite_harness.url.removeprefix("sqlite:///")
    door = EngineGateway(sqlite_harness.url)
    ear = Ear(door)
    stop = threading.Event()
    sizes: list[int] = []
    with open_store(sqlite_harness.url) as store, ThreadPoolExecutor(1) as pool:
        agent = Agent(store, "t")
        tail = Tail(EventQuery())
        tail.take(tail.ask(door))
        tailing = pool.submit(_keep_tailing, door, tail, stop)
        try:
            for _ in range(10):
                for _ in range(10):
                    agent.emit(5)
                sizes.append(_truncated(path))
        finally:
            stop.set()
            asked = tailing.result(10)
            ear.end()
            door.close()
    assert sizes == [0] * 10
    assert asked > 10
    assert tail.received > 100


def _keep_tailing(door: EngineGateway, tail: Tail, stop: threading.Event) -> int:
    asked = 0
    while not stop.is_set():
        tail.take(tail.ask(door))
        asked += 1
    return asked


def _truncated(path: str) -> int:
    """Bytes of the write-ahead log after it was truncated, or -1 where a reader did not let it be."""
    from pathlib import Path

    connection = sqlite3.connect(path, timeout=2.0)
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.close()
    return -1 if busy else Path(f"{path}-wal").stat().st_size
