"""Which transactions a statement's snapshot has seen the end of (ruling 23).

An event's position is drawn before its commit lands, so a reader may see a later position first. Every
transaction that drew a position had its id before, hence an id below the *boundary*: the next id the server
would give out, read after the snapshot was taken. Once a snapshot's *oldest* running id is not below a
boundary, all those transactions have ended, and what that snapshot does not show of their positions will
never be.

`pg_snapshot_xmax` is no such boundary: it lies just above the newest *ended* transaction, so a running one
that drew an earlier position can have an id at or above it. `age` counts from the next id to be given.

SQLite has one writer: positions come in commit order and nothing is ever waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, select, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.sql.elements import ColumnElement

_XMAX = "pg_snapshot_xmax(pg_current_snapshot())"
OLDEST: Final = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
BOUNDARY: Final = f"({_XMAX}::text::bigint + greatest(age({_XMAX}::xid), 0))"

# pg_locks shows everybody's, where pg_stat_activity hides the ids of other roles' transactions.
_BLOCKER = text(
    "SELECT pid FROM pg_locks WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock' AND granted"
    " AND pid IS NOT NULL ORDER BY age(transactionid) DESC LIMIT 1"
)


class _Oldest(FunctionElement[int]):
    """The oldest transaction id still running in this statement's snapshot."""

    type = BigInteger()
    inherit_cache = True
    name = "oldest_running"


class _Boundary(FunctionElement[int]):
    """Above every transaction id given out before this statement's snapshot was taken."""

    type = BigInteger()
    inherit_cache = True
    name = "boundary"


@compiles(_Oldest)
@compiles(_Boundary)
def _always(_element: FunctionElement[int], _compiler: Any, **_options: Any) -> str:
    return "0"


@compiles(_Oldest, "postgresql")
def _oldest(_element: FunctionElement[int], _compiler: Any, **_options: Any) -> str:
    return OLDEST


@compiles(_Boundary, "postgresql")
def _boundary(_element: FunctionElement[int], _compiler: Any, **_options: Any) -> str:
    return BOUNDARY


def oldest_running() -> ColumnElement[int]:
    """The snapshot's oldest running transaction, evaluated once a statement."""
    return select(_Oldest()).scalar_subquery()


def boundary() -> ColumnElement[int]:
    """What `oldest_running` of a later snapshot must reach, evaluated once a statement."""
    return select(_Boundary()).scalar_subquery()


def oldest_writer(connection: Connection) -> int | None:
    """The server process with the oldest running transaction, for PostgreSQL; None when it cannot be told."""
    found = connection.execute(_BLOCKER).scalar()
    return None if found is None else int(found)
