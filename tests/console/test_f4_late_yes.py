"""What happens while a dialog is open: the window runs out and a yes comes too late; a dialog that is left twice, and
an answer that comes while something else is in front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.acting.confirmation import Confirmed
from console.acting.window import LENGTH_SECONDS
from console.model import GatewayError
from console.screens.confirm import ConfirmScreen
from console.screens.help import HelpScreen
from console.screens.page import Page
from console.widgets.band import Band
from console.widgets.choice import Choice
from tests.console.fake import FakeGateway
from tests.console.fake_acting import FakeActing
from tests.console.hand import Hand
from tests.console.plan_play import PHRASE, by_hand, keys_of, opened, told
from tests.console.test_acting_window import Time, play
from tests.console.test_pilot import said
from tests.console.test_running_jobs import play as on_a_job
from tests.console.waiting import asks, ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.app import HoldwatchApp


AWAY = GatewayError("server closed the connection", code="store_failure", retryable=True)


def told_in(app: HoldwatchApp) -> str:
    """What the dialog in front says is missing."""
    return app.screen.query_one("#told", Band).text


def runs_out(time: Time) -> None:
    """Ten minutes go by."""
    time.now += LENGTH_SECONDS + 1


@pytest.mark.parametrize("key", ["B", "H", "F"])
def test_a_yes_after_changes_went_off_changes_nothing_and_is_told(key: str) -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))
        time.now += 1
        runs_out(time)
        dialog = app.screen
        await until(pilot, lambda: "read-only" in told_in(app))
        await pilot.press("y")
        assert app.screen is dialog  # the deed is held back, and says why
        await until(pilot, lambda: not app.session.window.was_opened)
        dialog.dismiss(Confirmed("", ""))  # as if the yes had come between two looks
        await until(pilot, lambda: not isinstance(app.screen, ConfirmScreen))
        await until(pilot, lambda: "read-only" in said(pilot))

    on_a_job(acting, scene)
    assert [call[0] for call in acting.changes] == []


@pytest.mark.parametrize("key", ["W", "B", "H"])
def test_a_store_that_is_lost_below_a_dialog_is_said_there_and_holds_the_deed_back_until_it_is_back(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    acting = FakeActing()

    def lost(*_asked: object) -> None:
        raise AWAY

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        gateway, page = app.session.gateway, app.screen
        assert isinstance(gateway, FakeGateway)
        assert isinstance(page, Page)
        if key == "W":
            app.session.window.close()
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and bool(app.screen.query("#deed")))
        dialog = app.screen
        time.now += 1
        if key == "W":
            await by_hand(pilot, time, "up", *"why", "down")
        assert dialog.query_one("#deed", Choice).enabled
        with monkeypatch.context() as away:
            away.setattr(gateway, "job_items", lost)
            page.polls()[0].ask_now()
            await until(pilot, lambda: "the store does not answer" in told_in(app))
            assert "NO ANSWER" in str(dialog.query_one("#sheet").border_subtitle)
            assert "STALE" in page.query_one("#status", Band).text
            await pilot.press(*("down", "enter") if key == "W" else "y")
            assert app.screen is dialog
        page.polls()[0].ask_now()
        await until(pilot, lambda: "does not answer" not in told_in(app))
        assert not dialog.query_one("#sheet").border_subtitle
        ended = "read-only" in told_in(app)  # what changes the store waits for another window
        assert (ended, dialog.query_one("#deed", Choice).enabled) == (key != "W", key == "W")
        await pilot.press("escape")

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
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))
        await Hand(app, time).post("escape")
        await until(pilot, lambda: app.screen is page)
        await pilot.press("H")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))
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
