"""The public names of money (api.md, reserved.md): where they are exported from, their shapes and their arguments."""

from __future__ import annotations

import dataclasses
import inspect
from datetime import timedelta
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any

import pytest

import engine
import engine.errors
import engine.reserved
import engine.spend
import engine.spend.day
from engine.desk import Maintenance
from engine.spend import DaySpend, MeterOperator, RetryPolicy, SpendMeter
from engine.spend.meter import MeterOptions
from engine.store import Store
from tests.support.meters import HR, LEASE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tests.support.harness import Harness

VERBS = (
    "lock_day add_reservation add_fenced_reservation settle_reservation expired_reservations defer_reservation"
    " add_operation_reservation open_operation_reservation begin_run end_run renew_run"
)
OVER_ANY_STORE = "reserve_spend release_spend release_expired_spend admit_operation"
AMOUNTS = "utc_day to_micro minutes_micro tokens_micro settled_tokens_micro"
DAY = (
    "DaySpend DayStore SqlDayStore Begun InFlight Gone ExpiredReservation OperationRow OperationAdmission DaySweep"
    " DayTotal Consumed Released Deferred"
)
METER = (
    "SpendMeter Reserved Denied DenialReason Outcome Settlement SettlementStatus ReconcileReport MeterSnapshot"
    " PurgeReport RetryPolicy spend_meter_ddl SPEND_METER_DDL"
)
RESERVED = (
    "State Weight VisibilityTier Outcome convention_columns convention_indexes convention_ddl convention_columns_ddl"
    " convention_indexes_ddl deadline reserve_values guard_predicate application_predicate predicate_for confirm"
    " release Confirmation Sweeper SweepReport"
)
EXPORTS: list[tuple[ModuleType, str]] = [
    (engine, "Store open_store"),
    (engine.spend, f"{DAY} {VERBS} {OVER_ANY_STORE} {AMOUNTS} {METER}"),
    (engine.spend.day, f"{DAY} {VERBS} {OVER_ANY_STORE} {AMOUNTS}"),
    (engine.reserved, RESERVED),
    (engine.errors, "CostCapExceeded SpendMeterUnavailable UnsupportedStore ReservationInvalidated"),
]


@pytest.mark.parametrize(("module", "names"), EXPORTS, ids=lambda each: getattr(each, "__name__", ""))
def test_names_are_exported(module: ModuleType, names: str) -> None:
    for name in names.split():
        found = getattr(module, name)
        assert name in getattr(module, "__all__", [name])
        if not isinstance(found, str):
            assert (inspect.getdoc(found) or "").strip(), name
    with pytest.raises(AttributeError):
        _ = module.no_such_name


@pytest.mark.parametrize("name", f"{DAY} {VERBS} {OVER_ANY_STORE} {AMOUNTS}".split())
def test_a_name_is_the_same_from_both_packages(name: str) -> None:
    assert getattr(engine.spend, name) is getattr(engine.spend.day, name)


RECORDS = {
    "Begun": "reservation_id run",
    "InFlight": "reservation_id",
    "Gone": "reservation_id",
    "ExpiredReservation": (
        "id kind micro created_at expires_at require_fence evidence deferrals operation_id thread_id"
    ),
    "OperationRow": (
        "reservation_id operation_id kind micro recorded_micro runs lease_run lease_until expires_at settled_micro"
    ),
    "OperationAdmission": (
        "operation_id kind micro run_micro at expires lease_until cap_micro max_runs thread_id=None"
    ),
    "DaySweep": "settled released deferred left",
    "DayTotal": "day reserved_micro settled_micro",
    "Consumed": "figure=None",
    "Released": "",
    "Deferred": "retry_at evidence",
    "Reserved": "operation_id account_id period units attempt remaining expires_at",
    "Denied": "reason operation_id account_id period remaining",
    "Settlement": "status state=None",
    "ReconcileReport": "consumed=0 released=0 deferred=0 pending=0",
    "MeterSnapshot": "account_id period allowance used reserved remaining",
    "PurgeReport": "reservations periods",
    "SchemaWarning": "statement error",
}


def shape(record: type[Any]) -> str:
    """A record's fields with their defaults, in order."""
    fields = dataclasses.fields(record)
    return " ".join(
        each.name if each.default is dataclasses.MISSING else f"{each.name}={each.default}" for each in fields
    )


def check_frozen(record: Any) -> None:
    """Frozen, without a dictionary of its own, and told apart by its values."""
    assert record.__dataclass_params__.frozen
    assert record.__dataclass_params__.eq
    assert "__slots__" in vars(record)
    assert "__dict__" not in dir(record)


@pytest.mark.parametrize("name", RECORDS)
def test_records(name: str) -> None:
    record = getattr(engine.spend, name)
    assert shape(record) == RECORDS[name]
    check_frozen(record)


def test_records_of_tentative_rows() -> None:
    assert shape(engine.reserved.Confirmation) == "outcome rows"
    fields = [each.name for each in dataclasses.fields(engine.reserved.SweepReport)]
    assert fields == ["examined", "collected", "errors", "duration", "failures"]
    for record in (engine.reserved.Confirmation, engine.reserved.SweepReport, engine.reserved.SweepFailure):
        check_frozen(record)


def test_a_retry_policys_defaults() -> None:
    one = timedelta(milliseconds=1)
    assert RetryPolicy() == RetryPolicy(
        attempts=3, base=50 * one, max_delay=400 * one, deadline=timedelta(seconds=2)
    )
    assert RetryPolicy(3, 50 * one, 400 * one, 2000 * one) == RetryPolicy()
    check_frozen(RetryPolicy)


WORDS = {
    "DenialReason": "allowance_exhausted in_flight already_consumed retries_exhausted",
    "Outcome": "consumed released replaced",
    "SettlementStatus": "settled already_settled not_found stale_attempt",
    "ReservationState": "reserved consumed released",
}


@pytest.mark.parametrize("name", WORDS)
def test_closed_sets(name: str) -> None:
    kind = getattr(engine.spend, name)
    assert issubclass(kind, StrEnum)
    values = [each.value for each in kind]
    assert values[: len(WORDS[name].split())] == WORDS[name].split()
    assert [each.name for each in kind] == [value.upper() for value in values]


def test_closed_sets_of_tentative_rows() -> None:
    own = engine.reserved
    assert [(each.name, each.value) for each in own.State] == [
        ("COMMITTED", "committed"),
        ("RESERVED", "reserved"),
    ]
    assert [(each.name, each.value) for each in own.Outcome] == [
        ("CONFIRMED", "confirmed"),
        ("ALREADY_CONFIRMED", "already-confirmed"),
        ("EXPIRED", "expired"),
        ("GONE", "gone"),
    ]
    assert [each.name for each in own.Weight] == ["PESSIMISTIC", "OPTIMISTIC"]
    assert [each.name for each in own.VisibilityTier] == ["GUARD", "ADVISORY", "ANALYTIC"]
    assert issubclass(own.State, StrEnum)
    assert issubclass(own.Outcome, StrEnum)
    assert issubclass(own.Weight, Enum)


# Each with its arguments: a bare * begins those that must be named.
CALLS: list[tuple[Callable[..., Any], str]] = [
    (
        DaySpend.reserve,
        "* kind micro at expires cap_micro require_fence=False thread_id=None",
    ),
    (DaySpend.release, "reservation_id settled_micro at * expected_deferrals=None"),
    (DaySpend.defer, "reservation_id next_check evidence * expected_deferrals=None"),
    (DaySpend.expired, "at * after=None limit=500"),
    (DaySpend.sweep, "at resolver=None * retry_after=0:00:45"),
    (DaySpend.admit_operation, "admission"),
    (DaySpend.begin_run, "reservation_id at lease_until run_micro max_runs"),
    (DaySpend.end_run, "reservation_id run settled_micro at close=False"),
    (DaySpend.renew_run, "reservation_id run at lease_until"),
    (DaySpend.open_operation, "operation_id"),
    (DaySpend.total, "day"),
    (SpendMeter.reserve, "account_id operation_id * units=1 require_fence=False now=None"),
    (SpendMeter.heartbeat, "operation_id * attempt=None now=None"),
    (SpendMeter.settle, "operation_id outcome * usage=None attempt=None now=None"),
    (SpendMeter.reconcile, "* now=None limit=100"),
    (SpendMeter.snapshot, "account_id * now=None"),
    (SpendMeter.set_allowance, "account_id allowance * now=None"),
    (SpendMeter.purge, "before * limit=1000"),
    (SpendMeter.ensure_schema, ""),
    (SpendMeter.start_reconciler, "interval=0:00:15 on_error=None"),
    (SpendMeter.stop_reconciler, ""),
    (Store.meter_operator, "prefix * lease unknown_after_lease resolver=None"),
    (MeterOperator.reconcile, "* now=None limit=100"),
    (engine.spend.spend_meter_ddl, "prefix=None dialect=postgresql"),
    (engine.reserved.convention_columns, ""),
    (engine.reserved.convention_indexes, "prefix table"),
    (engine.reserved.convention_ddl, "prefix table_name dialect"),
    (engine.reserved.convention_columns_ddl, "dialect"),
    (engine.reserved.convention_indexes_ddl, "prefix table_name dialect"),
    (engine.reserved.deadline, "now ttl"),
    (engine.reserved.reserve_values, "txn_id deadline_ns"),
    (engine.reserved.guard_predicate, "table weight now"),
    (engine.reserved.application_predicate, "table"),
    (engine.reserved.predicate_for, "table tier weight now"),
    (engine.reserved.Sweeper.register, "engine table_name"),
    (engine.reserved.Sweeper.sweep, "now=None * dry_run=False batch=1000"),
    (Maintenance, "store * interval policy guard=None meter_age=None"),
]


def arguments(call: Callable[..., Any]) -> str:
    """A call's arguments as they are written above."""
    said: list[str] = []
    for name, each in inspect.signature(call).parameters.items():
        if each.kind is each.KEYWORD_ONLY and "*" not in said:
            said.append("*")
        said.append(name if each.default is each.empty else f"{name}={each.default}")
    return " ".join(word for word in said if word != "self")


@pytest.mark.parametrize(("call", "expected"), CALLS, ids=lambda each: getattr(each, "__qualname__", ""))
def test_arguments(call: Callable[..., Any], expected: str) -> None:
    assert arguments(call) == expected


@pytest.mark.parametrize("name", (VERBS + " confirm release").split())
def test_a_verb_takes_its_callers_connection_first(name: str) -> None:
    verb = getattr(engine.spend.day, name, None) or getattr(engine.reserved, name)
    assert next(iter(inspect.signature(verb).parameters)) == "connection"


@pytest.mark.parametrize("name", OVER_ANY_STORE.split())
def test_what_goes_over_any_day_store_takes_it_first(name: str) -> None:
    assert next(iter(inspect.signature(getattr(engine.spend, name)).parameters)) == "store"


def test_a_meters_options() -> None:
    fields = {
        each.name: each.default if each.default is not dataclasses.MISSING else "required"
        for each in dataclasses.fields(MeterOptions)
    }
    assert fields == {
        "allowance_for": "required",
        "period_of": None,
        "window": None,
        "lease": timedelta(seconds=45),
        "max_attempts_per_operation": 3,
        "retry": RetryPolicy(),
        "resolve_unknown": None,
        "resolve_expired": None,
        "unknown_after_lease": "release",
        "require_shared": True,
        "ensure_schema": True,
        "table_prefix": "agentos_spend",
        "on_warning": None,
    }


def test_what_hangs_from_a_store(harness: Harness) -> None:
    store = harness.store
    assert isinstance(store.days, DaySpend)
    meter = store.meter(allowance_for=lambda account, period: 1, window=HR, require_shared=False)
    assert isinstance(meter, SpendMeter)
    meter.ensure_schema()
    operator = store.meter_operator("agentos_spend", lease=LEASE, unknown_after_lease="release")
    assert isinstance(operator, MeterOperator)
    assert operator.list().reservations == []


def test_errors_of_money_say_what_they_are() -> None:
    own = engine.errors
    for error in (
        own.CostCapExceeded("call", "daily", 59.9999, 60.0),
        own.SpendMeterUnavailable("reserve", "why"),
        own.UnsupportedStore("meter", "why"),
        own.ReservationInvalidated("txn"),
    ):
        assert isinstance(error, own.EngineError)
        assert error.code
        assert isinstance(error.retryable, bool)
        for field in dataclasses.fields(error):
            assert str(getattr(error, field.name)) in str(error)
    assert own.SpendMeterUnavailable("reserve", "why").code == "SPEND_METER_UNAVAILABLE"
