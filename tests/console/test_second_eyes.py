"""The second pair of eyes is asked for alike by form, script and plan, and by an approval only once (console.md F5)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from console.acting.effect import phrase_of
from console.acting.model import Approved, Person
from console.acting.plans import Bounds, PlanItem, PlanState
from console.acting.resolving import Consumed, Deferred, Released
from console.acting.second import second_eyes
from console.cli import Exit
from console.config.acting import Approval
from console.config.source import Valued
from console.money_words import Kind
from console.screens.leading import ask_through
from console.screens.reservation import ReservationScreen
from console.screens.resolve import ResolveScreen
from tests.console.act_play import audited, real
from tests.console.fake import FakeGateway
from tests.console.fake_acting import plan_view
from tests.console.fake_moment import T0
from tests.console.resolve_play import Play, day_row, play, resolvable
from tests.console.waiting import until
from tests.support.commands import Command
from tests.support.daybooks import operation

if TYPE_CHECKING:
    from pathlib import Path

    from console.acting.resolving import Answer
    from tests.support.harness import Harness

HELD, RECORDED, LIMIT = 9_000_000, 1_000_000, 5_000_000
SEEN = "kind=provider console,ref=req_9,observed=now,shows=not spent"
WAIT = Deferred(T0, "asked the provider")
MADE_BY = Person("mk", "bastion-2")


def bounded(here: Play, **bounds: float) -> None:
    """The configuration asks for another person above these."""
    session = here.app.session
    valued = {name: Valued(value) for name, value in bounds.items()}
    config = replace(session.contexts.config, approval=Approval(**valued))
    session.contexts = replace(session.contexts, config=config)


@pytest.mark.parametrize("answer", [Released(), Consumed(), Consumed(1), None], ids=str)
def test_the_form_goes_by_what_is_held_and_by_rows_too(answer: Answer | None) -> None:
    row = replace(day_row(FakeGateway()), micro=HELD, recorded=RECORDED)
    refused = second_eyes(row, answer, Bounds(micro=LIMIT))
    assert (refused.weight, "required above 5.000000 USD" in refused.text) == ("need", True)
    assert second_eyes(row, answer, Bounds(micro=HELD)).weight == "ok"
    refused = second_eyes(row, answer, Bounds(micro=HELD, rows=0))
    assert (refused.weight, "above 9.000000 USD or 0 rows" in refused.text) == ("need", True)
    assert second_eyes(row, answer, Bounds(units=0)).text.endswith("not asked for by the configuration")
    assert second_eyes(row, WAIT, Bounds(micro=0, rows=0)).weight == "ok"
    assert second_eyes(row, answer, Bounds(rows=0), Approved("pln_1", "jo@laptop")).weight == "ok"


def test_the_form_asks_for_another_person_where_rows_are_bound() -> None:
    async def scene(here: Play) -> None:
        bounded(here, rows=0)
        await here.outcome("v")
        await here.evidence()
        await here.confirm("RELEASE 0.300000")
        assert "second pair of eyes: required above 0 rows" in here.told

    assert play(scene).changes == []


@pytest.fixture
def holdwatch(capsys: pytest.CaptureFixture[str]) -> Command:
    """The command under test."""
    return Command(capsys)


def recorded(harness: Harness) -> str:
    """An operation that is due, holds 9 dollars, and of which its run recorded 1."""
    now = datetime.now(UTC)
    admitted = operation(
        "op",
        micro=HELD,
        run_micro=RECORDED,
        at=now - timedelta(minutes=2),
        expires=now - timedelta(minutes=1),
        lease_until=now - timedelta(minutes=1),
        cap_micro=10 * HELD,
    )
    with real(harness) as store:
        store.days.admit_operation(admitted)
        (found,) = store.days.expired(now)
    return found.id


@pytest.mark.parametrize("bound", ["usd = 5.0", "rows = 0"])
def test_the_script_asks_as_the_form_does_and_its_plan_has_the_forms_phrase(
    harness: Harness, holdwatch: Command, tmp_path: Path, bound: str
) -> None:
    which, file = recorded(harness), tmp_path / "config.toml"
    file.write_text(f"[approval]\n{bound}\n")
    row = replace(day_row(FakeGateway()), micro=HELD, recorded=RECORDED)
    given = ("resolve", harness.url, "day", "-", which)
    known = ("--evidence", SEEN, "--reason", "INC-2", "--config", str(file), "--json")
    for words, answer in ((("--released",), Released()), (("--consumed",), Consumed())):
        phrase = phrase_of(row, answer)
        said = holdwatch(*given, *words, *known, "--confirm", phrase)
        assert (said.code, said.document["state"]) == (Exit.REFUSED, "awaiting approval"), said
        assert (said.document["phrase"], said.document["micro"]) == (phrase, HELD)
    later = ("--defer-until", "2h", "--note", "asked", "--confirm", "DEFER", "--config", str(file), "--json")
    assert holdwatch(*given, *later).document["came"] == "deferred"
    assert [each.phase for each in audited(harness, "reservation", f"day:{which}")] == ["intent", "result"]


# An approval is good for the executed plan, and for others than who gave it


async def led(here: Play, state: PlanState, approver: str) -> None:
    """Through an approved plan of the one row, by `e`, to its form."""
    shown = here.gateway.to_resolve
    assert shown is not None
    here.gateway.planned = plan_view(
        id="pln_9", state=state, items=1, needs_approval=True, actor="kim@desk", approved_by=approver
    )
    here.gateway.items_planned = [PlanItem(1, "day", shown.name, shown.guard, {})]
    await here.keys("escape")
    await until(here.pilot, lambda: isinstance(here.app.screen, ReservationScreen))
    ask_through(here.app, "pln_9")
    await until(here.pilot, lambda: isinstance(here.app.screen, ResolveScreen))
    await until(here.pilot, lambda: here.form.deciding.shown is not None)
    bounded(here, usd=0.2)
    await here.outcome("v")
    await here.evidence()


def test_led_by_an_executed_plan_the_decision_is_sent_with_the_approval() -> None:
    async def scene(here: Play) -> None:
        await led(here, PlanState.EXECUTED, "jo@laptop")
        assert "jo@laptop approved the plan" in " ".join(here.checks.split())
        await here.confirm("RELEASE 0.300000")
        await until(here.pilot, lambda: "1 decided" in here.said())

    (call,) = play(scene).changes
    assert call[-1].approved == Approved("pln_9", "jo@laptop")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("state", "approver"),
    [
        (PlanState.EXPIRED, "jo@laptop"),
        (PlanState.CANCELLED, "jo@laptop"),
        (PlanState.READY, "jo@laptop"),
        (PlanState.EXECUTED, MADE_BY.name),
        (PlanState.EXECUTED, "MK@elsewhere"),
    ],
)
def test_an_approval_outlives_no_plan_and_is_nobodys_own(state: PlanState, approver: str) -> None:
    async def scene(here: Play) -> None:
        assert here.app.session.person == MADE_BY
        await led(here, state, approver)
        await here.confirm("RELEASE 0.300000")
        assert "second pair of eyes: required above 0.200000 USD" in here.told

    assert play(scene).changes == []


def test_the_approval_reaches_the_audit_and_the_reservations_screen() -> None:
    from console.acting.decisions import decisions_of, lines_of
    from tests.console.fake_acting import audit_row

    body = {
        "answer": {"answer": "released"},
        "status": "resolved",
        "plan": "pln_9",
        "approved_by": "jo@laptop",
    }
    found = decisions_of([audit_row(8, deed="resolve", body=body)])
    text = "\n".join("".join(cell.text for cell in line) for line in lines_of(found, 100))
    assert "approved by jo@laptop, with plan pln_9" in text


def test_a_meters_row_is_measured_in_units_alone() -> None:
    gateway = FakeGateway()
    row = next(row for row in gateway.holds() if row.address.kind is Kind.METER)
    meter = resolvable(replace(row, units=3), attempt=1).story.row
    assert second_eyes(meter, Released(), Bounds(micro=0)).text.endswith("not asked for by the configuration")
    assert "above 2 units or 5 rows" in second_eyes(meter, Released(), Bounds(units=2, rows=5)).text
