"""What a plan of a reconcile pass holds: what is due, and who decides about it (rulings 39, 40 and 55)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.clock import to_ns
from engine.desk.jobs.executors.outcomes import GONE, SETTLED
from engine.desk.money_views import ReservationKind
from engine.desk.plans import (
    AnswerSource,
    ItemKind,
    PlanState,
    ReconcileAsked,
    Threshold,
    books,
    preview_reconcile,
)
from engine.desk.plans.budget import Budget
from engine.desk.plans.reconcile import FENCED
from engine.errors import PlanRefused, ValidationError
from engine.spend.meter.model import AfterLease
from tests.support.builders import T0
from tests.support.daybooks import CAP, operation, reserve
from tests.support.meters import CONSUMED, metering
from tests.support.planning import Planner

if TYPE_CHECKING:
    from engine.desk.plans import Preview
    from tests.support.harness import Harness

S, K = AnswerSource, ReservationKind
HOUR = timedelta(hours=1)
DAYS = frozenset({K.DAY})
METERS = frozenset({K.METER})


def day(harness: Harness, micro: int, *, ends: timedelta = HOUR, **more: Any) -> str:
    """A reservation of the day store that ends so long after T0."""
    return reserve(harness.store.days, micro, at=T0, expires=T0 + ends, cap_micro=CAP, **more)


def looked(harness: Harness, asked: ReconcileAsked) -> Preview:
    """The preview of a pass."""
    return Planner(harness.store).look(preview_reconcile, asked)


def ids(preview: Preview) -> list[str]:
    """What the items are about."""
    return [item.object_id for item in preview.items]


def apart(preview: Preview) -> dict[str, str]:
    """What does not apply, and why."""
    return {each.object_id: each.reason for each in preview.totals.not_applicable}


def test_by_default_unfenced_rows_that_are_due_are_planned(harness: Harness) -> None:
    plain = day(harness, 300_000, thread_id="t")
    fenced = day(harness, 500_000, require_fence=True)
    day(harness, 700_000, ends=3 * HOUR)
    harness.advance(2 * HOUR)
    preview = looked(harness, ReconcileAsked(S.DEFAULT, DAYS))
    (item,) = preview.items
    assert (item.kind, item.object_id) == (ItemKind.DAY, f"day:{plain}")
    assert item.guard == {"deferrals": 0, "expires_at": to_ns(T0 + HOUR), "next_check_at": None}
    assert item.note["becomes"] == "settled whole"
    assert item.note["thread"] == "t"
    assert preview.totals.micro == 300_000
    assert apart(preview) == {f"day:{fenced}": FENCED}
    assert preview.phrase == "RECONCILE 1 ON PROD"


def test_an_operation_is_settled_at_what_is_recorded(harness: Harness) -> None:
    admitted = operation("op", at=T0, expires=T0 + HOUR, lease_until=T0 + timedelta(seconds=1))
    harness.store.days.admit_operation(admitted)
    harness.advance(2 * HOUR)
    (item,) = looked(harness, ReconcileAsked(S.DEFAULT, DAYS)).items
    assert item.note["micro"] == 1000
    assert item.note["figure"] == 300
    assert item.note["becomes"] == "settled at the recorded figure"


@pytest.mark.parametrize("source", [S.RESOLVER, S.ASK])
def test_who_is_asked_may_decide_about_fenced_rows(harness: Harness, source: AnswerSource) -> None:
    names = {f"day:{day(harness, 1)}", f"day:{day(harness, 2, require_fence=True)}"}
    harness.advance(2 * HOUR)
    preview = looked(harness, ReconcileAsked(source, DAYS, resolver="ops:answer"))
    assert set(ids(preview)) == names
    assert apart(preview) == {}
    assert {item.note["fenced"] for item in preview.items} == {True, False}
    assert preview.totals.micro == 3


def test_a_deferred_row_is_guarded_by_its_next_check(harness: Harness) -> None:
    name = day(harness, 1)
    harness.store.days.defer(name, T0 + 2 * HOUR, {"seen": "nothing"})
    harness.advance(90 * timedelta(minutes=1))
    assert looked(harness, ReconcileAsked(S.ASK, DAYS)).items == ()
    harness.advance(HOUR)
    (item,) = looked(harness, ReconcileAsked(S.ASK, DAYS)).items
    assert item.guard == {
        "deferrals": 1,
        "expires_at": to_ns(T0 + HOUR),
        "next_check_at": to_ns(T0 + 2 * HOUR),
    }


def test_a_meters_units_go_as_the_plan_says(harness: Harness) -> None:
    meter = metering(harness, a=90, table_prefix="acme")
    other = metering(harness, a=90, table_prefix="beta")
    meter.reserve("a", "one", units=3)
    meter.reserve("a", "two", units=4, require_fence=True)
    meter.reserve("a", "done")
    meter.settle("done", CONSUMED)
    other.reserve("a", "three", units=5)
    harness.advance(HOUR)
    asked = ReconcileAsked(S.DEFAULT, METERS, meters=("acme",), after_lease=AfterLease.RELEASE)
    preview = looked(harness, asked)
    (item,) = preview.items
    assert (item.kind, item.object_id) == (ItemKind.METER, "meter:acme:one")
    assert item.guard == {"attempt": 1, "expires_at": to_ns(T0 + timedelta(seconds=1))}
    assert item.note["becomes"] == "released"
    assert preview.totals.units == 3
    assert apart(preview) == {"meter:acme:two": FENCED}
    whole = looked(harness, ReconcileAsked(S.DEFAULT, METERS, after_lease=AfterLease.CONSUME))
    assert ids(whole) == ["meter:acme:one", "meter:beta:three"]
    assert whole.items[0].note["becomes"] == "consumed whole"


def test_rows_that_are_named_stand_in_the_plan_or_apart(harness: Harness) -> None:
    meter = metering(harness, a=90, table_prefix="acme")
    meter.reserve("a", "one")
    names = [
        f"day:{day(harness, 1)}",
        f"day:{day(harness, 2, require_fence=True)}",
        f"day:{day(harness, 3, ends=5 * HOUR)}",
        "day:never",
        "meter:acme:one",
        "meter:acme:never",
    ]
    settled = day(harness, 4)
    harness.store.days.release(settled, 4, T0)
    harness.advance(2 * HOUR)
    named = (*names, f"day:{settled}")
    preview = looked(harness, ReconcileAsked(S.DEFAULT, names=named, after_lease=AfterLease.CONSUME))
    assert ids(preview) == [names[0], names[4]]
    assert apart(preview) == {
        names[1]: FENCED,
        names[2]: f"not due before {(T0 + 5 * HOUR).isoformat()}",
        names[3]: GONE,
        names[5]: GONE,
        f"day:{settled}": SETTLED,
    }


def test_report_31_a_pass_in_which_nothing_applies_cannot_be_executed(harness: Harness) -> None:
    day(harness, 1, require_fence=True)
    harness.advance(2 * HOUR)
    planner = Planner(harness.store)
    made = planner.store_it(planner.look(preview_reconcile, ReconcileAsked(S.DEFAULT, DAYS)))
    assert made.state is PlanState.BLOCKED
    assert planner.plan(made.plan_id).totals.not_applicable_count == 1


def test_money_above_the_threshold_waits_for_another(harness: Harness) -> None:
    day(harness, 5_000_001)
    harness.advance(2 * HOUR)
    planner = Planner(harness.store)
    preview = planner.look(preview_reconcile, ReconcileAsked(S.DEFAULT, DAYS))
    assert planner.store_it(preview, Threshold(micro=5_000_000)).state is PlanState.AWAITING
    assert planner.store_it(preview, Threshold(micro=5_000_001)).state is PlanState.READY


def test_pages_are_read_to_their_end(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {f"day:{day(harness, n, ends=(1 + n % 2) * HOUR)}" for n in range(1, 8)}
    harness.advance(2 * HOUR)
    small = books.DayBook()
    cut = small._unfenced._core
    monkeypatch.setattr(small, "_unfenced", books.Statement(cut.limit(2)))  # type: ignore[attr-defined]
    monkeypatch.setattr("engine.desk.plans.reconcile.DAY_BOOK", small)
    preview = looked(harness, ReconcileAsked(S.DEFAULT, DAYS))
    assert len(preview.items) == len(names)
    assert set(ids(preview)) == names


def test_report_66_a_pass_too_is_refused_by_its_budget(harness: Harness) -> None:
    for n in range(1, 4):
        day(harness, n)
    harness.advance(2 * HOUR)
    for budget in (Budget(span=timedelta(0)), Budget(most=2)):
        with pytest.raises(PlanRefused) as caught:
            Planner(harness.store).look(preview_reconcile, ReconcileAsked(S.ASK, DAYS), budget)
        assert caught.value.why == "too wide"


FAULTS: dict[str, dict[str, Any]] = {
    "nothing asked": {"source": S.ASK},
    "both ways": {"source": S.ASK, "kinds": DAYS, "names": ("day:x",)},
    "a tentative row": {"source": S.ASK, "kinds": frozenset({K.TENTATIVE})},
    "a name that is none": {"source": S.ASK, "names": ("x",)},
    "a default that no store knows": {"source": S.DEFAULT, "kinds": METERS},
    "the same of a named row": {"source": S.DEFAULT, "names": ("meter:acme:one",)},
    "an unknown source": {"source": "anybody", "kinds": DAYS},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_asked_for(fault: str) -> None:
    with pytest.raises(ValidationError):
        ReconcileAsked(**FAULTS[fault])


def test_an_unknown_meter_is_an_error(harness: Harness) -> None:
    for wrong in (
        ReconcileAsked(S.ASK, METERS, meters=("nowhere",)),
        ReconcileAsked(S.ASK, names=("meter:a:b",)),
    ):
        with pytest.raises(ValidationError):
            looked(harness, wrong)
