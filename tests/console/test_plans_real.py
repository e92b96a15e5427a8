"""One plan over a real store, from the key to the last item, by keys only (console.md F1, F10 and F12)."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import engine
from console.acting.confirmation import QUIET_SECONDS
from console.acting.model import Person
from console.acting.records import AuditQuery
from console.app import HoldwatchApp
from console.calls import Calls
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.screens.confirm import ConfirmScreen
from console.screens.job import JobScreen
from console.screens.plan import PlanScreen
from console.session import Session
from tests.console.plan_play import facts, keys_of, planned
from tests.console.waiting import asks, ready, until
from tests.support.builders import chain, claim

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from console.widgets.listing import Listing

MK = Person("mk", "bastion-2")
BETWEEN = 0.04
"""Seconds between two keys of a hand that is fast, and still a hand."""


async def by_hand(pilot: Pilot[None], *keys: str) -> None:
    """Press each key in its own time, of a clock that nobody moves."""
    for key in keys:
        await asyncio.sleep(BETWEEN)
        await pilot.press(key)


async def looked(pilot: Pilot[None]) -> None:
    """As long as no key counts."""
    await pilot.pause(QUIET_SECONDS + 0.1)


def filled(url: str) -> None:
    """Two idle threads of three checkpoints each."""
    with engine.open_store(url) as store:
        for name in ("victim", "witness"):
            held = claim(store, name)
            chain(store.checkpoints, name, held.token, [f"{name}-{n}" for n in range(3)])
            store.checkpoints.release(name, held.token)


def test_a_delete_by_keys_takes_the_thread_of_the_plan_and_no_other(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/agents.db"
    filled(url)
    gateway, acting = EngineGateway(url), EngineActing(url, MK)
    session = Session(gateway, Calls(), monotonic=time.monotonic, acting=acting, person=MK)
    app = HoldwatchApp(session)

    async def run() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            await by_hand(pilot, "W")
            await until(pilot, lambda: isinstance(app.screen, ConfirmScreen) and asks(app))
            await looked(pilot)
            await by_hand(pilot, "up", *"INC", "down", "down", "enter")
            await until(pilot, lambda: session.writable)
            listing: Listing[object] = app.screen.main_widget()  # type: ignore[attr-defined]
            target = listing.target
            assert target is not None
            await by_hand(pilot, "D")
            screen = await planned(pilot, app)
            assert "TREE" in facts(screen)
            assert screen.made is not None
            phrase = screen.made.view.phrase
            assert phrase == f"DELETE {screen.made.view.rows} ON AGENTS"
            await looked(pilot)
            await by_hand(
                pilot, "up", "up", *keys_of("INC 7"), "down", *keys_of(phrase), "down", "down", "enter"
            )
            await until(pilot, lambda: isinstance(app.screen, JobScreen))
            await until(pilot, lambda: app.running.job is None)
            await by_hand(pilot, "escape")
            await until(
                pilot, lambda: isinstance(app.screen, PlanScreen) and "ALREADY DONE by mk@" in facts(screen)
            )
            _told(gateway, target)

    asyncio.run(run())


def _told(gateway: EngineGateway, target: str) -> None:
    """The store's own word: a tombstone of the one, nothing of the other, and an audit that says why."""
    gone, stays = gateway.story(target), gateway.story("witness" if target == "victim" else "victim")
    assert gone is not None
    assert gone.tombstone is not None
    assert stays is not None
    assert (stays.tombstone, len(stays.checkpoints)) == (None, 3)
    entries = [row for row in gateway.audit(AuditQuery(), None, 20).rows if row.object_kind == "plan"]
    assert [(row.phase, row.deed, row.reason) for row in entries] == [
        ("result", "delete", "INC 7"),
        ("intent", "delete", "INC 7"),
    ]
    assert gateway.verify_audit(lambda _read: None).broken_at is None
