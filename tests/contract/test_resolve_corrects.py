"""A decision that puts an earlier one right points at it; nothing of the earlier one changes (console.md F5 (f))."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from engine.desk import ReservationKind
from engine.desk.actor import Actor, Mandate
from engine.desk.audit.pages import AuditFilter
from engine.desk.plans import Threshold
from engine.desk.resolve.checks import Weight
from engine.desk.resolve.corrects import weigh_corrects
from engine.desk.resolve.model import ResolutionStatus
from engine.errors import ValidationError
from engine.spend import Consumed, Deferred, Released
from tests.contract.test_resolve import MICRO, MINUTE, MK, SEEN, fenced
from tests.support.builders import T0

if TYPE_CHECKING:
    from engine.desk.resolve.model import Resolution
    from engine.spend.answers import Answer
    from engine.store import Store
    from tests.support.harness import Harness

DAY = ReservationKind.DAY


def decide(store: Store, which: str, answer: Answer, corrects: str | None = None) -> Resolution:
    """By hand, under the guard as it is now."""
    guard = store.desk.guard(DAY, which)
    assert guard is not None
    return store.desk.resolve(
        DAY,
        which,
        guard=guard,
        answer=answer,
        evidence=(SEEN,),
        mandate=Mandate(MK, "INC-1"),
        corrects=corrects,
    )


def left(store: Store, which: str) -> Resolution:
    """Left deferred for an hour or more."""
    return decide(store, which, Deferred(T0 + 90 * MINUTE, {"note": "wait"}))


def test_the_record_points_at_the_one_it_corrects_which_stays_as_it_was(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    first = left(store, which)
    before = store.desk.audit_of(first.operation_id)
    second = decide(store, which, Released(), corrects=first.operation_id)
    assert second.status is ResolutionStatus.RESOLVED
    assert [each.body["corrects"] for each in store.desk.audit_of(second.operation_id)] == [
        first.operation_id
    ] * 2
    assert store.desk.audit_of(first.operation_id) == before
    assert all("corrects" not in each.body for each in before)
    late = decide(store, which, Consumed(), corrects=second.operation_id)
    assert late.status is ResolutionStatus.OVERTAKEN  # what is settled stays; that it was wrong is on record
    assert store.desk.audit_of(late.operation_id)[1].body["corrects"] == second.operation_id
    assert store.days.total("2026-10-09").settled_micro == 0
    assert store.desk.verify_audit().broken_at is None


def test_only_a_decision_about_the_same_reservation_can_be_corrected(harness: Harness) -> None:
    store = harness.store
    which, other = fenced(store), fenced(store)
    about_other = left(store, other).operation_id
    for corrects, why in (("op_nowhere", "knows no operation"), (about_other, "not about this reservation")):
        with pytest.raises(ValidationError, match=why):
            decide(store, which, Released(), corrects=corrects)
        known = store.desk.outcome_of(corrects)
        assert weigh_corrects(f"day:{which}", corrects, known).weight is Weight.NEED
    assert store.days.total("2026-10-09").reserved_micro == 2 * MICRO
    known = store.desk.outcome_of(about_other)
    assert weigh_corrects(f"day:{other}", about_other, known).weight is Weight.OK
    assert known is not None
    refused = replace(known, result={"refused": "validation"})
    assert "decided nothing" in weigh_corrects(f"day:{other}", about_other, refused).text


def test_a_planned_decision_keeps_what_it_corrects(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    first = left(store, which).operation_id
    guard = store.desk.guard(DAY, which)
    assert guard is not None
    given: Any = {
        "guard": guard,
        "answer": Released(),
        "evidence": (SEEN,),
        "reason": "INC-1",
        "environment": "prod",
    }
    with pytest.raises(ValidationError, match="knows no operation"):
        store.desk.preview_resolve(DAY, which, **given, corrects="op_nowhere")
    plan = store.desk.plan_resolve(
        DAY, which, **given, actor=MK, threshold=Threshold(micro=1), corrects=first
    )
    assert plan.params["corrects"] == first
    store.desk.approve_plan(plan.plan_id, Mandate(Actor("jo", "laptop", role="other"), "yes"))
    job = store.desk.execute(plan.plan_id, Mandate(MK, "INC-1"), plan.phrase)
    assert store.desk.runner("mk").run(job.job_id).applied == 1
    told = store.desk.audit(AuditFilter(object_kind="reservation", object_id=f"day:{which}")).rows
    assert (told[0].body["corrects"], told[0].body["outcome"]) == (first, "applied")
