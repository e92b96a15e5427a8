"""Spend meters for the contract cases of spend.md: its constants, a product with allowances, the tables' rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import inspect, text

from engine.spend import Denied, Outcome, Reserved, SpendMeter, spend_meter_ddl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engine.spend import DenialReason, MeterSnapshot, ReconcileReport
    from tests.support.harness import Harness

T0 = datetime(2026, 10, 15, 12, 0, tzinfo=UTC)
T1 = datetime(2026, 11, 1, 0, 5, tzinfo=UTC)
HR = timedelta(hours=1)
LEASE = timedelta(seconds=1)
OTHER = "other_spend"
DEFAULT = "agentos_spend"
CONSUMED, RELEASED, REPLACED = Outcome.CONSUMED, Outcome.RELEASED, Outcome.REPLACED

on_both_tables = pytest.mark.parametrize("tables", ["made", "migrated"])
"""The cases M and W on tables the meter makes, and on tables made from the DDL with ensure_schema off."""


def ms(count: int) -> datetime:
    """T0 and so many milliseconds."""
    return T0 + timedelta(milliseconds=count)


def t(minutes: int, more_ms: int = 0) -> datetime:
    """T0 and so many minutes."""
    return T0 + timedelta(minutes=minutes, milliseconds=more_ms)


def month(now: datetime, account: str) -> str:
    """The product's period: a month of UTC."""
    return f"{now:%Y-%m}"


class Product:
    """Allowances by account, 0 for one that is not known; they may change."""

    def __init__(self, **allowances: int) -> None:
        self.allowances = allowances

    def __call__(self, account: str, period: str) -> int:
        """What the meter is given as `allowance_for`."""
        return self.allowances.get(account, 0)


def migrate(harness: Harness, prefix: str) -> None:
    """Make the tables from the DDL's text, as a migration does."""
    run(harness, spend_meter_ddl(prefix, harness.kind))


def run(harness: Harness, script: str) -> None:
    """Run the statements of a script, as the database's owner."""
    with harness.raw() as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.execute(text(statement))


def metering(harness: Harness, tables: str = "made", /, **allowances_and_options: Any) -> SpendMeter:
    """A meter of months whose accounts have these allowances; a `window` makes it one of windows."""
    product = Product(**{name: n for name, n in allowances_and_options.items() if len(name) == 1})
    options = {name: given for name, given in allowances_and_options.items() if len(name) > 1}
    if tables == "migrated":
        migrate(harness, OTHER)
        options |= {"table_prefix": OTHER, "ensure_schema": False}
    return meter_for(harness, product, **options)


def meter_for(harness: Harness, product: Callable[[str, str], Any], **options: Any) -> SpendMeter:
    """A meter of this product, on the harness's first store."""
    if "window" not in options:
        options.setdefault("period_of", month)
    return harness.store.meter(allowance_for=product, **({"lease": LEASE, "require_shared": False} | options))


def granted(answer: Reserved | Denied) -> Reserved:
    """The answer, which must be a grant."""
    assert isinstance(answer, Reserved), answer
    return answer


def denied(answer: Reserved | Denied, reason: DenialReason, remaining: int) -> None:
    """The answer must be this denial."""
    assert isinstance(answer, Denied), answer
    assert (answer.reason, answer.remaining) == (reason, remaining)


def hold(meter: SpendMeter, at: datetime, *operations: str, account: str = "a", **options: Any) -> None:
    """Reserve each operation, which must be granted."""
    for operation in operations:
        granted(meter.reserve(account, operation, now=at, **options))


def consume(meter: SpendMeter, at: datetime, *operations: str, account: str = "a", **options: Any) -> None:
    """Reserve and consume each operation at one moment."""
    for operation in operations:
        hold(meter, at, operation, account=account, **options)
        assert meter.settle(operation, CONSUMED, now=at).status == "settled"


def counts(report: ReconcileReport) -> tuple[int, int, int, int]:
    """consumed, released, deferred, pending."""
    return report.consumed, report.released, report.deferred, report.pending


def held(shown: MeterSnapshot) -> tuple[int, int, int]:
    """used, reserved, remaining."""
    return shown.used, shown.reserved, shown.remaining


def reservations(harness: Harness, prefix: str = DEFAULT) -> dict[str, Any]:
    """The reservations' rows by operation."""
    return {row.operation_id: row for row in _rows(harness, f"{prefix}_reservations")}


def accounts(harness: Harness, prefix: str = DEFAULT) -> dict[tuple[str, str], Any]:
    """The accounts' rows by account and period."""
    return {(row.account_id, row.period): row for row in _rows(harness, f"{prefix}_meter")}


def sizes(harness: Harness, prefix: str = DEFAULT) -> tuple[int, int]:
    """How many rows of reservations and of accounts there are."""
    return len(reservations(harness, prefix)), len(accounts(harness, prefix))


def _rows(harness: Harness, table: str) -> Iterable[Any]:
    with harness.raw() as connection:
        return connection.execute(text(f"SELECT * FROM {table}")).all()


def check_sums(harness: Harness, prefix: str = DEFAULT) -> None:
    """Every account's counters are the sums of its rows."""
    found = reservations(harness, prefix).values()
    for (account, period), row in accounts(harness, prefix).items():
        own = [each for each in found if (each.account_id, each.period) == (account, period)]
        for state, counter in (("reserved", row.reserved), ("consumed", row.used)):
            assert counter == sum(each.units for each in own if each.state == state), (account, state)


def indexes(harness: Harness, prefix: str = DEFAULT) -> dict[str, tuple[str, ...]]:
    """The reservations' indexes and their columns, by the last word of their names."""
    with harness.raw() as connection:
        found = inspect(connection).get_indexes(f"{prefix}_reservations")
    return {
        str(index["name"]).rpartition("_")[2]: tuple(str(name) for name in index["column_names"])
        for index in found
    }
