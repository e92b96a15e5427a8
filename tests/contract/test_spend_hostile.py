"""What strange callbacks, figures and rows of other implementations must not do: stop a pass, hang, or be a defect."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, text

from engine.errors import SpendMeterUnavailable, ValidationError
from engine.reserved import convention_ddl, deadline
from engine.spend import Reserved, minutes_micro, to_micro
from tests.support.background import promptly
from tests.support.daybooks import A1, audited, reserve
from tests.support.meters import (
    CONSUMED,
    LEASE,
    OTHER,
    T0,
    check_sums,
    counts,
    granted,
    held,
    hold,
    meter_for,
    metering,
    migrate,
    ms,
    reservations,
    run,
)

if TYPE_CHECKING:
    from engine.spend import SchemaWarning
    from tests.support.harness import Harness

MANY_DIGITS: Any = Decimal("1e99000000")
BEYOND = (2**63, -(2**63), 2**70)


class Wordless(Exception):
    """An error whose text is an error too."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Incomparable:
    """An answer that cannot be told from another."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("ambiguous")

    __hash__ = None  # type: ignore[assignment]


def wordless(*_: Any) -> Any:
    """A callback of somebody else's that fails in this way."""
    raise Wordless


def test_spend_meter_a_resolver_whose_error_has_no_text_defers_its_row(harness: Harness) -> None:
    meter = metering(harness, a=3, resolve_expired=wordless)
    hold(meter, T0, "one", "two")
    assert counts(meter.reconcile(now=ms(1000))) == (0, 0, 2, 0)
    assert "Wordless" in reservations(harness)["one"].evidence_json


def test_spend_day_a_resolver_whose_error_has_no_text_defers_its_row(harness: Harness) -> None:
    rows = [reserve(harness.store.days, 5) for _ in range(2)]
    assert harness.store.days.sweep(A1, wordless).deferred == len(rows)
    audited(harness.store)


def test_spend_meter_a_product_whose_error_has_no_text_is_unavailable(harness: Harness) -> None:
    with pytest.raises(SpendMeterUnavailable, match="allowance was unreadable"):
        meter_for(harness, wordless).reserve("a", "op", now=T0)
    with pytest.raises(SpendMeterUnavailable, match="period was unreadable"):
        metering(harness, a=1, period_of=wordless).reserve("a", "op", now=T0)


def test_spend_meter_an_answer_that_cannot_be_compared_leaves_it_to_the_default(harness: Harness) -> None:
    meter = metering(harness, a=3, resolve_unknown=lambda _: Incomparable())
    hold(meter, T0, "one", "two")
    assert counts(meter.reconcile(now=ms(1000))) == (0, 2, 0, 0)
    check_sums(harness)


def test_spend_meter_a_warning_that_uses_the_meter_does_not_wait_for_itself(sqlite_harness: Harness) -> None:
    migrate(sqlite_harness, OTHER)
    stem = f"idx_{OTHER}_reservations_account"
    run(sqlite_harness, f"DROP INDEX {stem}; CREATE TABLE {stem} (x INTEGER)")
    failures: list[str] = []

    def look(_: SchemaWarning) -> None:
        try:
            meter.snapshot("a", now=T0)
        except SpendMeterUnavailable as error:
            failures.append(error.message)

    meter = metering(sqlite_harness, a=1, table_prefix=OTHER, on_warning=look)
    promptly(meter.ensure_schema)
    assert len(failures) == 1
    assert "under way" in failures[0]
    assert held(meter.snapshot("a", now=T0)) == (0, 0, 1)


def test_spend_a_decimal_of_very_many_digits_is_held_to_the_largest_count(harness: Harness) -> None:
    meter = metering(harness, a=2)
    assert not isinstance(meter.reserve("a", "op", units=MANY_DIGITS, now=T0), Reserved)
    assert (
        granted(meter_for(harness, lambda *_: MANY_DIGITS).reserve("a", "op", now=T0)).remaining == 2**53 - 2
    )
    row = reserve(harness.store.days, 5)
    assert harness.store.days.release(row, MANY_DIGITS, A1)
    audited(harness.store)
    for tiny in (Decimal("1e-99000000"), Decimal("-1e-99000000")):
        with pytest.raises(ValidationError, match="finer"):
            to_micro(tiny)
    with pytest.raises(ValidationError, match="finer"):
        minutes_micro(Decimal("1e-99000000"), 5)


@pytest.mark.parametrize("attempt", BEYOND)
def test_spend_meter_an_attempt_beyond_any_column_is_no_attempt(harness: Harness, attempt: int) -> None:
    meter = metering(harness, a=1)
    hold(meter, T0, "op")
    operator = harness.store.meter_operator("agentos_spend", lease=LEASE, unknown_after_lease="release")
    for call in (
        lambda: meter.heartbeat("op", attempt=attempt, now=T0),
        lambda: meter.settle("op", CONSUMED, attempt=attempt, now=T0),
        lambda: operator.settle("op", CONSUMED, attempt=attempt, expires_at=ms(1000)),
        lambda: operator.defer("op", ms(5000), {}, attempt=attempt, expires_at=ms(1000)),
    ):
        with pytest.raises(ValidationError, match="attempt"):
            call()
    assert reservations(harness)["op"].state == "reserved"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("evidence_json", "[" * 100_000),
        ("evidence_json", '{"a":' * 100_000),
        ("reserved_at", 2**62),
        ("expires_at", -(2**63)),
    ],
    ids=["deep list", "deep object", "reserved late", "expired early"],
)
def test_ruling_35_a_row_of_another_implementation_holds_up_no_pass(
    harness: Harness, column: str, value: object
) -> None:
    asked: list[str] = []
    meter = metering(harness, a=3, resolve_expired=lambda row: asked.append(row.operation_id))
    hold(meter, T0, "one", "two")
    with harness.raw() as connection:
        odd = f"UPDATE agentos_spend_reservations SET {column} = :value WHERE operation_id = 'one'"
        connection.execute(text(odd), {"value": value})
    operator = harness.store.meter_operator("agentos_spend", lease=LEASE, unknown_after_lease="release")
    assert len(operator.list(now=T0).reservations) == 2
    assert counts(meter.reconcile(now=ms(1000))) == (0, 0, 2, 0)
    assert sorted(asked) == ["one", "two"]
    check_sums(harness)


def test_spend_meter_no_index_is_made_again_on_tables_further_along_the_search_path(
    postgres_harness: Harness,
) -> None:
    """CREATE INDEX IF NOT EXISTS would lock the table against writers, only to find the index there (2B.2)."""
    migrate(postgres_harness, OTHER)
    run(postgres_harness, "CREATE SCHEMA app")
    with postgres_harness.raw() as connection:
        database = connection.execute(text("SELECT current_database()")).scalar_one()
        connection.execute(text(f'ALTER DATABASE "{database}" SET search_path = app, public'))
    store = postgres_harness.reopen()
    seen: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda _c, _cur, said, *_: seen.append(said))
    metering(postgres_harness, a=1, table_prefix=OTHER).ensure_schema()
    assert seen
    assert [said for said in seen if said.startswith("CREATE")] == []


@pytest.mark.parametrize("ttl", [None, 5, "5 s"])
def test_reserved_a_lifetime_that_is_no_span_is_refused(ttl: Any) -> None:
    with pytest.raises(ValidationError, match="ttl"):
        deadline(T0, ttl)


@pytest.mark.parametrize("name", [None, 5, b"slots"])
def test_reserved_a_table_name_that_is_no_string_is_refused(name: Any) -> None:
    with pytest.raises(ValidationError, match="table"):
        convention_ddl("p", name, "sqlite")


def test_spend_meter_what_a_product_says_can_be_shown_whatever_it_is(harness: Harness) -> None:
    def product(account: str, period: str) -> int:
        raise ValueError(f"no account \ud800 {account} in {period}")

    with pytest.raises(SpendMeterUnavailable) as failure:
        meter_for(harness, product).reserve("a", "op", now=T0)
    assert str(failure.value).encode().count(b"\\ud800") == str(failure.value).count("\\ud800") > 0
