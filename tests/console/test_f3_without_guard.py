"""With the console's own check taken out the store itself still refuses every change (console.md F3)."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest
from sqlalchemy import text

from console import actions
from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, DeleteWish, ReleaseWish
from console.app import HoldwatchApp
from console.calls import Calls
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.model import GatewayError
from console.screens.page import Page
from console.session import Session
from console.widgets.prompt import Purpose
from tests.console.test_routes import by_palette
from tests.console.waiting import ready, until
from tests.support.builders import chain, claim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.pilot import Pilot

    from console.action import Action
    from console.gateway.store import OpenedStore
    from tests.support.harness import Harness

ME: Final = Person("mk", "bastion-2")
ORDER: Final = Order("release", "INC-1", Route.KEY, "holdwatch plan release t")
TABLES: Final = ("thread", "checkpoint", "event", "plan", "plan_item", "job", "audit", "operation")


@pytest.fixture
def looking(harness: Harness) -> Iterator[EngineGateway]:
    """The reading side of a console, over two threads, one of them claimed."""
    held = claim(harness.store, "idle")
    chain(harness.store.checkpoints, "idle", held.token, ["c0", "c1"])
    harness.store.checkpoints.release("idle", held.token)
    claim(harness.store, "claimed")
    gateway = EngineGateway(harness.url, harness.clock)
    yield gateway
    gateway.close()


def stored(harness: Harness) -> dict[str, list[tuple[object, ...]]]:
    """All rows of the tables that a change would touch."""
    with harness.raw() as connection:
        return {
            name: sorted(map(tuple, connection.execute(text(f"SELECT * FROM {name}"))), key=repr)
            for name in TABLES
        }


DEEDS: Final[dict[str, Callable[[EngineActing], object]]] = {
    "plan": lambda acting: acting.make_plan(DeleteWish(("idle",)), "prod", Bounds()),
    "execute": lambda acting: acting.execute("pln_1", ORDER, "DELETE 1 ON PROD", 0),
    "approve": lambda acting: acting.approve_plan("pln_1", ORDER),
    "give a plan up": lambda acting: acting.cancel_plan("pln_1", ORDER),
    "pause": lambda acting: acting.pause_job("job_1", ORDER),
    "resume": lambda acting: acting.resume_job("job_1", ORDER),
    "give a job up": lambda acting: acting.cancel_job("job_1", ORDER),
    "close an intent": lambda acting: acting.close_intent("op_1", ORDER),
    "record": lambda acting: acting.record(ORDER, {}),
}


@pytest.mark.parametrize("deed", DEEDS)
def test_the_door_of_changes_is_shut_until_w_whoever_knocks(
    harness: Harness, looking: EngineGateway, deed: str
) -> None:
    before = stored(harness)
    with pytest.raises(GatewayError, match="W turns them on"):
        DEEDS[deed](EngineActing(harness.url, ME, harness.clock))
    assert stored(harness) == before


@pytest.mark.parametrize(
    "statement",
    ["DELETE FROM event", "UPDATE thread SET updated_at = 0", "CREATE TABLE gotcha (n INTEGER)"],
)
def test_the_reading_session_itself_can_write_nothing(
    harness: Harness, looking: EngineGateway, statement: str
) -> None:
    looking.identity()
    before = stored(harness)
    source: OpenedStore = looking._store
    engine = source._opened().engine
    with pytest.raises(Exception, match=r"(?i)read-?only"), engine.begin() as connection:
        connection.execute(text(statement))
    assert stored(harness) == before


LINE, PALETTE = ":", "palette"
"""Ways to a verb beside its keys."""


async def asked(pilot: Pilot[None], page: Page, action: Action, way: str) -> bool:
    """Ask for a verb in one way; whether that could be done."""
    if way == PALETTE:
        return by_palette(page, action)
    if way == LINE:
        page.take(Purpose.COMMAND, action.name)
    else:
        await pilot.press(way)
    return True


def test_with_the_check_taken_out_every_verb_by_key_line_and_palette_leaves_the_store_as_it_was(
    harness: Harness, looking: EngineGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No verb is refused, and each is asked for on the threads and on the claims."""
    monkeypatch.setattr(actions, "refusal", lambda *_action, **_state: None)
    acting = EngineActing(harness.url, ME, harness.clock)
    session = Session(looking, Calls(), time.monotonic, acting=acting, person=ME)
    monkeypatch.setattr(type(session), "writable", property(lambda _self: True))
    before, chosen = stored(harness), list[str]()

    async def knock(pilot: Pilot[None], app: HoldwatchApp, screen: str) -> None:
        await pilot.press(screen)
        page = await ready(pilot)
        for action in actions.ACTIONS:
            if action.capability is actions.Capability.READ or action.name == "window":
                continue
            for way in (*action.keys, LINE, PALETTE):
                if not await asked(pilot, page, action, way):
                    continue  # the palette of this screen does not offer it
                chosen.extend([action.name] * (way == PALETTE))
                await until(pilot, lambda: session.calls.running == session.acts.running == 0)
                while app.screen is not page:
                    await pilot.press("escape")
                    await pilot.pause()

    async def run() -> None:
        app = HoldwatchApp(session)
        async with app.run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            for screen in ("1", "2"):
                await knock(pilot, app, screen)
            assert isinstance(app.screen, Page)

    asyncio.run(run())
    assert {"delete", "release"} <= set(chosen), "the palette offers some of them"
    assert acting._store is None
    assert stored(harness) == before


def test_the_same_deeds_go_once_w_was_pressed(harness: Harness, looking: EngineGateway) -> None:
    """What was refused above was refused for that reason."""
    acting = EngineActing(harness.url, ME, harness.clock)
    acting.open(ORDER)
    try:
        plan = acting.make_plan(ReleaseWish(("claimed",)), "prod", Bounds())
        assert acting.execute(str(plan.id), replace(ORDER, operation="op_2"), plan.phrase, 0)
    finally:
        acting.close("the test is over")
