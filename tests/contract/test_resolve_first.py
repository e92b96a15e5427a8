"""Who comes second is told who made the row what it is now, and never of an older decision (console.md F5 (c), (d))."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.desk import ReservationKind
from engine.desk.actor import Mandate
from engine.desk.plans import PlanState, Threshold
from engine.desk.resolve.model import Approval, ResolutionStatus
from engine.errors import ValidationError
from engine.spend import Consumed, Deferred, Released
from engine.spend.meter.model import Outcome
from tests.contract.test_resolve import JO, MINUTE, MK, OVERTAKEN, RESOLVED, SEEN, fenced, resolve, unit
from tests.support.builders import T0
from tests.support.daybooks import operation

if TYPE_CHECKING:
    from engine.desk.plans import Plan
    from engine.spend.answers import Answer
    from engine.store import Store
    from tests.support.harness import Harness

DAY, METER = ReservationKind.DAY, ReservationKind.METER
WAIT = Deferred(T0 + 10 * MINUTE, {"note": "asked the provider"})
HELD, RECORDED = 9_000_000, 1_000_000
BY_A_WORKER = "by a pass or a worker"


def put_off(store: Store, which: str, kind: ReservationKind = DAY) -> None:
    """Deferred by hand, by mk."""
    assert resolve(store, WAIT, which, evidence=(), kind=kind).status is ResolutionStatus.DEFERRED


def test_f5_d_a_worker_that_settled_it_is_not_mistaken_for_who_deferred_it_before(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    put_off(store, which)
    harness.advance(20 * MINUTE)
    shown = store.desk.guard(DAY, which)
    store.days.sweep(T0 + 20 * MINUTE, lambda _row: Released())
    made = resolve(store, Consumed(), which, guard=shown, actor=JO)
    assert (made.status, made.first) == (OVERTAKEN, None)
    assert made.now.startswith(f"already settled {BY_A_WORKER}, at 2026-")
    assert '"settled_micro":0' in made.now.replace(" ", "")


def test_f5_d_a_worker_that_deferred_it_again_is_not_mistaken_for_who_did_before(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    put_off(store, which)
    shown = store.desk.guard(DAY, which)
    assert store.days.defer(which, T0 + 30 * MINUTE, {"asked": "again"})
    made = resolve(store, Consumed(), which, guard=shown, actor=JO)
    assert (made.status, made.first) == (OVERTAKEN, None)
    assert made.now.startswith(f"version changed {BY_A_WORKER}: ")
    assert '"deferrals":2' in made.now.replace(" ", "")


def test_f5_c_a_settlement_by_hand_is_named_past_the_deferral_before_it(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    put_off(store, which)
    shown = store.desk.guard(DAY, which)
    first = resolve(store, Consumed(120_000), which, guard=shown)
    for _ in range(2):  # the first of the two stands in the audit when the second looks there
        made = resolve(store, Released(), which, guard=shown, actor=JO)
        assert made.first is not None
        assert made.first.operation_id == first.operation_id
        assert '"settled_micro":120000' in made.now.replace(" ", "")
        assert BY_A_WORKER not in made.now


def test_f5_d_of_a_meter_too_an_older_deferral_did_not_settle_it(harness: Harness) -> None:
    store = harness.store
    which = unit(store)
    put_off(store, which, METER)
    shown = store.desk.guard(METER, which, "agentos_spend")
    meter = store.meter(allowance_for=lambda *_: 10, period_of=lambda *_: "2026-10", require_shared=False)
    meter.settle(which, Outcome.RELEASED, now=T0 + 11 * MINUTE)
    made = resolve(store, Consumed(), which, guard=shown, actor=JO, kind=METER)
    assert (made.status, made.first) == (OVERTAKEN, None)
    assert made.now.startswith(f"already settled {BY_A_WORKER}, at ")


def test_f5_c_of_a_meter_an_earlier_attempts_release_by_hand_is_not_this_ones(harness: Harness) -> None:
    store = harness.store
    which = unit(store)
    assert resolve(store, Released(), which, kind=METER).status is RESOLVED
    meter = store.meter(allowance_for=lambda *_: 10, period_of=lambda *_: "2026-10", require_shared=False)
    meter.reserve("acme", which, units=2, now=T0 + MINUTE)
    shown = store.desk.guard(METER, which, "agentos_spend")
    assert shown is not None
    assert shown["attempt"] == 2
    meter.settle(which, Outcome.RELEASED, now=T0 + 2 * MINUTE)
    made = resolve(store, Consumed(), which, guard=shown, actor=JO, kind=METER)
    assert (made.status, made.first) == (OVERTAKEN, None)


def test_f5_c_of_a_meter_who_settled_it_by_hand_is_named(harness: Harness) -> None:
    store = harness.store
    which = unit(store)
    shown = store.desk.guard(METER, which, "agentos_spend")
    first = resolve(store, Released(), which, guard=shown, kind=METER)
    made = resolve(store, Consumed(), which, guard=shown, actor=JO, kind=METER)
    assert made.first is not None
    assert made.first.operation_id == first.operation_id


# The second pair of eyes


def recorded(harness: Harness) -> str:
    """An operation that holds 9 dollars, of which its run recorded 1; its lease is over."""
    store = harness.store
    store.days.admit_operation(
        operation(
            "op",
            micro=HELD,
            run_micro=RECORDED,
            at=T0,
            expires=T0 + MINUTE,
            lease_until=T0 + MINUTE,
            cap_micro=10 * HELD,
        )
    )
    harness.advance(2 * MINUTE)
    (found,) = store.days.expired(T0 + 2 * MINUTE)
    return found.id


def planned(store: Store, which: str, answer: Answer, threshold: Threshold) -> Plan:
    """The decision as a plan, of the row as it is now."""
    shown = store.desk.guard(DAY, which)
    assert shown is not None
    return store.desk.plan_resolve(
        DAY,
        which,
        guard=shown,
        answer=answer,
        evidence=(SEEN,),
        reason="INC-1",
        actor=MK,
        environment="prod",
        threshold=threshold,
    )


@pytest.mark.parametrize(
    ("answer", "phrase", "becomes"),
    [
        (Released(), "RELEASE 9.000000", "9.000000 USD released"),
        (Consumed(), "CONSUME 1.000000", "1.000000 USD of 9.000000 USD consumed, 8.000000 USD released"),
        (Consumed(1), "CONSUME 0.000001", "0.000001 USD of 9.000000 USD consumed, 8.999999 USD released"),
    ],
    ids=["released", "consumed", "part"],
)
def test_what_is_at_stake_is_all_that_is_held_whatever_was_recorded(
    harness: Harness, answer: Answer, phrase: str, becomes: str
) -> None:
    store, which = harness.store, recorded(harness)
    plan = planned(store, which, answer, Threshold(micro=5_000_000))
    assert (plan.state, plan.phrase) == (PlanState.AWAITING, phrase)
    assert plan.totals.micro == HELD
    (item,) = store.desk.plan_items(plan.plan_id).rows
    assert item.note["becomes"] == plan.totals.lines[0].note == becomes
    assert planned(store, which, answer, Threshold(micro=HELD)).state is PlanState.READY
    assert planned(store, which, answer, Threshold(rows=0)).state is PlanState.AWAITING


def test_a_deferral_frees_and_charges_nothing_and_waits_for_nobody(harness: Harness) -> None:
    plan = planned(harness.store, recorded(harness), WAIT, Threshold(micro=0, rows=0))
    assert (plan.state, plan.phrase, plan.totals.micro) == (PlanState.READY, "DEFER", 0)


def test_of_a_meter_the_units_are_at_stake(harness: Harness) -> None:
    store = harness.store
    which = unit(store)
    shown = store.desk.guard(METER, which, "agentos_spend")
    assert shown is not None
    found = store.desk.preview_resolve(
        METER,
        which,
        guard=shown,
        answer=Released(),
        evidence=(SEEN,),
        reason="INC-1",
        environment="prod",
        source="agentos_spend",
    )
    assert (found.phrase, found.totals.units, found.totals.micro) == ("RELEASE 2 UNITS", 2, 0)
    assert found.items[0].note["becomes"] == "2 units released"


def test_the_audit_keeps_by_whose_yes_to_which_plan_it_was_decided(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    shown = store.desk.guard(DAY, which)
    assert shown is not None
    made = store.desk.resolve(
        DAY,
        which,
        guard=shown,
        answer=Released(),
        evidence=(SEEN,),
        mandate=Mandate(MK, "INC-1"),
        approval=Approval("pln_1", "jo@laptop"),
    )
    for entry in store.desk.audit_of(made.operation_id):
        assert (entry.body["plan"], entry.body["approved_by"]) == ("pln_1", "jo@laptop")
    with pytest.raises(ValidationError, match="approved_by"):
        Approval("pln_1", "x" * 10_000)
