"""Who keeps readers out of a store's tables (console.md F6): what a read that ran out of time has waited for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

MOST_LOCKS: Final = 5
"""Locks that are told of."""


@dataclass(frozen=True, slots=True)
class TableLock:
    """A table that nobody may read meanwhile. `granted` is False of one that is itself waited for, which keeps later
    readers waiting behind it. `who` is the session's program or, without one, its role; empty where neither may be
    known. `seconds` is how long its transaction has been open, None where that may not be known.
    """

    table: str
    mode: str
    granted: bool
    pid: int
    who: str
    seconds: float | None


# Reading conflicts with this one mode only, held or asked for earlier.
_LOCKS: Final = text(
    "SELECT relation.relname, held.mode, held.granted, held.pid,"
    " coalesce(nullif(session.application_name, ''), session.usename, '') AS who,"
    " CAST(extract(epoch FROM clock_timestamp() - session.xact_start) AS double precision) AS seconds"
    " FROM pg_locks AS held JOIN pg_class AS relation ON relation.oid = held.relation"
    " LEFT JOIN pg_stat_activity AS session ON session.pid = held.pid"
    " WHERE held.locktype = 'relation' AND held.mode = 'AccessExclusiveLock' AND held.pid <> pg_backend_pid()"
    " AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    " AND relation.relkind IN ('r', 'p') AND relation.relnamespace = to_regnamespace(current_schema())"
    " ORDER BY held.granted DESC, session.xact_start, held.pid LIMIT :most"
)


def table_locks(connection: Connection) -> tuple[TableLock, ...]:
    """The locks on tables of this store that keep readers out, the held ones first; a file has none."""
    return _READS[connection.dialect.name](connection)


def _postgresql(connection: Connection) -> tuple[TableLock, ...]:
    return tuple(TableLock(*row) for row in connection.execute(_LOCKS, {"most": MOST_LOCKS}))


def _sqlite(_connection: Connection) -> tuple[TableLock, ...]:
    return ()  # its readers wait for nobody, once the log is on


_READS: Final[dict[str, Callable[[Connection], tuple[TableLock, ...]]]] = {
    "postgresql": _postgresql,
    "sqlite": _sqlite,
}
