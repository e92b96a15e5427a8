"""Resolving by hand, by keys: nothing without evidence, nothing twice, nothing typed is lost (console.md F5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from textual.events import Key

from console.acting.resolving import Came, Consumed, Deferred, Released, Resolution, Shows
from console.config.acting import Approval
from console.config.source import Valued
from console.model import GatewayError
from console.money_words import Kind
from console.screens.confirm import ConfirmScreen
from console.screens.reservation import ReservationScreen
from console.screens.reservations import ReservationsScreen
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway
from tests.console.fake_acting import FakeActing, audit_row
from tests.console.fake_moment import T0
from tests.console.resolve_play import NARROW, WIDE, Play, day_row, play, resolvable, settled
from tests.console.test_pilot import drive, said
from tests.console.waiting import asks, ready, until

if TYPE_CHECKING:
    from pathlib import Path

    from textual.pilot import Pilot

    from console.acting.model import Order
    from console.acting.resolving import Answer, Evidence, Resolvable

SIZES = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
LOST = GatewayError("the connection was lost", code="lock_timeout", retryable=True)


def sent(door: FakeActing) -> tuple[Resolvable, Answer, tuple[Evidence, ...], Order]:
    """The one decision that was sent."""
    (call,) = door.changes
    return call[1:]  # type: ignore[return-value]


@SIZES
def test_a_release_on_evidence_is_sent_once_under_what_was_shown(size: tuple[int, int]) -> None:
    async def scene(here: Play) -> None:
        shown = here.gateway.to_resolve
        await here.outcome("v")
        await here.typed_evidence("req_9", "5m ago")
        await here.typed_confirm("RELEASE 0.300000", "INC-7")
        await until(here.pilot, lambda: isinstance(here.app.screen, ReservationScreen))
        await until(here.pilot, lambda: "resolved" in here.said())
        assert here.gateway.to_resolve is shown

    door = play(scene, size=size)
    shown, answer, evidence, order = sent(door)
    assert shown.guard["deferrals"] == 1
    assert answer == Released()
    assert [(each.reference, each.shows) for each in evidence] == [("req_9", Shows.NOT_SPENT)]
    assert order.reason == "INC-7"
    assert order.operation.startswith("op_")
    assert order.command.startswith("holdwatch resolve postgresql://")
    assert "--released" in order.command


def test_a_part_is_sent_as_typed_and_its_effect_is_shown_before() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("p", "0.12")
        await here.evidence()
        effect = here.form.query_one("#effect", Pane)
        assert "reserved 12.300000 -> 12.000000" in effect.text
        assert "settled 41.250001 -> 41.370001" in effect.text
        await here.confirm("CONSUME 0.120000")

    assert sent(play(scene))[1] == Consumed(120_000)


def test_left_deferred_needs_a_note_and_no_reason() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("l", "30m", "provider is down")
        await here.weighed()
        assert not here.form.form.closing.query("#reason")
        await here.confirm("DEFER", reason="")

    _, answer, evidence, order = sent(play(scene))
    assert isinstance(answer, Deferred)
    assert (answer.note, evidence, order.reason) == ("provider is down", (), "provider is down")


def test_f5_a_without_evidence_it_cannot_be_committed() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.confirm("RELEASE 0.300000")
        assert "evidence" in here.told
        assert not here.deed_is_on
        assert "[need] at least one item of evidence" in here.checks

    assert play(scene).changes == []


def test_f5_b_an_amount_that_is_none_is_said_and_not_sent() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("p")
        await here.evidence()
        for amount in ("0.300001", "0.1200001", "NaN", "1e3", "\uff10.\uff11", "0", "1 2", "-0.1"):
            here.form.form._amount.line.value = amount
            await here.pilot.pause()
            assert here.form.meant.answer is None
            assert "[need] amount: " in here.checks
        await here.weighed()
        assert not here.form.form.closing.display

    assert play(scene).changes == []


def test_f5_c_who_comes_second_is_told_by_whom_when_and_with_what() -> None:
    body = {
        "answer": {"answer": "consumed", "figure": 120_000},
        "status": "resolved",
        "evidence": [{"kind": "invoice", "reference": "INV-1", "shows": "spent", "observed_at": "T"}],
    }
    first = audit_row(8, actor="jo@laptop", deed="resolve", body=body)
    door = FakeActing(resolution=Resolution(Came.OVERTAKEN, "op_2", {}, {}, "already settled", first))

    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence("kept")
        here.gateway.to_resolve = shown = here.gateway.to_resolve
        assert shown is not None
        await here.confirm("RELEASE 0.300000")
        await until(here.pilot, lambda: "jo@laptop was first" in here.said())
        for word in ("consumed 0.120000 USD", "INV-1", "nothing was changed twice"):
            assert word in here.said().replace("\n", " ")
        assert here.form.form.filled.items[0].reference == "kept"
        assert here.form.form.closing.reason == "INC-7"

    assert len(play(scene, acting=door, size=NARROW).changes) == 1


def test_f5_d_what_was_resolved_meanwhile_is_not_sent_and_what_was_typed_stays() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence("kept")
        assert here.gateway.to_resolve is not None
        here.gateway.to_resolve = settled(here.gateway.to_resolve)
        here.form._look.ask_anew()
        await until(here.pilot, lambda: "settled meanwhile" in here.checks)
        await here.confirm("RELEASE 0.300000")
        assert not here.deed_is_on
        assert here.form.form.filled.items[0].reference == "kept"

    assert play(scene).changes == []


def test_a_newer_version_is_decided_only_on_the_operators_word() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence()
        shown = here.gateway.to_resolve
        assert shown is not None
        here.gateway.to_resolve = replace(shown, guard={**shown.guard, "deferrals": 2})
        here.form._look.ask_anew()
        await until(here.pilot, lambda: "changed meanwhile" in here.checks)
        assert "not as it was shown" in here.form.hindrance()
        here.app.set_focus(here.form.form.outcomes)
        await here.keys("r")
        await until(here.pilot, lambda: "still as shown" in here.checks)
        await here.confirm("RELEASE 0.300000")

    assert sent(play(scene))[0].guard["deferrals"] == 2


def test_report_43_what_is_shown_and_what_is_tested_come_from_one_read() -> None:
    gateway = FakeGateway()
    gateway.to_resolve = settled(resolvable(day_row(gateway)))

    async def over(here: Play) -> None:
        assert here.form.deciding.shown is here.gateway.to_resolve
        await here.outcome("v")
        await here.evidence()
        assert "it is settled already: there is nothing to decide" in here.checks
        assert "settled already" in here.form.hindrance()

    assert play(over, gateway=gateway).changes == []


def test_an_error_keeps_what_was_typed_and_lets_it_be_tried_again() -> None:
    door = FakeActing(refusal=LOST)

    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence()
        await here.confirm("RELEASE 0.300000")
        await until(here.pilot, lambda: "the connection was lost" in here.said())
        assert here.form.form.closing.phrase == "RELEASE 0.300000"
        door.refusal = None
        await here.keys("enter")
        await until(here.pilot, lambda: isinstance(here.app.screen, ReservationScreen))

    assert len(play(scene, acting=door).changes) == 2


def test_while_changes_are_off_all_can_be_filled_and_weighed_and_nothing_sent() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence()
        await here.confirm("RELEASE 0.300000")
        assert "[ok]   fine" in here.checks
        assert here.told == "preview, changes are off: W turns changes on"

    assert play(scene, writable=False, size=NARROW).changes == []


def test_above_the_bound_the_form_refuses_and_says_what_does_it() -> None:
    async def scene(here: Play) -> None:
        session = here.app.session
        config = replace(session.contexts.config, approval=Approval(usd=Valued(0.2)))
        session.contexts = replace(session.contexts, config=config)
        await here.outcome("v")
        await here.evidence()
        await here.confirm("RELEASE 0.300000")
        assert "second pair of eyes: required above 0.200000 USD" in here.told
        assert "let another person approve that" in here.checks

    assert play(scene).changes == []


def test_esc_asks_before_it_drops_what_was_typed() -> None:
    async def scene(here: Play) -> None:
        await here.evidence("kept")
        await here.keys("escape")
        await until(here.pilot, lambda: isinstance(here.app.screen, ConfirmScreen) and asks(here.app))
        here.time.now += 1
        await here.keys("n")
        assert here.form.form.filled.items[0].reference == "kept"
        await here.keys("escape")
        await until(here.pilot, lambda: isinstance(here.app.screen, ConfirmScreen) and asks(here.app))
        here.time.now += 1
        await here.keys("y")
        await until(here.pilot, lambda: isinstance(here.app.screen, ReservationScreen))

    assert play(scene).changes == []


def test_a_burst_of_enter_sends_nothing() -> None:
    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence()
        await here.pilot.press(*["enter"] * 12, "pagedown", *["enter"] * 8, *["y"] * 4)

    assert play(scene).changes == []


def test_a_file_is_digested_and_a_second_item_added(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("no record")

    async def scene(here: Play) -> None:
        await here.outcome("v")
        await here.evidence(file=str(path))
        await until(here.pilot, lambda: here.form.form.filled.items[0].file is not None)
        here.app.set_focus(here.form.query_one("#more"))
        await here.keys("plus")
        await until(here.pilot, lambda: len(here.form.form.filled.items) == 2)
        await here.evidence("req_10")
        await here.confirm("RELEASE 0.300000")

    evidence = sent(play(scene))[2]
    assert [each.reference for each in evidence] == ["req_9", "req_10"]
    assert evidence[0].file is not None
    assert (evidence[0].file.name, evidence[0].file.size) == ("a", 9)


def test_a_meter_is_consumed_whole_by_units() -> None:
    gateway = FakeGateway()
    row = next(row for row in gateway.holds() if row.address.kind is Kind.METER)
    gateway.to_resolve = resolvable(replace(row, units=2), attempt=1)

    async def scene(here: Play) -> None:
        await here.outcome("p")
        assert here.form.form.filled.outcome is None
        lines = here.form.form.outcomes.text.splitlines()
        assert [line[6] for line in lines[1:]] == ["l", "c", "p", "v"]
        assert max(map(len, lines)) < 80  # none is folded, so that it pushes no other out
        await here.outcome("c")
        await here.evidence()
        await here.confirm("CONSUME 2 UNITS")

    assert sent(play(scene, gateway=gateway))[1] == Consumed()


def test_e_in_a_list_is_about_one_row_and_not_about_marks() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        gateway.to_resolve = resolvable(day_row(gateway))
        await pilot.press("3")
        page = await ready(pilot)
        assert isinstance(page, ReservationsScreen)
        await pilot.press("space", "e")
        assert "one at a time" in said(pilot)
        await pilot.press("M", "e")
        await until(pilot, lambda: type(pilot.app.screen).__name__ == "ResolveScreen")
        await pilot.press("escape")
        assert isinstance(await ready(pilot), ReservationScreen)
        await pilot.press("escape")
        assert isinstance(await ready(pilot), ReservationsScreen)

    drive(scene)


def test_f5_f_the_detail_shows_past_decisions() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        gateway.entries = [
            audit_row(
                n, at=T0, object_kind="reservation", deed="resolve", body={"answer": {"answer": "released"}}
            )
            for n in (1, 2)
        ]
        await pilot.press("3")
        await ready(pilot)
        await pilot.press("enter")
        page = await ready(pilot)
        assert isinstance(page, ReservationScreen)
        name = f"day:{page.address.id}"
        gateway.entries = [replace(entry, object_id=name) for entry in gateway.entries]
        await pilot.press("r")
        await until(pilot, lambda: "resolve released" in page.query_one("#story", Pane).text)

    drive(scene)


def test_what_is_typed_behind_tab_belongs_to_the_next_field_however_fast_it_comes() -> None:
    async def scene(here: Play) -> None:
        here.app.set_focus(here.form.form.outcomes)
        keys = ("v", "tab", "tab", "tab", *"req_9".replace("_", "x"), "tab", *"5m", "space", *"ago")
        for key in keys:
            named = " " if key == "space" else key if len(key) == 1 else None
            here.app.post_message(Key(key, named))
        await until(here.pilot, lambda: here.form.form.filled.items[0].observed_at is not None)
        assert here.form.form.filled.items[0].reference == "reqx9"

    play(scene)
