"""The spend meter: cases M and X of spend.md, and what is checked when one is made."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import SpendMeterUnavailable, ValidationError
from engine.spend import (
    Consumed,
    DenialReason,
    MeterSnapshot,
    Released,
    ReservationState,
    Reserved,
    Settlement,
    SettlementStatus,
)
from tests.support.meters import (
    CONSUMED,
    LEASE,
    OTHER,
    RELEASED,
    REPLACED,
    T0,
    T1,
    Product,
    check_sums,
    consume,
    counts,
    denied,
    granted,
    held,
    hold,
    meter_for,
    metering,
    migrate,
    ms,
    on_both_tables,
    reservations,
    t,
)

if TYPE_CHECKING:
    from tests.support.harness import Harness

EXHAUSTED, IN_FLIGHT = DenialReason.ALLOWANCE_EXHAUSTED, DenialReason.IN_FLIGHT
SETTLED, ALREADY = SettlementStatus.SETTLED, SettlementStatus.ALREADY_SETTLED
IS_CONSUMED, IS_RELEASED = ReservationState.CONSUMED, ReservationState.RELEASED


@on_both_tables
def test_spend_M1_reserve_settle_and_look(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=2)
    assert meter.reserve("a", "j1", now=T0) == Reserved("j1", "a", "2026-10", 1, 1, 1, T0 + LEASE)
    assert granted(meter.reserve("a", "j2", now=T0)).remaining == 0
    denied(meter.reserve("a", "j3", now=T0), EXHAUSTED, 0)
    done = meter.settle("j1", CONSUMED, usage={"total_tokens": 12}, now=T0)
    assert done == Settlement(SETTLED, IS_CONSUMED)
    assert meter.snapshot("a", now=T0) == MeterSnapshot("a", "2026-10", 2, 1, 1, 0)
    assert meter.settle("j2", RELEASED, now=T0) == Settlement(SETTLED, IS_RELEASED)
    last = granted(meter.reserve("a", "j3", now=T0))
    assert (last.attempt, last.remaining) == (1, 0)
    kept = reservations(harness, OTHER if tables == "migrated" else "agentos_spend")
    assert kept["j1"].usage_json == '{"total_tokens":12}'


@on_both_tables
def test_spend_M2_an_operation_has_so_many_attempts(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=10)
    hold(meter, T0, "op")
    denied(meter.reserve("a", "op", now=T0), IN_FLIGHT, 9)
    for attempt in (2, 3):
        meter.settle("op", RELEASED, now=T0)
        assert granted(meter.reserve("a", "op", now=T0)).attempt == attempt
    meter.settle("op", RELEASED, now=T0)
    denied(meter.reserve("a", "op", now=T0), DenialReason.RETRIES_EXHAUSTED, 10)
    consume(meter, T0, "k")
    denied(meter.reserve("a", "k", now=T0), DenialReason.ALREADY_CONSUMED, 9)
    assert held(meter.snapshot("a", now=T0)) == (1, 0, 9)


@on_both_tables
def test_spend_M3_what_is_settled_stays_so(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=5)
    hold(meter, T0, "op")
    assert meter.settle("op", CONSUMED, now=T0) == Settlement(SETTLED, IS_CONSUMED)
    assert meter.settle("op", CONSUMED, now=T0) == Settlement(ALREADY, IS_CONSUMED)
    assert meter.settle("op", RELEASED, now=T0) == Settlement(ALREADY, IS_CONSUMED)
    assert meter.settle("nobody", CONSUMED, now=T0) == Settlement(SettlementStatus.NOT_FOUND, None)
    assert held(meter.snapshot("a", now=T0)) == (1, 0, 4)


@on_both_tables
def test_spend_M4_a_refund(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=5)
    consume(meter, T0, "c")
    assert meter.settle("c", REPLACED, now=T0) == Settlement(SETTLED, IS_RELEASED)
    assert meter.settle("c", REPLACED, now=T0) == Settlement(ALREADY, IS_RELEASED)
    hold(meter, T0, "e")
    assert meter.settle("e", REPLACED, now=T0) == Settlement(SETTLED, IS_RELEASED)
    assert meter.settle("e", CONSUMED, now=T0) == Settlement(ALREADY, IS_RELEASED)
    assert held(meter.snapshot("a", now=T0)) == (0, 0, 5)


@on_both_tables
def test_spend_M5_a_pass_asks_what_became_of_each(harness: Harness, tables: str) -> None:
    known: dict[str, Any] = {"k1": Consumed(), "k2": Released()}
    meter = metering(harness, tables, a=10, resolve_unknown=lambda row: known.get(row.operation_id))
    hold(meter, T0, "k1", "k2", "k3", "k4")
    meter.heartbeat("k4", now=ms(900))
    assert counts(meter.reconcile(now=ms(1500))) == (1, 2, 0, 0)
    assert held(meter.snapshot("a", now=T0)) == (1, 1, 8)
    assert counts(meter.reconcile(now=ms(1500))) == (0, 0, 0, 0)
    assert counts(meter.reconcile(now=ms(2000))) == (0, 1, 0, 0)
    assert held(meter.snapshot("a", now=T0)) == (1, 0, 9)


@on_both_tables
def test_spend_M6_the_other_default(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=3, unknown_after_lease="consume")
    hold(meter, T0, "op")
    assert counts(meter.reconcile(now=ms(5000))) == (1, 0, 0, 0)
    assert held(meter.snapshot("a", now=T0)) == (1, 0, 2)


@on_both_tables
def test_spend_M7_each_period_counts_for_itself(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=1)
    hold(meter, T0, "p")
    assert granted(meter.reserve("a", "q", now=T1)).period == "2026-11"
    meter.settle("p", CONSUMED, now=T1)
    assert meter.snapshot("a", now=T0) == MeterSnapshot("a", "2026-10", 1, 1, 0, 0)
    assert meter.snapshot("a", now=T1) == MeterSnapshot("a", "2026-11", 1, 0, 1, 0)


@on_both_tables
def test_spend_M8_the_products_allowance_changes(harness: Harness, tables: str) -> None:
    product, options = Product(a=2), {}
    if tables == "migrated":
        migrate(harness, OTHER)
        options = {"table_prefix": OTHER, "ensure_schema": False}
    meter = meter_for(harness, product, **options)
    consume(meter, T0, "j1", "j2")
    denied(meter.reserve("a", "j3", now=T0), EXHAUSTED, 0)
    product.allowances["a"] = 5
    assert granted(meter.reserve("a", "j3", now=T0)).remaining == 2
    meter.set_allowance("a", 3, now=T0)
    assert meter.snapshot("a", now=T0) == MeterSnapshot("a", "2026-10", 3, 2, 1, 0)
    assert granted(meter.reserve("a", "j4", now=T0)).remaining == 1


@on_both_tables
def test_spend_M9_accounts_and_units(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=3, b=1)
    first = granted(meter.reserve("a", "j1", units=3, now=T0))
    assert (first.units, first.remaining) == (3, 0)
    assert granted(meter.reserve("b", "j2", now=T0)).remaining == 0
    denied(meter.reserve("b", "j3", now=T0), EXHAUSTED, 0)
    meter.settle("j1", CONSUMED, now=T0)
    assert held(meter.snapshot("a", now=T0)) == (3, 0, 0)
    assert held(meter.snapshot("b", now=T0)) == (0, 1, 0)
    assert meter.snapshot("c", now=T0) == MeterSnapshot("c", "2026-10", 0, 0, 0, 0)


def test_spend_X1_a_retry_without_room_changes_nothing(harness: Harness) -> None:
    meter = metering(harness, a=1)
    hold(meter, T0, "o")
    meter.settle("o", RELEASED, now=T0)
    hold(meter, T0, "j2")
    denied(meter.reserve("a", "o", now=T0), EXHAUSTED, 0)
    row = reservations(harness)["o"]
    assert (row.state, row.attempts, row.outcome) == ("released", 1, "released")
    check_sums(harness)


def test_spend_X2_a_heartbeat_only_moves_forward(harness: Harness) -> None:
    meter = metering(harness, a=2)
    hold(meter, T0, "op", "other")
    meter.heartbeat("op", now=ms(5000))
    assert _expiry(harness, "op") == 6000
    meter.heartbeat("op", now=ms(100))
    assert _expiry(harness, "op") == 6000
    meter.heartbeat("unknown", now=ms(100))
    meter.settle("other", RELEASED, now=T0)
    meter.heartbeat("other", now=ms(9000))
    assert _expiry(harness, "other") == 1000


def test_spend_X2_a_heartbeat_may_name_its_attempt(harness: Harness) -> None:
    meter = metering(harness, a=2)
    hold(meter, T0, "op")
    meter.settle("op", RELEASED, now=T0)
    hold(meter, T0, "op")
    meter.heartbeat("op", attempt=1, now=ms(5000))
    assert _expiry(harness, "op") == 1000
    meter.heartbeat("op", attempt=2, now=ms(5000))
    assert _expiry(harness, "op") == 6000


def _expiry(harness: Harness, operation: str) -> int:
    return int(reservations(harness)[operation].expires_at) - int(T0.timestamp() * 1000)


def test_spend_X3_a_refund_keeps_its_own_usage_and_time(harness: Harness) -> None:
    meter = metering(harness, a=2)
    hold(meter, T0, "op")
    meter.settle("op", CONSUMED, usage={"total_cost_usd": 0.5}, now=ms(10))
    assert reservations(harness)["op"].usage_json == '{"total_cost_usd":0.5}'
    meter.settle("op", REPLACED, now=ms(20))
    row = reservations(harness)["op"]
    assert (row.usage_json, row.outcome, row.settled_at) == (None, "replaced", int(ms(20).timestamp() * 1000))


def test_spend_X4_a_refunded_operation_may_try_again(harness: Harness) -> None:
    meter = metering(harness, a=2)
    consume(meter, T0, "op")
    meter.settle("op", REPLACED, now=T0)
    assert granted(meter.reserve("a", "op", now=T0)).attempt == 2
    row = reservations(harness)["op"]
    assert (row.outcome, row.settled_at, row.usage_json) == (None, None, None)


def test_spend_X5_what_is_never_settled_counts_until_it_is(harness: Harness) -> None:
    meter = metering(harness, a=1, window=timedelta(hours=1))
    hold(meter, t(0), "stuck")
    denied(meter.reserve("a", "x", now=t(600)), EXHAUSTED, 0)
    assert held(meter.snapshot("a", now=t(600))) == (0, 1, 0)
    meter.settle("stuck", CONSUMED, now=t(601))
    assert held(meter.snapshot("a", now=t(601))) == (0, 0, 1)
    assert granted(meter.reserve("a", "x", now=t(601))).remaining == 0


def test_spend_X6_age_runs_from_the_reservation(harness: Harness) -> None:
    meter = metering(harness, a=2, window=timedelta(hours=1))
    hold(meter, t(0), "op")
    meter.settle("op", CONSUMED, now=t(59))
    assert meter.snapshot("a", now=t(60)).used == 1
    assert meter.snapshot("a", now=t(60, 1)).used == 0


@pytest.mark.parametrize(("units", "held_units"), [(0, 1), (-5, 1), (2.9, 2), (True, 1)])
def test_units_are_cut_and_at_least_one(harness: Harness, units: float, held_units: int) -> None:
    answer = granted(metering(harness, a=5).reserve("a", "op", units=units, now=T0))
    assert (answer.units, answer.remaining) == (held_units, 5 - held_units)


@pytest.mark.parametrize("units", [float("nan"), float("inf"), "3", None])
def test_units_that_are_no_number_are_refused(harness: Harness, units: Any) -> None:
    meter = metering(harness, a=5)
    with pytest.raises(ValidationError) as caught:
        meter.reserve("a", "op", units=units, now=T0)
    assert caught.value.field == "units"


def test_a_denial_for_want_of_room_says_how_much_there_is(harness: Harness) -> None:
    for options in ({}, {"window": timedelta(hours=1), "table_prefix": OTHER}):
        meter = metering(harness, a=5, **options)
        hold(meter, T0, "j1", units=3)
        denied(meter.reserve("a", "j2", units=3, now=T0), EXHAUSTED, 2)


@pytest.mark.parametrize("given", [float("nan"), float("inf"), None, "many", object()])
def test_an_allowance_that_is_no_number_reserves_nothing(harness: Harness, given: Any) -> None:
    meter = meter_for(harness, lambda account, period: given)
    for call in (lambda: meter.reserve("a", "op", now=T0), lambda: meter.snapshot("a", now=T0)):
        with pytest.raises(SpendMeterUnavailable, match="the allowance was unreadable"):
            call()


@pytest.mark.parametrize(("given", "allowance"), [(2.9, 2), (-3, 0), (10**30, 2**53 - 1), (1e300, 2**53 - 1)])
def test_an_allowance_is_cut_to_a_count(harness: Harness, given: Any, allowance: int) -> None:
    meter = meter_for(harness, lambda account, period: given)
    assert meter.snapshot("a", now=T0).allowance == allowance


def test_a_period_that_cannot_be_told_reserves_nothing(harness: Harness) -> None:
    def broken(now: datetime, account: str) -> str:
        raise RuntimeError("the calendar is gone")

    for period_of in (broken, lambda now, account: 7, lambda now, account: "window"):
        meter = metering(harness, a=1, period_of=period_of)
        with pytest.raises(SpendMeterUnavailable, match="period"):
            meter.reserve("a", "op", now=T0)


def test_now_is_the_stores_clock_unless_given(harness: Harness) -> None:
    meter = metering(harness, a=2)
    answer = granted(meter.reserve("a", "op"))
    assert answer.expires_at == harness.now() + LEASE
    harness.advance(2 * LEASE)
    assert counts(meter.reconcile()) == (0, 1, 0, 0)


def test_instants_are_cut_to_milliseconds(harness: Harness) -> None:
    meter = metering(harness, a=2)
    answer = granted(meter.reserve("a", "op", now=T0 + timedelta(microseconds=1999)))
    assert answer.expires_at == ms(1) + LEASE
    assert asdict(answer)["expires_at"].tzinfo is not None
    for wrong in (T0.replace(tzinfo=None), "2026-10-15", 1792065600000):
        with pytest.raises(ValidationError):
            meter.reserve("a", "op2", now=wrong)  # type: ignore[arg-type]
