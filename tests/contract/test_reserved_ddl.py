"""The convention as DDL, by SQLAlchemy and as text (reserved.md, "Convention columns"; ruling 32)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, Text, inspect, text
from sqlalchemy.dialects import mysql

from engine.errors import ValidationError
from engine.reserved import (
    convention_columns,
    convention_columns_ddl,
    convention_ddl,
    convention_indexes,
    convention_indexes_ddl,
)
from tests.support.slots import Slots

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tests.support.harness import Harness


def statements(ddl: str) -> list[str]:
    """The text as single statements."""
    return [each for each in ddl.split(";\n") if each]


def shape(connection: Connection, table: str) -> tuple[Any, ...]:
    """The convention's columns and indexes as the database sees them."""
    look = inspect(connection)
    columns = {
        each["name"]: (str(each["type"]), each["nullable"], str(each["default"]).partition("::")[0])
        for each in look.get_columns(table)
        if each["name"] in ("txn_id", "state", "reserve_deadline")
    }
    indexes = {
        str(each["name"]): (
            each["column_names"],
            str(next(iter(each["dialect_options"].values()))).replace("::text", ""),
        )
        for each in look.get_indexes(table)
    }
    return columns, indexes


def test_ruling_32_tables_by_sqlalchemy_and_by_text_are_the_same(harness: Harness) -> None:
    Slots(harness, harness.store.engine)
    kind = harness.kind
    with harness.store.engine.begin() as connection:
        columns = convention_columns_ddl(kind)
        connection.execute(text(f"CREATE TABLE written (slot_id INTEGER PRIMARY KEY, name TEXT, {columns})"))
        for each in statements(convention_indexes_ddl("hw", "written", connection.dialect)):
            connection.execute(text(each))
        connection.execute(text("CREATE TABLE grown (slot_id INTEGER PRIMARY KEY, name TEXT)"))
        for each in statements(convention_ddl("hw", "grown", kind)):
            connection.execute(text(each))
    with harness.raw() as connection:
        declared, written, grown = (shape(connection, name) for name in ("slots", "written", "grown"))
    assert declared[0] == {
        "txn_id": ("TEXT", True, "None"),
        "state": ("TEXT", False, "'committed'"),
        "reserve_deadline": ("BIGINT", True, "None"),
    }
    assert set(declared[1]) == {"hw_slots_txn", "hw_slots_deadline"}
    assert written[0] == grown[0] == declared[0]
    for found, name in ((written[1], "written"), (grown[1], "grown")):
        assert found == {key.replace("slots", name): value for key, value in declared[1].items()}
    for over, where in declared[1].values():
        assert len(over) == 1
        assert where.strip("()") == "state = 'reserved'"


def test_rows_from_before_the_convention_are_committed(harness: Harness) -> None:
    with harness.store.engine.begin() as connection:
        connection.execute(text("CREATE TABLE grown (slot_id INTEGER PRIMARY KEY, name TEXT)"))
        connection.execute(text("INSERT INTO grown (slot_id, name) VALUES (1, 'room-100')"))
        for each in statements(convention_ddl("hw", "grown", harness.kind)):
            connection.execute(text(each))
        found = connection.execute(text("SELECT txn_id, state, reserve_deadline FROM grown")).one()
    assert tuple(found) == (None, "committed", None)


def test_ruling_32_columns_are_fresh_each_time() -> None:
    first, second = convention_columns(), convention_columns()
    assert {id(each) for each in first} & {id(each) for each in second} == set()
    Table("a", MetaData(), *first)
    Table("b", MetaData(), *second)


@pytest.mark.parametrize("letter", ["t", "é"])
def test_ruling_32_long_index_names_are_shortened_with_a_hash(letter: str) -> None:
    def names(table: str) -> list[str]:
        made = Table(table, MetaData(), Column("id", Integer, primary_key=True), *convention_columns())
        return [str(index.name) for index in convention_indexes("prefix", made)]

    fits = letter * ((63 - len("prefix__deadline")) // len(letter.encode()))
    assert names(fits) == [f"prefix_{fits}_txn", f"prefix_{fits}_deadline"]
    long, other = fits + letter * 10 + "a", fits + letter * 10 + "b"
    for name, suffix in zip(names(long), ("_txn", "_deadline"), strict=True):
        assert len(name.encode()) <= 63
        assert name.startswith(f"prefix_{letter}")
        assert name.endswith(suffix)
        assert name in convention_indexes_ddl("prefix", long, "postgresql")
    assert len({*names(long), *names(other)}) == 4


def test_names_are_quoted_where_they_must_be() -> None:
    ddl = convention_ddl("hw", "Sales.order", "postgresql")
    assert ddl.startswith('ALTER TABLE "Sales"."order" ADD COLUMN txn_id TEXT;\n')
    assert 'CREATE INDEX hw_order_deadline ON "Sales"."order" (reserve_deadline)' in ddl
    assert ddl.count(";\n") == ddl.count(";") == 5


@pytest.mark.parametrize("call", [convention_ddl, convention_indexes_ddl])
def test_reserved_18_ddl_is_not_made_of_a_name_that_is_none(call: Any) -> None:
    for prefix, name in (("hw", "slots; drop table slots"), ("hw; drop table x", "slots"), ("a.b", "slots")):
        with pytest.raises(ValueError):
            call(prefix, name, "sqlite")


@pytest.mark.parametrize("dialect", ["mysql", "", mysql.dialect()])
def test_another_dialect_is_refused(dialect: Any) -> None:
    with pytest.raises(ValidationError, match="postgresql, sqlite"):
        convention_columns_ddl(dialect)
    with pytest.raises(ValidationError, match="postgresql, sqlite"):
        convention_ddl("hw", "slots", dialect)


def test_indexes_are_for_tables_with_the_columns() -> None:
    with pytest.raises(ValidationError, match="reserve_deadline"):
        convention_indexes("hw", Table("bare", MetaData(), Column("state", Text)))
