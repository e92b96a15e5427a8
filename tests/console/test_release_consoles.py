"""A release by keys whose holder did something between the plan and the phrase (console.md F9; ruling 53)."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console.acting.records import AuditQuery
from console.commands import parse
from console.screens.claims import ClaimsScreen
from console.screens.job import JobScreen
from console.screens.plan import PlanScreen
from engine.errors import StaleClaim
from tests.console.consoles import MK, Console, console
from tests.console.plan_play import meant, settle
from tests.console.waiting import asks
from tests.support.builders import TTL, chain, claim, emit

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.reading import Gateway
    from tests.support.harness import Harness

LATER = timedelta(seconds=5)


def renews(harness: Harness, thread: str, token: int) -> None:
    """The holder is alive after all."""
    harness.advance(LATER)
    harness.checkpoints.renew(thread, token, TTL)


def is_overtaken(harness: Harness, thread: str, token: int) -> None:
    """The lease is over, and another takes the thread."""
    harness.advance(TTL + LATER)
    assert claim(harness.store, thread, f"next-{thread}").token > token


def ends(harness: Harness, thread: str, token: int) -> None:
    """Nobody has it any more."""
    harness.checkpoints.release(thread, token)


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """What happens before the phrase is typed, how the skip is explained, and which holder has it then."""

    deed: Callable[[Harness, str, int], None]
    why: str
    holder: str | None


CASES = (
    Meanwhile(renews, r"renewed until 2026-10-09.12:\d\d:\d\d", "first"),
    Meanwhile(is_overtaken, r"token is now \d+", "next"),
    Meanwhile(ends, r"already released", None),
)


def held(harness: Harness, thread: str) -> int:
    """A thread with a checkpoint, and a holder that holds nothing else; its token."""
    token = claim(harness.store, thread, f"first-{thread}").token
    chain(harness.checkpoints, thread, token, ["c1"])
    return token


def means(screen: ClaimsScreen) -> str | None:
    """The claim that a verb would work on."""
    found = screen.main_widget().target
    return None if found is None else str(found)


async def released(here: Console, thread: str, token: int, meanwhile: Callable[[], None]) -> None:
    """From the claim in its list over `L` and the phrase to the report."""
    app, pilot = here.app, here.pilot
    wanted = f"holder:first-{thread}"
    app.carry_out(parse(f"claims {wanted}"))
    await here.until(lambda: isinstance(app.screen, ClaimsScreen) and app.screen.filter == wanted)
    await here.seen(lambda: isinstance(app.screen, ClaimsScreen) and means(app.screen) == thread)
    await here.press("L")
    await here.until(lambda: isinstance(app.screen, PlanScreen) and asks(app))
    assert isinstance(app.screen, PlanScreen)
    assert app.screen.made is not None
    assert app.screen.made.view.phrase == f"RELEASE {token}"
    await settle(pilot, here.time)
    meanwhile()
    await meant(pilot, here.time, f"RELEASE {token}", "INC-7")
    await here.until(lambda: isinstance(app.screen, JobScreen))
    await here.seen(lambda: "# DONE" in here.head)


def test_F9_a_holder_that_did_anything_since_the_plan_keeps_its_claim_and_the_operator_is_told_why(
    harness: Harness,
) -> None:
    async def scene() -> None:
        async with console(harness.url, MK, harness.clock) as here:
            for case in CASES:
                await left_alone(here, harness, case)

    asyncio.run(scene())


async def left_alone(here: Console, harness: Harness, case: Meanwhile) -> None:
    """One release that comes too late."""
    thread = f"victim-{case.deed.__name__}"
    token = held(harness, thread)
    await released(here, thread, token, lambda: case.deed(harness, thread, token))
    assert "applied 0  skipped 1  failed 0" in here.head
    assert re.search(rf"- skipped 1  {case.why}", here.head), here.head
    assert "was left alone" in here.head
    check_stands(here.app.session.gateway, thread, case.holder)


def check_stands(gateway: Gateway, thread: str, who: str | None) -> None:
    """Who holds it, and that the audit says of the attempt that it was skipped."""
    found = gateway.claim(thread)
    assert (None if found is None else found.row.holder) == (None if who is None else f"{who}-{thread}")
    (entry,) = gateway.audit(AuditQuery(object_kind="claim", object_id=thread), None, 10).rows
    assert (entry.deed, entry.phase, entry.body["outcome"]) == ("release", "result", "skipped")


def test_ruling_53_a_commit_alone_does_not_keep_a_claim_and_its_writer_is_turned_away_from_then_on(
    harness: Harness,
) -> None:
    token = held(harness, "victim")

    async def scene() -> None:
        async with console(harness.url, MK, harness.clock) as here:
            await released(here, "victim", token, commits)
            assert "applied 1  skipped 0  failed 0" in here.head

    def commits() -> None:
        emit(harness.checkpoints, "victim", token, "late")

    asyncio.run(scene())
    with pytest.raises(StaleClaim):
        emit(harness.checkpoints, "victim", token, "too late")
    assert claim(harness.store, "victim").token > token
