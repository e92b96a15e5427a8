"""What happens while a dialog is open: the window runs out and a yes comes too late; a dialog that is left twice, and
an answer that comes while something else is in front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.acting.confirmation import Confirmed
from console.acting.window import LENGTH_SECONDS
from console.screens.confirm import ConfirmScreen
from console.screens.help import HelpScreen
from tests.console.fake_acting import FakeActing
from tests.console.plan_play import PHRASE, by_hand, keys_of, opened, told
from tests.console.test_acting_window import Time, play
from tests.console.test_f4_bursts import Burst
from tests.console.test_pilot import said
from tests.console.test_running_jobs import play as on_a_job
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.app import HoldwatchApp


def runs_out(time: Time) -> None:
    """Ten minutes go by."""
    time.now += LENGTH_SECONDS + 1


@pytest.mark.parametrize("key", ["H", "F"])
def test_a_yes_after_changes_went_off_changes_nothing_and_is_told(key: str) -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        time.now += 1
        runs_out(time)
        await until(pilot, lambda: not app.session.writable)
        await pilot.press("y")
        await until(pilot, lambda: not isinstance(app.screen, ConfirmScreen))
        await until(pilot, lambda: "read-only" in said(pilot))

    on_a_job(acting, scene)
    assert [call[0] for call in acting.changes] == []


def test_a_phrase_that_was_begun_while_changes_were_on_does_nothing_once_they_are_off() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        await by_hand(pilot, time, "up", "up", *"why", "down", *keys_of(PHRASE[:7]))
        runs_out(time)
        await by_hand(pilot, time, *keys_of(PHRASE[7:]), "down", "down", "enter")
        assert told(screen) != ""
        assert app.screen is screen

    play(acting, scene)
    assert [call[0] for call in acting.changes] == ["make_plan"]


def test_leaving_a_dialog_twice_leaves_what_is_under_it() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        page = app.screen
        await pilot.press("H")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        await Burst(pilot, app, time).post("escape")
        await until(pilot, lambda: app.screen is page)
        await pilot.press("H")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        dialog = app.screen
        dialog.dismiss(None)
        dialog.dismiss(None)
        await pilot.pause()
        assert app.screen is page

    on_a_job(FakeActing(), scene)


def test_a_plan_whose_answer_comes_while_the_help_is_open_is_begun_all_the_same() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        await by_hand(pilot, time, "up", "up", *"why", "down", *keys_of(PHRASE), "down", "down")
        app.push_screen(HelpScreen(screen.PLACES, app.session.registry))
        help_screen = app.screen
        view = screen._stored()
        assert view is not None
        screen._send(screen._execute(view, Confirmed(PHRASE, "why")))
        await until(pilot, lambda: any(call[0] == "run_job" for call in acting.calls))
        assert app.screen is help_screen
        await pilot.press("escape")
        await ready(pilot)

    play(acting, scene)
    assert [call[0] for call in acting.changes] == ["make_plan", "execute", "run_job"]
