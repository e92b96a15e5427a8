"""A guest on the production database: F6's check in short, and section 3.2 of console.md, on both back ends.

That a page is one search of an index (rows 48 and 66) is for tests/contract/test_desk_plans.py and its like; the
speeds on a million threads (rows 54 and 68) are for `python -m tests.bench console`.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
import time
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import psycopg
import pytest
from sqlalchemy import event, text

from console import present
from console.app import HoldwatchApp
from console.calls import Calls
from console.gateway import APPLICATION_NAME, EngineGateway
from console.gateway import store as gateway_store
from console.model import STOPPED, Counted, GatewayError, IncompleteQuery, ThreadQuery
from console.refresh import Condition
from console.screens.threads import ThreadsScreen
from console.session import Session
from console.widgets.listing import Listing
from tests.bench.seed import seed
from tests.console.fake import FakeGateway, make_app
from tests.console.test_gateway_lists import begin
from tests.console.waiting import ready, refreshed, until
from tests.support.background import LIMIT, background, promptly
from tests.support.locks import waiting_for_locks
from tests.support.money import fill_money
from tests.support.operator import fill_claims
from tests.support.trace import tracing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from textual.pilot import Pilot

    from tests.support.harness import Harness

MANY: Final = 10_050
"""Threads: more than a count looks at."""
KEY_SECONDS: Final = 1.0
"""Ten times what a key may take, for a machine that does other work as well."""
SESSIONS: Final = 3
"""One reads, the events' tail listens on another, and a third one greets that for a moment (ruling 57)."""
OF_CONNECTIONS: Final = (
    "select pg_catalog.version()",
    "select current_schema()",
    "show transaction isolation level",
    "show standard_conforming_strings",
    "composed([sql('select\\n    typname",
)
"""What a library asks once of a server, before anything else."""
SLOW: Final = {
    "postgresql": "SELECT pg_sleep(60)",
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
}


@pytest.fixture
def door(harness: Harness) -> Iterator[EngineGateway]:
    """The gateway under test."""
    opened = EngineGateway(harness.url)
    yield opened
    opened.close()


@asynccontextmanager
async def console(gateway: Any) -> AsyncIterator[Pilot[None]]:
    """A console at work over a gateway."""
    app = HoldwatchApp(Session(gateway, Calls(), time.monotonic))
    async with app.run_test(size=(120, 40)) as pilot:
        yield pilot


@contextmanager
def locked(harness: Harness) -> Iterator[None]:
    """Another session's lock on the table of threads: nobody can read them meanwhile (PostgreSQL)."""
    with harness.raw() as connection:
        connection.execute(text("SET application_name = 'nightly-vacuum'"))
        connection.execute(text("LOCK TABLE thread IN ACCESS EXCLUSIVE MODE"))
        yield


def slowly(door: EngineGateway, kind: str) -> None:
    """A call that would go on for a minute."""
    with door._store.desk() as desk:
        desk._tx.single("slow", lambda connection: connection.exec_driver_sql(SLOW[kind]).all())


def patient(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Another statement timeout."""
    monkeypatch.setattr(gateway_store, "STATEMENT_TIMEOUT", timedelta(seconds=seconds))


async def walk(pilot: Pilot[None]) -> None:
    """Every screen, a filter, a page down, the last row, and a thread from near."""
    for key in ("0", "2", "3", "4", "5", "8", "9", "1"):
        await pilot.press(key)
        await ready(pilot)
    await pilot.press("/", *"status:running", "enter")
    await refreshed(pilot)
    await pilot.press("pagedown", "G")
    await refreshed(pilot)
    await pilot.press("enter")
    await ready(pilot)


def test_report_60_the_trace_of_a_session_holds_nothing_a_guest_does_not_do(
    harness: Harness, door: EngineGateway
) -> None:
    fill_claims(harness)
    fill_money(harness)

    async def scene() -> None:
        async with console(door) as pilot:
            await ready(pilot)
            await walk(pilot)

    with tracing() as trace:
        asyncio.run(scene())
    assert len(trace.ran) > 30
    assert trace.skipping == []
    counts = [each for each in trace.ran if "count(" in each.lower()]
    assert counts
    assert [each for each in counts if "limit" not in each.lower()] == []
    assert [each for each in trace.unlimited if not each.lower().startswith(OF_CONNECTIONS)] == []


def test_report_59_one_reading_session_with_a_name_of_its_own_and_never_idle_in_transaction(
    postgres_harness: Harness,
) -> None:
    fill_claims(postgres_harness)
    seen: list[tuple[int, str, float]] = []
    over = threading.Event()
    sessions = (
        "SELECT pid, state, CAST(extract(epoch FROM clock_timestamp() - state_change) AS double precision)"
        " FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s"
    )

    def sample() -> None:
        with psycopg.connect(postgres_harness.url, autocommit=True) as connection:
            while not over.wait(0.02):
                seen.extend(connection.execute(sessions, (APPLICATION_NAME,)).fetchall())

    async def scene() -> None:
        async with console(door) as pilot:
            await ready(pilot)
            await walk(pilot)

    door = EngineGateway(postgres_harness.url)
    sampler = background(sample)
    try:
        asyncio.run(scene())
    finally:
        over.set()
        sampler.result(LIMIT)
        door.close()
    assert seen
    assert len({pid for pid, _, _ in seen}) <= SESSIONS
    assert [
        each for each in seen if each[1].startswith("idle in transaction") and each[2] > KEY_SECONDS
    ] == []


def test_report_60_a_checkpoint_of_the_log_succeeds_while_the_console_watches(
    sqlite_harness: Harness,
) -> None:
    begin(sqlite_harness.store, "first")
    door = EngineGateway(sqlite_harness.url)
    path = sqlite_harness.url.removeprefix("sqlite:///")

    async def scene() -> None:
        async with console(door) as pilot:
            page = await ready(pilot)
            for number in range(4):
                begin(sqlite_harness.store, f"later-{number}")
                await refreshed(pilot)
                with sqlite3.connect(path) as writer:
                    busy, logged, _ = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                writer.close()
                assert (busy, logged) == (0, 0)
            assert len(page.query_one(Listing).window) == 5

    asyncio.run(scene())
    door.close()


def test_report_64_reads_take_no_lock_that_keeps_a_change_waiting(
    harness: Harness, door: EngineGateway
) -> None:
    begin(harness.store, "before")
    door.threads(ThreadQuery(), None, 10)
    changed: list[object] = []
    locks = text("SELECT DISTINCT mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'")

    def change(connection: Any, *_told: Any) -> None:
        if changed:
            return
        changed.append(None)
        if harness.kind == "postgresql":
            assert [row[0] for row in connection.execute(locks)] == ["AccessShareLock"]
        promptly(begin, harness.store, "meanwhile")

    engine = door._store._opened().engine
    event.listen(engine, "after_cursor_execute", change)
    assert [row.id for row in door.threads(ThreadQuery(), None, 10).rows][-1:] == ["before"]
    event.remove(engine, "after_cursor_execute", change)
    assert changed
    assert {row.id for row in door.threads(ThreadQuery(), None, 10).rows} == {"before", "meanwhile"}


def test_report_47_51_54_and_68_a_large_state_is_counted_to_its_cap_and_says_so(
    harness: Harness, door: EngineGateway
) -> None:
    """Row 51 as well, and the rows 54 and 68: the first screen and a page far down are statements of one kind."""
    seed(harness.url, MANY, 0)
    assert door.count_threads(ThreadQuery()) == Counted(10_000, more=True)
    assert present.counted(door.count_threads(ThreadQuery())) == "10,000+"
    with tracing() as first:
        door.threads(ThreadQuery(), None, 200)
    cursor, pages = None, 0
    while pages < MANY // 200:
        cursor = door.threads(ThreadQuery(), cursor, 200).next
        pages += 1
    with tracing() as deep:
        page = door.threads(ThreadQuery(), cursor, 200)
    assert len(page.rows) == MANY % 200
    assert deep.ran[0] == first.ran[0]
    assert door.incomplete(IncompleteQuery(), None, 10).rows


def test_report_57_a_running_call_is_ended_in_the_database(
    harness: Harness, door: EngineGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch, 60)
    begin(harness.store, "one")
    assert door.threads(ThreadQuery(), None, 10).rows
    slow = background(slowly, door, harness.kind)
    behind = background(door.threads, ThreadQuery(), None, 10)
    time.sleep(0.1)
    assert not slow.done()
    door.interrupt()
    for call in (slow, behind):
        with pytest.raises(GatewayError) as ended:
            call.result(LIMIT)
        assert ended.value.code == STOPPED
    assert promptly(door.threads, ThreadQuery(), None, 10).rows


def test_report_57_esc_ends_what_waits_for_a_lock_and_keys_are_answered(
    postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch, 60)
    for name in ("one", "two"):
        begin(postgres_harness.store, name)
    door = EngineGateway(postgres_harness.url)

    async def scene() -> None:
        async with console(door) as pilot:
            page = await ready(pilot)
            with locked(postgres_harness):
                await pilot.press("r")
                await until(pilot, lambda: waiting_for_locks(postgres_harness) == 1)
                await keys_are_answered(pilot)
                await until(pilot, lambda: page.session.calls.longest > 0.4)
                await pilot.press("escape")
                await until(pilot, lambda: waiting_for_locks(postgres_harness) == 0)
                await until(pilot, lambda: page.session.calls.running == 0)
                assert page.freshness.condition is Condition.PAUSED
                assert waiting_for_locks(postgres_harness) == 0
            await pilot.press("p")
            await until(pilot, lambda: page.freshness.condition is Condition.LIVE)

    asyncio.run(scene())
    door.close()


async def keys_are_answered(pilot: Pilot[None]) -> None:
    """The cursor goes down and up, at once."""
    listing = pilot.app.screen.query_one(Listing)
    for key in ("j", "k"):
        before, start = listing.window.current_id, time.monotonic()
        await pilot.press(key)
        await until(pilot, lambda before=before: listing.window.current_id != before)  # type: ignore[misc]
        assert time.monotonic() - start < KEY_SECONDS


def test_report_57_esc_during_a_short_call_steps_back_as_ever() -> None:
    gateway = FakeGateway()

    async def scene() -> None:
        async with make_app(gateway).run_test(size=(120, 40)) as pilot:
            page = await ready(pilot)
            assert isinstance(page, ThreadsScreen)
            await pilot.press("/", *"status:failed", "enter")
            await refreshed(pilot)
            assert page.filter
            await pilot.press("escape")
            await until(pilot, lambda: not page.filter)
            assert not page.polls()[0].paused

    asyncio.run(scene())
    assert gateway.interrupted == 0


def test_report_57_the_pane_says_which_lock_it_waits_for(
    postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch, 0.15)
    for name in ("one", "two"):
        begin(postgres_harness.store, name)
    door = EngineGateway(postgres_harness.url)

    async def scene() -> None:
        async with console(door) as pilot:
            page = await ready(pilot)
            with locked(postgres_harness):
                await pilot.press("r")
                await until(pilot, lambda: page.freshness.condition is Condition.STALE)
                await keys_are_answered(pilot)
            assert page.freshness.cause is not None
            said = page.freshness.cause.message
            assert re.search(
                r"waiting for a lock on table thread: pid \d+ \(nightly-vacuum\) holds AccessExcl", said
            )
            shown = "\n".join(str(line) for line in page.query_one("#banner").render_lines(page.region))
            assert "table thread" in shown
            await until(pilot, lambda: page.freshness.condition is Condition.LIVE)

    asyncio.run(scene())
    door.close()


def test_a_slow_statement_without_a_lock_names_none(
    postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(monkeypatch, 0.1)
    door = EngineGateway(postgres_harness.url)
    with pytest.raises(GatewayError, match="narrow the request") as late:
        slowly(door, postgres_harness.kind)
    assert "lock" not in late.value.message
    door.close()


def test_report_53_without_focus_only_a_heartbeat_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = FakeGateway()

    async def scene() -> None:
        async with make_app(gateway).run_test(size=(120, 40)) as pilot:
            page = await ready(pilot)
            poll = page.polls()[0]
            poll.keep_to(0.01)
            asked = poll._calls.finished
            await until(pilot, lambda: poll._calls.finished > asked + 3)
            page.terminal_focus(has_focus=False)
            await until(pilot, lambda: poll._calls.running == 0)
            await pilot.pause(0.1)
            unfocused = poll._calls.finished
            await pilot.pause(0.2)
            assert poll._calls.finished == unfocused
            monkeypatch.setattr("console.refresh.UNFOCUSED_SECONDS", 0.05)
            poll.focus(has_focus=False)
            await until(pilot, lambda: poll._calls.finished > unfocused + 1)
            page.terminal_focus(has_focus=True)
            beaten = poll._calls.finished
            await until(pilot, lambda: poll._calls.finished > beaten + 1)

    asyncio.run(scene())
