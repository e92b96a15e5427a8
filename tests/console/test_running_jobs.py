"""Jobs that are run, halted, given up and handed over from the console (console.md F10, ruling 57)."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

from console.acting.confirmation import QUIET_SECONDS
from console.acting.jobs import JobState
from console.acting.model import Order
from console.app import TERMINATED
from console.model import GatewayError
from console.screens.confirm import ConfirmScreen
from console.screens.job import JobScreen
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing, job_row
from tests.console.test_acting_window import PERSON, Time
from tests.console.test_pilot import said
from tests.console.test_pilot_jobs import command, head
from tests.console.test_pilot_lists import crumbs
from tests.console.waiting import asks, ready, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.app import HoldwatchApp

JOB = "job_0001"
LOST = GatewayError("server closed the connection", code="store_failure", retryable=True)


def play(
    acting: FakeActing,
    scene: Callable[[Pilot[None], HoldwatchApp, Time], Awaitable[None]],
    *,
    on: bool = True,
) -> HoldwatchApp:
    """A scene on the screen of one job that waits, with changes on unless they are to be off."""
    app, time = make_app(FakeGateway(job_rows=[job_row(n) for n in range(6)])), Time()
    app.session.acting, app.session.person = acting, PERSON
    app.session.monotonic = app.session.window.monotonic = time
    acting.job = job_row(1)

    async def run() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await ready(pilot)
            if on:
                app.session.window.open("INC")
            await command(pilot, f"job {JOB}")
            await until(pilot, lambda: isinstance(app.screen, JobScreen) and "deed" in head(pilot))
            await scene(pilot, app, time)

    asyncio.run(run())
    return app


async def confirmed(pilot: Pilot[None], time: Time, key: str = "y") -> None:
    """The dialog in front, answered."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen) and asks(pilot.app))
    time.now += 2 * QUIET_SECONDS
    await pilot.press(key)
    await until(pilot, lambda: not isinstance(pilot.app.screen, ConfirmScreen))


async def begun(pilot: Pilot[None], time: Time) -> None:
    """B, and the yes to what it asks."""
    await pilot.press("B")
    await confirmed(pilot, time)


def sent(acting: FakeActing, call: str) -> list[Order]:
    """The orders of these calls."""
    return [
        order for name, *rest in acting.calls if name == call for order in rest if isinstance(order, Order)
    ]


def test_b_runs_a_job_here_and_b_again_hands_it_over() -> None:
    acting = FakeActing(holding=True)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("B")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))
        told = app.screen.query_one("#facts", Pane).text
        for word in (JOB, "sweep on prod", "READY", "60 of 60 left", "at most 100/s"):
            assert word in told
        await confirmed(pilot, time, "n")
        assert acting.changes == [], "starting is never enough (ruling 52)"
        await begun(pilot, time)
        await until(pilot, lambda: ("run_job", JOB, {}) in acting.calls)
        await until(pilot, lambda: app.running.job == app.session.job_here == JOB)
        await until(pilot, lambda: "it runs in this console: B hands it over" in head(pilot))
        app.running.begin("job_0004")
        assert "one at a time" in said(pilot)
        await pilot.press("B")
        await until(pilot, lambda: ("handed over", JOB) in acting.calls)
        await until(pilot, lambda: app.session.job_here is None)
        assert app.running.job is None
        assert "is handed over" in said(pilot)

    play(acting, scene)


def test_a_job_runs_to_its_end_and_says_what_it_came_to() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await begun(pilot, time)
        await until(pilot, lambda: f"{JOB} done" in said(pilot))
        assert "applied 0, skipped 0, failed 0 of 60" in said(pilot)

    play(acting, scene)


def test_it_is_not_begun_with_changes_off_but_handed_over_then() -> None:
    acting = FakeActing(holding=True)

    async def off(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("B")
        assert "read-only" in said(pilot)
        await pilot.press("H")
        assert "read-only" in said(pilot)
        app.running.begin(JOB)
        assert "changes are off here" in said(pilot)

    play(acting, off, on=False)
    assert acting.calls == []

    async def over(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await begun(pilot, time)
        await until(pilot, lambda: ("run_job", JOB, {}) in acting.calls)
        await pilot.press("W")
        await until(pilot, lambda: not app.session.writable)
        assert app.running.job == JOB, "a confirmed job goes on (ruling 57)"
        await pilot.press("B")
        await until(pilot, lambda: ("handed over", JOB) in acting.calls)

    play(acting, over)


def test_halting_and_giving_up_are_asked_and_sent_once() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("H")
        await confirmed(pilot, time, "n")
        assert sent(acting, "pause_job") == []
        await pilot.press("H")
        await confirmed(pilot, time)
        await until(pilot, lambda: "is paused" in said(pilot))
        (order,) = sent(acting, "pause_job")
        assert order.command.startswith("holdwatch jobs pause ")
        assert f" {JOB} --reason INC" in order.command
        assert (order.what, order.reason, order.route) == ("pause job", "INC", app.session.route)
        await pilot.press("F")
        await confirmed(pilot, time)
        await until(pilot, lambda: "is cancelled" in said(pilot))
        await command(pilot, "job job_0002")
        await until(pilot, lambda: "= PAUSED" in head(pilot))
        await pilot.press("H")
        await confirmed(pilot, time)
        await until(pilot, lambda: len(sent(acting, "resume_job")) == 1)
        await command(pilot, "job job_0003")
        await until(pilot, lambda: "# DONE" in head(pilot))
        for key in ("H", "F"):
            await pilot.press(key)
            assert "is over, done" in said(pilot)
        await pilot.press("B")
        assert "is done" in said(pilot)

    play(acting, scene)
    assert [len(sent(acting, name)) for name in ("pause_job", "cancel_job", "resume_job")] == [1, 1, 1]


def test_report_29_a_repeat_is_told_who_was_first() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        acting.refusal = GatewayError(
            "cannot pause: job is already paused, by jo@laptop at 14:00", code="job_refused", retryable=False
        )
        await pilot.press("H")
        await confirmed(pilot, time)
        await until(pilot, lambda: "already paused, by jo@laptop" in said(pilot))

    play(acting, scene)


def test_a_job_whose_connection_is_lost_is_interrupted_and_not_begun_again() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        acting.refusal = LOST
        await begun(pilot, time)
        await until(pilot, lambda: "is interrupted" in said(pilot))
        assert "nothing is repeated by itself" in said(pilot)
        assert app.running.job is None
        assert [call for call in acting.calls if call[0] == "run_job"] == [("run_job", JOB, {})]

    play(acting, scene)


def test_leaving_asks_while_a_job_runs_here() -> None:
    acting = FakeActing(holding=True)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await begun(pilot, time)
        await until(pilot, lambda: app.running.job == JOB)
        await pilot.press("q")
        await confirmed(pilot, time, "n")
        assert app.running.job == JOB
        assert ("handed over", JOB) not in acting.calls
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert len([each for each in app.screen_stack if isinstance(each, ConfirmScreen)]) == 1
        time.now += 2 * QUIET_SECONDS
        await pilot.press("y")
        await until(pilot, lambda: ("handed over", JOB) in acting.calls)
        await until(pilot, lambda: not app._running or app._exit)

    app = play(acting, scene)
    assert app.return_code == 0
    names = [call[0] for call in acting.calls]
    assert names.index("handed over") < names.index("close")


def test_leaving_asks_while_changes_are_on() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("q")
        await confirmed(pilot, time, "n")
        assert app.session.writable
        await pilot.press("q")
        await confirmed(pilot, time)

    acting = FakeActing()
    play(acting, scene)
    assert ("close", "the console was left") in acting.calls


def test_a_signal_hands_the_job_over_before_the_console_goes() -> None:
    acting = FakeActing(holding=True)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await begun(pilot, time)
        await until(pilot, lambda: app.running.job == JOB)
        os.kill(os.getpid(), signal.SIGTERM)
        await until(pilot, lambda: app._exit)

    app = play(acting, scene)
    assert app.return_code == TERMINATED
    assert ("handed over", JOB) in acting.calls


def test_report_99_suspending_hands_the_job_over_first() -> None:
    acting, suspended = FakeActing(holding=True), []

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        app.action_suspend_process = lambda: suspended.append(list(acting.calls))  # type: ignore[method-assign]
        await begun(pilot, time)
        await until(pilot, lambda: app.running.job == JOB)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: bool(suspended))
        assert ("handed over", JOB) in suspended[0]
        assert not app.session.writable

    play(acting, scene)


def test_the_line_of_screens_says_that_one_runs_here() -> None:
    acting = FakeActing(holding=True)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await begun(pilot, time)
        await until(pilot, lambda: app.running.job == JOB)
        await until(pilot, lambda: "Jobs>" in said(pilot))
        assert JobState.READY.name in head(pilot)
        assert JOB in crumbs(pilot)

    play(acting, scene)
