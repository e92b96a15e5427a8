"""Playing plans by hand: a console whose changes are kept, a clock that moves when told, keys in their own time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.acting.confirmation import QUIET_SECONDS
from console.screens.plan import PlanScreen
from console.widgets.pane import Pane
from console.widgets.plan_form import PlanForm
from tests.console.fake import FakeGateway
from tests.console.waiting import asks, until

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from console.app import HoldwatchApp
    from tests.console.test_acting_window import Time

BY_HAND = 0.12
PHRASE = "DELETE 9562 ON PROD"


def keys_of(text: str) -> list[str]:
    """The keys that type it."""
    return ["space" if each == " " else each for each in text]


async def by_hand(pilot: Pilot[None], time: Time, *keys: str) -> None:
    """Press each key in its own time."""
    for key in keys:
        time.now += BY_HAND
        await pilot.press(key)


async def settle(pilot: Pilot[None], time: Time) -> None:
    """Wait as a reader does."""
    time.now += 2 * QUIET_SECONDS
    await pilot.pause()


async def planned(pilot: Pilot[None], app: HoldwatchApp) -> PlanScreen:
    """The plan in front, once it is there and its confirmation too."""
    await until(pilot, lambda: isinstance(app.screen, PlanScreen) and bool(app.screen.query(PlanForm)))
    await until(pilot, lambda: asks(app) and app.session.calls.running == 0)
    assert isinstance(app.screen, PlanScreen)
    return app.screen


async def opened(pilot: Pilot[None], app: HoldwatchApp, time: Time, key: str = "D") -> PlanScreen:
    """Changes on, and a plan made by a key of the list in front."""
    app.session.window.open("INC")
    await pilot.press(key)
    screen = await planned(pilot, app)
    await settle(pilot, time)
    return screen


async def meant(pilot: Pilot[None], time: Time, phrase: str = PHRASE, reason: str = "INC") -> None:
    """A reason, the phrase, and Enter on the deed."""
    await by_hand(
        pilot, time, "up", "up", *keys_of(reason), "down", *keys_of(phrase), "down", "down", "enter"
    )


def store_of(app: HoldwatchApp) -> FakeGateway:
    """The made-up store behind it."""
    assert isinstance(app.session.gateway, FakeGateway)
    return app.session.gateway


def told(screen: PlanScreen) -> str:
    """What the confirmation says is missing."""
    form = screen.query_one(PlanForm)
    return form.missing


def facts(screen: PlanScreen) -> str:
    """All that is said of the plan."""
    return screen.query_one("#facts", Pane).text
