"""The jobs' screen and one job's, driven by keys (console.md F10 and 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from console.acting.jobs import JobState
from console.app import HoldwatchApp
from console.commands import parse
from console.screens.entry import EntryScreen
from console.screens.job import JobScreen
from console.screens.jobs import JobsScreen
from console.screens.thread import ThreadScreen
from console.widgets.band import Band
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway
from tests.console.fake_acting import audit_row, job_row, plan_view
from tests.console.test_pilot import drive, said
from tests.console.test_pilot_lists import crumbs, ids, listed, pane
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from textual.pilot import Pilot


def with_jobs(number: int = 6) -> FakeGateway:
    """A store with a job in each state."""
    return FakeGateway(job_rows=[job_row(n) for n in range(number)])


async def command(pilot: Pilot[None], text: str) -> None:
    """What the line says, without the keys that type it."""
    assert isinstance(pilot.app, HoldwatchApp)
    pilot.app.carry_out(parse(text))
    await pilot.pause()
    await ready(pilot)


def head(pilot: Pilot[None]) -> str:
    """What the job's head says."""
    return pilot.app.screen.query_one("#head", Pane).text


async def opened(pilot: Pilot[None], job: str) -> JobScreen:
    """One job's screen."""
    await command(pilot, f"job {job}")
    screen = pilot.app.screen
    assert isinstance(screen, JobScreen)
    await until(pilot, lambda: "deed" in head(pilot))
    return screen


def test_a_footer_offers_only_what_can_be_done_with_the_job() -> None:
    offers = {"ready": {"run here", "halt", "give up"}, "running": {"halt", "give up"}, "done": set[str]()}
    rows = [job_row(n, state=JobState(state)) for n, state in enumerate(offers)]

    async def scene(pilot: Pilot[None], _gateway: FakeGateway) -> None:
        await pilot.resize_terminal(160, 40)
        await pilot.press("6")
        await ready(pilot)
        for row, wanted in zip(rows, offers.values(), strict=True):
            await until(pilot, lambda: offered(pilot) == wanted)  # noqa: B023 - awaited here
            await opened(pilot, row.id)
            assert offered(pilot) == wanted
            await pilot.press("escape", "j")
            await ready(pilot)

    drive(scene, FakeGateway(job_rows=rows))


def offered(pilot: Pilot[None]) -> set[str]:
    """Which of the verbs of a job stand in the footer."""
    text = pilot.app.screen.query_one("#keys", Band).text
    return {word for word in ("run here", "halt", "give up") if word in text}


def test_the_jobs_are_listed_with_state_progress_and_lease() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("6")
        assert isinstance(await ready(pilot), JobsScreen)
        assert ids(pilot) == [f"job_{n:04}" for n in range(6)]
        await until(pilot, lambda: "mk@bastion-2/4711" in pane(pilot))
        assert "66% 40/60  applied 38  skipped 1  failed 1" in pane(pilot)
        await pilot.press("j")
        await until(pilot, lambda: "waits for a runner: B runs it here" in pane(pilot))
        await pilot.press("Y")
        assert said(pilot).endswith("jobs sort:store")

    drive(scene, with_jobs())


def test_a_state_narrows_them_and_interrupted_is_told_from_running() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, "jobs state:paused")
        await until(pilot, lambda: ids(pilot) == ["job_0002"])
        await command(pilot, "jobs state:running")
        await until(pilot, lambda: ids(pilot) == ["job_0000"])
        await command(pilot, "jobs state:nonsense")
        await until(pilot, lambda: "there are ready, running" in said(pilot))

    drive(scene, with_jobs())


def test_tab_shows_the_stored_plans_and_comes_back() -> None:
    gateway = with_jobs()
    gateway.plan_rows = [plan_view(), plan_view(id="pln_2")]

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("6")
        await ready(pilot)
        await pilot.press("tab")
        await until(pilot, lambda: ids(pilot) == ["pln_9c41e2b0", "pln_2"])
        assert "Plans" in crumbs(pilot)
        await pilot.press("H")
        assert "read-only" in said(pilot)
        await pilot.press("tab")
        await until(pilot, lambda: len(ids(pilot)) == 6)
        await command(pilot, "plans")
        await until(pilot, lambda: listed(pilot).filter == "plans")

    drive(scene, gateway)


def test_a_running_job_shows_its_pace_and_its_items_by_outcome() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("6")
        await ready(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, JobScreen) and "deed" in head(pilot))
        for word in ("> RUNNING", "12.5 items/s", "time left", "3s", "66% 40/60", "applied 38", "1m00s left"):
            assert word in head(pilot), word
        assert len(ids(pilot)) == 40
        await pilot.press("tab", "tab")
        await until(pilot, lambda: listed(pilot).filter == "outcome:skipped")
        await until(pilot, lambda: len(ids(pilot)) == 10)
        assert "version changed" in pane(pilot)
        assert listed(pilot).address_text() == "job job_0000 outcome:skipped"
        await pilot.press("escape")
        await until(pilot, lambda: len(ids(pilot)) == 40)

    drive(scene, with_jobs())


def test_the_end_of_a_job_is_its_report() -> None:
    gateway = with_jobs()

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await opened(pilot, "job_0003")
        await until(pilot, lambda: "# DONE" in head(pilot))
        assert "- skipped 10  version changed" in head(pilot)
        assert "x failed 10  the lock was held" in head(pilot)
        assert "/ outcome:failed lists it" in head(pilot)
        await opened(pilot, "job_0004")
        await until(pilot, lambda: "X INTERRUPTED" in head(pilot))
        assert "B goes on with item 41; nothing is done twice" in head(pilot)

    drive(scene, gateway)


def test_a_job_that_the_store_does_not_have_is_gone_and_a_wrong_filter_is_refused() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await command(pilot, "job nowhere")
        await until(pilot, lambda: "GONE" in crumbs(pilot))
        await pilot.press("escape")
        with pytest.raises(ValueError, match="there are applied, skipped, failed"):
            await command(pilot, "job job_0001 outcome:odd")

    drive(scene, with_jobs())


def test_an_item_opens_its_audit_entry_and_what_it_was_about() -> None:
    gateway = with_jobs()
    gateway.entries = [audit_row(1, operation="job_0000/1", object_id="thr_0001")]

    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await opened(pilot, "job_0000")
        await until(pilot, lambda: len(ids(pilot)) == 40)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(pilot.app.screen, ThreadScreen))
        await pilot.press("escape", "j", "o")
        await until(pilot, lambda: "nothing here shows" in said(pilot))
        await pilot.press("k", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, EntryScreen))

    drive(scene, gateway)
