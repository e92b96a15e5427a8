"""No way out of a half-filled form drops what was typed without a question, and none leads away while it is written."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest
from textual.widgets import Input

from console.acting.confirmation import QUIET_SECONDS
from console.app import HoldwatchApp
from console.commands import parse
from console.screens.confirm import ConfirmScreen
from console.screens.fences import FencesScreen
from console.screens.plan import PlanScreen
from console.screens.resolve import ResolveScreen
from console.screens.sweep import SweepScreen
from console.screens.threads import ThreadsScreen
from console.widgets.pane import Pane
from console.widgets.plan_form import PlanForm
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing
from tests.console.plan_play import opened
from tests.console.resolve_play import Play, play
from tests.console.test_acting_window import PERSON, Time
from tests.console.test_running_jobs import JOB, begun
from tests.console.test_running_jobs import play as play_jobs
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.acting.resolving import Resolution


def question(app: HoldwatchApp) -> str:
    """Title and facts of the dialog in front."""
    sheet, facts = app.screen.query_one("#sheet"), app.screen.query_one("#facts", Pane)
    return f"{sheet.border_title} {facts.text}"


async def answered(pilot: Pilot[None], time: Callable[[], float], key: str, *, holds: str) -> None:
    """The question, which says this, answered once it counts."""
    app = pilot.app
    await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and bool(app.screen.query("#facts")))
    await until(pilot, lambda: holds in question(app))  # type: ignore[arg-type]
    time.now += 2 * QUIET_SECONDS  # type: ignore[attr-defined]
    await pilot.press(key)
    await until(pilot, lambda: not isinstance(app.screen, ConfirmScreen))


def typed(app: HoldwatchApp) -> str:
    """What stands in the form in front."""
    assert isinstance(app.screen, ResolveScreen)
    return app.screen.form.filled.items[0].reference


def test_every_way_out_of_a_form_asks_and_no_answer_but_yes_drops_it() -> None:
    """The form stands over the list of threads."""

    async def scene(here: Play) -> None:
        await here.evidence("kept")
        here.app.set_focus(here.form.form.outcomes)
        here.app.carry_out(parse("threads status:idle"))
        await answered(here.pilot, here.time, "n", holds="half-filled form")
        assert typed(here.app) == "kept"
        await here.keys("4")  # another list: the form stays behind it, as it is
        await until(here.pilot, lambda: isinstance(here.app.screen, FencesScreen))
        here.app.carry_out(parse("threads status:idle"))  # from afar, into the list that it stands over
        await answered(here.pilot, here.time, "n", holds="typed to resolve")
        await here.keys("q")
        await answered(here.pilot, here.time, "n", holds="leave: leave the half-filled form?")
        await here.keys("1")
        await until(here.pilot, lambda: isinstance(here.app.screen, ResolveScreen))
        assert typed(here.app) == "kept"
        await here.keys("1")
        await answered(here.pilot, here.time, "y", holds="half-filled form")
        assert isinstance(here.app.screen, ThreadsScreen)

    assert play(scene).changes == []


def test_an_empty_form_is_left_without_a_question() -> None:
    async def scene(here: Play) -> None:
        above = ResolveScreen(here.app.session, here.form.address)
        here.app.push_screen(above)
        assert above.typed_work == ""  # asked for before there is anything on it
        here.app.carry_out(parse("threads status:idle"))
        await until(here.pilot, lambda: isinstance(here.app.screen, ThreadsScreen))

    play(scene)


class Slow(FakeActing):
    """Answers when told."""

    goes_on = threading.Event()

    def resolve(self, *_given: Any, **_more: Any) -> Resolution:
        """The test's, late."""
        self.goes_on.wait(20.0)
        return self.resolution


def test_nobody_leaves_while_it_is_written() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence()
        await here.confirm("RELEASE 0.300000")
        await until(here.pilot, lambda: here.form.sending)
        here.app.carry_out(parse("threads status:idle"))
        await until(here.pilot, lambda: "being written" in here.said())
        here.form.do_back()
        assert isinstance(here.app.screen, ResolveScreen)
        Slow.goes_on.set()
        await until(here.pilot, lambda: not isinstance(here.app.screen, ResolveScreen))

    play(scene, acting=Slow())


def on_threads(scene: Callable[[Pilot[None], HoldwatchApp, Time], Awaitable[None]]) -> None:
    """A scene on the list of threads of a console that may change things."""
    app, time = make_app(FakeGateway()), Time()
    app.session.acting, app.session.person = FakeActing(), PERSON
    app.session.monotonic = app.session.window.monotonic = time

    async def run() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await ready(pilot)
            await scene(pilot, app, time)

    asyncio.run(run())


def leave_by_command(app: HoldwatchApp) -> None:
    """To the list that the plan stands over, narrowed."""
    app.carry_out(parse("threads status:idle"))


def leave_by_cancel(app: HoldwatchApp) -> None:
    """As Cancel and esc do it."""
    assert isinstance(app.screen, PlanScreen)
    app.screen.do_back()


@pytest.mark.parametrize("leave", [leave_by_cancel, HoldwatchApp.do_threads, leave_by_command])
def test_a_plan_with_a_typed_reason_asks_too(leave: Callable[[HoldwatchApp], None]) -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        screen.query_one("#reason", Input).value = "INC-7"
        await pilot.pause()
        leave(app)
        await answered(pilot, time, "n", holds="typed to confirm pln_9c41e2b0")
        assert app.screen is screen
        assert screen.query_one(PlanForm).reason == "INC-7"
        leave(app)
        await answered(pilot, time, "y", holds="typed to confirm pln_9c41e2b0")
        assert app.screen is not screen

    on_threads(scene)


def test_a_begun_policy_of_a_sweep_asks_too() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("S")
        await until(pilot, lambda: isinstance(app.screen, SweepScreen) and bool(app.screen.query(Input)))
        await pilot.press("9", "0", "d", "escape")
        await answered(pilot, time, "n", holds="sweep's policy")
        assert app.screen.query(Input).first().value == "90d"
        await pilot.press("escape")
        await answered(pilot, time, "y", holds="sweep's policy")
        assert isinstance(app.screen, ThreadsScreen)

    on_threads(scene)


def test_another_context_asks_before_it_hands_a_job_over() -> None:
    acting, asked = FakeActing(holding=True), list[str]()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        def opens(name: str) -> object:
            asked.append(name)
            raise ValueError("this test opens none")

        app.session.contexts.opens = opens  # type: ignore[assignment]
        await begun(pilot, time)
        await until(pilot, lambda: app.running.job == JOB)
        app.carry_out(parse("ctx staging"))
        await answered(pilot, time, "n", holds="open staging while a job runs")
        assert (asked, app.running.job) == ([], JOB)
        app.carry_out(parse("ctx staging"))
        await answered(
            pilot, time, "y", holds="Opening staging stops it after the item at hand and hands it over"
        )
        await until(pilot, lambda: asked == ["staging"])
        assert app.running.job == JOB  # a context that cannot be opened changes nothing
        await pilot.press("B")
        await until(pilot, lambda: app.running.job is None)
        app.carry_out(parse("ctx staging"))  # changes being on is no reason to ask: they go off by it
        await until(pilot, lambda: asked == ["staging"] * 2)

    play_jobs(acting, scene)
