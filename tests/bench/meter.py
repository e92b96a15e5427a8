"""The meter against the same work by hand, and what a reconcile pass and the reserved sweeper get through."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import psycopg

from engine import open_store
from engine.reserved import Sweeper, convention_ddl
from engine.spend import Outcome, spend_meter_ddl
from tests.bench.floor_meter import PLENTY, Asking, OneStatement, StepByStep, period_of
from tests.bench.floor_postgres import Pool
from tests.bench.measuring import Contender, Spread, interleave
from tests.bench.report import Row, rate_row, ratio_row

if TYPE_CHECKING:
    from engine.spend import SpendMeter
    from tests.bench.places import Places

EIGHT: Final = 8
MANY_ACCOUNTS: Final = 1_000
LAPSED: Final = 100_000
PAGE: Final = 5_000
"""Rows of one reconcile pass."""
STATEMENT, STEPS = "one statement a verb", "one statement a step"
WANTED: Final = {
    (1, 1): {STATEMENT: 0.8, STEPS: 1.5},
    (EIGHT, 1): {STATEMENT: 0.8, STEPS: 1.5},
    (EIGHT, MANY_ACCOUNTS): {STATEMENT: 0.7},
}
_LAPSED_UNITS = f"""
INSERT INTO lapsed_reservations (operation_id, account_id, period, units, state, reserved_at, expires_at)
SELECT 'op-' || n, 'account-' || n % 100, '2026-10', 1, 'reserved', 1, n FROM generate_series(1, {LAPSED}) AS n;
INSERT INTO lapsed_meter (account_id, period, allowance, reserved, updated_at)
SELECT 'account-' || n, '2026-10', 1000000, {LAPSED} / 100, 1 FROM generate_series(0, 99) AS n;
"""
_LAPSED_ROWS = f"""
INSERT INTO slots (slot_id, txn_id, state, reserve_deadline)
SELECT n, 'txn-' || n, 'reserved', n FROM generate_series(1, {LAPSED}) AS n
"""


class Metering(Asking):
    """The engine as a contender."""

    def __init__(self, meter: SpendMeter, worker: str, accounts: int) -> None:
        super().__init__(worker, accounts)
        self._reserve, self._settle = meter.reserve, meter.settle

    def do(self, given: tuple[str, str]) -> None:
        """Reserve, then settle."""
        operation, account = given
        self._reserve(account, operation)
        self._settle(operation, Outcome.CONSUMED)


def meter(places: Places, seconds: float) -> list[Row]:
    """Reserve and settle, as pairs a second."""
    rows: list[Row] = []
    for (threads, accounts), wanted in WANTED.items():
        with ExitStack() as stack:
            contenders = _contenders(stack, places, threads, accounts)
            series = interleave(contenders, seconds / len(WANTED))
        where = "one hot account" if accounts == 1 else f"{accounts:,} accounts"
        work = f"meter reserve + settle, {where}, {threads} thread{'s' * (threads > 1)}, PostgreSQL"
        rows += [ratio_row(work, series, other, ratio) for other, ratio in wanted.items()]
    return rows


def _contenders(stack: ExitStack, places: Places, threads: int, accounts: int) -> list[Contender]:
    name = f"{threads}_{accounts}"
    store = stack.enter_context(open_store(places.migrated(f"meter_{name}"), pool_size=threads))
    ours = store.meter(allowance_for=lambda *_: PLENTY, period_of=period_of)
    for n in range(accounts):
        ours.set_allowance(f"account-{n}", PLENTY)  # as the others open theirs
    workers: dict[str, list[Any]] = {"ours": [Metering(ours, f"w{n}", accounts) for n in range(threads)]}
    for other, kind in ((STATEMENT, OneStatement), (STEPS, StepByStep)):
        pool = Pool(_prepared(places, f"{kind.__name__.lower()}_{name}", "bench"), threads)
        stack.enter_context(closing(pool))
        workers[other] = [kind(pool, f"w{n}", accounts) for n in range(threads)]
    return [Contender(each, made) for each, made in workers.items()]


def _prepared(places: Places, name: str, prefix: str, *more: str) -> str:
    url = places.migrated(name)
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in (spend_meter_ddl(prefix), *more):
            connection.execute(statement)  # type: ignore[call-overload]
    return url


def reconcile(places: Places, _seconds: float) -> list[Row]:
    """Expired rows that nobody is asked about, page after page until there are none."""
    url = _prepared(places, "reconcile", "lapsed", _LAPSED_UNITS, "ANALYZE")
    rates: list[float] = []
    with open_store(url) as store:
        operator = store.meter_operator("lapsed", lease=timedelta(seconds=45), unknown_after_lease="release")
        for _ in range(LAPSED // PAGE):
            began = time.perf_counter()
            report = operator.reconcile(limit=PAGE)
            rates.append(report.released / (time.perf_counter() - began))
            assert report.released == PAGE
        assert operator.reconcile(limit=PAGE).released == 0
    work = f"reconcile of {LAPSED:,} expired rows, no resolver, PostgreSQL"
    return [rate_row(work, Spread.of(rates), "rows/s", 10_000)]


def sweeper(places: Places, _seconds: float) -> list[Row]:
    """Lapsed tentative rows, all of them in one sweep."""
    url = places.migrated("slots")
    with open_store(url) as store:
        with store.engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE slots (slot_id bigint PRIMARY KEY)")
            for statement in convention_ddl("bench", "slots", connection.dialect).split(";"):
                if statement.strip():
                    connection.exec_driver_sql(statement)
            connection.exec_driver_sql(_LAPSED_ROWS)
        sweeping = Sweeper()
        sweeping.register(store.engine, "slots")
        began = time.perf_counter()
        report = sweeping.sweep(datetime.now(UTC))
        rate = report.collected / (time.perf_counter() - began)
    assert (report.collected, report.errors) == (LAPSED, 0)
    return [
        rate_row(f"reserved sweeper, {LAPSED:,} lapsed rows, PostgreSQL", Spread.of([rate]), "rows/s", 50_000)
    ]
