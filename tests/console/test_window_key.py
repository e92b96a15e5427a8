"""W on Cancel turns changes on or off and is no letter of the reason, and it counts only after the pause (F3, F4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.acting.confirmation import QUIET_SECONDS
from console.screens.confirm import ConfirmScreen
from console.screens.resolve import ResolveScreen
from console.widgets.plan_form import PlanForm
from tests.console.fake_acting import FakeActing
from tests.console.plan_play import by_hand, opened
from tests.console.resolve_play import NARROW, WIDE, Play
from tests.console.resolve_play import play as resolving
from tests.console.test_acting_window import play as planning
from tests.console.waiting import until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.app import HoldwatchApp
    from tests.console.test_acting_window import Time


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_w_in_the_form_of_a_resolution_is_no_letter_of_the_reason(size: tuple[int, int]) -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence()
        await here.at_the_end()
        closing = here.form.form.closing
        closing.begin()
        await here.pilot.press("W")
        await here.pilot.pause()
        assert isinstance(here.app.screen, ResolveScreen)
        assert "pause a moment" in here.told
        here.time.now += 2 * QUIET_SECONDS
        await here.pilot.press("W")
        await until(here.pilot, lambda: isinstance(here.app.screen, ConfirmScreen))
        assert closing.reason == ""
        await here.keys("escape")
        await until(here.pilot, lambda: isinstance(here.app.screen, ResolveScreen))
        await here.text("because")  # any other letter still begins the reason
        assert closing.reason == "because"

    assert resolving(scene, writable=False, size=size).changes == []


def test_w_in_the_form_of_a_plan_is_no_letter_of_the_reason() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        screen = await opened(pilot, app, time)
        form = screen.query_one(PlanForm)
        form.begin_anew()
        await pilot.press("W")
        await pilot.pause()
        assert app.session.window.was_opened
        time.now += 2 * QUIET_SECONDS
        await by_hand(pilot, time, "W")
        await until(pilot, lambda: not app.session.window.was_opened)
        assert form.reason == ""
        assert app.screen is screen

    planning(FakeActing(), scene)
