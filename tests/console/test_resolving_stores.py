"""Resolving by hand over real stores: one winner, one record, whoever comes between and whenever it dies (F5)."""

from __future__ import annotations

import os
import signal
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, ReconcileWish, Source
from console.acting.records import AuditQuery
from console.app import HoldwatchApp
from console.calls import Calls
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.money_words import Address, HoldState, Kind
from console.screens.confirm import ConfirmScreen
from console.screens.leading import ask_through
from console.screens.reservation import ReservationScreen
from console.screens.resolve import ResolveScreen
from console.session import Session
from console.widgets.pane import Pane
from engine import open_store
from engine.clock import ManualClock
from engine.spend import Released
from tests.console.resolve_play import NARROW, PERSON, Play, play_on
from tests.console.waiting import asks, ready, until
from tests.support.builders import T0
from tests.support.processes import Program

if TYPE_CHECKING:
    from console.acting.resolving import Answer, Evidence, Resolution, Resolvable
    from engine.clock import Clock
    from tests.support.harness import Harness

MICRO = 300_000
MINUTE = timedelta(minutes=1)
LATER = T0 + 10 * MINUTE


def fenced(harness: Harness, kind: str = "call") -> Address:
    """A day reservation that no default may settle, its check long come."""
    days = harness.store.days
    which = days.reserve(
        kind=kind, micro=MICRO, at=T0, expires=T0 + MINUTE, cap_micro=10**7, require_fence=True
    )
    harness.clock.advance(LATER - harness.clock.now())
    return Address(Kind.DAY, "", which)


def console(url: str, clock: Clock) -> HoldwatchApp:
    """One on a real store."""
    return HoldwatchApp(Session(EngineGateway(url, clock), Calls(), monotonic=lambda: 1_000.0))


def opened(
    url: str, clock: Clock, person: Person = PERSON, kind: type[EngineActing] = EngineActing
) -> EngineActing:
    """Its door, changes on."""
    door = kind(url, person, clock)
    door.open(Order("read-write window", "INC-1", Route.KEY, "holdwatch (W)"))
    return door


def results(harness: Harness, address: Address) -> list[str]:
    """What the audit says became of each decision about it, newest first."""
    gateway = EngineGateway(harness.url, harness.clock)
    try:
        rows = gateway.audit(AuditQuery("reservation", f"day:{address.id}"), None, 50).rows
    finally:
        gateway.close()
    return [str(row.body.get("status")) for row in rows if row.phase == "result"]


def day_of(harness: Harness) -> tuple[int, int]:
    """What the day holds and has settled."""
    total = harness.store.days.total(T0.date().isoformat())
    return total.reserved_micro, total.settled_micro


async def released(here: Play) -> None:
    """Fill the form and confirm it."""
    await here.outcome("v")
    await here.evidence()
    await here.confirm("RELEASE 0.300000")


def test_f5_c_of_two_consoles_one_wins_and_the_other_sees_who_and_with_what(harness: Harness) -> None:
    address = fenced(harness)
    both, told = threading.Barrier(2, timeout=30), {}

    def one(person: Person) -> None:
        door = opened(harness.url, harness.clock, person)

        async def scene(here: Play) -> None:
            here.app.session.person = person
            await here.outcome("v")
            await here.evidence(f"seen by {person.user}")
            await here.at_the_end()
            both.wait()
            await here.confirm("RELEASE 0.300000")
            await until(here.pilot, lambda: "resolved" in here.said() or "nothing" in here.said()
                        or "settled meanwhile" in checks(here))  # fmt: skip
            told[person.user] = here.said() if here.said().strip() else checks(here)

        play_on(console(harness.url, harness.clock), address, scene, acting=door)
        door.close("over")

    threads = [threading.Thread(target=one, args=(each,)) for each in (PERSON, Person("jo", "laptop"))]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert set(told) == {"mk", "jo"}
    assert sorted(results(harness, address), reverse=True)[:1] == ["resolved"]
    assert results(harness, address).count("resolved") == 1
    assert day_of(harness) == (0, 0)
    (loser,) = [text for text in told.values() if "resolved:" not in text]
    assert "was first" in loser or "settled meanwhile" in loser


def checks(here: Play) -> str:
    """The checks, while the form is in front."""
    return here.checks if isinstance(here.app.screen, ResolveScreen) else ""


class Overtaken(EngineActing):
    """Somebody decides between the operator's key and the store."""

    def resolve(
        self,
        shown: Resolvable,
        answer: Answer,
        evidence: tuple[Evidence, ...],
        order: Order,
        corrects: str | None = None,
    ) -> Resolution:
        """An automatic pass first, or another person's decision."""
        self.before(shown, evidence)
        return super().resolve(shown, answer, evidence, order, corrects)

    def before(self, shown: Resolvable, evidence: tuple[Evidence, ...]) -> None:
        """The pass."""
        with open_store(self._url, clock=self._clock) as store:
            store.days.sweep(LATER, lambda _row: Released())


class ByAnother(Overtaken):
    """The other one is a person."""

    def before(self, shown: Resolvable, evidence: tuple[Evidence, ...]) -> None:
        """By a console of his own."""
        door = opened(self._url, self._clock or ManualClock(LATER), Person("jo", "laptop"))
        order = Order("resolve", "INC-1", Route.KEY, "holdwatch resolve")
        from console.acting.resolving import Consumed

        door.resolve(shown, Consumed(120_000), evidence, order)
        door.close("over")


def test_f5_c_the_second_is_told_of_the_first_ones_outcome_and_evidence(harness: Harness) -> None:
    address = fenced(harness)
    door = opened(harness.url, harness.clock, kind=ByAnother)

    async def scene(here: Play) -> None:
        await released(here)
        await until(here.pilot, lambda: "jo@laptop was first" in here.said())
        said = " ".join(here.said().split())
        for word in ("consumed 0.120000 USD", "req_9", "now: already settled", "nothing was changed twice"):
            assert word in said
        assert here.form.form.filled.items[0].reference == "req_9"

    play_on(console(harness.url, harness.clock), address, scene, acting=door, size=NARROW)
    door.close("over")
    assert results(harness, address) == ["overtaken", "resolved"]
    assert day_of(harness) == (0, 120_000)


def test_f5_d_an_automatic_pass_between_open_and_commit_is_told_and_nothing_is_twice(
    harness: Harness,
) -> None:
    address = fenced(harness)
    door = opened(harness.url, harness.clock, kind=Overtaken)

    async def scene(here: Play) -> None:
        await released(here)
        await until(here.pilot, lambda: "overtaken" in here.said())
        assert "already settled by a pass or a worker, at" in " ".join(here.said().split())
        await until(here.pilot, lambda: "settled meanwhile" in here.checks)
        assert here.form.form.closing.reason == "INC-7"

    play_on(console(harness.url, harness.clock), address, scene, acting=door)
    door.close("over")
    assert results(harness, address) == ["overtaken"]
    assert day_of(harness) == (0, 0)


class Killed(EngineActing):
    """The process dies after the commit, before anything is drawn."""

    def resolve(
        self,
        shown: Resolvable,
        answer: Answer,
        evidence: tuple[Evidence, ...],
        order: Order,
        corrects: str | None = None,
    ) -> Resolution:
        """As kill -9 does it."""
        made = super().resolve(shown, answer, evidence, order, corrects)
        os.kill(os.getpid(), signal.SIGKILL)
        return made


def doomed(url: str, which: str) -> None:
    """A console that decides and is killed."""
    clock = ManualClock(LATER)
    play_on(
        console(url, clock), Address(Kind.DAY, "", which), released, acting=opened(url, clock, kind=Killed)
    )


def test_f5_e_killed_after_the_commit_it_is_resolved_once(harness: Harness) -> None:
    address = fenced(harness)
    Program(doomed, harness.url, address.id).wait_killed()
    assert results(harness, address) == ["resolved"]
    door = opened(harness.url, harness.clock)

    async def scene(here: Play) -> None:
        shown = here.form.deciding.shown
        assert shown is not None
        assert shown.story.row.state is HoldState.SETTLED
        await released(here)
        assert not here.deed_is_on
        await here.keys("escape")
        await until(here.pilot, lambda: isinstance(here.app.screen, ConfirmScreen) and asks(here.app))
        here.time.now += 1
        await here.keys("y")
        await until(here.pilot, lambda: isinstance(here.app.screen, ReservationScreen))
        page = await ready(here.pilot)
        await until(here.pilot, lambda: "resolve released  resolved" in page.query_one("#story", Pane).text)
        assert "mk@bastion-2" in page.query_one("#story", Pane).text

    play_on(console(harness.url, harness.clock), address, scene, acting=door)
    door.close("over")
    assert results(harness, address) == ["resolved"]
    assert day_of(harness) == (0, 0)


def test_a_plan_with_source_ask_leads_from_row_to_row_past_those_that_moved_on(harness: Harness) -> None:
    first, moved, last = (fenced(harness, kind) for kind in ("a", "b", "c"))
    door = opened(harness.url, harness.clock)
    wish = ReconcileWish(Source.ASK, addresses=(first, moved, last))
    plan = door.make_plan(wish, "prod", Bounds())
    assert plan.id is not None
    assert harness.store.days.release(moved.id, 0, LATER)

    async def scene(here: Play) -> None:
        await here.keys("escape")
        await until(here.pilot, lambda: isinstance(here.app.screen, ReservationScreen))
        ask_through(here.app, str(plan.id))
        for place in ("1 of 3", "3 of 3"):
            await until(
                here.pilot,
                lambda: isinstance(here.app.screen, ResolveScreen) and here.form.deciding.shown is not None,
            )
            assert f"{place} of {plan.id}" in here.form._place
            if place == "3 of 3":
                assert f"the one before: resolved: {first.id} (op_" in here.said()
            asked = here.form
            await released(here)
            await until(here.pilot, lambda: here.app.screen is not asked)  # noqa: B023 - awaited here
        await until(here.pilot, lambda: "2 decided, 1 passed by" in " ".join(here.said().split()))

    play_on(console(harness.url, harness.clock), first, scene, acting=door)
    door.close("over")
    assert [results(harness, each) for each in (first, moved, last)] == [["resolved"], [], ["resolved"]]
