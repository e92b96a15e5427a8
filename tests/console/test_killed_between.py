"""A console that is killed between intent and result: the next start lists the intent as open (console.md, "Audit
trail").
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from console.acting.model import Person
from console.acting.records import AuditQuery
from console.app import HoldwatchApp
from console.calls import Calls
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.screens.unknown import UnknownScreen
from console.session import Session
from console.widgets.listing import Listing
from tests.console.test_pilot import said
from tests.console.waiting import ready, until
from tests.support.builders import claim

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tests.support.harness import Harness

ME = Person("mk", "bastion-2")
CHILD = """
import sys, time
from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, ReleaseWish
from console.gateway.acting import EngineActing
from engine.desk.jobs import execution

def dies(*_arguments):
    print("between", flush=True)
    time.sleep(30)

acting = EngineActing(sys.argv[1], Person("mk", "bastion-2"))
acting.open(Order("read-write window", "INC-1", Route.KEY, "holdwatch (W)"))
plan = acting.make_plan(ReleaseWish(("t",)), "prod", Bounds())
execution._made = dies
acting.execute(plan.id, Order("execute", "INC-1", Route.KEY, "holdwatch execute", "op_killed"), plan.phrase, 0)
"""


def killed_between(url: str) -> None:
    """Run a change in a process of its own, and kill it where its intent is stored and nothing else is."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, url], stdout=subprocess.PIPE)
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"between\n"
        child.send_signal(signal.SIGKILL)
        assert child.wait(10) == -signal.SIGKILL


def test_kill_9_between_intent_and_result_shows_at_the_next_start(harness: Harness) -> None:
    claim(harness.store, "t")
    killed_between(harness.url)
    looking = EngineGateway(harness.url, harness.clock)
    intents = looking.audit(AuditQuery(actor=ME.name, unfinished=True), None, 10).rows
    assert [(row.deed, row.operation) for row in intents][:1] == [("release", "op_killed")]
    assert (looking.outcome("op_killed"), looking.claim("t") is None) == (None, False)
    acting = EngineActing(harness.url, ME, harness.clock)
    session = Session(looking, Calls(), time.monotonic, acting=acting, person=ME)

    async def scene(pilot: Pilot[None], app: HoldwatchApp) -> None:
        await ready(pilot)
        await until(pilot, lambda: "1 change of yours was begun" in said(pilot))
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.screen, UnknownScreen))
        listing = app.screen.query_one("#list", Listing)
        await until(pilot, lambda: listing.target == "op_killed")

    async def play() -> None:
        app = HoldwatchApp(session)
        async with app.run_test(size=(80, 24)) as pilot:
            await scene(pilot, app)

    asyncio.run(play())
