"""The spend meter: rules of spend.md 2B that no numbered case stands for, and ruling 68's replay denials."""

from __future__ import annotations

import dataclasses
import sqlite3
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from psycopg import errors as pg
from sqlalchemy import event

from engine.database.ddl import indexes_query
from engine.errors import SpendMeterUnavailable, UnsupportedStore, ValidationError
from engine.spend import (
    Deferred,
    DenialReason,
    Denied,
    MeterSnapshot,
    ReservationState,
    Reserved,
    SchemaWarning,
    Settlement,
    SettlementStatus,
)
from engine.spend.meter import reserve, schema
from tests.contract.test_spend_meter_retry import TRANSIENT, Failing, first, milliseconds
from tests.support.meters import (
    CONSUMED,
    DEFAULT,
    HR,
    LEASE,
    RELEASED,
    REPLACED,
    T0,
    T1,
    Product,
    accounts,
    check_sums,
    consume,
    counts,
    denied,
    granted,
    held,
    hold,
    indexes,
    meter_for,
    metering,
    ms,
    reservations,
    run,
    sizes,
)

if TYPE_CHECKING:
    from tests.support.harness import Harness

NO_LEASE = timedelta(0)
SETTLED = SettlementStatus.SETTLED
IN_FLIGHT, EXHAUSTED = DenialReason.IN_FLIGHT, DenialReason.ALLOWANCE_EXHAUSTED
BOTH_WAYS = pytest.mark.parametrize("options", [{}, {"window": HR}], ids=["period", "window"])


def down(account: str, period: str) -> int:
    """A product that cannot say."""
    raise LookupError("the plan service is down")


def all_rows(harness: Harness) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Everything the default meter has stored."""
    return reservations(harness), accounts(harness)


WRONG_IN_TURN: list[tuple[dict[str, Any], str]] = [
    ({"table_prefix": "a-b", "period_of": None, "window": NO_LEASE, "lease": NO_LEASE}, "table_prefix"),
    ({"period_of": None, "lease": NO_LEASE}, "period_of"),
    ({"window": NO_LEASE, "lease": NO_LEASE}, "window"),
    ({"lease": NO_LEASE}, "lease"),
    ({"max_attempts_per_operation": 0}, "max_attempts_per_operation"),
    ({"unknown_after_lease": "forget"}, "unknown_after_lease"),
    ({"resolve_expired": 7}, "resolve_expired"),
]


@pytest.mark.parametrize(("options", "field"), WRONG_IN_TURN)
def test_a_meter_is_checked_in_order(harness: Harness, options: dict[str, Any], field: str) -> None:
    """2B.0: sharing first, then the prefix, then the way of counting."""
    with pytest.raises(ValidationError) as caught:
        metering(harness, a=1, **options)
    assert caught.value.field == field
    if harness.kind == "sqlite":
        with pytest.raises(UnsupportedStore, match="shared"):
            metering(harness, a=1, require_shared=True, **options)


def test_the_product_is_asked_once_before_any_statement(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2B.3: outside the loop of tries, first the period and then the allowance of that period."""
    asked: list[Any] = []

    def period_of(now: datetime, account: str) -> str:
        asked.append((now, account))
        return "p"

    def allowance_for(account: str, period: str) -> int:
        asked.append((account, period))
        return 3

    meter = meter_for(harness, allowance_for, period_of=period_of, retry=milliseconds(3, 1, 2, 1000))
    event.listen(harness.store.engine, "before_cursor_execute", lambda *_: asked.append("statement"))
    failing = Failing(monkeypatch, first(TRANSIENT, harness), times=2)
    assert granted(meter.reserve("a", "op", now=T0)).remaining == 2
    assert failing.calls == 3
    assert asked[:3] == [(T0, "a"), ("a", "p"), "statement"]
    assert set(asked[2:]) == {"statement"}


@BOTH_WAYS
def test_a_refusal_leaves_nothing_behind(harness: Harness, options: dict[str, Any]) -> None:
    """2B.3 e: neither a row, nor the account's, nor the allowance that was refused by."""
    product = Product(a=5)
    meter = meter_for(harness, product, **options)
    denied(meter.reserve("b", "first", now=T0), EXHAUSTED, 0)
    assert sizes(harness) == (0, 0)
    consume(meter, T0, "spent", units=2)
    hold(meter, T0, "back")
    meter.settle("back", RELEASED, now=T0)
    before = all_rows(harness)
    product.allowances["a"] = 1
    for operation in ("new", "back"):
        denied(meter.reserve("a", operation, now=ms(500)), EXHAUSTED, 0)
    assert all_rows(harness) == before
    assert meter.snapshot("a", now=T0).allowance == 5


@BOTH_WAYS
def test_ruling_68_a_replay_denials_remaining_is_the_snapshots(
    harness: Harness, options: dict[str, Any]
) -> None:
    """Of the account that asks, by its stored allowance, or the product's where it has no row."""
    product = Product(a=5, b=4)
    meter = meter_for(harness, product, **options)
    hold(meter, T0, "op", units=2)
    consume(meter, T0, "spent")
    meter.set_allowance("a", 9, now=T0)
    product.allowances["a"] = 0
    before = all_rows(harness)
    for account, operation, reason, remaining in (
        ("a", "op", IN_FLIGHT, 6),
        ("b", "op", IN_FLIGHT, 4),
        ("a", "spent", DenialReason.ALREADY_CONSUMED, 6),
        ("b", "spent", DenialReason.ALREADY_CONSUMED, 4),
    ):
        answer = meter.reserve(account, operation, units=99, now=T0)
        shown = meter.snapshot(account, now=T0)
        assert answer == Denied(reason, operation, account, shown.period, remaining)
        assert shown.remaining == remaining
    assert all_rows(harness) == before


def test_a_row_that_a_purge_took_in_between_has_no_further_attempt(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = metering(harness, a=5)
    monkeypatch.setattr(reserve, "_attempt", lambda *_: None)
    denied(meter.reserve("a", "op", now=T0), DenialReason.RETRIES_EXHAUSTED, 5)


@pytest.mark.parametrize("most", [1, 2, 5])
def test_an_operation_has_as_many_attempts_as_the_meter_says(harness: Harness, most: int) -> None:
    meter = metering(harness, a=5, max_attempts_per_operation=most)
    for attempt in range(1, most + 1):
        assert granted(meter.reserve("a", "op", now=T0)).attempt == attempt
        meter.settle("op", RELEASED, now=T0)
    denied(meter.reserve("a", "op", now=T0), DenialReason.RETRIES_EXHAUSTED, 5)


def test_a_retry_may_be_of_another_account_and_period(harness: Harness) -> None:
    """2B.3 b: it rewrites account, period, units and times, and forgets how the last attempt ended."""
    meter = metering(harness, a=5, b=5)
    hold(meter, T0, "op", units=3, require_fence=True)
    meter.settle("op", RELEASED, usage={"total_tokens": 1}, now=T0)
    answer = meter.reserve("b", "op", units=2, now=T1)
    assert answer == Reserved("op", "b", "2026-11", 2, 2, 3, T1 + LEASE)
    row, at = reservations(harness)["op"], int(T1.timestamp() * 1000)
    assert (row.account_id, row.period, row.units, row.state) == ("b", "2026-11", 2, "reserved")
    assert (row.reserved_at, row.expires_at) == (at, at + 1000)
    assert (row.outcome, row.settled_at, row.usage_json, bool(row.fenced)) == (None, None, None, False)
    assert held(meter.snapshot("a", now=T0)) == (0, 0, 5)
    check_sums(harness)
    meter.settle("op", CONSUMED, now=T1)
    assert held(meter.snapshot("b", now=T1)) == (2, 0, 3)
    check_sums(harness)


def test_a_heartbeat_neither_lifts_a_fence_nor_hastens_a_check(harness: Harness) -> None:
    """2B.4."""
    meter = metering(harness, a=5, resolve_expired=lambda row: Deferred(ms(60_000), {"ticket": 7}))
    hold(meter, T0, "op")
    meter.reconcile(now=ms(1000))
    for now, until in ((2000, 60_000), (59_000, 60_000), (59_001, 60_001)):
        meter.heartbeat("op", now=ms(now))
        row = reservations(harness)["op"]
        assert row.expires_at == int(ms(until).timestamp() * 1000)
        assert (bool(row.fenced), row.evidence_json) == (True, '{"ticket":7}')


@pytest.mark.parametrize("fence", [False, True])
def test_a_settle_comes_never_too_late(harness: Harness, fence: bool) -> None:
    """2B.5: its lease is not looked at, nor its fence."""
    meter = metering(harness, a=5)
    hold(meter, T0, "op", require_fence=fence)
    late = T0 + 99 * HR
    assert meter.settle("op", CONSUMED, now=late) == Settlement(SETTLED, ReservationState.CONSUMED)
    assert reservations(harness)["op"].settled_at == int(late.timestamp() * 1000)
    assert accounts(harness)["a", "2026-10"].updated_at == int(late.timestamp() * 1000)


@pytest.mark.parametrize("outcome", [CONSUMED, RELEASED, REPLACED])
def test_an_account_that_is_gone_keeps_nobody_from_settling(harness: Harness, outcome: Any) -> None:
    """2B.5: nor does it come back."""
    meter = metering(harness, a=5)
    hold(meter, T0, "op")
    run(harness, f"DELETE FROM {DEFAULT}_meter")
    assert meter.settle("op", outcome, now=T0).status == SETTLED
    assert accounts(harness) == {}


def test_no_counter_falls_below_nothing(harness: Harness) -> None:
    """2B.5: whatever somebody did to it by hand."""
    meter = metering(harness, a=9)
    consume(meter, T0, "refunded", units=3)
    hold(meter, T0, "spent", "back", units=2)
    run(harness, f"UPDATE {DEFAULT}_meter SET reserved = 1, used = 1")
    assert meter.settle("refunded", REPLACED, now=T0).status == SETTLED
    assert meter.settle("spent", CONSUMED, now=T0).status == SETTLED
    assert meter.settle("back", RELEASED, now=T0).status == SETTLED
    row = accounts(harness)["a", "2026-10"]
    assert (row.used, row.reserved) == (2, 0)


@BOTH_WAYS
def test_a_snapshot_asks_the_product_either_way(harness: Harness, options: dict[str, Any]) -> None:
    """2B.7: also where the stored allowance is what it shows."""
    hold(metering(harness, a=5, **options), T0, "op")
    blind = meter_for(harness, down, **options)
    with pytest.raises(SpendMeterUnavailable, match="the allowance was unreadable: the plan service is down"):
        blind.snapshot("a", now=T0)
    other = metering(harness, a=7, **options)
    assert (other.snapshot("a", now=T0).allowance, other.snapshot("b", now=T0).allowance) == (5, 0)


def test_an_allowance_by_hand(harness: Harness) -> None:
    """2B.8: cut to a count, on the row of the current period alone, without asking the product."""
    meter = meter_for(harness, down)
    reader = metering(harness, a=5)
    meter.set_allowance("a", 2.9, now=T0)
    assert reader.snapshot("a", now=T0) == MeterSnapshot("a", "2026-10", 2, 0, 0, 2)
    hold(reader, T0, "op", units=3)
    meter.set_allowance("a", -3, now=ms(7))
    assert reader.snapshot("a", now=T0) == MeterSnapshot("a", "2026-10", 0, 0, 3, 0)
    assert accounts(harness)["a", "2026-10"].updated_at == int(ms(7).timestamp() * 1000)
    assert reader.snapshot("a", now=T1).allowance == 5
    for wrong in (float("nan"), float("inf"), None, "many"):
        with pytest.raises(ValidationError) as caught:
            meter.set_allowance("a", wrong, now=T0)  # type: ignore[arg-type]
        assert caught.value.field == "allowance"
    assert len(accounts(harness)) == 1


def test_rows_that_expire_at_once_are_asked_about_by_id(harness: Harness) -> None:
    """Section 4, "Page"."""
    asked: list[str] = []

    def resolve(row: Any) -> object:
        asked.append(row.operation_id)
        return Deferred(ms(60_000), {})

    meter = metering(harness, a=9, resolve_expired=resolve)
    hold(meter, T0, "d", "b", "a", "c")
    assert counts(meter.reconcile(now=ms(1000), limit=3)) == (0, 0, 3, 0)
    assert asked == ["a", "b", "c"]


def test_one_moment_is_that_of_a_whole_pass(harness: Harness) -> None:
    """Section 4, "Asking": however long the answers take."""

    def slow(row: Any) -> object:
        harness.advance(HR)
        raise TimeoutError

    meter = metering(harness, a=9, resolve_expired=slow)
    hold(meter, harness.now(), "x", "y", "z")
    harness.advance(LEASE)
    began = harness.now()
    assert counts(meter.reconcile()) == (0, 0, 3, 0)
    expiries = {row.expires_at for row in reservations(harness).values()}
    assert expiries == {int((began + LEASE).timestamp() * 1000)}


def test_a_window_counts_no_rows_of_periods(harness: Harness) -> None:
    """2B.3: whoever else uses the same tables and accounts."""
    periods, windows = metering(harness, a=9), metering(harness, a=9, window=HR)
    consume(periods, T0, "p1", units=4)
    hold(periods, T0, "p2", units=2)
    assert held(windows.snapshot("a", now=T0)) == (0, 0, 9)
    assert granted(windows.reserve("a", "w1", units=9, now=T0)).remaining == 0
    assert held(periods.snapshot("a", now=T0)) == (4, 2, 3)
    check_sums(harness)


def test_every_index_is_tried_where_the_catalogue_cannot_be_read(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2B.2: in their order, and the failure is told of as one more statement that failed without harm."""
    metering(harness, a=1).ensure_schema()
    run(harness, "DROP INDEX idx_spend_reservations_account")
    error = pg.InsufficientPrivilege if harness.kind == "postgresql" else sqlite3.OperationalError

    def unreadable(*_: Any) -> set[str]:
        raise error("no look at the catalogue")

    monkeypatch.setattr(schema, "index_names", unreadable)
    warnings: list[SchemaWarning] = []
    seen: list[str] = []
    engine = harness.store.engine
    event.listen(engine, "before_cursor_execute", lambda _c, _cur, said, *_: seen.append(said))
    metering(harness, a=1, on_warning=warnings.append).ensure_schema()
    assert [warning.statement for warning in warnings] == [indexes_query(engine)]
    assert "no look at the catalogue" in str(warnings[0].error)
    tried = [said for said in seen if said.startswith("CREATE INDEX")]
    assert [said.partition("_reservations_")[2].split()[0] for said in tried] == [
        "due",
        "account",
        "settled",
        "fenced",
    ]
    assert set(indexes(harness)) == {"due", "account", "settled", "fenced"}


PAUSES = [(1, 0.0, 0.05), (2, 0.0, 0.1), (3, 0.0, 0.2), (4, 0.0, 0.3), (5, 0.0, 0.3), (6, 0.0, None)]
PAUSES += [(1, 0.95, 0.05), (1, 0.96, None), (4, 0.7, 0.3), (4, 0.71, None)]


@pytest.mark.parametrize(("attempt", "elapsed", "pause"), PAUSES)
def test_pauses_double_up_to_a_bound_and_fit_the_deadline(
    attempt: int, elapsed: float, pause: float | None
) -> None:
    """2B.1."""
    assert milliseconds(6, 50, 300, 1000).pause(attempt, elapsed) == pause


@pytest.mark.parametrize("attempts", [0, -5])
def test_one_try_is_the_least(harness: Harness, monkeypatch: pytest.MonkeyPatch, attempts: int) -> None:
    meter = metering(harness, a=2, retry=milliseconds(attempts, 1, 2, 1000))
    failing = Failing(monkeypatch, first(TRANSIENT, harness), times=1)
    with pytest.raises(SpendMeterUnavailable):
        meter.reserve("a", "op", now=T0)
    assert failing.calls == 1


def test_a_warning_is_a_statement_and_an_error() -> None:
    assert [field.name for field in dataclasses.fields(SchemaWarning)] == ["statement", "error"]
