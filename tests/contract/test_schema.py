"""Ruling 11: what the migrations make, what opening a store costs, what a store of another version is told.

The tables are compared twice: by alembic, as the next migration would be written from, then in what alembic
does not look at: keys, the conditions of partial indexes, collations, defaults and sequences.
"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, UniqueConstraint, event, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex

import engine.checkpoints.tables
import engine.desk.tables
import engine.spend.day.tables
from engine import open_store
from engine.database.columns import METADATA, Identifier
from engine.database.migrations import SCHEMA_VERSION
from engine.errors import SchemaMismatch, StoreFailure
from tests.support.files import path_of
from tests.support.together import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Inspector, Table

    from tests.support.harness import Harness

TABLES = engine.checkpoints.tables.thread.metadata
ALEMBICS_OWN = "schema_revision"
ROUNDS = 3
EVENT = "event"
REFUSED = r"(?i)read.?only"
"""SQLite keys it by position, in commit order by itself; PostgreSQL by thread and number (schema.md)."""

OPENS_WHEN_TOLD = """
import sys
from engine import open_store
print("ready", flush=True)
sys.stdin.readline()
with open_store(sys.argv[1]) as store:
    print(store.checkpoints.latest("t"))
"""
SAYS_WHAT_IT_LOADED = """
import sys
from engine import open_store
open_store(sys.argv[1]).close()
print("alembic" in sys.modules)
"""


# What the migrations make.


def test_ruling_11_alembic_sees_nothing_left_to_migrate(harness: Harness) -> None:
    with harness.raw() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_name": _is_ours, "compare_type": True}
        )
        found = [
            change for change in compare_metadata(context, METADATA) if not _sqlites_event(harness, change)
        ]
    assert found == []


def _is_ours(name: str | None, kind: str, _parents: Any) -> bool:
    return kind != "table" or name != ALEMBICS_OWN


def _sqlites_event(harness: Harness, change: Any) -> bool:
    """SQLite's `event` differs by design in its keys, and in `position`, which is its key."""
    if harness.kind != "sqlite":
        return False
    if isinstance(change, list):
        return all(part[2:4] == (EVENT, "position") for part in change)
    return str(change[0]).endswith("_constraint") and change[1].table.name == EVENT


def test_ruling_11_keys_and_uniques_are_the_metadatas(harness: Harness) -> None:
    with harness.raw() as connection:
        inspector = inspect(connection)
        found = {name: (_key(inspector, name), _uniques(inspector, name)) for name in METADATA.tables}
    wanted = {table.name: _keys_of(table, harness.kind) for table in METADATA.sorted_tables}
    assert found == wanted


def _keys_of(table: Table, kind: str) -> tuple[tuple[str, ...], set[tuple[str, ...]]]:
    key, uniques = tuple(column.name for column in table.primary_key), _uniques_of(table)
    return (("position",), {key}) if (table.name, kind) == (EVENT, "sqlite") else (key, uniques)


def _uniques(inspector: Inspector, table: str) -> set[tuple[str, ...]]:
    return {tuple(unique["column_names"]) for unique in inspector.get_unique_constraints(table)}


def _uniques_of(table: Table) -> set[tuple[str, ...]]:
    made = (constraint for constraint in table.constraints if isinstance(constraint, UniqueConstraint))
    return {tuple(column.name for column in unique.columns) for unique in made}


def _key(inspector: Inspector, table: str) -> tuple[str, ...]:
    return tuple(inspector.get_pk_constraint(table)["constrained_columns"])


def test_ruling_11_indexes_have_the_metadatas_columns_and_conditions(harness: Harness) -> None:
    with harness.raw() as connection:
        found = _index_texts(connection)
        wanted = {
            str(index.name): _normal(str(CreateIndex(index).compile(dialect=connection.dialect)))
            for table in METADATA.sorted_tables
            for index in table.indexes
        }
    assert found == wanted
    assert any("where" in index for index in found.values())


def _index_texts(connection: Connection) -> dict[str, str]:
    """Every index that is not a constraint's, as the database itself words it, brought to one form."""
    statement = {
        "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
        "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' "
        "AND indexname NOT IN (SELECT conname FROM pg_constraint)",
    }[connection.dialect.name]
    return {name: _normal(made) for name, made in connection.execute(text(statement))}


def _normal(made: str) -> str:
    """An index's definition without the ways in which two writers of SQL differ."""
    words = made.lower().replace("using btree ", "").replace("public.", "").replace("::text", "")
    words = re.sub(r"= any \(array\[(.*?)\]\)", r"in (\1)", words)
    return re.sub(r"[\s()]+", " ", words).replace(" ,", ",").strip()


def test_ruling_12_every_identifier_is_ordered_by_code_point(postgres_harness: Harness) -> None:
    wanted = {
        (table.name, column.name)
        for table in METADATA.sorted_tables
        for column in table.columns
        if column.type is Identifier
    }
    statement = "SELECT table_name, column_name FROM information_schema.columns WHERE collation_name = 'C'"
    with postgres_harness.raw() as connection:
        found = {(table, column) for table, column in connection.execute(text(statement))}
    assert {place for place in found if place[0] in METADATA.tables} == wanted


def test_ruling_6_sequences_draw_one_number_at_a_time(postgres_harness: Harness) -> None:
    wanted = {(sequence.name, 1) for sequence in METADATA._sequences.values()}
    with postgres_harness.raw() as connection:
        found = {
            (name, cache)
            for name, cache in connection.execute(text("SELECT sequencename, cache_size FROM pg_sequences"))
        }
    assert found == wanted


def test_ruling_11_defaults_are_the_metadatas(harness: Harness) -> None:
    with harness.raw() as connection:
        inspector = inspect(connection)
        found = {
            (table.name, column["name"]): str(column["default"]).lower().removesuffix("::text").strip("'")
            for table in METADATA.sorted_tables
            for column in inspector.get_columns(table.name)
            if column["default"] is not None and column["name"] != "position"
        }
    wanted = {
        (table.name, column.name): str(getattr(column.server_default, "arg", None))
        for table in METADATA.sorted_tables
        for column in table.columns
        if column.server_default is not None and column.name != "position"
    }
    assert found == wanted


# What opening costs.


def test_ruling_11_opening_an_equal_version_is_one_select(harness: Harness) -> None:
    with _statements() as sent:
        harness.open().close()
    assert len(sent) == 1
    assert "schema_version" in sent[0]
    with _statements() as sent:
        harness.open(harness.fresh_url()).close()
    assert any("CREATE TABLE" in statement for statement in sent)


@contextmanager
def _statements() -> Iterator[list[str]]:
    """Every statement that SQLAlchemy sends, of whichever engine."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def test_ruling_11_opening_an_equal_version_imports_no_alembic(harness: Harness) -> None:
    assert _loads_alembic(harness.url) == "False"
    assert _loads_alembic(harness.fresh_url()) == "True"


def _loads_alembic(url: str) -> str:
    command = [sys.executable, "-c", SAYS_WHAT_IT_LOADED, url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return done.stdout.strip()


def test_ruling_11_two_processes_open_a_new_store_at_once(harness: Harness) -> None:
    for _ in range(ROUNDS):
        url = harness.fresh_url()
        openers = [_opener(url) for _ in range(2)]
        for opener in openers:
            assert opener.stdout is not None
            assert opener.stdout.readline() == "ready\n"
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write("\n")
            opener.stdin.flush()
        answers = [opener.communicate(timeout=PATIENCE) for opener in openers]
        assert answers == [("None\n", "")] * 2
        with harness.raw(url) as connection:
            versions = connection.execute(text("SELECT schema_version FROM meta")).scalars().all()
        assert versions == [SCHEMA_VERSION]


def _opener(url: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", OPENS_WHEN_TOLD, url]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


# What a store of another version is told.


@pytest.mark.parametrize("options", [{}, {"ensure_schema": False}, {"read_only": True}], ids=str)
def test_ruling_11_a_newer_store_is_refused_and_left_alone(harness: Harness, options: dict[str, Any]) -> None:
    newer = SCHEMA_VERSION + 1
    with harness.raw() as connection:
        connection.execute(text("UPDATE meta SET schema_version = :newer"), {"newer": newer})
    before = _everything(harness)

    with pytest.raises(SchemaMismatch, match="upgrade") as refused:
        harness.open(**options)

    assert (refused.value.found, refused.value.supported) == (newer, SCHEMA_VERSION)
    assert _everything(harness) == before


@pytest.mark.parametrize("options", [{"ensure_schema": False}, {"read_only": True}], ids=str)
def test_ruling_11_a_store_without_tables_gets_none_unasked(
    harness: Harness, options: dict[str, Any]
) -> None:
    url = harness.fresh_url()
    with harness.raw(url) as connection:
        connection.execute(text("CREATE TABLE somebody_elses (n INTEGER)"))

    with pytest.raises(SchemaMismatch, match="migrate") as refused:
        harness.open(url, **options)

    assert (refused.value.found, refused.value.supported) == (0, SCHEMA_VERSION)
    with harness.raw(url) as connection:
        assert inspect(connection).get_table_names() == ["somebody_elses"]


@pytest.mark.parametrize("values", ["('abc')", "('1'), ('1')", "(NULL)"])
def test_another_programs_meta_table_is_told_apart(harness: Harness, values: str) -> None:
    url = harness.fresh_url()
    with harness.raw(url) as connection:
        connection.execute(text("CREATE TABLE meta (schema_version TEXT)"))
        connection.execute(text(f"INSERT INTO meta VALUES {values}"))

    with pytest.raises(StoreFailure, match="not Holdwatch's"):
        harness.open(url)


def test_ruling_62_a_read_only_store_makes_no_file(sqlite_harness: Harness) -> None:
    url = sqlite_harness.fresh_url()
    with pytest.raises(StoreFailure):
        sqlite_harness.open(url, read_only=True)
    assert not path_of(url).exists()


def test_ruling_11_the_database_refuses_ddl_of_a_read_only_store(harness: Harness) -> None:
    before = _everything(harness)
    with closing(open_store(harness.url, read_only=True)) as store:
        for statement in (
            "CREATE TABLE extra (n INTEGER)",
            "DROP TABLE thread",
            "UPDATE meta SET last_token = 9",
        ):
            with store.engine.connect() as connection, pytest.raises(DBAPIError, match=REFUSED):
                connection.execute(text(statement))
    assert _everything(harness) == before


def _everything(harness: Harness) -> Any:
    """The tables with their columns, and what `meta` holds."""
    with harness.raw() as connection:
        inspector = inspect(connection)
        tables = {
            name: [column["name"] for column in inspector.get_columns(name)]
            for name in inspector.get_table_names()
        }
        return tables, connection.execute(text("SELECT * FROM meta")).one()._asdict()
