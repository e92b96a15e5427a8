"""What the form says where there is nothing to decide, and where nothing moves but the next check (console.md F5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from console.acting import resolution_facts
from console.acting.decisions import decisions_of, settling
from console.acting.reservation_names import name_of
from console.acting.resolution_form import NO_CHECK, Filled, Outcome, meant
from console.money_words import HoldState, Kind
from console.widgets import evidence
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway
from tests.console.fake_acting import audit_row
from tests.console.fake_moment import T0
from tests.console.fake_money import story_of
from tests.console.resolve_play import NARROW, WIDE, Play, day_row, play, resolvable, settled
from tests.console.waiting import until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.acting.records import AuditRow
    from console.jsontext import Line
    from console.money_model import ReservationRow

SETTLED_BY = "root@vm"


def said(lines: Sequence[Line]) -> str:
    """As it is read, folded or not."""
    return " ".join(" ".join("".join(cell.text for cell in line) for line in lines).split())


def over() -> ReservationRow:
    """One that was settled at a part of what it held."""
    row = replace(day_row(FakeGateway()), state=HoldState.SETTLED, settled_micro=120_000, settled_at=T0)
    return replace(row, due_in=None)


def entries(row: ReservationRow) -> list[AuditRow]:
    """A deferral, then the decision that settled it."""
    name = name_of(row.address)
    assert name is not None
    bodies: tuple[dict[str, object], ...] = (
        {"status": "deferred", "after": {"state": "open"}},
        {"status": "resolved", "after": {"state": "settled", "settled_micro": 120_000}},
    )
    return [
        audit_row(
            2 * n, actor=SETTLED_BY, deed="resolve", object_kind="reservation", object_id=name,
            operation=f"op_{n}", body=body,
        )
        for n, body in enumerate(bodies, 1)
    ]  # fmt: skip


def test_a_settled_one_is_told_with_its_figure_and_with_whom_the_audit_knows() -> None:
    row = over()
    known = decisions_of(list(reversed(entries(row))))
    decision = settling(known)
    assert decision is not None
    assert decision.row.operation == "op_2"
    text = said(resolution_facts.over(row, known, 80))
    assert text.startswith("EFFECT none: settled at 0.120000 USD")
    assert f"by {SETTLED_BY}, resolve op_2. Nothing is left to decide" in text
    alone = said(resolution_facts.over(row, known[1:], 80))
    assert "by no decision in the audit: its worker or a sweep did it" in alone
    assert " by " not in said(resolution_facts.over(row, None, 80)), "nobody is blamed before it was read"


def test_past_decisions_stand_in_the_place_of_the_word_that_there_are_none() -> None:
    row = replace(day_row(FakeGateway()), fenced=False)
    story = replace(story_of(row), evidence=None)
    known = decisions_of(list(reversed(entries(row))))
    never = "no answer about it was ever written down"
    assert never in said(resolution_facts.known(story, (), 80))
    assert never not in said(resolution_facts.known(story, None, 80)), "the audit was not read yet"
    text = said(resolution_facts.known(story, known, 80))
    assert f"{SETTLED_BY} resolve resolved; 1 before it" in text
    assert never not in text
    assert "decisions not read: no grant" in said(resolution_facts.known(story, None, 80, "no grant"))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_form_over_a_settled_one_offers_nothing(size: tuple[int, int]) -> None:
    row = over()
    gateway = FakeGateway(to_resolve=settled(resolvable(row)), entries=entries(row))

    async def scene(here: Play) -> None:
        await here.keys("pagedown", "pagedown")
        effect = here.form.query_one("#effect", Pane)
        await until(here.pilot, lambda: SETTLED_BY in effect.text)
        assert "Nothing is left to decide" in " ".join(effect.text.split())
        assert "settled already" in here.checks
        assert not here.form.form.closing.display
        await here.keys("pageup")
        await here.outcome("v")
        assert here.form.form.filled.outcome is None
        assert "(off: it is settled)" in here.form.form.outcomes.text

    assert play(scene, gateway=gateway, size=size).changes == []


def test_to_leave_one_says_that_it_is_fenced_by_that_the_first_time() -> None:
    row = day_row(FakeGateway())
    again = said(resolution_facts.effect(story_of(row), None, 80, Outcome.LEAVE))
    assert again.endswith("stays as it is; only the next check moves")
    first = said(resolution_facts.effect(story_of(replace(row, fenced=False)), None, 80, Outcome.LEAVE))
    assert "it becomes FENCED: no default settles it any more" in first
    assert "choose an outcome" in said(resolution_facts.effect(story_of(row), None, 80))
    part = said(resolution_facts.effect(story_of(row), None, 80, Outcome.PART))
    assert "choose an outcome" not in part


@pytest.mark.parametrize("typed", ["", "  "])
def test_a_next_check_is_asked_for_by_an_example(typed: str) -> None:
    row = day_row(FakeGateway())
    assert row.address.kind is Kind.DAY
    found = meant(row, Filled(Outcome.LEAVE, until=typed, note="wait"), T0)
    assert found.wrong == (NO_CHECK,)


def test_what_may_be_typed_is_not_cut_on_a_narrow_screen() -> None:
    async def scene(here: Play) -> None:
        await here.keys("pagedown")
        box = here.form.query_one(evidence.EvidenceBox)
        for entry, text in ((box._covers, evidence.COVERS), (box._file, evidence.FILE)):
            assert len(text) < entry._told.size.width

    play(scene, size=NARROW)
