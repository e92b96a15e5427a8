"""A frozen plan from the filter to the report, by keys only, over real stores (console.md F1).

`tests/contract/test_jobs_frozen.py` is the same without a console: here a person sees the 37, plans them, and reads
what became of each.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from console.acting.confirmation import QUIET_SECONDS
from console.acting.model import Person
from console.acting.plans import PlanState
from console.actions import textual_key
from console.app import HoldwatchApp
from console.calls import Calls
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.screens.confirm import ConfirmScreen
from console.screens.job import JobScreen
from console.screens.plan import PlanScreen
from console.screens.threads import ThreadsScreen
from console.session import Session
from console.widgets.choice import Choice
from console.widgets.pane import Pane
from tests.console.hand import Hand
from tests.console.test_acting_window import Time
from tests.support.builders import claim, emit
from tests.support.cascades import check_only_tombstones, grow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from console.widgets.listing import Listing
    from engine.store import Store
    from tests.support.harness import Harness

PLANNED: Final = tuple(f"batch-{n:02}" for n in range(37))
LATE, CHANGED, GONE = "batch-99", "batch-07", "batch-21"
FILTER: Final = "id:batch-"


class Operator(Hand):
    """Somebody who works by keys, and reads what stands on the screen."""

    @property
    def listing(self) -> Listing[Any]:
        """The list in front."""
        found: Listing[Any] = self.app.screen.main_widget()  # type: ignore[attr-defined]
        return found

    @property
    def ids(self) -> list[str]:
        """What the list in front shows and the store still has, sorted."""
        window = self.listing.window
        return sorted(window.id_at(place) for place in range(len(window)) if not window.is_ghost(place))

    @property
    def head(self) -> str:
        """What is said above a job's list."""
        return "".join(pane.text for pane in self.app.screen.query("#head").results(Pane))

    async def type(self, text: str) -> None:
        """A text, letter by letter."""
        await self.press(*(textual_key(each) for each in text))

    async def turn_on(self) -> None:
        """Changes, through their dialog."""
        await self.press("W")
        await self.come_to(lambda: isinstance(self.app.screen, ConfirmScreen))
        await self.press("up", *"INC", "down", "down", "enter")
        await self.come_to(lambda: self.app.session.writable)

    async def narrow(self, text: str) -> None:
        """The list to what a filter means, in place of the one before."""
        await self.press("slash", *["backspace"] * len(self.app.screen.filter))  # type: ignore[attr-defined]
        await self.type(text)
        await self.press("enter")

    async def plan(self) -> PlanScreen:
        """The plan of what is marked, once it can be confirmed."""
        await self.press("D")
        await self.come_to(
            lambda: isinstance(self.app.screen, PlanScreen) and self.app.screen.made is not None
        )
        screen = self.app.screen
        assert isinstance(screen, PlanScreen)
        await self.come_to(
            lambda: any(choice.has_focus for choice in screen.query("#cancel").results(Choice))
        )
        return screen

    async def confirm(self, phrase: str) -> None:
        """A reason, the phrase, and Enter on the deed."""
        self.clock.now += QUIET_SECONDS
        await self.press("up", "up")
        await self.type("INC 7")
        await self.press("down")
        await self.type(phrase)
        await self.press("down", "down", "enter")


def meanwhile(store: Store) -> None:
    """A 38th that matches; one that was planned is taken up and goes on; another one is deleted."""
    grow(store.checkpoints, {LATE: None})
    taken = claim(store, CHANGED, "late writer")
    emit(store.checkpoints, CHANGED, taken.token, "still alive")
    store.checkpoints.release(CHANGED, taken.token)
    store.checkpoints.delete_thread(GONE, claim(store, GONE, "deleter").token)


@asynccontextmanager
async def operating(harness: Harness) -> AsyncIterator[Operator]:
    """Somebody at a console that has its first rows, with changes on."""
    person, clock = Person("mk", "bastion-2"), Time()
    gateway, acting = (
        EngineGateway(harness.url, harness.clock),
        EngineActing(harness.url, person, harness.clock),
    )
    session = Session(gateway, Calls(), clock, acting=acting, person=person)
    session.window.monotonic = clock
    app = HoldwatchApp(session)
    async with app.run_test(size=(120, 60)):
        operator = Operator(app, clock)
        await operator.come_to(lambda: session.identity is not None)
        await operator.turn_on()
        yield operator


async def planned(operator: Operator) -> str:
    """All that the filter shows, marked and frozen; the phrase that would carry it out."""
    await operator.narrow(FILTER)
    await operator.come_to(lambda: operator.ids == [*PLANNED])
    await operator.press("g", "v", "end", "v")
    screen = await operator.plan()
    assert screen.made is not None
    view = screen.made.view
    assert (view.state, view.items) == (PlanState.READY, len(PLANNED))
    assert view.phrase.split()[:2] == ["DELETE", str(view.rows)]
    return view.phrase


async def why_skipped(operator: Operator) -> dict[str, str]:
    """What the pane below the skipped items says of each, line by line of the list."""
    told = {}
    await operator.press("tab", "tab")
    await operator.come_to(lambda: len(operator.listing.window.rows) == 2)
    for key in ("g", "down"):
        await operator.press(key)
        row = operator.listing.target_row
        assert row is not None
        told[row.id] = operator.app.screen.query_one("#detail", Pane).text
    return told


def test_F1_by_keys_37_planned_35_applied_2_skipped_and_the_38th_stands(harness: Harness) -> None:
    grow(harness.checkpoints, dict.fromkeys((*PLANNED, "witness")))

    async def run() -> None:
        async with operating(harness) as operator:
            phrase = await planned(operator)
            await asyncio.to_thread(meanwhile, harness.sibling())
            await operator.confirm(phrase)
            await operator.come_to(lambda: isinstance(operator.app.screen, JobScreen))
            await operator.come_to(lambda: "37/37" in operator.head)
            assert "# DONE" in operator.head
            assert "applied 35  skipped 2  failed 0" in operator.head
            whys = await why_skipped(operator)
            assert whys.keys() == {CHANGED, GONE}
            assert "version changed" in whys[CHANGED]
            assert "already gone" in whys[GONE]
            await operator.press("1")
            await operator.come_to(lambda: operator.ids == [CHANGED, LATE])
            assert isinstance(operator.app.screen, ThreadsScreen)

    asyncio.run(run())
    check_only_tombstones(harness, [each for each in PLANNED if each != CHANGED])
    for stays in (CHANGED, LATE, "witness"):
        assert harness.checkpoints.latest(stays) is not None
