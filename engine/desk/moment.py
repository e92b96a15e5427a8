"""The store's time, read once for an action and passed to all of its statements (ruling 36)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, case, literal, select

from engine.database.address import follow_indexes
from engine.database.constructs import Now
from engine.database.statement import Statement

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, ColumnElement, Connection

_NOW: Final = Statement(select(Now().label("at")))
AT: Final[BindParameter[int]] = bindparam("at", type_=BigInteger)
"""The moment, in nanoseconds."""
_LONGEST: Final = literal(2**62, BigInteger())
"""To which spans are held (146 years of nanoseconds): the difference of two instants may not fit into 64 bits."""


def left_until(instant: ColumnElement[int]) -> ColumnElement[int]:
    """From the moment to an instant; below nothing where it is past."""
    return case((instant < AT - _LONGEST, -_LONGEST), else_=instant - AT)


def gone_since(instant: ColumnElement[int]) -> ColumnElement[int]:
    """From an instant to the moment."""
    return case((instant < AT - _LONGEST, _LONGEST), else_=AT - instant)


def moment(connection: Connection) -> int:
    """Nanoseconds by the injected clock, else by the server's or, on SQLite, the process's."""
    row: Any = _NOW.one(connection)
    return int(row.at)


def look(connection: Connection) -> int:
    """The moment of a look at tables of any size, which from here on are read in the order of their indexes.

    Else PostgreSQL, of tables that it has no statistics of, gathers all rows of a state to sort them. Wants a
    transaction.
    """
    follow_indexes(connection)
    return moment(connection)
