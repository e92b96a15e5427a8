"""The spend meter by hand: ruling 45's operator, rulings 40, 66 and 67, late settles (6.10), background passes."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import SpendMeterUnavailable, StoreClosed, ValidationError
from engine.spend import Consumed, Deferred, MeterOperator, ReservationState, Settlement, SettlementStatus
from engine.spend.meter import Listed
from tests.support.background import until
from tests.support.meters import (
    CONSUMED,
    DEFAULT,
    LEASE,
    OTHER,
    RELEASED,
    REPLACED,
    T0,
    check_sums,
    consume,
    counts,
    granted,
    held,
    hold,
    metering,
    ms,
    reservations,
)

if TYPE_CHECKING:
    from tests.support.harness import Harness

STALE, MOVED = SettlementStatus.STALE_ATTEMPT, SettlementStatus.STALE_EXPIRY
RESERVED = ReservationState.RESERVED
SETTLED = SettlementStatus.SETTLED
SOON = timedelta(milliseconds=5)


def operating(harness: Harness, prefix: str = DEFAULT, **options: Any) -> MeterOperator:
    """The operator of a meter's tables."""
    return harness.store.meter_operator(prefix, lease=LEASE, **({"unknown_after_lease": "release"} | options))


def test_ruling_45_an_operator_reconciles_by_the_default(harness: Harness) -> None:
    meter = metering(harness, a=3)
    hold(meter, T0, "plain")
    hold(meter, T0, "fenced", require_fence=True)
    assert counts(operating(harness, unknown_after_lease="consume").reconcile(now=ms(5000))) == (1, 0, 0, 0)
    assert held(meter.snapshot("a", now=T0)) == (1, 1, 1)


def test_ruling_45_an_operators_resolver_decides_about_fences(harness: Harness) -> None:
    meter = metering(harness, a=3)
    hold(meter, T0, "fenced", require_fence=True)
    operator = operating(harness, resolver=lambda row: Deferred(ms(9000), {"seen": row.operation_id}))
    assert counts(operator.reconcile(now=ms(5000))) == (0, 0, 1, 0)
    assert counts(operator.reconcile(now=ms(8999))) == (0, 0, 0, 0)
    definite = operating(harness, resolver=lambda row: Consumed())
    assert counts(definite.reconcile(now=ms(9000))) == (1, 0, 0, 0)
    check_sums(harness)


def test_ruling_45_an_operator_makes_no_tables(harness: Harness) -> None:
    with pytest.raises(SpendMeterUnavailable, match="other_spend_reservations"):
        operating(harness, OTHER).list()
    with pytest.raises(ValidationError, match="table_prefix"):
        operating(harness, "spend")
    with pytest.raises(ValidationError, match="unknown_after_lease"):
        operating(harness, unknown_after_lease="forget")


def test_ruling_45_an_operator_lists_what_is_held(harness: Harness) -> None:
    meter, operator = metering(harness, a=9), operating(harness)
    for place in range(5):
        hold(meter, ms(place), f"op{9 - place}", require_fence=place % 2 == 1)
    consume(meter, T0, "done")
    first = operator.list(limit=2)
    second = operator.list(limit=3, after=first.next)
    assert [row.operation_id for row in first.reservations + second.reservations] == [
        f"op{9 - n}" for n in range(5)
    ]
    assert second.next is None
    fenced = operator.list(Listed.FENCED).reservations
    assert [(row.operation_id, row.fenced) for row in fenced] == [("op8", True), ("op6", True)]
    due = operator.list(Listed.DUE, now=ms(1002)).reservations
    assert [row.operation_id for row in due] == ["op9", "op8", "op7"]
    with pytest.raises(ValidationError):
        operator.list(limit=0)
    with pytest.raises(ValidationError):
        operator.list(after="nonsense")


def test_ruling_66_a_persons_answer_is_under_the_attempt_and_the_expiry_shown(harness: Harness) -> None:
    meter, operator = metering(harness, a=9), operating(harness)
    hold(meter, T0, "op")
    (shown,) = operator.list().reservations
    guard: dict[str, Any] = {"attempt": shown.attempt, "expires_at": shown.expires_at}

    meter.heartbeat("op", now=ms(500))
    assert operator.settle("op", CONSUMED, **guard) == Settlement(MOVED, RESERVED)
    assert not operator.defer("op", ms(9000), {"why": "late"}, **guard)

    (shown,) = operator.list().reservations
    guard = {"attempt": shown.attempt, "expires_at": shown.expires_at}
    meter.settle("op", RELEASED, now=ms(500))
    assert granted(meter.reserve("a", "op", now=ms(500))).expires_at == shown.expires_at
    assert operator.settle("op", CONSUMED, **guard) == Settlement(STALE, RESERVED)
    assert not operator.defer("op", ms(9000), {"why": "late"}, **guard)
    assert (reservations(harness)["op"].attempts, bool(reservations(harness)["op"].fenced)) == (2, False)

    (shown,) = operator.list().reservations
    guard = {"attempt": shown.attempt, "expires_at": shown.expires_at}
    done = operator.settle("op", CONSUMED, usage={"total_tokens": 3}, now=ms(600), **guard)
    assert done == Settlement(SETTLED, ReservationState.CONSUMED)
    assert operator.settle("op", REPLACED, now=ms(700), **guard).status == SETTLED
    assert operator.settle("nobody", CONSUMED, **guard).status == SettlementStatus.NOT_FOUND
    check_sums(harness)


def test_ruling_66_a_person_defers_again(harness: Harness) -> None:
    meter, operator = metering(harness, a=9), operating(harness)
    hold(meter, T0, "op")
    assert operator.defer("op", ms(9000), {"ticket": 1}, attempt=1, expires_at=T0 + LEASE)
    assert not operator.defer("op", ms(9500), {"ticket": 2}, attempt=1, expires_at=T0 + LEASE)
    assert operator.defer("op", ms(5000), {"ticket": 3}, attempt=1, expires_at=ms(9000))
    (row,) = operator.list(Listed.DUE, now=ms(5000)).reservations
    assert (row.fenced, row.evidence, row.expires_at) == (True, {"ticket": 3}, ms(5000))
    with pytest.raises(ValidationError):
        operator.defer("op", ms(9500), "why", attempt=1, expires_at=ms(5000))  # type: ignore[arg-type]
    assert counts(meter.reconcile(now=ms(99_999))) == (0, 0, 0, 0)


def test_ruling_67_a_settle_of_another_attempt_changes_nothing(harness: Harness) -> None:
    meter = metering(harness, a=9)
    hold(meter, T0, "op")
    meter.settle("op", RELEASED, now=T0)
    assert granted(meter.reserve("a", "op", now=T0)).attempt == 2
    before = reservations(harness)
    assert meter.settle("op", CONSUMED, attempt=1, now=T0) == Settlement(STALE, RESERVED)
    assert meter.settle("op", CONSUMED, attempt=3, now=T0) == Settlement(STALE, RESERVED)
    assert reservations(harness) == before
    assert meter.settle("op", CONSUMED, attempt=2, now=T0).status == SETTLED
    assert meter.settle("op", CONSUMED, attempt=1, now=T0).status == STALE
    assert meter.settle("op", CONSUMED, attempt=2, now=T0).status == SettlementStatus.ALREADY_SETTLED
    check_sums(harness)


def test_a_late_settle_is_told_of(harness: Harness, caplog: pytest.LogCaptureFixture) -> None:
    meter = metering(harness, a=9)
    hold(meter, T0, "late", units=3)
    meter.reconcile(now=ms(1000))
    with caplog.at_level(logging.WARNING, "engine.spend.meter"):
        answer = meter.settle("late", CONSUMED, now=ms(1001))
    assert answer == Settlement(SettlementStatus.ALREADY_SETTLED, ReservationState.RELEASED)
    (record,) = caplog.records
    assert "'late'" in record.getMessage()
    assert "3 units" in record.getMessage()


def test_a_settle_that_loses_nothing_is_not_told_of(
    harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    meter = metering(harness, a=9)
    hold(meter, T0, "given back", "spent", "late")
    meter.settle("given back", RELEASED, now=ms(500))
    meter.settle("given back", CONSUMED, now=ms(600))
    meter.settle("spent", CONSUMED, now=ms(500))
    meter.settle("spent", CONSUMED, now=ms(600))
    meter.reconcile(now=ms(1000))
    meter.settle("late", RELEASED, now=ms(1001))
    assert caplog.records == []


def test_outcomes_and_usage_are_checked(harness: Harness) -> None:
    meter = metering(harness, a=9)
    hold(meter, T0, "op")
    assert meter.settle("op", "consumed", now=T0).status == SETTLED  # type: ignore[arg-type]
    wrong: list[dict[str, Any]] = [
        {"outcome": "lost"},
        {"usage": "12"},
        {"usage": {"a": float("nan")}},
        {"attempt": "1"},
        {"attempt": True},
    ]
    for given in wrong:
        with pytest.raises(ValidationError):
            meter.settle("op", **({"outcome": CONSUMED, "now": T0} | given))  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="which"):
        operating(harness).list("some")  # type: ignore[arg-type]


def test_background_passes(harness: Harness) -> None:
    meter = metering(harness, a=9)
    hold(meter, T0, "op")
    harness.advance(timedelta(days=30))
    meter.start_reconciler(SOON)
    meter.start_reconciler(SOON)
    (own,) = [thread for thread in threading.enumerate() if thread.name == "spend-meter-reconciler"]
    assert own.daemon, "it must keep no process alive"
    until(lambda: reservations(harness)["op"].state == "released", "the pass releases it")
    meter.stop_reconciler()
    meter.stop_reconciler()
    assert "spend-meter-reconciler" not in [thread.name for thread in threading.enumerate()]
    hold(meter, T0, "later")
    meter.start_reconciler(SOON)
    until(lambda: reservations(harness)["later"].state == "released", "a second start passes again")
    meter.stop_reconciler()


def test_background_passes_report_and_go_on(harness: Harness) -> None:
    heard: list[Exception] = []
    meter = metering(harness, a=9, ensure_schema=False)

    def hear(error: Exception) -> None:
        heard.append(error)
        raise RuntimeError("deaf")

    meter.start_reconciler(SOON, on_error=hear)
    until(lambda: len(heard) > 2, "three failed passes")
    assert {type(error) for error in heard} == {SpendMeterUnavailable}
    harness.store.close()
    until(lambda: isinstance(heard[-1], StoreClosed), "the store's end is heard of")
    until(lambda: "spend-meter-reconciler" not in [t.name for t in threading.enumerate()], "and is the end")
    meter.stop_reconciler()


def test_a_tick_is_left_out_while_a_pass_runs(harness: Harness) -> None:
    running, most = [0], [0]
    go_on = threading.Event()

    def slow(row: object) -> object:
        running[0] += 1
        most[0] = max(most[0], running[0])
        go_on.wait(0.1)
        running[0] -= 1
        return Consumed()

    meter = metering(harness, a=9, resolve_expired=slow)
    hold(meter, T0, "op", "op2", "op3")
    harness.advance(timedelta(days=30))
    meter.start_reconciler(timedelta(milliseconds=1))
    until(lambda: most[0] > 0, "a pass has begun")
    until(lambda: reservations(harness)["op3"].state == "consumed", "it comes to its end")
    meter.stop_reconciler()
    assert most == [1]
    with pytest.raises(ValidationError):
        meter.start_reconciler(timedelta(0))
