"""A lease's end moved forward, never back; silent for whatever is settled or unknown (spend.md 2B.4)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, bindparam, null, or_, update

from engine.database.statement import Statement
from engine.spend.meter.tables import MOST_PREFIXES, RESERVED

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.meter.tables import MeterTables


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _renew(tables: MeterTables) -> Statement:
    row = tables.reservations
    until, attempt = bindparam("until", type_=BigInteger), bindparam("attempt", type_=BigInteger)
    return Statement(
        update(row)
        .where(row.c.operation_id == bindparam("op"), row.c.state == RESERVED, row.c.expires_at < until)
        .where(or_(attempt.is_(null()), row.c.attempts == attempt))
        .values(expires_at=until)
    )


def renew(
    connection: Connection, tables: MeterTables, operation_id: str, attempt: int | None, until: int
) -> None:
    """One statement: the lease ends at `until`, unless it ends later already or `attempt` is not the row's."""
    _renew(tables).count(connection, op=operation_id, attempt=attempt, until=until)
