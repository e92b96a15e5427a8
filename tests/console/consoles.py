"""Consoles over one real store, some at a time, each with changes on and a person of its own."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from console.acting.confirmation import QUIET_SECONDS
from console.acting.model import Person
from console.app import HoldwatchApp
from console.calls import Calls
from console.commands import parse
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.screens.confirm import ConfirmScreen
from console.screens.job import JobScreen
from console.screens.page import Page
from console.session import Session
from console.widgets.band import Band
from console.widgets.pane import Pane
from tests.console.test_acting_window import Time
from tests.console.waiting import asks, ready

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from textual.pilot import Pilot

    from console.acting.jobs import JobRow
    from engine.clock import Clock

MK, JO = Person("mk", "bastion-2"), Person("jo", "laptop")
PATIENCE_SECONDS = 20.0
STEP_SECONDS = 0.02
AGAIN_SECONDS = 0.3


class Passing(Time):
    """A clock that goes on as any other does, and jumps when told."""

    def __call__(self) -> float:
        return time.monotonic() + self.now


@dataclass(frozen=True, slots=True)
class Console:
    """One of them. What is asked of it is asked as in its own process: no other one is the present app meanwhile."""

    app: HoldwatchApp
    pilot: Pilot[None]
    time: Time

    async def press(self, *keys: str) -> None:
        """Keys, each as soon as the one before is dealt with."""
        with self.app._context():
            await self.pilot.press(*keys)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let all consoles go on until it holds; AssertionError, with what is said here, after `PATIENCE_SECONDS`."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        with self.app._context():
            while not condition():
                assert time.monotonic() < deadline, self.told
                await asyncio.sleep(STEP_SECONDS)

    async def seen(self, condition: Callable[[], bool]) -> None:
        """Ask the store again, now and then, until what is on the screen is so; bounded as `until`."""
        asked = 0.0

        def so() -> bool:
            nonlocal asked
            if not condition() and time.monotonic() - asked > AGAIN_SECONDS:
                asked = time.monotonic()
                if isinstance(self.app.screen, Page):
                    self.app.screen.do_refresh()
            return condition()

        await self.until(so)

    async def show(self, job: str) -> None:
        """The job's own screen, unless it is in front."""
        if not isinstance(self.app.screen, JobScreen):
            with self.app._context():
                self.app.carry_out(parse(f"job {job}"))
        await self.until(lambda: isinstance(self.app.screen, JobScreen) and "deed" in self.head)

    async def answer(self, key: str = "y") -> None:
        """The dialog in front, read and answered."""
        await self.read()
        await self.press(key)
        await self.until(lambda: not isinstance(self.app.screen, ConfirmScreen))

    async def begin(self) -> None:
        """The job that is shown, with the yes to what B asks."""
        await self.press("B")
        await self.answer()

    async def read(self) -> None:
        """The dialog in front, looked at until its keys count."""
        await self.until(lambda: isinstance(self.app.screen, ConfirmScreen) and asks(self.app))
        self.time.now += 2 * QUIET_SECONDS

    async def turn_on(self) -> None:
        """Changes, through their dialog."""
        await self.press("W")
        await self.read()
        await self.press("up", *"INC", "down", "down", "enter")
        await self.until(lambda: self.app.session.writable)

    @property
    def head(self) -> str:
        """What the job's head says; nothing while another screen is in front, or it is still being put up."""
        return "".join(pane.text for pane in self.app.screen.query("#head").results(Pane))

    @property
    def below(self) -> str:
        """What the pane below the list says."""
        return "".join(pane.text for pane in self.app.screen.query("#detail").results(Pane))

    @property
    def told(self) -> str:
        """What the console last said, wherever it fitted; nothing while a dialog is in front."""
        lines = [each.text for each in self.app.screen.query("#screens").results(Band)]
        return "".join([*lines, *(each.text for each in self.app.screen.query("#notice").results(Pane))])

    def row(self, job: str) -> JobRow:
        """The job as the store has it for this console."""
        view = self.app.session.gateway.job(job)
        assert view is not None
        return view.row

    def runs(self, job: str) -> bool:
        """Whether it runs here."""
        return self.app.running.job == job


@asynccontextmanager
async def console(url: str, person: Person, clock: Clock | None = None) -> AsyncIterator[Console]:
    """A console that has its first rows and changes on; of several the one opened last is left first."""
    passing = Passing()
    acting = EngineActing(url, person, clock)
    session = Session(EngineGateway(url, clock), Calls(), passing, acting=acting, person=person)
    app = HoldwatchApp(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        made = Console(app, pilot, passing)
        await made.turn_on()
        yield made
