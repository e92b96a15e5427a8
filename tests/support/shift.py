"""The shift hook (ruling 5): on a server's clock time passes by moving what is stored into the past."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection

STORED_BY_THE_CLOCK = ("_at", "_until")
"""How the names of columns end that the store's clock fills, or that it is compared with."""
NEVER_COMPARED = frozenset({("checkpoint", "created_at"), ("audit", "at")})
"""A producer's own instants, and those of entries that nothing may change: the store's clock is never compared
with them.
"""

_COLUMNS = text(
    "SELECT table_name, column_name FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND data_type = 'bigint' ORDER BY 1, 2"
)


def shift_back(connection: Connection, by: timedelta) -> None:
    """Move every instant that the store's clock made `by` into the past, in every table."""
    step = by // timedelta(microseconds=1) * 1000
    for table, columns in shifted_columns(connection).items():
        changes = ", ".join(f'"{column}" = "{column}" - :step' for column in columns)
        connection.execute(text(f'UPDATE "{table}" SET {changes}'), {"step": step})


def shifted_columns(connection: Connection) -> dict[str, list[str]]:
    """The columns that move, by table."""
    found: dict[str, list[str]] = {}
    for table, column in connection.execute(_COLUMNS):
        filled = column == "at" or column.endswith(STORED_BY_THE_CLOCK)
        if filled and (table, column) not in NEVER_COMPARED:
            found.setdefault(table, []).append(column)
    return found
