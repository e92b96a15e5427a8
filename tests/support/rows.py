"""What the tables hold of one thread, read from the catalogue: nothing can hide in a table a test forgot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

if TYPE_CHECKING:
    from sqlalchemy import Connection

NAMES_A_THREAD = frozenset({"thread_id", "parent_id", "child_id"})


def rows_of(connection: Connection, t: str) -> dict[str, int]:
    """How many rows of each table name the thread `t` in any column for threads; others are left out."""
    catalogue = inspect(connection)
    found: dict[str, int] = {}
    for table in catalogue.get_table_names():
        columns = NAMES_A_THREAD & {str(column["name"]) for column in catalogue.get_columns(table)}
        count = _count(connection, table, columns, t) if columns else 0
        if count:
            found[table] = count
    return found


def _count(connection: Connection, table: str, columns: frozenset[str], t: str) -> int:
    condition = " OR ".join(f'"{column}" = :t' for column in sorted(columns))
    found = connection.execute(text(f'SELECT count(*) FROM "{table}" WHERE {condition}'), {"t": t})
    return int(found.scalar_one())
