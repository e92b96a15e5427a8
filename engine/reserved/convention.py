"""The three columns and two indexes that make a table hold tentative rows (reserved.md; ruling 32)."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, Column, Index, MetaData, Table, Text, literal_column

from engine.arguments import of_kind
from engine.clock import span_ns, to_ns
from engine.database.columns import check_id, check_number
from engine.database.wording import columns_ddl, indexes_ddl, table_ddl
from engine.errors import ValidationError
from engine.reserved.names import index_name, split, target

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Dialect


class State(StrEnum):
    """All that is ever stored; a row that lapsed is RESERVED until a sweep takes it away."""

    COMMITTED = "committed"
    RESERVED = "reserved"


# In the text of a statement, not bound: else the planner cannot tell that a partial index serves it.
COMMITTED: Final[ColumnElement[str]] = literal_column(f"'{State.COMMITTED.value}'", Text())
RESERVED: Final[ColumnElement[str]] = literal_column(f"'{State.RESERVED.value}'", Text())

Columns = tuple[Column[Any], Column[Any], Column[Any]]


def convention_columns() -> Columns:
    """New columns `txn_id`, `state`, `reserve_deadline` for a `Table`; a plain INSERT makes a committed row."""
    return (
        Column("txn_id", Text, nullable=True),
        Column("state", Text, nullable=False, server_default=State.COMMITTED.value),
        Column("reserve_deadline", BigInteger, nullable=True),
    )


def convention_indexes(prefix: str, table: Table) -> tuple[Index, Index]:
    """Two partial indexes over reserved rows, `<prefix>_<table>_txn` and `_deadline`, attached to the table.

    Names past 63 bytes are shortened with a hash. ValidationError for a prefix that is no identifier.
    """
    columns = target(table).c
    _check_prefix(prefix)
    reserved = columns["state"] == RESERVED
    by = {"txn": columns["txn_id"], "deadline": columns["reserve_deadline"]}
    txn, due = (
        Index(index_name(prefix, table.name, suffix), each, postgresql_where=reserved, sqlite_where=reserved)
        for suffix, each in by.items()
    )
    return txn, due


def convention_columns_ddl(dialect: str | Dialect) -> str:
    """The columns as they stand inside a CREATE TABLE, with commas between them.

    `dialect`: "postgresql", "sqlite", or a SQLAlchemy dialect of one of them.
    """
    return ", ".join(columns_ddl(_on_table("t").columns, dialect))


def convention_indexes_ddl(prefix: str, table_name: str, dialect: str | Dialect) -> str:
    """The two CREATE INDEX statements, each ended by a semicolon and a line's end."""
    indexes = convention_indexes(prefix, _on_table(table_name))
    return "".join(f"{each};\n" for each in indexes_ddl(indexes, dialect))


def convention_ddl(prefix: str, table_name: str, dialect: str | Dialect) -> str:
    """What makes an existing table adopt the convention: three ALTER TABLE, then the two CREATE INDEX.

    Each statement ends with a semicolon and a line's end, and no semicolon stands inside one, so that the text
    can be split for drivers that take one statement at a time. Rows that are there already are committed.
    """
    table = _on_table(table_name)
    alter = f"ALTER TABLE {table_ddl(table, dialect)} ADD COLUMN"
    added = "".join(f"{alter} {each};\n" for each in columns_ddl(table.columns, dialect))
    return added + convention_indexes_ddl(prefix, table_name, dialect)


def _on_table(name: str) -> Table:
    schema, bare = split(name)
    return Table(bare, MetaData(), *convention_columns(), schema=schema)


def _check_prefix(prefix: str) -> None:
    if not isinstance(prefix, str) or "." in prefix:
        raise ValidationError("prefix", (f"must be a plain identifier, not {prefix!r:.80}",))
    split(prefix)


def deadline(now: datetime, ttl: timedelta) -> int:
    """Nanoseconds since 1970 at which a row reserved at `now` lapses; a `ttl` of zero or less has lapsed already.

    ValidationError for a naive instant, and for a deadline that no column can hold.
    """
    return check_number("ttl", to_ns(now) + span_ns(of_kind("ttl", ttl, timedelta)))


def reserve_values(txn_id: str, deadline_ns: int) -> dict[str, object]:
    """What a participant's INSERT sets besides its own columns, so that the row is tentative."""
    return {
        "txn_id": check_id("txn_id", txn_id),
        "state": State.RESERVED.value,
        "reserve_deadline": check_number("deadline_ns", deadline_ns),
    }
