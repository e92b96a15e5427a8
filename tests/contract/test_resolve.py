"""Deciding by hand: under the guard that was shown, on evidence, one winner (console.md F5; rulings 40 and 66)."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.desk import ReservationKind
from engine.desk.actor import Actor, Mandate
from engine.desk.audit.pages import AuditFilter
from engine.desk.plans import PlanState, Threshold
from engine.desk.resolve.checks import Weight, weigh
from engine.desk.resolve.model import Evidence, EvidenceFile, EvidenceKind, ResolutionStatus, Shows
from engine.errors import PlanRefused, ValidationError
from engine.spend import Consumed, Deferred, Released
from tests.support.builders import T0

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.desk.resolve.model import Resolution
    from engine.spend.answers import Answer
    from engine.store import Store
    from tests.support.harness import Harness

MK = Actor("mk", "bastion-2", role="ops_rw")
JO = Actor("jo", "laptop", role="ops_rw")
MICRO = 300_000
MINUTE = timedelta(minutes=1)
SEEN = Evidence(EvidenceKind.PROVIDER_CONSOLE, "req_9911", T0 + MINUTE, Shows.NOT_SPENT)
RESOLVED, OVERTAKEN = ResolutionStatus.RESOLVED, ResolutionStatus.OVERTAKEN


def fenced(store: Store) -> str:
    """A day reservation that no default may settle, long due."""
    return store.days.reserve(
        kind="call", micro=MICRO, at=T0, expires=T0 + MINUTE, cap_micro=10 * MICRO, require_fence=True
    )


def unit(store: Store) -> str:
    """A unit of a meter whose lease is over, fenced."""
    meter = store.meter(allowance_for=lambda *_: 10, period_of=lambda *_: "2026-10", require_shared=False)
    meter.reserve("acme", "op-1", units=2, require_fence=True, now=T0)
    return "op-1"


def resolve(
    store: Store,
    answer: Answer,
    which: str,
    *,
    guard: Any = None,
    evidence: Sequence[Evidence] = (SEEN,),
    actor: Actor = MK,
    reason: str | None = "INC-2291",
    kind: ReservationKind = ReservationKind.DAY,
) -> Resolution:
    """By hand, under the guard as it is now unless one was shown before."""
    source = "" if kind is ReservationKind.DAY else "agentos_spend"
    shown = guard or store.desk.guard(kind, which, source or None)
    assert shown is not None
    mandate = Mandate(actor, reason)
    return store.desk.resolve(
        kind, which, guard=shown, answer=answer, evidence=evidence, mandate=mandate, source=source
    )


@pytest.mark.parametrize(
    ("answer", "micro"), [(Consumed(), MICRO), (Consumed(120_000), 120_000), (Released(), 0)], ids=str
)
def test_a_day_reservation_is_settled_once_with_its_evidence(
    harness: Harness, answer: Answer, micro: int
) -> None:
    store = harness.store
    which = fenced(store)
    made = resolve(store, answer, which)
    assert made.status is RESOLVED
    assert made.before["day"] == {"day": "2026-10-09", "reserved_micro": MICRO, "settled_micro": 0}
    assert made.after["day"] == {"day": "2026-10-09", "reserved_micro": 0, "settled_micro": micro}
    assert store.days.total("2026-10-09").settled_micro == micro
    intent, result = store.desk.audit_of(made.operation_id)
    assert intent.body["evidence"] == result.body["evidence"] == [SEEN.facts()]
    assert result.body["after"] == made.after
    known = store.desk.outcome_of(made.operation_id)
    assert known is not None
    assert known.result["status"] == "resolved"


def test_a_meter_settles_whole_and_its_account_follows(harness: Harness) -> None:
    store = harness.store
    which = unit(store)
    with pytest.raises(ValidationError, match="settles whole"):
        resolve(store, Consumed(1), which, kind=ReservationKind.METER)
    made = resolve(store, Consumed(), which, kind=ReservationKind.METER)
    assert made.status is RESOLVED
    assert (made.before["account"]["reserved"], made.after["account"]["reserved"]) == (2, 0)
    assert made.after["account"]["used"] == 2


def test_f5_without_evidence_or_reason_nothing_is_decided(harness: Harness) -> None:
    which = fenced(harness.store)
    with pytest.raises(ValidationError, match="at least one item"):
        resolve(harness.store, Released(), which, evidence=())
    with pytest.raises(ValidationError, match="say why"):
        resolve(harness.store, Released(), which, reason=" ")
    assert harness.store.days.total("2026-10-09").reserved_micro == MICRO
    later = Deferred(T0 + 90 * MINUTE, {"note": "asked the provider"})
    assert resolve(harness.store, later, which, evidence=(), reason=None).status is ResolutionStatus.DEFERRED


@pytest.mark.parametrize("figure", [0, -1, MICRO + 1])
def test_f5_a_part_lies_above_zero_and_within_what_is_held(harness: Harness, figure: int) -> None:
    which = fenced(harness.store)
    with pytest.raises(ValidationError, match="above 0 and at most 300000"):
        resolve(harness.store, Consumed(figure), which)
    assert harness.store.days.total("2026-10-09").reserved_micro == MICRO
    assert harness.store.desk.open_intents().rows == ()


def test_f5_of_two_consoles_one_wins_and_the_other_is_told_by_whom(harness: Harness) -> None:
    stores = (harness.store, harness.sibling())
    which = fenced(stores[0])
    shown = stores[0].desk.guard(ReservationKind.DAY, which)
    made: list[Resolution] = []

    def decide(store: Store, actor: Actor, answer: Answer) -> None:
        made.append(resolve(store, answer, which, guard=shown, actor=actor))

    asked = ((stores[0], MK, Released()), (stores[1], JO, Consumed()))
    threads = [threading.Thread(target=decide, args=each) for each in asked]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    first, second = sorted(made, key=lambda each: each.status is OVERTAKEN)
    assert (first.status, second.status) == (RESOLVED, OVERTAKEN)
    assert second.first is not None
    assert second.first.operation_id == first.operation_id
    assert second.first.body["evidence"] == [SEEN.facts()]
    assert "already settled" in second.now
    total = stores[0].days.total("2026-10-09")
    assert (total.reserved_micro, total.settled_micro) in {(0, 0), (0, MICRO)}


def test_f5_a_pass_that_came_first_is_told_too(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    shown = store.desk.guard(ReservationKind.DAY, which)
    store.days.sweep(T0 + 2 * MINUTE, lambda _item: Released())
    made = resolve(store, Consumed(), which, guard=shown)
    assert (made.status, made.first) == (OVERTAKEN, None)
    assert "already settled" in made.now


def test_a_guard_that_no_longer_holds_decides_nothing(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    shown = store.desk.guard(ReservationKind.DAY, which)
    resolve(store, Deferred(T0 + 90 * MINUTE, {"note": "wait"}), which, evidence=())
    made = resolve(store, Released(), which, guard=shown)
    assert made.status is OVERTAKEN
    assert made.first is not None
    assert made.first.body["answer"]["answer"] == "deferred"
    assert store.days.total("2026-10-09").reserved_micro == MICRO


def test_what_is_gone_is_gone(harness: Harness) -> None:
    guard = {"deferrals": 0, "expires_at": 0, "next_check_at": None}
    made = resolve(harness.store, Released(), "no-such", guard=guard)
    assert made.status is ResolutionStatus.GONE


def test_a_deferral_lies_ahead(harness: Harness) -> None:
    which = fenced(harness.store)
    with pytest.raises(ValidationError, match="in the future"):
        resolve(harness.store, Deferred(T0 - MINUTE, {"note": "late"}), which, evidence=())


def test_evidence_is_weighed_before_it_is_used(harness: Harness) -> None:
    store = harness.store
    harness.advance(10 * MINUTE)
    detail = store.desk.reservation(ReservationKind.DAY, fenced(store))
    assert detail is not None
    assert [check.weight for check in weigh(detail, None, ())] == [Weight.NEED]
    assert [check.weight for check in weigh(detail, Released(), (SEEN,))] == [Weight.OK]

    def doubts(evidence: Evidence, answer: Answer | None = None) -> str:
        return "; ".join(
            check.text for check in weigh(detail, answer, (evidence,)) if check.weight is Weight.WARN
        )

    absent = Evidence(EvidenceKind.PROVIDER_LOG, "none", T0 + 5 * MINUTE, Shows.ABSENT)
    covered = Evidence(EvidenceKind.PROVIDER_LOG, "none", T0 + 5 * MINUTE, Shows.ABSENT, T0 - MINUTE)
    assert "weak" in doubts(absent, Released())
    assert doubts(covered, Released()) == ""
    assert "not spent" in doubts(SEEN, Consumed())
    early = Evidence(EvidenceKind.PERSON, "jo", T0 - MINUTE, Shows.SPENT)
    assert "older than the reservation" in doubts(early, Consumed())
    skewed = Evidence(EvidenceKind.PERSON, "jo", T0 + 11 * MINUTE, Shows.SPENT)
    assert "future" in doubts(skewed, Consumed())
    ahead = Evidence(EvidenceKind.PERSON, "jo", T0 + 60 * MINUTE, Shows.SPENT)
    assert [check.weight for check in weigh(detail, Consumed(), (ahead,))] == [Weight.NEED]
    assert weigh(detail, Deferred(T0 + 60 * MINUTE, {"note": "wait"}), ()) == ()


def test_evidence_that_nobody_can_have_seen_yet_is_refused(harness: Harness) -> None:
    store = harness.store
    harness.advance(5 * MINUTE)
    which = fenced(store)
    shown = store.desk.guard(ReservationKind.DAY, which)
    assert shown is not None
    now = T0 + 5 * MINUTE
    for seen, covers, told in (
        (now + MINUTE + timedelta(seconds=1), None, "observed in the future"),
        (now, now + timedelta(seconds=1), "covers from later than it was observed"),
    ):
        evidence = (SEEN, Evidence(EvidenceKind.PERSON, "jo", seen, Shows.NOT_SPENT, covers))
        with pytest.raises(ValidationError, match=f"2 .*{told}"):
            resolve(store, Released(), which, evidence=evidence)
        with pytest.raises(ValidationError, match=f"2 .*{told}"):
            store.desk.plan_resolve(
                ReservationKind.DAY,
                which,
                guard=shown,
                answer=Released(),
                evidence=evidence,
                reason="INC-2291",
                actor=MK,
                environment="prod",
            )
    assert store.days.total("2026-10-09").reserved_micro == MICRO
    assert store.desk.plans().rows == ()
    skewed = Evidence(EvidenceKind.PERSON, "jo", now + MINUTE, Shows.NOT_SPENT, now)
    assert resolve(store, Released(), which, evidence=(skewed,)).status is RESOLVED


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Evidence(EvidenceKind.OTHER, "  ", T0, Shows.SPENT), "is needed"),
        (lambda: Evidence(EvidenceKind.OTHER, "x" * 1001, T0, Shows.SPENT), "at most 1000"),
        (lambda: EvidenceFile("a.json", "zz", 1), "64 digits"),
        (lambda: EvidenceFile("a.json", "0" * 64, -1), "negative"),
    ],
)
def test_evidence_that_cannot_be_looked_up_is_none(make: Any, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        make()


def test_a_decision_above_the_threshold_waits_for_another_person(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    shown = store.desk.guard(ReservationKind.DAY, which)
    assert shown is not None
    plan = store.desk.plan_resolve(
        ReservationKind.DAY,
        which,
        guard=shown,
        answer=Consumed(120_000),
        evidence=(SEEN,),
        reason="INC-2291",
        actor=MK,
        environment="prod",
        threshold=Threshold(micro=MICRO - 1),
    )
    assert (plan.state, plan.phrase) == (PlanState.AWAITING, "CONSUME 0.120000")
    with pytest.raises(PlanRefused, match="waits for another"):
        store.desk.execute(plan.plan_id, Mandate(MK, "INC-2291"), plan.phrase)
    store.desk.approve_plan(plan.plan_id, Mandate(Actor("jo", "laptop", role="other"), "looked at it"))
    job = store.desk.execute(plan.plan_id, Mandate(MK, "INC-2291"), plan.phrase)
    assert store.desk.runner("mk").run(job.job_id).applied == 1
    assert store.days.total("2026-10-09").settled_micro == 120_000
    told = store.desk.audit(AuditFilter(object_kind="reservation", object_id=f"day:{which}")).rows
    assert told[0].body["evidence"] == [SEEN.facts()]


def test_a_planned_decision_that_was_overtaken_is_skipped(harness: Harness) -> None:
    store = harness.store
    which = fenced(store)
    shown = store.desk.guard(ReservationKind.DAY, which)
    assert shown is not None
    plan = store.desk.plan_resolve(
        ReservationKind.DAY,
        which,
        guard=shown,
        answer=Released(),
        evidence=(SEEN,),
        reason="INC-2291",
        actor=MK,
        environment="prod",
    )
    resolve(store, Consumed(), which)
    job = store.desk.execute(plan.plan_id, Mandate(MK, "INC-2291"), plan.phrase)
    assert store.desk.runner("mk").run(job.job_id).skipped == 1
    assert store.days.total("2026-10-09").settled_micro == MICRO
