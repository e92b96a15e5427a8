"""The spend meter on PostgreSQL: cases P of spend.md, with real threads."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import make_url, text

from engine.spend import DenialReason, Denied, MeterSnapshot, SchemaWarning, SpendMeter, spend_meter_ddl
from tests.support.background import LIMIT, background, until
from tests.support.locks import waiting_for_locks
from tests.support.meters import (
    CONSUMED,
    DEFAULT,
    HR,
    OTHER,
    RELEASED,
    REPLACED,
    T0,
    Product,
    accounts,
    check_sums,
    consume,
    denied,
    granted,
    held,
    hold,
    indexes,
    metering,
    migrate,
    ms,
    reservations,
    run,
)
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.harness import Harness

CROWD = 20


def crowd(meter: SpendMeter) -> Counter[str]:
    """Twenty threads reserve at once; how many were granted, and why the others were not."""
    calls = [lambda n=n: meter.reserve("a", f"op{n}", now=T0) for n in range(CROWD)]
    answers = all_succeeded(together(*calls))
    return Counter(answer.reason.value if isinstance(answer, Denied) else "reserved" for answer in answers)


@pytest.mark.parametrize("tables", ["made", "migrated"])
def test_spend_P1_twenty_at_once_in_a_window(postgres_harness: Harness, tables: str) -> None:
    meter = metering(postgres_harness, tables, a=2, window=HR)
    assert crowd(meter) == {"reserved": 2, "allowance_exhausted": 18}
    assert meter.snapshot("a", now=T0) == MeterSnapshot("a", "window", 2, 0, 2, 0)
    prefix = OTHER if tables == "migrated" else DEFAULT
    assert len(reservations(postgres_harness, prefix)) == 2
    assert accounts(postgres_harness, prefix)["a", "window"].reserved == 2


@pytest.mark.parametrize("known", [False, True], ids=["new account", "known account"])
def test_spend_P2_twenty_at_once_in_a_period(postgres_harness: Harness, known: bool) -> None:
    meter = metering(postgres_harness, a=5)
    if known:
        hold(meter, T0, "before")
        meter.settle("before", RELEASED, now=T0)
    assert crowd(meter) == {"reserved": 5, "allowance_exhausted": 15}
    assert held(meter.snapshot("a", now=T0)) == (0, 5, 0)
    rows = [row for row in reservations(postgres_harness).values() if row.state == "reserved"]
    assert len(rows) == 5
    check_sums(postgres_harness)


def test_spend_P2_one_operation_twenty_times_at_once(postgres_harness: Harness) -> None:
    meter = metering(postgres_harness, a=50)
    for name in ("new account", "known account"):
        calls = [lambda name=name: meter.reserve("a", name, now=T0) for _ in range(CROWD)]
        answers = all_succeeded(together(*calls))
        reasons = Counter(answer.reason.value for answer in answers if isinstance(answer, Denied))
        assert reasons == {"in_flight": 19}
    check_sums(postgres_harness)


def test_spend_P3_a_settle_and_a_pass_at_once(postgres_harness: Harness) -> None:
    meter = metering(postgres_harness, a=3, lease=ms(10) - T0)
    for n in range(12):
        op = f"op{n}"
        hold(meter, T0, op)
        before = meter.snapshot("a", now=T0).used
        calls: list[Callable[[], Any]] = [
            partial(meter.settle, op, CONSUMED, now=ms(50)),
            partial(meter.reconcile, now=ms(50)),
        ]
        settled, _ = all_succeeded(together(*calls))
        assert settled.status in ("settled", "already_settled")
        row = reservations(postgres_harness)[op]
        assert row.state == ("consumed" if settled.status == "settled" else "released")
        assert held(meter.snapshot("a", now=T0))[:2] == (before + (row.state == "consumed"), 0)
        if row.state == "consumed":
            meter.settle(op, REPLACED, now=ms(50))
    check_sums(postgres_harness)


def test_spend_P4_tables_of_another_role(postgres_harness: Harness) -> None:
    migrate(postgres_harness, DEFAULT)
    run(
        postgres_harness,
        "DROP INDEX idx_spend_reservations_account; DROP INDEX idx_spend_reservations_settled;"
        "DROP INDEX idx_spend_reservations_fenced;"
        "DROP ROLE IF EXISTS meter_only; CREATE ROLE meter_only LOGIN;"
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO meter_only",
    )
    warnings: list[SchemaWarning] = []
    url = make_url(postgres_harness.url).set(username="meter_only").render_as_string(hide_password=False)
    try:
        store = postgres_harness.open(url, ensure_schema=False)
        meter = store.meter(allowance_for=Product(a=1), window=HR, on_warning=warnings.append)
        meter.ensure_schema()
        assert [_named(warning) for warning in warnings] == ["account", "settled", "fenced"]
        assert {getattr(warning.error, "sqlstate", None) for warning in warnings} == {"42501"}
        assert granted(meter.reserve("a", "op", now=T0)).remaining == 0
        assert set(indexes(postgres_harness)) == {"due"}
        store.close()
    finally:
        run(postgres_harness, "DROP OWNED BY meter_only; DROP ROLE meter_only")


def _named(warning: SchemaWarning) -> str:
    return warning.statement.partition("idx_spend_reservations_")[2].split()[0]


def test_spend_P5_the_longest_prefix(postgres_harness: Harness) -> None:
    prefix = "p" * 38
    names = [
        f"{prefix}_meter",
        f"{prefix}_reservations",
        *(f"idx_{prefix}_reservations_{name}" for name in ("due", "account", "settled", "fenced")),
    ]
    ddl = spend_meter_ddl(prefix)
    assert all(f"IF NOT EXISTS {name} " in ddl for name in names)
    assert ddl.count("CREATE") == len(names)
    assert max(map(len, names)) == 63
    metering(postgres_harness, a=1, table_prefix=prefix).ensure_schema()
    with postgres_harness.raw() as connection:
        found = connection.execute(text(f"SELECT relname FROM pg_class WHERE relname LIKE '%{prefix}%'"))
        kept: set[Any] = set(found.scalars())
    assert set(names) <= kept


def test_ruling_1_the_one_statement_forms_count_under_contention(postgres_harness: Harness) -> None:
    meter = metering(postgres_harness, a=40, b=40)
    consume(meter, T0, "a0")
    consume(meter, T0, "b0", account="b")

    def work(n: int) -> int:
        spent = 0
        for step in range(12):
            name = f"w{n}/{step}"
            answer = meter.reserve("ab"[(n + step) % 2], name, now=T0)
            if isinstance(answer, Denied):
                continue
            outcome = CONSUMED if step % 3 else RELEASED
            assert meter.settle(name, outcome, now=T0).status == "settled"
            spent += outcome is CONSUMED
        return spent

    spent = sum(all_succeeded(together(*[lambda n=n: work(n) for n in range(8)])))
    check_sums(postgres_harness)
    shown = [meter.snapshot(account, now=T0) for account in "ab"]
    assert sum(each.used for each in shown) == spent + 2
    assert all(each.used + each.reserved <= 40 for each in shown)


def test_ruling_43_a_pass_takes_its_accounts_in_order(postgres_harness: Harness) -> None:
    """The account that comes last has the oldest row; what waits for the first holds no later one."""
    meter = metering(postgres_harness, a=5, b=5)
    hold(meter, T0, "old", account="b")
    hold(meter, ms(1), "new")
    lock = "SELECT 1 FROM agentos_spend_meter WHERE account_id = '{}' FOR UPDATE NOWAIT"
    with postgres_harness.raw() as connection:
        connection.execute(text(lock.format("a")))
        waiting = background(meter.reconcile, now=ms(5000))
        until(lambda: waiting_for_locks(postgres_harness) == 1, "the pass waits for the first account")
        with postgres_harness.raw() as other:
            other.execute(text(lock.format("b")))
    assert waiting.result(LIMIT).released == 2
    check_sums(postgres_harness)


def test_ruling_1_room_that_goes_to_another_while_waiting(postgres_harness: Harness) -> None:
    meter = metering(postgres_harness, a=5)
    consume(meter, T0, "a0")
    with postgres_harness.raw() as connection:
        take = "UPDATE agentos_spend_meter SET used = 5"
        connection.execute(text(take))
        waiting = background(meter.reserve, "a", "late", now=T0)
        until(lambda: waiting_for_locks(postgres_harness) == 1, "the reservation waits for the account")
        connection.commit()
    denied(waiting.result(LIMIT), DenialReason.ALLOWANCE_EXHAUSTED, 0)
    assert set(reservations(postgres_harness)) == {"a0"}


def test_ruling_1_an_account_that_goes_while_waiting(postgres_harness: Harness) -> None:
    meter = metering(postgres_harness, a=5)
    consume(meter, T0, "a0")
    with postgres_harness.raw() as connection:
        connection.execute(text("DELETE FROM agentos_spend_meter"))
        waiting = background(meter.reserve, "a", "late", now=T0)
        until(lambda: waiting_for_locks(postgres_harness) == 1, "the reservation waits for the account")
        connection.commit()
    assert granted(waiting.result(LIMIT)).remaining == 4
    check_sums_of(postgres_harness)


def check_sums_of(harness: Harness) -> None:
    """The new row counts what was reserved since."""
    assert [(row.used, row.reserved) for row in accounts(harness).values()] == [(0, 1)]
