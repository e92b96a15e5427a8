"""Pictures of the overview: four sizes, without colour, by day, with errors, gone stale, of an empty store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.app import HoldwatchApp
from console.refresh import Poll
from console.screens.overview import OverviewScreen
from tests.console.fake import FakeGateway, make_app
from tests.console.test_contexts import AT_PROD, BOTH, session_on
from tests.console.test_screens import DOWN, typed
from tests.console.waiting import ready, refreshed, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

SIZES = [(80, 24), (100, 30), (120, 40), (200, 60)]
IDS = [f"{columns}x{rows}" for columns, rows in SIZES]


@pytest.fixture(autouse=True)
def _no_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view asks when told to and at no other time."""
    monkeypatch.setattr(Poll, "_interval", lambda _poll: None)


async def read(pilot: Pilot[None]) -> OverviewScreen:
    """The overview once every card has its answer."""
    screen = await ready(pilot)
    assert isinstance(screen, OverviewScreen)
    await until(pilot, lambda: "reading" not in screen.main_widget().text)
    await until(pilot, lambda: screen.session.identity is not None and screen.session.calls.running == 0)
    return screen


def scene(
    keys: list[str], then: Callable[[Pilot[None]], Awaitable[object]] | None = None
) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Go to the overview, press keys there, and do what comes then."""

    async def before(pilot: Pilot[None]) -> None:
        await ready(pilot)
        await pilot.press("0")
        await read(pilot)
        for key in keys:
            await pilot.press(key)
        if keys:
            await read(pilot)
        if then is not None:
            await then(pilot)

    return before


@pytest.mark.parametrize("size", SIZES, ids=IDS)
def test_overview(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    assert snap_compare(make_app(), terminal_size=size, run_before=scene([]))


@pytest.mark.parametrize("size", SIZES, ids=IDS)
def test_overview_no_color(
    size: tuple[int, int], snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(make_app(), terminal_size=size, run_before=scene(["j"]))


@pytest.mark.parametrize("size", SIZES, ids=IDS)
def test_overview_with_parts_that_fail(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    gateway = FakeGateway()

    async def then(pilot: Pilot[None]) -> None:
        gateway.broken = frozenset({"claims", "money", "changed"})
        await refreshed(pilot)
        await read(pilot)

    gateway.broken = frozenset({"money"})
    assert snap_compare(make_app(gateway), terminal_size=size, run_before=scene(["tab", "tab"], then))


@pytest.mark.parametrize("size", SIZES, ids=IDS)
def test_overview_gone_stale(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    gateway = FakeGateway()

    async def then(pilot: Pilot[None]) -> None:
        gateway.down = DOWN
        await pilot.press("r")
        screen = pilot.app.screen
        assert isinstance(screen, OverviewScreen)
        await until(pilot, lambda: screen.freshness.cause is not None)
        await until(pilot, lambda: screen.main_widget().text.count("NOT READ") == 1)

    assert snap_compare(make_app(gateway), terminal_size=size, run_before=scene([], then))


@pytest.mark.parametrize("size", SIZES, ids=IDS)
def test_overview_of_a_tenant(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    keys = [*typed("/tenant:acme since:1h"), "enter"]
    assert snap_compare(make_app(), terminal_size=size, run_before=scene(keys))


@pytest.mark.parametrize("size", SIZES, ids=IDS)
def test_overview_with_contexts(size: tuple[int, int], snap_compare: Callable[..., bool]) -> None:
    session = session_on("prod", AT_PROD, BOTH)
    session.settings = session_on(None, None).settings
    session.gateway.who = AT_PROD  # type: ignore[attr-defined]
    app = HoldwatchApp(session)
    assert snap_compare(app, terminal_size=size, run_before=scene(["G"]))


def test_overview_of_an_empty_store(snap_compare: Callable[..., bool]) -> None:
    gateway = FakeGateway(rows=[], tail=[])
    assert snap_compare(make_app(gateway), terminal_size=(80, 24), run_before=scene([]))


def test_overview_by_day(snap_compare: Callable[..., bool]) -> None:
    keys = [*typed(":theme day"), "enter"]
    assert snap_compare(make_app(), terminal_size=(120, 40), run_before=scene(keys))


def test_overview_help(snap_compare: Callable[..., bool]) -> None:
    async def then(pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        await pilot.pause(0.05)

    assert snap_compare(make_app(), terminal_size=(80, 24), run_before=scene([], then))
