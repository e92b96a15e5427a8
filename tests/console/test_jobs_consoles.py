"""Jobs and several consoles on one store: killed, ended, raced for, paused here and run on there (console.md F10)."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console.acting.jobs import JobState
from console.acting.records import AuditQuery
from console.screens.jobs import JobsScreen
from engine.clock import SystemClock
from engine.desk.jobs import LEASE
from tests.console.consoles import JO, MK, Console, console
from tests.console.job_play import (
    FLAT,
    TREES,
    Doomed,
    check_all_gone,
    check_each_once,
    hurry,
    lapse,
    looking,
    made,
    token,
)
from tests.console.test_terminal import Terminal
from tests.support.cascades import alive, marked
from tests.support.jobs import open_intents

if TYPE_CHECKING:
    from datetime import datetime

    from console.acting.jobs import JobRow
    from console.gateway import EngineGateway
    from tests.support.harness import Harness

UP = "\x1b[A"


class Ahead:
    """The clock of a machine for which every lease that others hold is over."""

    def now(self) -> datetime:
        """A lease's time later than elsewhere."""
        return SystemClock().now() + LEASE + timedelta(seconds=5)


def changes_on(terminal: Terminal) -> None:
    """Through the dialog, each key after the one before was seen."""
    terminal.press("W")
    terminal.see("a reason is needed")
    terminal.press(UP)
    terminal.see("> Reason")
    terminal.press("INC")
    terminal.see("Reason INC")
    terminal.press("\r")
    terminal.see("> [ Turn on ]")
    terminal.press("\r")
    terminal.see("changes are on")


def killed_in_the_middle(harness: Harness, job: str) -> str:
    """A console as a process of its own runs the job until kill -9; whom the store names as its runner."""
    terminal = Terminal(harness.url)
    try:
        terminal.see("witness")
        changes_on(terminal)
        terminal.press(f":job {job}\r")
        terminal.see("READY")
        terminal.press("B")
        terminal.see("y does it")
        terminal.press("y")
        with looking(harness) as gateway:
            terminal._until(lambda: stands(gateway, job).done >= 1, "an item applied")
            terminal.child.kill(signal.SIGKILL)
            terminal.ends()
            found = stands(gateway, job)
    finally:
        terminal.child.close(force=True)
    assert terminal.child.signalstatus == signal.SIGKILL
    assert (found.state, 1 <= found.done < found.total) == (JobState.RUNNING, True)
    assert found.owner is not None
    assert found.owner.endswith(f"/{terminal.child.pid}")
    return found.owner


def stands(gateway: EngineGateway, job: str) -> JobRow:
    """The job as the store has it."""
    view = gateway.job(job)
    assert view is not None
    return view.row


def test_F10_a_console_that_was_killed_leaves_a_job_that_another_console_ends(harness: Harness) -> None:
    doomed = made(harness, TREES)
    owner = killed_in_the_middle(harness, doomed.id)
    hurry(harness, doomed.id)

    async def scene() -> None:
        async with console(harness.url, JO) as here:
            await here.press("6")
            await here.seen(lambda: aims_at(here, doomed.id) and owner in here.below)
            await here.press("B")
            await here.until(lambda: "is running: it runs elsewhere" in here.told)
            assert not here.runs(doomed.id)
            lapse(harness, doomed.id)
            await here.seen(lambda: f"{owner} (gone)" in here.below)
            assert "nothing is done twice" in here.below
            await here.begin()
            await here.until(
                lambda: f"{doomed.id} done: applied {len(TREES)}, skipped 0, failed 0" in here.told
            )
            await here.show(doomed.id)
            await here.seen(lambda: "# DONE" in here.head)

    asyncio.run(scene())
    check_all_gone(harness, doomed)
    assert token(harness, doomed.id) == 2
    assert doomed.id not in open_intents(harness)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["where it runs", "from elsewhere"])
def test_F10_a_cancel_by_key_stops_a_running_job_after_the_item_at_hand(
    harness: Harness, elsewhere: bool
) -> None:
    doomed = made(harness)

    async def scene() -> None:
        async with console(harness.url, MK) as runs, console(harness.url, JO) as looks:
            ends = looks if elsewhere else runs
            await begun(runs, doomed.id)
            await ends.show(doomed.id)
            await ends.press("F")
            await ends.answer("n")
            assert runs.row(doomed.id).state is JobState.RUNNING
            await ends.press("F")
            await ends.answer()
            await runs.until(lambda: runs.app.running.job is None)
            await runs.until(lambda: says_it_ended(runs, doomed.id, "cancelled"))
            await check_told_as_cancelled(runs, doomed.id)
            await check_told_as_cancelled(looks, doomed.id)

    asyncio.run(scene())
    check_ended_in_the_middle(harness, doomed)


def aims_at(here: Console, job: str) -> bool:
    """Whether the list of jobs is in front, and the operator has seen its cursor on this one."""
    return isinstance(here.app.screen, JobsScreen) and here.app.screen.main_widget().target == job


async def begun(here: Console, job: str) -> None:
    """The job runs here, and an item of it is done."""
    await here.show(job)
    await here.begin()
    await here.until(lambda: here.row(job).done >= 1)
    assert here.runs(job)


def says_it_ended(here: Console, job: str, how: str) -> bool:
    """Whether the console says what the run came to, or, where it was told so last, what the key did."""
    row = here.row(job)
    left = f"applied {row.done}, skipped 0, failed 0, {row.total - row.done} of {row.total} left"
    return f"{job} {how}: {left}" in here.told or f"{job} is {how}: " in here.told


async def check_told_as_cancelled(here: Console, job: str) -> None:
    """The report says what was done, what not, and who may go on: nobody."""
    await here.show(job)
    row = here.row(job)
    await here.seen(lambda: "- CANCELLED" in here.head and f"{row.done}/{row.total}" in here.head)
    assert f"applied {row.done}  skipped 0  failed 0" in here.head
    assert f"not done: {row.total - row.done};" in here.head
    await here.press("B")
    await here.until(lambda: f"{job} is cancelled: " in here.told)
    assert not here.runs(job)


def check_ended_in_the_middle(harness: Harness, doomed: Doomed) -> None:
    """After the cancel was written down at most the item at hand was applied; what is left is as it was."""
    with looking(harness) as gateway:
        entries = gateway.audit(AuditQuery(), None, 200).rows
        items = gateway.job_items(doomed.id, None, None, 200).rows
        (cancel,) = (row.seq for row in entries if (row.deed, row.phase) == ("cancel", "result"))
        later = [row for row in entries if row.object_kind == "thread" and row.seq > cancel]
        stays = set(FLAT) - {item.id for item in items}
        assert len(later) <= 1, "more than the item at hand"
        assert 1 <= len(items) < len(FLAT)
        assert [thread for thread in stays if gateway.claim(thread) is not None] == []
    check_each_once(harness, doomed, len(items))
    checkpoints = harness.open(clock=None).checkpoints
    assert alive(checkpoints, FLAT) == stays
    assert not any(marked(checkpoints, thread) for thread in stays)


def test_F10_of_two_consoles_that_begin_a_job_at_once_one_runs_it_and_the_other_is_told(
    harness: Harness,
) -> None:
    doomed = made(harness)

    async def scene() -> None:
        async with console(harness.url, MK) as mk, console(harness.url, JO) as jo:
            for each in (mk, jo):
                await each.show(doomed.id)
                await each.press("p")  # neither sees what the other does before it acts itself
            await asyncio.gather(mk.begin(), jo.begin())
            await mk.until(lambda: mk.runs(doomed.id) != jo.runs(doomed.id))
            winner, loser = (mk, jo) if mk.runs(doomed.id) else (jo, mk)
            owner = f"{winner.app.session.person.name}/{os.getpid()}"
            await loser.until(lambda: f"does not run here: {owner} runs job" in loser.told)
            await asyncio.gather(mk.press("p"), jo.press("p"))
            assert (winner.row(doomed.id).owner, token(harness, doomed.id)) == (owner, 1)
            await loser.seen(lambda: "> RUNNING" in loser.head and owner in loser.head)
            await loser.press("B")
            await loser.until(lambda: "is running: it runs elsewhere" in loser.told)
            await handed_over(harness, doomed.id, winner, loser)

    asyncio.run(scene())
    check_all_gone(harness, doomed)
    assert token(harness, doomed.id) == 2


async def handed_over(harness: Harness, job: str, one: Console, other: Console) -> None:
    """The one lets go of it in the middle, the other goes on to its end."""
    await one.until(lambda: one.row(job).done >= 1)
    await one.press("B")
    await one.until(lambda: one.app.running.job is None)
    assert one.row(job).state is JobState.READY
    hurry(harness, job)
    await other.seen(lambda: ". READY" in other.head)
    await other.begin()
    await other.seen(lambda: "# DONE" in other.head)


def test_F10_a_console_whose_lease_was_over_is_told_that_another_goes_on_and_stores_nothing_more(
    harness: Harness,
) -> None:
    doomed = made(harness)

    async def scene() -> None:
        async with console(harness.url, MK) as slow, console(harness.url, JO, Ahead()) as takes:
            await begun(slow, doomed.id)
            hurry(harness, doomed.id)
            await takes.show(doomed.id)
            await takes.seen(lambda: "X INTERRUPTED" in takes.head)
            await takes.begin()
            await takes.seen(lambda: "# DONE" in takes.head)
            await slow.until(lambda: not slow.runs(doomed.id))
            await slow.until(lambda: "does not run here: " in slow.told and "goes on elsewhere" in slow.told)

    asyncio.run(scene())
    check_all_gone(harness, doomed)
    assert token(harness, doomed.id) == 2


def test_F10_a_job_paused_in_one_console_is_let_go_on_and_run_to_its_end_in_another(
    harness: Harness,
) -> None:
    doomed = made(harness)

    async def scene() -> None:
        async with console(harness.url, MK) as one, console(harness.url, JO) as other:
            await begun(one, doomed.id)
            await one.press("H")
            await one.answer()
            await one.until(lambda: one.app.running.job is None)
            paused = one.row(doomed.id)
            assert (paused.state, paused.owner) == (JobState.PAUSED, None)
            await one.until(lambda: says_it_ended(one, doomed.id, "paused"))
            await other.show(doomed.id)
            await other.seen(lambda: "= PAUSED" in other.head)
            await other.press("B")
            await other.until(lambda: f"is paused: H lets it go on with item {paused.done + 1}" in other.told)
            hurry(harness, doomed.id)
            await other.press("H")
            await other.answer()
            await other.seen(lambda: ". READY" in other.head)
            assert other.row(doomed.id).done == paused.done
            await other.begin()
            await other.seen(lambda: "# DONE" in other.head)
            await one.seen(lambda: "# DONE" in one.head)

    asyncio.run(scene())
    check_all_gone(harness, doomed)
    assert moves(harness, doomed.id) == [("pause", MK.name), ("resume", JO.name)]


def moves(harness: Harness, job: str) -> list[tuple[str, str]]:
    """What persons did to a job once it was made, and who, oldest first."""
    with looking(harness) as gateway:
        entries = gateway.audit(AuditQuery(object_kind="job", object_id=job), None, 50).rows
    return [
        (row.deed, row.actor) for row in reversed(entries) if row.phase == "result" and row.deed != "delete"
    ]
