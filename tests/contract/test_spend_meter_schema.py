"""The spend meter: cases S of spend.md, rulings 35 and 44: its tables, and what is missing of them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, inspect

from engine.errors import ReadOnlyStore, SpendMeterUnavailable, StoreClosed, UnsupportedStore, ValidationError
from engine.spend import (
    SPEND_METER_DDL,
    Consumed,
    Denied,
    MeterSnapshot,
    PurgeReport,
    SchemaWarning,
    SettlementStatus,
    spend_meter_ddl,
)
from engine.spend.meter import Listed
from tests.support.meters import (
    CONSUMED,
    DEFAULT,
    HR,
    LEASE,
    OTHER,
    RELEASED,
    T0,
    accounts,
    check_sums,
    consume,
    counts,
    granted,
    held,
    hold,
    indexes,
    metering,
    migrate,
    ms,
    reservations,
    run,
    sizes,
)
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.harness import Harness

COLUMNS = {
    "due": ("state", "expires_at"),
    "account": ("account_id", "reserved_at"),
    "settled": ("settled_at", "state"),
    "fenced": ("expires_at", "operation_id"),
}


def tables_of(harness: Harness) -> set[str]:
    """The meters' tables in the database."""
    with harness.raw() as connection:
        names = inspect(connection).get_table_names()
    return {name for name in names if name.endswith(("_meter", "_reservations")) and "day" not in name}


def without(harness: Harness, *gone: str) -> None:
    """The default tables with only the indexes that are not named."""
    migrate(harness, DEFAULT)
    run(harness, ";".join(f"DROP INDEX idx_spend_reservations_{name}" for name in gone))


@contextmanager
def statements(harness: Harness) -> Iterator[list[str]]:
    """Every statement that SQLAlchemy runs on the first store meanwhile."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, text: str, *_rest: Any) -> None:
        seen.append(text)

    event.listen(harness.store.engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(harness.store.engine, "before_cursor_execute", note)


def test_spend_S1_the_default_tables(harness: Harness) -> None:
    assert spend_meter_ddl() == spend_meter_ddl(DEFAULT) == SPEND_METER_DDL
    metering(harness, a=1).ensure_schema()
    assert tables_of(harness) == {"agentos_spend_meter", "agentos_spend_reservations"}
    assert indexes(harness) == COLUMNS
    with harness.raw() as connection:
        names = {index["name"] for index in inspect(connection).get_indexes("agentos_spend_reservations")}
    assert names == {f"idx_spend_reservations_{name}" for name in COLUMNS}


def test_spend_S1_the_text_makes_the_same_tables(harness: Harness) -> None:
    run(harness, SPEND_METER_DDL)  # PostgreSQL's words, which SQLite understands
    run(harness, spend_meter_ddl(dialect=harness.kind))
    assert indexes(harness) == COLUMNS
    meter = metering(harness, a=1, ensure_schema=False)
    hold(meter, T0, "op", require_fence=True)


def test_spend_S2_the_tables_of_another_prefix(harness: Harness) -> None:
    text = spend_meter_ddl(OTHER, harness.kind)
    assert "agentos" not in text
    assert "idx_spend_" not in text
    metering(harness, a=1, table_prefix=OTHER).ensure_schema()
    assert tables_of(harness) == {"other_spend_meter", "other_spend_reservations"}
    with harness.raw() as connection:
        names = {index["name"] for index in inspect(connection).get_indexes("other_spend_reservations")}
    assert names == {f"idx_other_spend_reservations_{name}" for name in COLUMNS}


def test_spend_S3_two_meters_of_one_database(harness: Harness) -> None:
    hourly = metering(harness, a=1, window=HR)
    daily = metering(harness, a=1, window=24 * HR, table_prefix=OTHER)
    for meter, operation in ((hourly, "h1"), (daily, "d1")):
        assert granted(meter.reserve("a", operation, now=T0)).remaining == 0
    hourly.settle("h1", CONSUMED, now=T0)
    daily.settle("d1", CONSUMED, now=T0)
    assert hourly.purge(T0 + HR) == PurgeReport(1, 1)
    assert sizes(harness) == (0, 0)
    assert sizes(harness, OTHER) == (1, 1)
    assert daily.snapshot("a", now=T0 + HR) == MeterSnapshot("a", "window", 1, 1, 0, 0)
    answer = daily.reserve("a", "d1", now=T0 + HR)
    assert isinstance(answer, Denied)
    assert answer.reason == "already_consumed"


def test_spend_S4_prefixes(harness: Harness) -> None:
    longest = "p" * 38
    metering(harness, a=1, table_prefix=longest)
    assert f"idx_{longest}_reservations_account" in spend_meter_ddl(longest, harness.kind)
    wrong = ("Upper_Case", "a; drop", "a-b", "", "1abc", "p" * 39, "spend", "ok\n", "é", None, 7)
    for prefix in wrong:
        with pytest.raises(ValidationError) as made:
            metering(harness, a=1, table_prefix=prefix)
        assert made.value.field == "table_prefix"
        if prefix is not None:
            with pytest.raises(ValidationError, match="table_prefix"):
                spend_meter_ddl(prefix)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="dialect"):
        spend_meter_ddl(dialect="oracle")


FAILING = {
    "sqlite": "CREATE TRIGGER broken BEFORE UPDATE OF reserved ON agentos_spend_meter BEGIN"
    " SELECT RAISE(ABORT, 'XX000')~ END",
    "postgresql": "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'XX000'"
    " USING ERRCODE = 'XX000'~ END $$; CREATE TRIGGER broken BEFORE UPDATE OF reserved ON agentos_spend_meter"
    " FOR EACH ROW EXECUTE FUNCTION broken()",
}
MENDED = {
    "sqlite": "DROP TRIGGER broken",
    "postgresql": "DROP TRIGGER broken ON agentos_spend_meter",
}


@pytest.mark.parametrize("known", [False, True], ids=["new account", "known account"])
@pytest.mark.parametrize("options", [{}, {"window": HR}], ids=["period", "window"])
def test_spend_S5_a_store_that_fails_halfway(harness: Harness, known: bool, options: dict[str, Any]) -> None:
    meter = metering(harness, a=5, **options)
    meter.ensure_schema()
    if known:
        consume(meter, T0, "before")
    with harness.raw() as connection:
        for statement in FAILING[harness.kind].split("; "):
            connection.exec_driver_sql(statement.replace("~", ";"))
    with pytest.raises(SpendMeterUnavailable, match="XX000"):
        meter.reserve("a", "op", now=T0)
    assert "op" not in reservations(harness)
    run(harness, MENDED[harness.kind])
    assert granted(metering(harness, a=5, **options).reserve("a", "op", now=T0)).attempt == 1


def test_spend_S6_the_indexes_that_are_missing(harness: Harness) -> None:
    without(harness, "account", "settled", "fenced")
    first = metering(harness, a=2, window=HR, ensure_schema=False)
    first.ensure_schema()
    assert granted(first.reserve("a", "op", now=T0)).remaining == 1
    assert indexes(harness) == {"due": COLUMNS["due"]}
    second = metering(harness, a=2, window=HR)
    second.ensure_schema()
    assert indexes(harness) == COLUMNS
    assert held(second.snapshot("a", now=T0)) == (0, 1, 1)


def test_spend_S7_only_what_is_missing_is_made(harness: Harness) -> None:
    without(harness, "account", "settled", "fenced")
    with statements(harness) as seen:
        metering(harness, a=1).ensure_schema()
    made = [text for text in seen if "INDEX" in text and "CREATE" in text]
    assert [name for text in made for name in COLUMNS if f"_reservations_{name} " in text] == [
        "account",
        "settled",
        "fenced",
    ]
    assert len(made) == 3
    with statements(harness) as seen:
        metering(harness, a=1).ensure_schema()
    assert seen
    assert not [text for text in seen if "CREATE" in text]


def test_spend_S8_a_table_has_the_indexs_name(sqlite_harness: Harness) -> None:
    without(sqlite_harness, "account", "settled", "fenced")
    run(sqlite_harness, "CREATE TABLE idx_spend_reservations_account (a TEXT)")
    warnings: list[SchemaWarning] = []
    meter = metering(sqlite_harness, a=1, on_warning=warnings.append)
    meter.ensure_schema()
    (warning,) = warnings
    assert warning.statement.startswith("CREATE INDEX IF NOT EXISTS idx_spend_reservations_account")
    assert "already a table" in str(warning.error)
    assert set(indexes(sqlite_harness)) == {"due", "settled", "fenced"}
    assert granted(meter.reserve("a", "op", now=T0)).remaining == 0


def test_spend_S9_sqlite_is_not_shared(sqlite_harness: Harness) -> None:
    for prefix in (DEFAULT, "not a prefix"):  # the first of all checks
        with pytest.raises(UnsupportedStore, match="shared"):
            metering(sqlite_harness, a=1, require_shared=True, table_prefix=prefix)


def test_spend_S9_postgresql_is_shared(postgres_harness: Harness) -> None:
    hold(metering(postgres_harness, a=1, require_shared=True), T0, "op")


def test_spend_S10_an_allowance_that_cannot_be_read(harness: Harness) -> None:
    def broken(account: str, period: str) -> int:
        raise LookupError("the plan service is down")

    meter = harness.store.meter(allowance_for=broken, window=HR, require_shared=False)
    meter.ensure_schema()
    with pytest.raises(SpendMeterUnavailable, match=r"allowance was unreadable: .*plan service is down"):
        meter.reserve("a", "op", now=T0)
    assert sizes(harness) == (0, 0)


def test_ensure_schema_runs_once_however_many_call(harness: Harness) -> None:
    meter = metering(harness, a=100)
    with statements(harness) as seen:
        all_succeeded(together(*[meter.ensure_schema] * 8))
    assert len([text for text in seen if "CREATE TABLE" in text]) == 2
    with statements(harness) as seen:
        meter.ensure_schema()
    assert seen == []


def test_ensure_schema_by_many_meters_at_once(harness: Harness) -> None:
    meters = [metering(harness, a=100) for _ in range(6)]
    calls = [lambda m=m, n=n: m.reserve("a", f"op{n}", now=T0) for n, m in enumerate(meters)]
    answers = [granted(answer) for answer in all_succeeded(together(*calls))]
    assert sorted(answer.remaining for answer in answers) == [94, 95, 96, 97, 98, 99]
    assert indexes(harness) == COLUMNS
    check_sums(harness)


def test_a_failed_ensure_schema_is_tried_again(harness: Harness) -> None:
    run(harness, "CREATE TABLE agentos_spend_reservations (operation_id TEXT)")
    meter = metering(harness, a=1)
    with pytest.raises(SpendMeterUnavailable):
        meter.reserve("a", "op", now=T0)
    run(harness, "DROP TABLE agentos_spend_reservations")
    hold(meter, T0, "op")


def test_tables_that_are_not_there_are_a_failure_without_ensure_schema(harness: Harness) -> None:
    meter = metering(harness, a=1, ensure_schema=False)
    for call in (meter.ensure_schema, lambda: None):
        call()
    with pytest.raises(SpendMeterUnavailable):
        meter.snapshot("a", now=T0)
    migrate(harness, DEFAULT)
    assert meter.snapshot("a", now=T0).remaining == 1


OLDER = ("fenced", "evidence_json")


def older_tables(harness: Harness) -> None:
    """Tables as another implementation made them, with a row of its own."""
    migrate(harness, DEFAULT)
    run(harness, "DROP INDEX idx_spend_reservations_fenced")
    run(harness, ";".join(f"ALTER TABLE agentos_spend_reservations DROP COLUMN {name}" for name in OLDER))
    at = int(T0.timestamp() * 1000)
    run(
        harness,
        f"INSERT INTO agentos_spend_meter VALUES ('a', '2026-10', 9, 0, 1, {at});"
        "INSERT INTO agentos_spend_reservations VALUES"
        f" ('old', 'a', '2026-10', 1, 'reserved', NULL, 1, {at}, {at + 1000}, NULL, NULL)",
    )


def test_ruling_35_older_tables_are_used_as_they_are(harness: Harness) -> None:
    older_tables(harness)
    warnings: list[SchemaWarning] = []
    meter = metering(harness, a=9, on_warning=warnings.append)
    assert held(meter.snapshot("a", now=T0)) == (0, 1, 8)
    hold(meter, T0, "op", "op2")
    meter.settle("op2", RELEASED, now=T0)
    assert granted(meter.reserve("a", "op2", now=T0)).attempt == 2
    operator = harness.store.meter_operator(DEFAULT, lease=LEASE, unknown_after_lease="release")
    assert [row.fenced for row in operator.list().reservations] == [False] * 3
    assert operator.list(Listed.FENCED).reservations == []
    with pytest.raises(UnsupportedStore):
        operator.defer("op2", ms(9000), {}, attempt=2, expires_at=ms(1000))
    meter.heartbeat("op2", now=ms(5000))
    assert counts(meter.reconcile(now=ms(5000))) == (0, 2, 0, 0)
    assert meter.settle("op2", CONSUMED, now=ms(5000)).status == SettlementStatus.SETTLED
    assert meter.purge(ms(6000)) == PurgeReport(3, 0)
    assert warnings == []
    check_sums_of_periods(harness)


def check_sums_of_periods(harness: Harness) -> None:
    """After a purge the row still knows what was used."""
    row = accounts(harness)[("a", "2026-10")]
    assert (row.used, row.reserved) == (1, 0)


def test_ruling_35_fences_need_their_columns(harness: Harness) -> None:
    older_tables(harness)
    plain = metering(harness, a=9)
    asking = metering(harness, a=9, resolve_expired=lambda row: Consumed())
    alter = "ALTER TABLE agentos_spend_reservations ADD COLUMN fenced.*ADD COLUMN evidence_json"
    with pytest.raises(UnsupportedStore, match=alter):
        plain.reserve("a", "op", require_fence=True, now=T0)
    assert "op" not in reservations(harness)
    with pytest.raises(UnsupportedStore, match=alter) as caught:
        asking.reconcile(now=ms(5000))
    hold(plain, T0, "op")

    statements_named = caught.value.reason.partition("run: ")[2]
    run(harness, statements_named)
    assert counts(asking.reconcile(now=ms(5000), limit=1)) == (1, 0, 0, 0)
    hold(plain, ms(5000), "fenced", require_fence=True)
    assert counts(plain.reconcile(now=ms(9000))) == (0, 1, 0, 0)
    assert reservations(harness)["fenced"].state == "reserved"


def test_ruling_35_a_default_heeds_the_first_fence_of_altered_tables(harness: Harness) -> None:
    older_tables(harness)
    knows_none = metering(harness, a=9)
    knows_none.snapshot("a", now=T0)
    with pytest.raises(UnsupportedStore) as caught:
        knows_none.reserve("a", "op", require_fence=True, now=T0)
    run(harness, caught.value.reason.partition("run: ")[2])
    hold(metering(harness, a=9), T0, "op", require_fence=True)
    assert counts(knows_none.reconcile(now=ms(5000))) == (0, 1, 0, 0)
    assert reservations(harness)["op"].state == "reserved"


def test_ruling_35_milliseconds(harness: Harness) -> None:
    hold(metering(harness, a=1), T0, "op")
    row = reservations(harness)["op"]
    at = 1_792_065_600_000
    assert (row.reserved_at, row.expires_at) == (at, at + 1000)
    assert accounts(harness)[("a", "2026-10")].updated_at == at
    assert LEASE.total_seconds() == 1


def test_ruling_44_closed_and_read_only_stores_say_so(harness: Harness) -> None:
    meter = metering(harness, a=1)
    hold(meter, T0, "op")
    reading = harness.open(read_only=True).meter(
        allowance_for=lambda a, p: 1, window=HR, require_shared=False
    )
    with pytest.raises(ReadOnlyStore):
        reading.reserve("a", "other", now=T0)
    assert held(reading.snapshot("a", now=T0)) == (0, 0, 1)
    harness.store.close()
    for call in (lambda: meter.reserve("a", "x", now=T0), lambda: meter.snapshot("a", now=T0)):
        with pytest.raises(StoreClosed):
            call()
    with pytest.raises(ValidationError):
        meter.reserve("a", "x\0", now=T0)


def test_ruling_44_a_read_only_store_makes_no_index(harness: Harness) -> None:
    without(harness, "account")
    warnings: list[SchemaWarning] = []
    reading = harness.open(read_only=True).meter(
        allowance_for=lambda a, p: 1, window=HR, require_shared=False, on_warning=warnings.append
    )
    reading.ensure_schema()
    assert warnings == []
    assert set(indexes(harness)) == {"due", "settled", "fenced"}


def test_ensure_schema_waits_for_the_run_of_another(harness: Harness) -> None:
    meter = metering(harness, a=1)
    done = threading.Event()
    outcomes = together(meter.ensure_schema, meter.ensure_schema, done.set)
    assert done.is_set()
    all_succeeded(outcomes)
    assert indexes(harness) == COLUMNS
