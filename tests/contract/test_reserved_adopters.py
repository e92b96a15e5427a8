"""Whoever keeps the convention in a store's database, found in its catalogue (ruling 34)."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, func, insert, select, text

from engine.clock import to_ns
from engine.database import catalogue
from engine.errors import ValidationError
from engine.reserved import (
    Adopter,
    ReservedCounts,
    ReservedRow,
    convention_columns,
    convention_columns_ddl,
    reserve_values,
)
from tests.support.builders import T0
from tests.support.slots import SECOND, Slots, counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.reserved import ReservedPage, ReservedRows
    from tests.support.harness import Harness

module = import_module("engine.reserved.adopters")  # the package has a function of this name

HOSTILE = (
    'slots"; DROP TABLE slots; --',
    "per%cent %s ( %%",
    "colon :now",
    "quote's",
    "line\nbreak\t\x1b[31m",
    "select",
    "Ünï.cøde",
    "brackets [x] {y}",
    "back\\slash",
)
"""Names of tables and of keys."""


@pytest.fixture
def reserved(harness: Harness) -> ReservedRows:
    """The facade of the test's store, which holds no table of its own that keeps the convention."""
    without_plans(harness)
    return harness.store.reserved


def without_plans(harness: Harness) -> None:
    """Take away the plans' items: they keep the convention too, and stand in every store (ruling 55)."""
    with harness.store.engine.begin() as connection:
        connection.execute(text("DROP TABLE plan_item"))


def adopt(harness: Harness, name: str, *key: str, rows: int = 0, kind: Any = Integer) -> Table:
    """A table of that name with a key of these columns, and rows that lapse a second apart, the first at T0."""
    columns = [Column(each, kind, primary_key=True, autoincrement=False) for each in key]
    table = Table(name, MetaData(), *columns, Column("note", Text), *convention_columns())
    with harness.store.engine.begin() as connection:
        table.create(connection)
        for n in range(rows):
            due = to_ns(T0) + n // 2 * 10**9
            values = dict.fromkeys(key, n * 7 % 23 if kind is Integer else f"k{n:02}")
            connection.execute(insert(table).values({**values, **reserve_values(f"txn-{n}", due)}))
    return table


def pages(reserved: ReservedRows, adopter: Adopter, limit: int) -> Iterator[ReservedPage]:
    """Page after page, a bounded number of them."""
    after = None
    for _ in range(100):
        page = reserved.page(adopter, after=after, limit=limit)
        yield page
        after = page.next
        if after is None:
            return
    raise AssertionError("the pages do not end")


def test_ruling_34_tables_are_found_by_the_three_columns(harness: Harness, reserved: ReservedRows) -> None:
    assert reserved.adopters().tables == ()
    adopt(harness, "b_keyed", "y", "x")
    adopt(harness, "a_bare")
    wrong = {
        "two_only": "txn_id TEXT, state TEXT",
        "other_kinds": "txn_id TEXT, state TEXT, reserve_deadline TEXT",
        "numbered": "txn_id BIGINT, state TEXT, reserve_deadline BIGINT",
    }
    with harness.store.engine.begin() as connection:
        for name, columns in wrong.items():
            connection.execute(text(f"CREATE TABLE {name} ({columns})"))
        connection.execute(text("CREATE VIEW seen AS SELECT * FROM a_bare"))
    schema = None if harness.kind == "sqlite" else "public"
    found = reserved.adopters()
    assert not found.more
    assert found.tables == (Adopter(schema, "a_bare", ()), Adopter(schema, "b_keyed", ("y", "x")))


def test_ruling_34_every_schema_and_whole_tables_only(postgres_harness: Harness) -> None:
    columns = convention_columns_ddl("postgresql")
    without_plans(postgres_harness)
    with postgres_harness.store.engine.begin() as connection:
        connection.execute(text('CREATE SCHEMA "Sales dept"'))
        connection.execute(text(f'CREATE TABLE "Sales dept".orders (id UUID PRIMARY KEY, {columns})'))
        parted = f"CREATE TABLE parted (id BIGINT PRIMARY KEY, {columns}) PARTITION BY RANGE (id)"
        connection.execute(text(parted))
        connection.execute(text("CREATE TABLE part PARTITION OF parted FOR VALUES FROM (0) TO (10)"))
        connection.execute(text(f"CREATE TEMPORARY TABLE passing (id BIGINT PRIMARY KEY, {columns})"))
    found = postgres_harness.store.reserved.adopters().tables
    assert found == (Adopter("Sales dept", "orders", ("id",)), Adopter("public", "parted", ("id",)))
    assert [each.label for each in found] == ["Sales dept.orders", "public.parted"]


def test_ruling_34_as_many_tables_as_are_bounded(
    harness: Harness, reserved: ReservedRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        adopt(harness, name, "id", rows=1)
    assert module.MAX_ADOPTERS == 100
    assert not reserved.adopters().more
    monkeypatch.setattr(module, "MAX_ADOPTERS", 2)
    found = reserved.adopters()
    assert [each.name for each in found.tables] == ["a", "b"]
    assert found.more
    report = reserved.sweep()
    assert counts(report) == (2, 2, 1)
    assert "register the others" in report.failures[0].error


@pytest.mark.parametrize("limit", [1, 4, 100])
def test_ruling_34_rows_are_paged_by_deadline_and_key(
    harness: Harness, reserved: ReservedRows, limit: int
) -> None:
    """Numbers in their own order, not that of their text; two lapse at each moment."""
    table = adopt(harness, "slots", "b", "a", rows=11)
    with harness.store.engine.begin() as connection:
        connection.execute(insert(table).values(a=90, b=90))
        connection.execute(insert(table).values(a=91, b=91, txn_id="txn-odd", state="reserved"))
    harness.advance(SECOND)
    (adopter,) = reserved.adopters().tables
    rows = [row for page in pages(reserved, adopter, limit) for row in page.rows]
    expected = [
        ReservedRow((str(key), str(key)), f"txn-{n}", T0 + n // 2 * SECOND, n // 2 <= 1)
        for n, key in sorted(((n, n * 7 % 23) for n in range(11)), key=lambda each: (each[0] // 2, each[1]))
    ]
    assert rows == expected
    assert reserved.counts(adopter) == ReservedCounts(12, 4)


@pytest.mark.parametrize("declared", ["UUID", "TIMESTAMPTZ", "NUMERIC", "BYTEA", "CHAR(4)", "JSONB"])
def test_ruling_34_keys_of_any_kind_are_paged(postgres_harness: Harness, declared: str) -> None:
    without_plans(postgres_harness)
    texts = {
        "UUID": "'{n:08}-0000-0000-0000-000000000000'",
        "TIMESTAMPTZ": "timestamptz '2026-01-01' + interval '{n} microseconds'",
        "NUMERIC": "{n}.10",
        "BYTEA": "decode('ff0{n}', 'hex')",
        "CHAR(4)": "'{n}'",
        "JSONB": "'{n}'",
    }
    columns = convention_columns_ddl("postgresql")
    with postgres_harness.store.engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE any_kind (id {declared} PRIMARY KEY, {columns})"))
        for n in range(5):
            value = texts[declared].format(n=n)
            connection.exec_driver_sql(f"INSERT INTO any_kind VALUES ({value}, 'txn-{n}', 'reserved', 0)")
    reserved = postgres_harness.store.reserved
    (adopter,) = reserved.adopters().tables
    found = [row.txn_id for page in pages(reserved, adopter, 2) for row in page.rows]
    assert found == [f"txn-{n}" for n in range(5)]


@pytest.mark.parametrize("declared", ["BLOB", "REAL", "DOUBLE PRECISION", "FLOAT"])
def test_ruling_34_keys_without_an_exact_text_count_as_none(sqlite_harness: Harness, declared: str) -> None:
    without_plans(sqlite_harness)
    columns = convention_columns_ddl("sqlite")
    with sqlite_harness.store.engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE t (a INTEGER, b {declared}, {columns}, PRIMARY KEY (a, b))"))
    assert sqlite_harness.store.reserved.adopters().tables == (Adopter(None, "t", ()),)


def test_ruling_34_a_table_without_a_key_shows_counts_only(harness: Harness, reserved: ReservedRows) -> None:
    adopt(harness, "bare", rows=3)
    (adopter,) = reserved.adopters().tables
    assert reserved.counts(adopter) == ReservedCounts(3, 2)
    with pytest.raises(ValidationError, match="no key"):
        reserved.page(adopter)


def test_ruling_34_hostile_names_do_nothing(harness: Harness, reserved: ReservedRows) -> None:
    kept = Slots(harness, harness.store.engine)
    kept.plain("room-100")
    for name in HOSTILE:
        adopt(harness, name, name, rows=3, kind=Text)
    found = {each.name: each for each in reserved.adopters().tables}
    assert set(found) == {"slots", *HOSTILE}
    for name in HOSTILE:
        adopter = found[name]
        assert adopter.key == (name,)
        assert reserved.counts(adopter) == ReservedCounts(3, 2)
        rows = [row for page in pages(reserved, adopter, 1) for row in page.rows]
        assert [row.key for row in rows] == [("k00",), ("k01",), ("k02",)]
    assert counts(reserved.sweep()) == (3 * len(HOSTILE), 2 * len(HOSTILE), 0)
    assert len(kept.rows()) == 1


@pytest.mark.parametrize("name", ["%(now)s", "x [POSTCOMPILE_now] y", "__[SCHEMA_x]"])
def test_ruling_34_names_that_pass_for_placeholders_are_left_out(
    harness: Harness, reserved: ReservedRows, name: str
) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    columns = convention_columns_ddl(harness.kind)
    with harness.store.engine.begin() as connection:
        driver: Any = connection.connection.driver_connection
        driver.execute(f"CREATE TABLE {quoted} (id INTEGER PRIMARY KEY, {columns})")
        driver.execute(f"CREATE TABLE odd_key ({quoted} INTEGER PRIMARY KEY, {columns})")
    adopt(harness, "slots", "id", rows=2)
    found = reserved.adopters()
    assert [(each.name, each.key) for each in found.tables] == [("odd_key", ()), ("slots", ("id",))]
    assert [label.removeprefix("public.") for label in found.left_out] == [name]
    assert [reserved.counts(each).reserved for each in found.tables] == [0, 2]
    report = reserved.sweep()
    assert counts(report) == (2, 2, 1)
    assert report.failures[0].table == found.left_out[0]


def test_ruling_34_cursors_are_checked(harness: Harness, reserved: ReservedRows) -> None:
    adopt(harness, "one", "id", rows=4)
    adopt(harness, "two", "a", "b", rows=4)
    one, two = reserved.adopters().tables
    cursor = reserved.page(one, limit=2).next
    for wrong in ("", "x", "!", cursor):
        with pytest.raises(ValidationError):
            reserved.page(two, after=wrong)
    for limit in (0, 1001):
        with pytest.raises(ValidationError):
            reserved.page(one, limit=limit)


def test_ruling_34_reading_is_read_only_and_bounded(
    harness: Harness, reserved: ReservedRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = adopt(harness, "slots", "id", rows=9)
    reader = harness.open(read_only=True).reserved
    (adopter,) = reader.adopters().tables
    assert len(reader.page(adopter).rows) == 9
    monkeypatch.setattr(module, "MAX_COUNT", 5)
    assert reader.counts(adopter) == ReservedCounts(6, 2)
    with harness.raw() as connection:
        assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 9


def test_ruling_49_a_store_sweeps_every_adopting_table(harness: Harness, reserved: ReservedRows) -> None:
    adopt(harness, "one", "id", rows=5)
    adopt(harness, "two", rows=3)
    assert counts(reserved.sweep(dry_run=True)) == (8, 4, 0)
    assert counts(reserved.sweep(now=T0 - SECOND)) == (8, 0, 0)
    assert counts(reserved.sweep()) == (8, 4, 0)
    harness.advance(timedelta(minutes=1))
    assert counts(reserved.sweep(batch=1)) == (4, 4, 0)


def test_ruling_49_a_sweep_can_be_ended_between_batches(harness: Harness, reserved: ReservedRows) -> None:
    adopt(harness, "one", "id", rows=6)
    adopt(harness, "two", "id", rows=6)
    harness.advance(timedelta(minutes=1))
    asked = list[int]()

    def twice() -> bool:
        asked.append(1)
        return len(asked) < 2

    assert reserved.sweep(batch=2, go_on=twice).collected == 4
    error = LookupError("the lease was lost")

    def lost() -> bool:
        raise error

    with pytest.raises(LookupError) as caught:
        reserved.sweep(batch=2, go_on=lost)
    assert caught.value is error
    assert reserved.sweep().collected == 6


def test_ruling_49_a_table_that_fails_is_named_and_the_others_are_swept(
    postgres_harness: Harness,
) -> None:
    reserved = postgres_harness.store.reserved
    for name in ("a", "b"):
        adopt(postgres_harness, name, "id", rows=2)
    with postgres_harness.store.engine.begin() as connection:
        connection.execute(
            text(
                "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE EXCEPTION 'kept for the auditors'; END $$"
            )
        )
        connection.execute(text("CREATE TRIGGER no BEFORE DELETE ON a FOR EACH ROW EXECUTE FUNCTION no()"))
    report = reserved.sweep()
    assert counts(report) == (4, 2, 1)
    assert report.failures[0].table == "public.a"
    assert "kept for the auditors" in report.failures[0].error


def test_the_catalogue_answers_no_more_than_it_is_asked_for(harness: Harness) -> None:
    for name in ("a", "b", "c"):
        adopt(harness, name, "id")
    with harness.raw() as connection:
        words, numbers = ("txn_id", "state"), ("reserve_deadline",)
        assert [each.name for each in catalogue.tables_with(connection, words, numbers, 2)] == ["a", "b"]
