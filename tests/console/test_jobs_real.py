"""Jobs over a real store: one run from the console to its end, one handed over to a second console (F10, ruling 57)."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest

import engine
from console.acting.jobs import JobState
from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, ReleaseWish
from console.app import HoldwatchApp
from console.calls import Calls
from console.commands import OpenJob
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.model import GatewayError
from console.screens.job import JobScreen
from console.session import Session
from tests.console.consoles import Passing
from tests.console.test_pilot_jobs import head
from tests.console.test_running_jobs import begun
from tests.console.waiting import ready, until
from tests.support.builders import claim

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from textual.pilot import Pilot

    from tests.console.test_acting_window import Time

MK, JO = Person("mk", "bastion-2"), Person("jo", "laptop")
SLOW = 6
"""Items a second of a job that is to be caught half-way."""


def order() -> Order:
    """A change with a reason."""
    return Order("release", "INC-1", Route.KEY, "holdwatch release")


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A store with twenty claims."""
    url = f"sqlite:///{tmp_path}/store.db"
    with engine.open_store(url) as store:
        for n in range(20):
            claim(store, f"t{n:02}")
        yield url


def made(acting: EngineActing, first: int, behind: int, rate: int = 0) -> str:
    """A job that releases some of the claims."""
    wish = ReleaseWish(tuple(f"t{n:02}" for n in range(first, behind)))
    plan = acting.make_plan(wish, "prod", Bounds())
    assert plan.id is not None
    return acting.execute(plan.id, order(), plan.phrase, rate)


def acting_on(url: str, person: Person) -> EngineActing:
    """A door that is open."""
    acting = EngineActing(url, person)
    acting.open(order())
    return acting


async def on_console(
    url: str,
    acting: EngineActing,
    person: Person,
    job: str,
    scene: Callable[[Pilot[None], HoldwatchApp, Time], Awaitable[None]],
) -> None:
    """A scene on a console that has changes on and shows this job."""
    passing = Passing()
    session = Session(EngineGateway(url), Calls(), passing, acting=acting, person=person)
    app = HoldwatchApp(session)
    async with app.run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        session.window.open("INC-1")
        app.carry_out(OpenJob(job))
        await until(pilot, lambda: isinstance(app.screen, JobScreen) and "deed" in head(pilot))
        await scene(pilot, app, passing)


def shown(app: HoldwatchApp) -> int:
    """How many items have a result, as the store says."""
    view = app.session.gateway.job(app.screen.job) if isinstance(app.screen, JobScreen) else None
    return -1 if view is None else view.row.done


def test_f10_a_job_is_run_from_the_console_to_its_end_and_reported(url: str) -> None:
    acting = acting_on(url, MK)
    job = made(acting, 0, 3)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, clock: Time) -> None:
        assert ". READY" in head(pilot)
        await begun(pilot, clock)
        await until(pilot, lambda: "# DONE" in head(pilot))
        assert "applied 3  skipped 0  failed 0" in head(pilot)
        assert "nothing is left to do" in head(pilot)
        assert app.session.gateway.claim("t00") is None

    asyncio.run(on_console(url, acting, MK, job, scene))


def test_f10_a_job_is_handed_over_to_a_second_console(url: str) -> None:
    job = made(acting_on(url, MK), 0, 12, SLOW)

    async def begins(pilot: Pilot[None], app: HoldwatchApp, clock: Time) -> None:
        await begun(pilot, clock)
        await until(pilot, lambda: shown(app) >= 1)
        await pilot.press("B")
        await until(pilot, lambda: app.running.job is None)
        view = app.session.gateway.job(job)
        assert view is not None
        assert (view.row.state, view.row.owner) == (JobState.READY, None)
        assert view.row.done < 12

    async def ends(pilot: Pilot[None], app: HoldwatchApp, clock: Time) -> None:
        await begun(pilot, clock)
        await until(pilot, lambda: "# DONE" in head(pilot))
        items = app.session.gateway.job_items(job, None, None, 100).rows
        assert [item.n for item in items] == list(range(1, 13))
        assert {item.outcome.value for item in items} == {"applied"}

    async def both() -> None:
        await on_console(url, acting_on(url, MK), MK, job, begins)
        await on_console(url, acting_on(url, JO), JO, job, ends)

    asyncio.run(both())


def test_ruling_57_a_job_goes_on_when_the_window_ends_and_the_store_closes_after_it(url: str) -> None:
    acting = acting_on(url, MK)
    job, other = made(acting, 0, 5, SLOW), made(acting, 10, 12)
    stop, ended = threading.Event(), []
    thread = threading.Thread(target=lambda: ended.append(acting.run_job(job, stop, {})))
    thread.start()
    looking = EngineGateway(url)
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and (looking.job(job) or pytest.fail("no job")).row.done < 1:
        time.sleep(0.01)
    acting.close("turned off by the operator")
    with pytest.raises(GatewayError, match="W turns them on"):
        acting.run_job(other, stop, {})
    with pytest.raises(GatewayError, match="W turns them on"):
        acting.pause_job(job, order())
    thread.join(10)
    looking.close()
    assert [row.state for row in ended if row is not None] == [JobState.DONE]
    assert acting._store is None
