"""The spend meter: cases W of spend.md, rolling windows and purging."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import ValidationError
from engine.spend import DenialReason, MeterSnapshot, PurgeReport, Reserved, SettlementStatus
from tests.support.meters import (
    CONSUMED,
    DEFAULT,
    HR,
    LEASE,
    OTHER,
    RELEASED,
    REPLACED,
    T0,
    T1,
    accounts,
    check_sums,
    consume,
    counts,
    denied,
    granted,
    held,
    hold,
    metering,
    month,
    on_both_tables,
    sizes,
    t,
)

if TYPE_CHECKING:
    from tests.support.harness import Harness

EXHAUSTED = DenialReason.ALLOWANCE_EXHAUSTED


def prefix_of(tables: str) -> str:
    """Where a meter of `metering` keeps its rows."""
    return OTHER if tables == "migrated" else DEFAULT


@on_both_tables
def test_spend_W1_units_leave_after_an_hour(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=2, window=HR)
    assert meter.reserve("a", "w1", now=t(0)) == Reserved("w1", "a", "window", 1, 1, 1, t(0) + LEASE)
    meter.settle("w1", CONSUMED, now=t(0))
    assert granted(meter.reserve("a", "w2", now=t(10))).remaining == 0
    meter.settle("w2", CONSUMED, now=t(10))
    denied(meter.reserve("a", "w3", now=t(20)), EXHAUSTED, 0)
    denied(meter.reserve("a", "w3", now=t(60)), EXHAUSTED, 0)
    last = granted(meter.reserve("a", "w3", now=t(60, 1)))
    assert (last.attempt, last.remaining) == (1, 0)


@on_both_tables
def test_spend_W2_what_is_held_counts_at_any_age(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=2, window=HR)
    hold(meter, t(0), "w1", "w2")
    denied(meter.reserve("a", "w3", now=t(1)), EXHAUSTED, 0)
    meter.settle("w1", RELEASED, now=t(1))
    again = granted(meter.reserve("a", "w3", now=t(1)))
    assert (again.attempt, again.remaining) == (1, 0)
    denied(meter.reserve("a", "w4", now=t(1, 500)), EXHAUSTED, 0)
    assert counts(meter.reconcile(now=t(1, 500))) == (0, 1, 0, 0)
    last = granted(meter.reserve("a", "w4", now=t(1, 500)))
    assert (last.attempt, last.remaining) == (1, 0)
    assert meter.snapshot("a", now=t(1, 500)) == MeterSnapshot("a", "window", 2, 0, 2, 0)
    check_sums(harness, prefix_of(tables))


@on_both_tables
def test_spend_W3_the_window_moves_on(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=5, b=1, window=HR)
    assert meter.snapshot("a", now=t(0)) == MeterSnapshot("a", "window", 5, 0, 0, 5)
    consume(meter, t(0), "w1", units=2)
    consume(meter, t(30), "w2")
    hold(meter, t(45), "w3")
    hold(meter, t(45), "w4", account="b")
    assert held(meter.snapshot("a", now=t(45))) == (3, 1, 1)
    assert held(meter.snapshot("b", now=t(45))) == (0, 1, 0)
    assert held(meter.snapshot("a", now=t(60, 1))) == (1, 1, 3)
    meter.set_allowance("a", 2, now=t(60, 1))
    assert meter.snapshot("a", now=t(60, 1)) == MeterSnapshot("a", "window", 2, 1, 1, 0)


@on_both_tables
def test_spend_W4_a_purge_forgets_what_is_settled_and_idle(harness: Harness, tables: str) -> None:
    meter, prefix = metering(harness, tables, a=5, b=5, c=5, window=HR), prefix_of(tables)
    consume(meter, t(0), "a1")
    hold(meter, t(0), "a2")
    meter.settle("a2", RELEASED, now=t(0))
    consume(meter, t(0), "b1", account="b")
    hold(meter, t(0), "b2", account="b")
    consume(meter, t(30), "c1", account="c")
    assert sizes(harness, prefix) == (5, 3)

    assert meter.purge(t(10), limit=2) == PurgeReport(2, 1)
    assert meter.purge(t(10)) == PurgeReport(1, 0)
    assert meter.purge(t(10)) == PurgeReport(0, 0)
    assert sizes(harness, prefix) == (2, 2)

    denied(meter.reserve("b", "b2", now=t(31)), DenialReason.IN_FLIGHT, 4)
    assert meter.settle("b2", CONSUMED, now=t(31)).status == SettlementStatus.SETTLED
    denied(meter.reserve("c", "c1", now=t(31)), DenialReason.ALREADY_CONSUMED, 4)
    assert meter.settle("a1", REPLACED, now=t(31)).status == SettlementStatus.NOT_FOUND
    assert granted(meter.reserve("a", "a1", now=t(31))).attempt == 1


@on_both_tables
def test_spend_W5_a_window_is_safe_from_its_own_purge(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=3, window=HR)
    for minutes, operation in ((0, "w1"), (10, "w2"), (40, "w3")):
        consume(meter, t(minutes), operation)
    before = meter.snapshot("a", now=t(70))
    assert held(before) == (2, 0, 1)
    assert meter.purge(t(70) - HR) == PurgeReport(1, 0)
    assert meter.snapshot("a", now=t(70)) == before
    assert sizes(harness, prefix_of(tables)) == (2, 1)


@on_both_tables
def test_spend_W6_a_period_keeps_its_row(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=5)
    consume(meter, T0, "w1", "w2")
    before = meter.snapshot("a", now=T0)
    assert before == MeterSnapshot("a", "2026-10", 5, 2, 0, 3)
    assert meter.purge(T1) == PurgeReport(2, 0)
    assert sizes(harness, prefix_of(tables)) == (0, 1)
    assert meter.snapshot("a", now=T0) == before


def test_spend_W7_one_of_two_ways_of_counting(harness: Harness) -> None:
    with pytest.raises(ValidationError, match=r"period_of.*window"):
        metering(harness, a=1, period_of=None)
    wrong: tuple[Any, ...] = (
        timedelta(0),
        timedelta(minutes=-1),
        timedelta(microseconds=999),
        float("nan"),
        -60_000,
    )
    for window in wrong:
        with pytest.raises(ValidationError) as caught:
            metering(harness, a=1, window=window, period_of=month)
        assert caught.value.field == "window"
    with pytest.raises(ValidationError, match="positive span"):
        metering(harness, a=1, window=timedelta(0))


def test_spend_W7_the_window_wins(harness: Harness) -> None:
    def never(now: object, account: str) -> str:
        raise AssertionError("asked for a period")

    meter = metering(harness, a=1, window=timedelta(milliseconds=1), period_of=never)
    assert granted(meter.reserve("a", "op", now=T0)).period == "window"


def test_a_purge_of_a_window_leaves_the_rows_of_periods(harness: Harness) -> None:
    periods = metering(harness, a=5)
    consume(periods, T0, "p1")
    windows = metering(harness, a=5, window=HR)
    consume(windows, T0, "w1")
    assert windows.purge(T1) == PurgeReport(2, 1)
    assert list(accounts(harness)) == [("a", "2026-10")]


def test_a_purge_takes_at_least_one_row(harness: Harness) -> None:
    meter = metering(harness, a=5)
    consume(meter, T0, "p1", "p2")
    assert meter.purge(T1, limit=0) == PurgeReport(1, 0)


def test_a_purge_takes_nothing_settled_at_that_very_moment(harness: Harness) -> None:
    meter = metering(harness, a=5, window=HR)
    consume(meter, T0, "p1")
    assert meter.purge(T0) == PurgeReport(0, 0)
    assert meter.purge(t(0, 1)) == PurgeReport(1, 1)


def test_a_clock_that_was_ahead_still_counts(harness: Harness) -> None:
    meter = metering(harness, a=1, window=HR)
    consume(meter, t(120), "ahead")
    denied(meter.reserve("a", "x", now=t(0)), EXHAUSTED, 0)


def test_a_released_retry_counts_from_its_own_reservation(harness: Harness) -> None:
    meter = metering(harness, a=1, window=HR)
    hold(meter, t(0), "op")
    meter.settle("op", RELEASED, now=t(1))
    hold(meter, t(50), "op")
    meter.settle("op", CONSUMED, now=t(50))
    assert meter.snapshot("a", now=t(100)).used == 1
    assert meter.snapshot("a", now=t(110, 1)).used == 0
    check_sums(harness)


@on_both_tables
def test_what_a_clock_behind_settled_stays_while_its_window_counts_it(harness: Harness, tables: str) -> None:
    meter = metering(harness, tables, a=1, window=HR)
    hold(meter, t(0), "w1")
    meter.settle("w1", CONSUMED, now=t(-30))
    assert meter.purge(t(40) - HR).reservations == 0
    denied(meter.reserve("a", "w2", now=t(40)), EXHAUSTED, 0)
    assert meter.purge(t(61) - HR).reservations == 1
    assert granted(meter.reserve("a", "w2", now=t(61))).remaining == 0
