"""Frozen plans as far as making, keeping and checking them goes (console.md F1; rulings 54 and 55)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.desk.actor import Actor
from engine.desk.plans import ItemKind, PlanState, Threshold
from engine.desk.plans.model import APPROVAL_LIFETIME, LIFETIME
from engine.errors import PlanRefused, ValidationError
from tests.support.builders import STEP, claim, emit
from tests.support.cascades import FAMILY, grow
from tests.support.planning import MAKER, OTHER, Planner

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.desk.plans import Plan
    from tests.support.harness import Harness

ANY_ROWS = Threshold(rows=0)


def refusal(call: Callable[..., Any], *args: Any) -> str:
    """The stable word with which it is refused."""
    with pytest.raises(PlanRefused) as caught:
        call(*args)
    assert str(caught.value)
    return caught.value.why


def of_family(harness: Harness) -> tuple[Planner, Plan]:
    """A plan that deletes the family of case 147."""
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    return planner, planner.store_it(planner.delete(["p"]))


def test_a_stored_plan_reads_back_as_it_was_made(harness: Harness) -> None:
    planner, made = of_family(harness)
    assert planner.plan(made.plan_id) == made
    assert made.state is PlanState.READY
    assert made.items == len(FAMILY)
    assert made.created_at == harness.now()
    assert made.expires_at == harness.now() + LIFETIME
    assert made.phrase == f"DELETE {made.totals.rows} ON PROD"
    assert [item.n for item in planner.items(made.plan_id)] == [1, 2, 3, 4]
    assert planner.plans().rows == (made,)


def test_ruling_55_a_preview_and_a_plan_hold_the_same(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    preview = planner.delete(["p", "unknown"])
    with harness.raw() as connection:
        assert connection.scalar(text("SELECT count(*) FROM plan")) == 0
        assert connection.scalar(text("SELECT count(*) FROM plan_item")) == 0
    made = planner.store_it(planner.delete(["p", "unknown"]))
    assert tuple(planner.items(made.plan_id)) == preview.items
    assert planner.plan(made.plan_id).totals == preview.totals
    assert made.phrase == preview.phrase


def test_ruling_55_items_are_tentative_rows_that_lapse_with_the_plan(harness: Harness) -> None:
    _, made = of_family(harness)
    with harness.raw() as connection:
        rows = connection.execute(text("SELECT txn_id, state, reserve_deadline FROM plan_item")).all()
    until = int(made.expires_at.timestamp()) * 1_000_000_000
    assert rows == [(made.plan_id, "reserved", until)] * len(FAMILY)


def test_ruling_54_a_plan_stays_what_it_was_whatever_the_store_does(harness: Harness) -> None:
    planner, made = of_family(harness)
    before = planner.items(made.plan_id)
    token = claim(harness.store, "a", "somebody").token
    emit(harness.checkpoints, "a", token, "late")
    grow(harness.checkpoints, {"late": "p"})
    assert planner.items(made.plan_id) == before
    assert planner.plan(made.plan_id) == made
    assert planner.checked(made.plan_id, made.phrase) == made


def test_report_24_and_32_what_matches_later_is_not_in_the_plan(harness: Harness) -> None:
    names = [f"t{n:02}" for n in range(37)]
    grow(harness.checkpoints, dict.fromkeys(names))
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(names))
    grow(harness.sibling().checkpoints, {"t37": None})
    claim(harness.sibling(), "t03", "somebody")
    token = claim(harness.sibling(), "t04", "deleter").token
    harness.checkpoints.delete_thread("t04", token)
    assert [item.object_id for item in planner.items(made.plan_id)] == names
    assert planner.checked(made.plan_id, made.phrase).items == 37


def test_report_23_there_is_no_plan_of_everything(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    preview = planner.delete([])
    assert preview.items == ()
    made = planner.store_it(preview)
    assert made.state is PlanState.BLOCKED
    assert refusal(planner.checked, made.plan_id, made.phrase) == "empty"


def test_a_plan_expires_after_five_minutes_by_the_stores_clock(harness: Harness) -> None:
    planner, made = of_family(harness)
    harness.advance(LIFETIME - STEP)
    assert planner.checked(made.plan_id, made.phrase).state is PlanState.READY
    harness.advance(STEP)
    assert planner.plan(made.plan_id).state is PlanState.EXPIRED
    assert refusal(planner.checked, made.plan_id, made.phrase) == "expired"
    assert refusal(planner.cancel, made.plan_id) == "expired"


def test_a_refused_cancel_does_not_make_a_plan_cancelled(harness: Harness) -> None:
    planner, made = of_family(harness)
    harness.advance(LIFETIME)
    assert refusal(planner.cancel, made.plan_id) == "expired"
    assert planner.plan(made.plan_id).state is PlanState.EXPIRED


def test_a_plan_whose_items_were_swept_away_is_expired_still(harness: Harness) -> None:
    planner, made = of_family(harness)
    harness.advance(LIFETIME)
    assert harness.store.reserved.sweep().collected == len(FAMILY)
    assert planner.items(made.plan_id) == []
    assert planner.plan(made.plan_id).state is PlanState.EXPIRED
    assert planner.plan(made.plan_id).items == len(FAMILY)


def test_what_was_seen_too_long_ago_is_not_frozen(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    preview = planner.delete(["p"])
    harness.advance(timedelta(minutes=2))
    assert planner.store_it(preview).expires_at == preview.at + LIFETIME
    harness.advance(timedelta(minutes=3))
    assert refusal(planner.store_it, preview) == "expired"


def test_cancelling_releases_the_items_and_keeps_the_header(harness: Harness) -> None:
    planner, made = of_family(harness)
    assert planner.cancel(made.plan_id).state is PlanState.CANCELLED
    assert planner.items(made.plan_id) == []
    assert planner.plan(made.plan_id).state is PlanState.CANCELLED
    assert refusal(planner.checked, made.plan_id, made.phrase) == "cancelled"
    assert refusal(planner.cancel, made.plan_id) == "cancelled"
    harness.advance(LIFETIME)
    assert planner.plan(made.plan_id).state is PlanState.CANCELLED
    with harness.raw() as connection:
        said = connection.execute(text("SELECT phase, object_kind, object_id FROM audit ORDER BY seq")).all()
    refused_once = [("intent", "plan", made.plan_id), ("result", "plan", made.plan_id)]
    assert said == 2 * refused_once


def test_a_phrase_is_typed_exactly(harness: Harness) -> None:
    planner, made = of_family(harness)
    for typed in ("", made.phrase.lower(), made.phrase + " ", f"DELETE {made.totals.rows + 1} ON PROD"):
        assert refusal(planner.checked, made.plan_id, typed) == "wrong confirmation"
    assert refusal(planner.checked, "pln_unknown", made.phrase) == "unknown"


CHANGES = {
    "a guard": "UPDATE plan_item SET guard = '{}' WHERE n = 2",
    "an object": "UPDATE plan_item SET object_id = 'other' WHERE n = 1",
    "a note": "UPDATE plan_item SET note = '{}' WHERE n = 3",
    "a kind": "UPDATE plan_item SET kind = 'claim' WHERE n = 3",
    "an order": "UPDATE plan_item SET n = 9 WHERE n = 3",
    "an item gone": "DELETE FROM plan_item WHERE n = 2",
    "an item more": "INSERT INTO plan_item SELECT plan_id, 5, kind, 'other', guard, note, txn_id, state,"
    " reserve_deadline FROM plan_item WHERE n = 4",
    "an environment": "UPDATE plan SET environment = 'Prod'",
    "parameters": "UPDATE plan SET params = '{}'",
    "its end": "UPDATE plan SET expires_at = expires_at + 3600000000000",
    "its beginning": "UPDATE plan SET created_at = created_at + 1",
    "its maker": "UPDATE plan SET actor = replace(actor, 'bastion-2', 'bastion-9')",
    "totals": "UPDATE plan SET totals = replace(totals, 'spend ledger', 'rest')",
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_under_a_plan_is_found_by_its_hash(harness: Harness, change: str) -> None:
    planner, made = of_family(harness)
    with harness.raw() as connection:
        assert connection.execute(text(CHANGES[change])).rowcount == 1
    assert planner.plan(made.plan_id).state is PlanState.READY
    assert refusal(planner.checked, made.plan_id, made.phrase) == "changed"


def test_ruling_55_a_plan_above_the_threshold_waits_an_hour_for_another(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]), ANY_ROWS)
    assert made.needs_approval
    assert planner.plan(made.plan_id) == made
    assert made.state is PlanState.AWAITING
    assert made.expires_at == harness.now() + APPROVAL_LIFETIME
    assert refusal(planner.checked, made.plan_id, made.phrase) == "unapproved"
    harness.advance(timedelta(minutes=59))
    approved = planner.approve(made.plan_id)
    assert planner.plan(made.plan_id) == approved
    assert approved.state is PlanState.READY
    assert approved.approved_by == OTHER
    assert approved.approved_at == harness.now()
    assert approved.expires_at == made.expires_at
    assert planner.checked(made.plan_id, made.phrase) == approved
    harness.advance(timedelta(minutes=1))
    assert refusal(planner.checked, made.plan_id, made.phrase) == "expired"


APPROVERS = {
    "the same user elsewhere": (Actor("mk", "laptop", role="other"), "same person"),
    "the same user in capitals": (Actor("MK", "laptop", role="other"), "same person"),
    "the same role": (Actor("jo", "bastion-1", role="ops_rw"), "same role"),
}


@pytest.mark.parametrize("who", APPROVERS)
def test_ruling_55_who_may_not_approve(harness: Harness, who: str) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]), ANY_ROWS)
    actor, why = APPROVERS[who]
    assert refusal(planner.approve, made.plan_id, actor) == why
    assert planner.plan(made.plan_id).state is PlanState.AWAITING


@pytest.mark.parametrize("approver", [MAKER, OTHER])
def test_ruling_55_an_approval_that_nobody_gave_is_none(harness: Harness, approver: Actor) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]), ANY_ROWS)
    forged = {"who": json.dumps(approver.facts()), "plan": made.plan_id}
    with harness.raw() as connection:
        connection.execute(
            text("UPDATE plan SET approved_by = :who, approved_at = 1 WHERE plan_id = :plan"), forged
        )
    why = "same person" if approver is MAKER else "unapproved"
    assert refusal(planner.checked, made.plan_id, made.phrase) == why


def test_a_plan_made_long_after_now_is_too_old(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]))
    harness.advance(-timedelta(minutes=6))
    assert refusal(planner.checked, made.plan_id, made.phrase) == "expired"


def test_ruling_55_without_a_role_the_user_decides(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store, Actor("mk", "here"))
    made = planner.store_it(planner.delete(["p"]), ANY_ROWS)
    assert planner.approve(made.plan_id, Actor("jo", "here")).state is PlanState.READY
    assert refusal(planner.approve, made.plan_id, Actor("third", "here")) == "approved"


def test_an_approval_comes_in_time_or_not_at_all(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    made = planner.store_it(planner.delete(["p"]), ANY_ROWS)
    harness.advance(APPROVAL_LIFETIME)
    assert refusal(planner.approve, made.plan_id) == "expired"
    unneeded = planner.store_it(planner.delete(["p"]))
    assert refusal(planner.approve, unneeded.plan_id) == "approved"


def test_plans_are_listed_newest_first_page_by_page(harness: Harness) -> None:
    grow(harness.checkpoints)
    planner = Planner(harness.store)
    made = []
    for _ in range(5):
        made += [planner.store_it(planner.delete(["p"])) for _ in range(2)]
        harness.advance(STEP)
    seen, after = list[str](), None
    for _ in range(10):
        page = planner.plans(after, 3)
        seen += [plan.plan_id for plan in page.rows]
        after = page.next
        if after is None:
            break
    newest = sorted(made, key=lambda plan: (plan.created_at, plan.plan_id), reverse=True)
    assert seen == [plan.plan_id for plan in newest]


def test_a_release_names_the_token_and_the_verdict(harness: Harness) -> None:
    held = claim(harness.store, "t", "worker")
    planner = Planner(harness.store)
    preview = planner.release(["t", "free"])
    (item,) = preview.items
    assert item.kind is ItemKind.CLAIM
    assert item.guard["token"] == held.token
    assert item.guard["expires_at"] == int(held.expires_at.timestamp()) * 1_000_000_000
    assert item.note["verdict"] == "holder_may_be_alive"
    assert preview.phrase == f"RELEASE {held.token}"
    assert [each.object_id for each in preview.totals.not_applicable] == ["free"]
    assert "worker" in preview.totals.warnings[0]
    harness.advance(timedelta(hours=1))
    assert planner.release(["t"]).items[0].note["verdict"] == "safe_to_release"
    assert planner.release(["t"]).totals.warnings == ()


def test_a_release_of_several_names_their_number(harness: Harness) -> None:
    for t in ("a", "b"):
        claim(harness.store, t, "worker")
    planner = Planner(harness.store)
    made = planner.store_it(planner.release(["a", "b"]))
    assert made.phrase == "RELEASE 2 ON PROD"
    assert planner.checked(made.plan_id, made.phrase).actor == MAKER


def test_an_environment_is_needed(harness: Harness) -> None:
    from dataclasses import replace

    planner = Planner(harness.store)
    with pytest.raises(ValidationError):
        planner.store_it(replace(planner.delete([]), environment=""))


def test_plans_are_in_no_list_of_money(harness: Harness) -> None:
    planner, _ = of_family(harness)
    desk = harness.store.desk
    assert desk.adopters().rows == ()
    assert desk.reservations().rows == ()
    assert desk.reservation_totals().tentative.open.count == 0
    with pytest.raises(ValidationError):
        desk.reservation("tentative", "x", "plan_item")
    assert [each.name for each in harness.store.reserved.adopters().tables] == ["plan_item"]
    assert planner.plans().rows
