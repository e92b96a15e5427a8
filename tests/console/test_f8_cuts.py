"""The connection dies around the commit of a change: the report equals the database, and no effect appears twice
(console.md F8; 3.1, row 40).
"""

from __future__ import annotations

import asyncio
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from console.acting.model import Order, Person, Route
from console.acting.plans import Bounds, ReleaseWish
from console.acting.resolving import Evidence, EvidenceKind, Released, Shows
from console.acting.sending import SETTLED_SECONDS, Fate, Sending
from console.calls import Calls
from console.gateway import EngineGateway
from console.gateway.acting import EngineActing
from console.model import GatewayError
from console.money_words import Address, Kind
from engine.database.transaction import Transactions
from engine.desk.actor import Actor, Mandate
from engine.desk.audit.model import Deed, ObjectKind, Told
from engine.desk.closing import UNDER_WAY
from engine.errors import CommitUnknown
from tests.console.test_gateway_acting import another_role
from tests.support.builders import T0, claim
from tests.support.cutting import Cut, CuttingDoor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.harness import Harness

ME, JO = Person("mk", "bastion-2"), Person("jo", "laptop")
COMMITS = 2
"""A change commits its intent, and then its effect with its result; an execution reads before that, as often as it
must, for nothing depends on that.
"""
SOON = 2.0
CHANGES = (
    "execute",
    "pause",
    "resume",
    "cancel",
    "resolve",
    "approve plan",
    "cancel plan",
    "close intent",
)


@dataclass
class Bench:
    """A store with something to change, a door to it that may die, and another that does not."""

    harness: Harness
    acting: EngineActing
    looking: EngineGateway
    other: EngineActing
    now: float = 0.0
    made: int = 0
    sent: list[Order] = field(default_factory=list)

    def order(self, what: str) -> Order:
        """As a screen makes it."""
        made = Order(what, "INC-1", Route.KEY, f"holdwatch {what}")
        self.sent.append(made)
        return made

    def outcome(self, order: Order, call: Callable[[], object]) -> Fate:
        """Send it as the console does, and look until its fate is known."""

        async def run() -> Fate:
            acts, calls = Calls(1), Calls()
            sending = Sending(lambda: acts, lambda: calls, self.looking.outcome, lambda: self.now)
            try:
                await sending.send(order, self._counted(call))
            except GatewayError:
                await self._settle(sending)
            return sending.orders[0].fate

        return asyncio.run(run())

    def _counted(self, call: Callable[[], object]) -> Callable[[], object]:
        def once() -> object:
            self.made += 1
            return call()

        return once

    async def _settle(self, sending: Sending) -> None:
        """Until no session of the dead connection is left the commit may still be under way."""
        deadline = time.monotonic() + SOON
        while sending.unknown and time.monotonic() < deadline and self._under_way():
            await asyncio.sleep(0.01)
        self.now += SETTLED_SECONDS
        await sending.look()

    def _under_way(self) -> bool:
        if self.harness.kind == "sqlite":
            return False
        with self.harness.raw() as connection:
            found = connection.execute(
                text(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND application_name LIKE 'holdwatch%' AND state <> 'idle'"
                )
            ).scalar_one()
        return bool(found)

    def count(self, statement: str, **values: object) -> int:
        """A number from the database."""
        with self.harness.raw() as connection:
            return int(connection.execute(text(statement), values).scalar_one())


def planned(bench: Bench, thread: str) -> tuple[str, str]:
    """A plan to release one claim, and its phrase."""
    claim(bench.harness.store, thread)
    plan = bench.acting.make_plan(ReleaseWish((thread,)), "prod", Bounds())
    assert plan.id is not None
    return plan.id, plan.phrase


def job_of(bench: Bench, thread: str) -> str:
    """A job that waits."""
    plan, phrase = planned(bench, thread)
    return bench.acting.execute(plan, bench.order("execute"), phrase, 0)


def state(bench: Bench, job: str) -> str:
    """How a job stands, as the database has it."""
    view = bench.looking.job(job)
    assert view is not None
    return view.row.state.value


def prepared(bench: Bench, change: str, thread: str) -> tuple[Callable[[Order], object], Callable[[], int]]:
    """A change that is ready to be sent, and how often the database has its effect."""
    acting = bench.acting
    if change == "execute":
        plan, phrase = planned(bench, thread)
        return (
            lambda order: acting.execute(plan, order, phrase, 0),
            lambda: bench.count("SELECT count(*) FROM job WHERE plan_id = :plan", plan=plan),
        )
    others = {
        "resolve": resolution,
        "approve plan": approval,
        "cancel plan": giving_up,
        "close intent": closing,
    }
    if change in others:
        return others[change](bench, thread)
    job = job_of(bench, thread)
    if change == "resume":
        acting.pause_job(job, bench.order("pause"))
    calls = {"pause": acting.pause_job, "resume": acting.resume_job, "cancel": acting.cancel_job}
    after = {"pause": "paused", "resume": "ready", "cancel": "cancelled"}[change]
    return lambda order: calls[change](job, order), lambda: int(state(bench, job) == after)


def approval(bench: Bench, thread: str) -> tuple[Callable[[Order], object], Callable[[], int]]:
    """Another person's plan, which waits for a yes."""
    claim(bench.harness.store, thread)
    plan = bench.other.make_plan(ReleaseWish((thread,)), "prod", Bounds(rows=0)).id
    assert plan is not None
    wanted = "SELECT count(*) FROM plan WHERE plan_id = :plan AND approved_by IS NOT NULL"
    return lambda order: bench.acting.approve_plan(plan, order), lambda: bench.count(wanted, plan=plan)


def giving_up(bench: Bench, thread: str) -> tuple[Callable[[Order], object], Callable[[], int]]:
    """A plan that is not wanted any more; its items go with it."""
    plan, _ = planned(bench, thread)

    def effect() -> int:
        cancelled = "SELECT count(*) FROM plan WHERE plan_id = :plan AND cancelled_at IS NOT NULL"
        done = bench.count(cancelled, plan=plan)
        assert bench.count("SELECT count(*) FROM plan_item WHERE plan_id = :plan", plan=plan) == 1 - done
        return done

    return lambda order: bench.acting.cancel_plan(plan, order), effect


def closing(bench: Bench, thread: str) -> tuple[Callable[[Order], object], Callable[[], int]]:
    """A change that was begun and never ended, old enough to be closed."""
    begun = Mandate(Actor(JO.user, JO.host), "INC-1")
    bench.harness.store.desk.record(begun, Told(Deed.RELEASE, ObjectKind.CLAIM, thread))
    bench.harness.advance(UNDER_WAY)
    ended = "SELECT count(*) FROM audit WHERE operation_id = :op AND phase = 'result'"
    return (
        lambda order: bench.acting.close_intent(begun.operation_id, order),
        lambda: bench.count(ended, op=begun.operation_id),
    )


def resolution(bench: Bench, _thread: str) -> tuple[Callable[[Order], object], Callable[[], int]]:
    """A fenced reservation of a day, to be released by hand."""
    which = bench.harness.store.days.reserve(
        kind="call",
        micro=300_000,
        at=T0,
        expires=T0 + timedelta(minutes=1),
        cap_micro=10**9,
        require_fence=True,
    )
    address = Address(Kind.DAY, "", which)
    shown = bench.looking.resolvable(address)
    assert shown is not None
    seen = Evidence(EvidenceKind.PROVIDER_CONSOLE, "req_1", T0, Shows.NOT_SPENT)

    def effect() -> int:
        story = bench.looking.reservation(address)
        assert story is not None
        return int(story.row.settled_at is not None)

    return lambda order: bench.acting.resolve(shown, Released(), (seen,), order), effect


def bench_on(harness: Harness, url: str) -> Bench:
    """Changes through `url`, looks at the store itself; another person changes it from elsewhere."""
    acting, other = (
        EngineActing(url, ME, harness.clock),
        EngineActing(another_role(harness), JO, harness.clock),
    )
    for door in (acting, other):
        door.open(Order("read-write window", "INC-1", Route.KEY, "holdwatch (W)"))
    return Bench(harness, acting, EngineGateway(harness.url, harness.clock), other)


def told_alike(bench: Bench, order: Order, fate: Fate, effects: int) -> None:
    """The report is what the database says, and the operation is there as often as its effect."""
    assert fate in {Fate.APPLIED, Fate.NOT_APPLIED}
    assert effects == int(fate is Fate.APPLIED)
    operations = bench.count("SELECT count(*) FROM operation WHERE operation_id = :op", op=order.operation)
    results = sum(row.phase == "result" for row in bench.looking.audit_of(order.operation))
    assert operations == results == effects


class LostCommits:
    """Stands for the door where there is no connection to cut: the n-th write of a change answers CommitUnknown, made
    or not.
    """

    def __init__(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.url, self.cuts = url, 0
        self._left, self._cut = 0, Cut.BEFORE_SEND
        whole = Transactions.write

        def write(transactions: Transactions, name: str, *args: Any, **options: Any) -> Any:
            self._left -= name.startswith("desk.")
            if self._left != 0 or not name.startswith("desk."):
                return whole(transactions, name, *args, **options)
            self.cuts += 1
            if self._cut is not Cut.BEFORE_SEND:
                whole(transactions, name, *args, **options)
            raise CommitUnknown(name)

        monkeypatch.setattr(Transactions, "write", write)

    def arm(self, cut: Cut, at: int) -> None:
        """Lose the answer of the `at`-th write from now on."""
        self._cut, self._left = cut, at


@contextmanager
def cutter(
    harness: Harness, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[CuttingDoor | LostCommits]:
    """What cuts this store's connections."""
    if harness.kind == "sqlite":
        yield LostCommits(harness.url, monkeypatch)
    else:
        with CuttingDoor(harness.url, folder) as door:
            yield door


@pytest.mark.parametrize("change", CHANGES)
def test_report_40_a_cut_around_any_commit_is_told_as_the_database_has_it(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    with cutter(harness, tmp_path, monkeypatch) as door:
        bench = bench_on(harness, door.url)
        reads = int(change == "execute" and harness.kind != "sqlite")
        last = COMMITS + reads
        for at in range(1, last + 1):
            for cut in Cut:
                call, effects = prepared(bench, change, f"t-{at}-{cut.name}")
                order, made, cuts = bench.order(change), bench.made, door.cuts
                door.arm(cut, at)
                fate = bench.outcome(order, partial(call, order))
                assert (door.cuts, bench.made) == (cuts + 1, made + 1), f"{cut} {at}"
                told_alike(bench, order, fate, effects())
                expected = at <= reads or (at == last and cut is not Cut.BEFORE_SEND)
                assert (fate is Fate.APPLIED) == expected, f"{cut} {at}"
        for each in (bench.acting, bench.other):
            each.close("the test is over")
        bench.looking.close()
