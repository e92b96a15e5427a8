"""What can be told of a database by somebody who may only read it: for a doctor's report.

Each finding is of one subject, says how good that is, and where it is not, what to do.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import text

from engine.database.columns import METADATA

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sqlalchemy import Connection

OLDEST_SERVER: Final = 140_000
"""PostgreSQL 14, as `server_version_num` tells it."""
OLDEST_SQLITE: Final = (3, 35, 0)
"""The first with RETURNING."""
FULL: Final = 2
"""PRAGMA synchronous = FULL."""
CROWDED: Final = 0.8
"""Of the server's connections: more in use than that, and the next worker may find none."""
LONG_TRANSACTION: Final = timedelta(minutes=1)
"""Open for longer than this, a transaction holds back every tail and the server's own housekeeping."""


class Level(StrEnum):
    """How good a finding is."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `text` holds no password and nothing that agents wrote."""

    subject: str
    level: Level
    text: str


_SERVER: Final = text(
    "SELECT current_setting('server_version') AS version,"
    " current_setting('server_version_num')::int AS number,"
    " current_user AS role, pg_is_in_recovery() AS standby,"
    " current_setting('default_transaction_read_only') = 'on' AS read_only,"
    " coalesce((SELECT rolsuper FROM pg_roles WHERE rolname = current_user), false) AS super,"
    " current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,"
    " current_setting('synchronous_commit') AS synchronous,"
    " current_setting('max_connections')::int AS most,"
    " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,"
    " (SELECT max(extract(epoch FROM clock_timestamp() - xact_start)) FROM pg_stat_activity"
    "  WHERE pid <> pg_backend_pid() AND backend_type = 'client backend') AS longest"
)
_RIGHTS: Final = text(
    "SELECT has_table_privilege(name, 'SELECT') AS reads,"
    " has_table_privilege(name, 'INSERT') AND has_table_privilege(name, 'UPDATE')"
    " AND has_table_privilege(name, 'DELETE') AS writes, name"
    " FROM unnest(CAST(:names AS text[])) AS name WHERE to_regclass(name) IS NOT NULL"
)


def vitals(connection: Connection) -> list[Finding]:
    """The findings of the database behind a READ of a store, in the order to be told."""
    return _LOOKS[connection.dialect.name](connection)


def _sqlite(connection: Connection) -> list[Finding]:
    version = str(connection.exec_driver_sql("SELECT sqlite_version()").scalar_one())
    mode = str(connection.exec_driver_sql("PRAGMA journal_mode").scalar_one())
    synchronous = int(connection.exec_driver_sql("PRAGMA synchronous").scalar_one())
    pages, size = (
        int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()) for name in ("page_count", "page_size")
    )
    old = tuple(map(int, version.split("."))) < OLDEST_SQLITE
    return [
        _finding("server", f"SQLite {version}", failure=old, advice="3.35 or newer is needed"),
        *_sqlite_journal(mode, synchronous),
        *_sqlite_rights(connection),
        Finding("size", Level.OK, f"{pages * size:,} bytes in {pages:,} pages"),
        _pool(connection),
    ]


def _sqlite_journal(mode: str, synchronous: int) -> list[Finding]:
    advice = "readers stop writers; open it once for writing with this version"
    return [
        _finding("journal", f"journal mode {mode}", warning=mode not in ("wal", "memory"), advice=advice),
        _finding(
            "durability",
            f"synchronous = {synchronous}",
            warning=synchronous < FULL,
            advice="a commit may be lost with the power; connections of this engine use FULL",
        ),
    ]


def _sqlite_rights(connection: Connection) -> list[Finding]:
    """What this user may do with the file; the folder counts, for the log is made beside the file."""
    place = connection.exec_driver_sql("PRAGMA database_list").first()
    if place is None or not place[2]:
        return []
    file = Path(place[2])
    writes = os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)
    said = "may read and write the file" if writes else "may read the file, not write it"
    return [Finding("permissions", Level.OK, said)]


def _postgresql(connection: Connection) -> list[Finding]:
    row: Any = connection.execute(_SERVER).one()
    old = row.number < OLDEST_SERVER
    return [
        _finding("server", f"PostgreSQL {row.version}", failure=old, advice="14 or newer is needed"),
        _role(row),
        *_rights(connection.execute(_RIGHTS, {"names": sorted(METADATA.tables)})),
        _durability(row),
        _connections(row),
        _transactions(row),
        _pool(connection),
    ]


def _role(row: Any) -> Finding:
    notes = [word for word, holds in (("a standby", row.standby), ("read-only", row.read_only)) if holds]
    said = f"role {row.role}, {', '.join(notes)}" if notes else f"role {row.role}"
    advice = "a superuser is above every right; use a role of its own"
    return _finding("role", said, warning=row.super, advice=advice)


def _rights(rows: Iterable[Any]) -> list[Finding]:
    found = list(rows)
    unread = [row.name for row in found if not row.reads]
    written = sum(1 for row in found if row.writes)
    if unread:
        said = f"may not read {', '.join(unread)}; see `holdwatch grants --role ops_ro`"
        return [Finding("permissions", Level.FAILURE, said)]
    may = "all" if written == len(found) else "none" if written == 0 else f"{written}"
    return [Finding("permissions", Level.OK, f"may read all {len(found)} tables and write {may} of them")]


def _durability(row: Any) -> Finding:
    said = f"fsync {row.fsync}, full_page_writes {row.pages}, synchronous_commit {row.synchronous}"
    weak = "off" in (row.fsync, row.pages, row.synchronous)
    return _finding("durability", said, warning=weak, advice="a commit may be lost when the server stops")


def _connections(row: Any) -> Finding:
    said = f"{row.used} of {row.most} connections in use"
    crowded = row.used > CROWDED * row.most
    return _finding("connections", said, warning=crowded, advice="raise max_connections, or use a pooler")


def _transactions(row: Any) -> Finding:
    longest = timedelta(seconds=float(row.longest or 0))
    said = f"the longest open transaction is {int(longest.total_seconds())} s old"
    advice = "it holds tails and vacuum back; see pg_stat_activity.xact_start"
    return _finding("transactions", said, warning=longest > LONG_TRANSACTION, advice=advice)


def _pool(connection: Connection) -> Finding:
    pool: Any = connection.engine.pool
    size = pool.size() if hasattr(pool, "size") else 1
    return Finding("pool", Level.OK, f"up to {size} connections kept by this process, 1 open")


def _finding(
    subject: str, said: str, *, advice: str, warning: bool = False, failure: bool = False
) -> Finding:
    level = Level.FAILURE if failure else Level.WARNING if warning else Level.OK
    return Finding(subject, level, said if level is Level.OK else f"{said}; {advice}")


_LOOKS: Final[dict[str, Callable[[Connection], list[Finding]]]] = {
    "sqlite": _sqlite,
    "postgresql": _postgresql,
}
