"""Loss of the connection, and its return (console.md F7): banner, old data kept and marked, changes off, recovery."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import psycopg
import pytest

from console import actions, stores
from console.actions import Capability
from console.app import HoldwatchApp
from console.calls import Calls
from console.gateway import EngineGateway
from console.model import GatewayError
from console.refresh import BACKOFF_SECONDS, Condition
from console.registry import Registry
from console.session import Session
from tests.console.fake import FakeGateway, make_app
from tests.console.pictures import lines_of
from tests.console.test_pilot import banner, drive, said, threads
from tests.console.test_terminal import step
from tests.console.waiting import ready, refreshed, until
from tests.support.proxy import Door

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from textual.pilot import Pilot

    from console.screens.page import Page
    from tests.support.harness import Harness

INTERVAL = 1.0
WRITING = Registry(
    tuple(
        replace(action, capability=Capability.WRITE) if action.name in {"mark", "address"} else action
        for action in actions.ACTIONS
    )
)
"""The usual verbs, two of them as if they changed the store: they stand for all that do."""
DOWN = GatewayError("server closed the connection; see whether it runs", code="store_failure", retryable=True)


def on_server(
    door: Door, scene: Callable[[Pilot[None]], Awaitable[None]], registry: Registry | None = None
) -> None:
    """Run a scene on a console behind the door that asks each second, once it shows three threads."""
    session = Session(
        EngineGateway(door.url), Calls(), time.monotonic, every=INTERVAL, registry=registry or Registry()
    )

    async def play() -> None:
        async with HoldwatchApp(session).run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            await until(pilot, lambda: len(threads(pilot).main_widget().window) == 3)
            await scene(pilot)

    asyncio.run(play())


@pytest.fixture
def three(postgres_harness: Harness) -> str:
    """The URL of a store with three threads."""
    with postgres_harness.open() as store:
        for name in ("thr_a", "thr_b", "thr_c"):
            step(store, name)
        return postgres_harness.url


def old_rows(pilot: Pilot[None]) -> list[str]:
    """The ids that the list shows."""
    return [row.id for row in threads(pilot).main_widget().window.rows]


def test_f7_a_server_that_is_stopped_and_comes_back(three: str, tmp_path: Path) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        page = threads(pilot)
        await pilot.press("j", "space")
        window = page.main_widget().window
        under, marked, rows = window.current_id, set(window.marks), old_rows(pilot)
        assert len(marked) == 1
        door.shut()
        begun = time.monotonic()
        await until(pilot, lambda: "NO ANSWER FROM THE STORE" in banner(pilot))
        assert (
            time.monotonic() - begun <= 2 * INTERVAL + 0.5
        )  # half a second for a machine that does else as well
        assert page.freshness.condition is Condition.STALE
        assert "attempt 1" in banner(pilot) or "attempt 2" in banner(pilot)
        assert "next in" in banner(pilot)
        assert "is OLD: as of" in banner(pilot)
        assert page.freshness.cause is not None
        assert page.freshness.cause.message.split()[0] in banner(pilot)
        assert old_rows(pilot) == rows
        assert "STALE" in lines_of(pilot.app)[0]
        door.open()
        await pilot.press("r")
        await until(pilot, lambda: banner(pilot) == "")
        assert "LIVE" in lines_of(pilot.app)[0]
        assert (window.current_id, set(window.marks)) == (under, marked)
        assert old_rows(pilot) == rows

    with Door(three, tmp_path) as door:
        on_server(door, scene)


def test_f7_it_comes_back_by_itself(three: str, tmp_path: Path) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        door.shut()
        await until(pilot, lambda: "NO ANSWER" in banner(pilot))
        door.open()
        await until(pilot, lambda: banner(pilot) == "")
        assert "LIVE" in lines_of(pilot.app)[0]

    with Door(three, tmp_path) as door:
        on_server(door, scene)


def test_f7_connections_that_the_server_ends_are_made_anew(three: str, tmp_path: Path) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        page = threads(pilot)
        before = page.freshness.since
        with psycopg.connect(three, autocommit=True) as administrator:
            administrator.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name LIKE 'holdwatch%' AND datname = current_database()"
            )
        await until(pilot, lambda: page.freshness.since != before and page.freshness.cause is None)
        assert len(old_rows(pilot)) == 3

    with Door(three, tmp_path) as door:
        on_server(door, scene)


def test_f7_changes_are_off_while_the_store_does_not_answer() -> None:
    gateway = FakeGateway()
    app = make_app(gateway)
    app.session.registry = WRITING
    app.session.window.open("INC-1")

    async def play() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            page = await ready(pilot)
            await pilot.press("space")
            assert len(threads(pilot).main_widget().window.marks) == 1  # it may, while the store answers
            gateway.down = DOWN
            await pilot.press("r")
            await until(pilot, lambda: page.freshness.cause is not None)
            assert not app.session.writable  # the window ends with the connection
            page.perform("mark")
            await pilot.pause()
            assert "is off" in said(pilot)
            app.session.window.open("INC-1")  # and were it open, changes would be off all the same
            page.perform("mark")
            await pilot.pause()
            assert "changes are off" in said(pilot)
            page.action_verb("address")
            await pilot.pause()
            assert "changes are off" in said(pilot)
            await pilot.press("space")
            assert "changes are off" in said(pilot)
            assert len(threads(pilot).main_widget().window.marks) == 1
            gateway.down = None
            await refreshed(pilot)
            await pilot.press("space")
            assert len(threads(pilot).main_widget().window.marks) == 2

    asyncio.run(play())


def test_f7_before_the_first_answer_changes_are_off_too() -> None:
    action = replace(actions.ACTIONS[0], capability=Capability.WRITE)
    assert actions.refusal(action, writable=True, connected=True) is None
    assert "does not answer" in (actions.refusal(action, writable=True, connected=False) or "")
    assert "read-only" in (actions.refusal(action, writable=False, connected=False) or "")
    assert actions.refusal(actions.ACTIONS[0], writable=False, connected=False) is None
    assert not make_app().screen_stack  # nothing was opened for this


def failed(page: Page, times: int | None = None) -> bool:
    """Whether the last question was not answered, and how often in a row."""
    return page.freshness.cause is not None and times in {None, page.freshness.attempt}


def waits() -> list[float]:
    """How long the console waits after each of seven failures."""
    return [BACKOFF_SECONDS[min(number, len(BACKOFF_SECONDS)) - 1] for number in range(1, 8)]


def test_f7_each_attempt_is_counted_and_r_makes_the_next_one_now() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        page = await ready(pilot)
        gateway.down = DOWN
        for number in range(1, 8):
            await pilot.press("r")
            await until(pilot, partial(failed, page, number))
            due = page.freshness.next_at
            assert due is not None
            assert due - 1_000.0 == waits()[number - 1]
            assert f"attempt {number}, next in" in banner(pilot)
        gateway.down = None
        await refreshed(pilot)
        assert (banner(pilot), page.freshness.attempt) == ("", 0)

    drive(scene)


def test_f7_every_screen_keeps_its_old_rows_and_says_that_they_are_old() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        for key in ("0", "1", "2", "3", "4", "5", "8", "9"):
            gateway.down = None
            await pilot.press(key)
            page = await refreshed(pilot)
            before = lines_of(pilot.app)
            gateway.down = DOWN
            await pilot.press("r")
            await until(pilot, partial(failed, page))
            after = lines_of(pilot.app)
            assert "STALE" in after[0]
            assert "OLD" in "".join(after[2:5])
            kept = [line.split()[1:2] for line in before[4:12]]
            shown = [line.split()[1:2] for line in after]
            assert sum(each in shown for each in kept) >= len(kept) - 4, key

    drive(scene)


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 2\0 and more", b"\x7fELF" * 40])
def test_a_file_that_is_no_database_is_one_clear_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(stores.NoStoreError, match="is no SQLite database; name the file of a store"):
        stores.url_of(str(path))
    assert path.read_bytes() == content
