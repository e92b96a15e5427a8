"""Changes are off until `W`, are on for ten minutes, and end whenever they should (console.md F3)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from console.acting.confirmation import QUIET_SECONDS
from console.acting.model import Order, Person
from console.acting.window import IDLE_SECONDS, LENGTH_SECONDS, Window
from console.model import GatewayError
from console.screens.confirm import ConfirmScreen
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing
from tests.console.test_pilot import said
from tests.console.waiting import asks, ready, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.app import HoldwatchApp

PERSON = Person("mk", "bastion-2")
NO_ROLE = GatewayError("no such role", code="store_failure", retryable=False)


class Time:
    """A clock that moves when told."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def play(
    acting: FakeActing | None, scene: Callable[[Pilot[None], HoldwatchApp, Time], Awaitable[None]]
) -> HoldwatchApp:
    """A scene on a console whose changes would go to this door."""
    app, time = make_app(FakeGateway()), Time()
    app.session.acting, app.session.person = acting, PERSON
    app.session.monotonic = app.session.window.monotonic = time

    async def run() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await ready(pilot)
            await scene(pilot, app, time)

    asyncio.run(run())
    return app


def orders(acting: FakeActing) -> list[Order]:
    """What it was opened with."""
    return [call[1] for call in acting.calls if call[0] == "open" and isinstance(call[1], Order)]


def closed(acting: FakeActing) -> list[object]:
    """Why it was closed, each time."""
    return [call[1] for call in acting.calls if call[0] == "close"]


async def turned_on(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
    """Through the dialog, as an operator does it."""
    await pilot.press("W")
    await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))
    time.now += 2 * QUIET_SECONDS
    for key in ("up", *"INC", "down", "down", "enter"):
        time.now += 0.1
        await pilot.press(key)
    await until(pilot, lambda: app.session.writable)


def test_w_asks_for_a_reason_and_turns_changes_on_until_w() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await turned_on(pilot, app, time)
        assert "changes are on for 10 minutes" in said(pilot)
        assert [order.reason for order in orders(acting)] == ["INC"]
        await pilot.press("W")
        await until(pilot, lambda: bool(closed(acting)))
        assert not app.session.writable
        assert closed(acting) == ["turned off by the operator"]

    play(acting, scene)


def test_it_runs_out_after_ten_minutes_or_after_three_without_a_key() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await turned_on(pilot, app, time)
        time.now += IDLE_SECONDS + 1
        assert not app.session.writable
        await until(pilot, lambda: bool(closed(acting)))
        assert "3" in str(closed(acting)[0])

    play(acting, scene)
    window = Window(Time())
    assert isinstance(window.monotonic, Time)
    window.open("why")
    for _ in range(20):
        window.monotonic.now += LENGTH_SECONDS / 20 - 0.001
        assert window.is_open
        window.touch()
    window.monotonic.now += 1
    assert not window.is_open
    window.touch()
    assert not window.is_open


def test_leaving_closes_it() -> None:
    acting = FakeActing()
    play(acting, turned_on)
    assert closed(acting) == ["the console was left"]


def test_a_lost_connection_ends_it() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await turned_on(pilot, app, time)
        gateway = app.session.gateway
        assert isinstance(gateway, FakeGateway)
        gateway.down = GatewayError("gone", code="store_failure", retryable=True)
        await pilot.press("r")
        await until(pilot, lambda: bool(closed(acting)))
        assert closed(acting) == ["the connection was lost"]

    play(acting, scene)


@pytest.mark.parametrize(
    ("door", "told"),
    [
        (None, "this console only looks"),
        (
            FakeActing(refusal=NO_ROLE),
            "no such role",
        ),
    ],
)
def test_changes_stay_off_where_they_may_not_be_made(door: FakeActing | None, told: str) -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("W")
        if door is not None:
            await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))
            time.now += 2 * QUIET_SECONDS
            for key in ("up", "x", "down", "down", "enter"):
                await pilot.press(key)
        await until(pilot, lambda: told in said(pilot))
        assert not app.session.writable

    play(door, scene)


def test_report_11_a_configuration_that_is_read_only_wins_over_w() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        settings = app.session.settings
        app.session.settings = replace(settings, read_only=replace(settings.read_only, value=True))
        await pilot.press("W")
        await pilot.pause()
        assert "read-only by" in said(pilot)
        assert not isinstance(app.screen, ConfirmScreen)

    play(FakeActing(), scene)
