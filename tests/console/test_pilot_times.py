"""The keys of time and pace on the running console (console.md F7, rows 70 to 72; 5.2)."""

from __future__ import annotations

import json
import re
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console import present
from console.app import HoldwatchApp
from console.calls import Calls
from console.config import Asked, Config, Layer, Source, Valued, settled, with_habit
from console.config.file import parsed
from console.habits import Habits, default_habits
from console.memory import default_memory
from console.opening import Opener
from console.session import Session
from console.targets import Target
from console.times import TOLD, Telling
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_moment import T0
from tests.console.pictures import lines_of
from tests.console.test_pilot import DOWN, drive, said
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from textual.pilot import Pilot

UTC_TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d{3})?Z")
LOCAL_TIME = re.compile(r"\d\d:\d\d:\d\d(\.\d{3})?(?!Z|\.)\b")
WORDS = re.compile(r"TIME \(UTC\)")
PAGES = ("0", "1", "2", "3", "4", "5", "8", "9")


@pytest.fixture
def kathmandu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A zone that no UTC time looks like."""
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_report_69_no_page_mixes_two_ways(kathmandu: None) -> None:
    async def scene(pilot: Pilot[None], _gateway: FakeGateway) -> None:
        for key in PAGES:
            await pilot.press(key)
            await refreshed(pilot)
            for telling in (Telling.LOCAL, Telling.RELATIVE, Telling.UTC):
                await pilot.press("t")
                await refreshed(pilot)
                check(telling, "\n".join(lines_of(pilot.app)).replace("19:00Z", ""))

    def check(telling: Telling, shown: str) -> None:
        if telling is Telling.UTC:
            assert "(local)" not in shown
            assert "(age)" not in shown
            return
        assert UTC_TIME.search(shown) is None, (telling, shown)
        assert WORDS.search(shown) is None, (telling, shown)
        if telling is Telling.RELATIVE:
            assert re.search(r"\d\d:\d\d:\d\d", shown) is None, shown
        else:
            assert "19:48:22+05:45" in shown  # 14:03:22Z

    drive(scene)


def test_report_72_an_event_s_line_shows_its_own_instant() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("5")
        await refreshed(pilot)
        shown = "\n".join(lines_of(pilot.app))
        own = gateway.tail[-1].own
        assert own is not None
        assert own != gateway.tail[-1].at
        assert present.stamp(own) in shown

    drive(scene)


def test_report_70_what_was_chosen_is_found_again(tmp_path: Path) -> None:
    habits = Habits(tmp_path / "state" / "habits.json")

    async def scene(pilot: Pilot[None], _gateway: FakeGateway) -> None:
        app = pilot.app
        assert isinstance(app, HoldwatchApp)
        app.session.habits = habits
        await pilot.press("t")
        await until(pilot, lambda: habits.telling() is Telling.LOCAL)
        assert "local" in said(pilot)
        await pilot.press("t", "t")
        await until(pilot, lambda: habits.telling() is None)  # UTC again, as without any choice

    drive(scene)


def test_report_70_the_next_console_begins_with_it() -> None:
    default_habits().keep(Telling.RELATIVE)
    session = Opener(Config(), Asked()).session(Target("sqlite:///none.db"))
    try:
        assert session.settings.time == Valued(Telling.RELATIVE, Source(Layer.HABIT, "t"))
        HoldwatchApp(session)
        assert TOLD.telling is Telling.RELATIVE
    finally:
        session.gateway.close()


def test_report_70_utc_unless_said_otherwise(tmp_path: Path) -> None:
    assert settled(Config()).time.value is Telling.UTC
    config = parsed(b'time = "local"\nascii = true\n', tmp_path / "config.toml")
    settings = settled(config)
    assert settings.time.value is Telling.LOCAL
    assert settings.time.source.layer is Layer.GLOBAL
    assert settings.ascii.value
    assert with_habit(settings, Telling.UTC).time.value is Telling.UTC
    assert with_habit(settings, None) is settings


@pytest.mark.parametrize("content", ["", "[]", "nonsense", '{"time": "swatch"}', '{"time": 3}'])
def test_a_file_of_habits_that_says_nothing_changes_nothing(content: str, tmp_path: Path) -> None:
    habits = Habits(tmp_path / "habits.json")
    habits.file.write_text(content)
    assert habits.telling() is None
    habits.keep(Telling.LOCAL)
    assert habits.telling() is Telling.LOCAL


def test_habits_lie_beside_the_memory_and_hold_nothing_else() -> None:
    habits = default_habits()
    habits.keep(Telling.LOCAL)
    assert habits.file.parent == default_memory().file.parent
    assert json.loads(habits.file.read_text()) == {"time": "local"}


def test_habits_that_cannot_be_kept_are_said_and_hold_for_now(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    async def scene(pilot: Pilot[None], _gateway: FakeGateway) -> None:
        app = pilot.app
        assert isinstance(app, HoldwatchApp)
        app.session.habits = Habits(tmp_path / "file" / "habits.json")
        await pilot.press("t")
        await until(pilot, lambda: "could not be kept" in said(pilot))
        assert TOLD.telling is Telling.LOCAL

    drive(scene)


def test_relative_times_stand_while_the_data_is_old() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        app = pilot.app
        assert isinstance(app, HoldwatchApp)
        now = [1_000.0]
        app.session.monotonic = lambda: now[0]
        await pilot.press("t", "t")
        page = await refreshed(pilot)
        now[0] += 30
        page._tick()
        assert TOLD.now == T0 + timedelta(seconds=30)
        gateway.down = DOWN
        await pilot.press("r")
        await until(pilot, lambda: page.freshness.cause is not None)
        frozen = TOLD.now
        now[0] += 300
        page._tick()
        assert TOLD.now == frozen == T0
        assert "read 5m30s ago" in "\n".join(lines_of(app))

    drive(scene)


def test_slower_and_faster_are_shown_and_hold_on_every_screen() -> None:
    async def scene(pilot: Pilot[None], _gateway: FakeGateway) -> None:
        def header() -> str:
            return lines_of(pilot.app)[0]

        assert "LIVE 2s" in header()
        await pilot.press("+")
        assert "LIVE 5s" in header()
        await pilot.press("2")
        page = await ready(pilot)
        assert page.polls()[0].pace.interval == 5
        for _ in range(9):
            await pilot.press("+")
        assert "LIVE 60s" in header()
        for _ in range(12):
            await pilot.press("-")
        assert "LIVE 0.5s" in header()
        await pilot.press("0")
        page = await ready(pilot)
        assert page.polls()[0].pace.interval == 20  # dear, whatever the operator would like
        await pilot.press("+")
        assert "no faster than every 20 s" in said(pilot)

    drive(scene)


@pytest.mark.parametrize(("ahead", "shown"), [(90, "our clock +1m30s"), (-90, "our clock -1m30s"), (1, "")])
def test_f7_a_clock_that_is_wrong_is_shown_and_changes_no_lease(ahead: int, shown: str) -> None:
    gateway = FakeGateway()
    session = Session(gateway, Calls(), monotonic=lambda: 1_000.0)
    usual = make_app()

    async def scene() -> None:
        async with usual.run_test(size=(120, 40)) as pilot:
            await ready(pilot)
            right = lines_of(usual)
        session.wall = lambda: T0 + timedelta(seconds=ahead)
        app = HoldwatchApp(session)
        async with app.run_test(size=(120, 40)) as pilot:
            await ready(pilot)
            header, *rows = lines_of(app)
            assert ("our clock" in header) == bool(shown)
            assert shown in header
            assert rows == right[1:]
            assert any("+20s" in row for row in rows)

    import asyncio

    asyncio.run(scene())
