"""Forgetting what was settled long ago (spend.md 2B.9): in pages, passing over rows that somebody has in hand."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, Table, and_, bindparam, delete, literal, not_, select

from engine.database.constructs import Each
from engine.database.statement import Statement
from engine.spend.meter.model import PurgeReport
from engine.spend.meter.tables import MOST_PREFIXES, RESERVED, WINDOW

if TYPE_CHECKING:
    from sqlalchemy import Column, ColumnElement, Connection

    from engine.spend.meter.tables import MeterTables

MAX_PAGE: Final = 10_000


class _Sweep:
    """Lock a page of rows, then delete those of it to which the condition still applies."""

    def __init__(self, table: Table, key: Column[str], where: ColumnElement[bool], *order: Any) -> None:
        self._lock = Statement(
            select(key.label("key"))
            .where(where)
            .order_by(*order)
            .limit(bindparam("most"))
            .with_for_update(skip_locked=True)
        )
        locked = Each(bindparam("keys")).table_valued("value").alias("locked")
        self._delete = Statement(delete(table).where(key.in_(select(locked.c.value)), where))

    def run(self, connection: Connection, before: int, most: int) -> int:
        keys = [row.key for row in self._lock.all(connection, before=before, most=most)]
        return self._delete.count(connection, before=before, keys=json.dumps(keys)) if keys else 0


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _reservations(tables: MeterTables) -> _Sweep:
    row = tables.reservations
    return _Sweep(row, row.c.operation_id, purgeable(tables), row.c.settled_at, row.c.operation_id)


def purgeable(tables: MeterTables) -> ColumnElement[bool]:
    """Settled before `:before` (ms), and counted in no window any more."""
    row = tables.reservations
    before = bindparam("before", type_=BigInteger)
    # Settled by a clock that is behind, it may still count in a window: that goes by when it was reserved.
    counts = and_(row.c.period == literal(WINDOW), row.c.reserved_at >= before)
    return and_(row.c.settled_at < before, row.c.state != RESERVED, not_(counts))


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _accounts(tables: MeterTables) -> _Sweep:
    meter = tables.meter
    idle = and_(
        meter.c.period == literal(WINDOW),
        meter.c.reserved == 0,
        meter.c.updated_at < bindparam("before", type_=BigInteger),
    )
    return _Sweep(meter, meter.c.account_id, idle, meter.c.account_id)


def purge_reservations(connection: Connection, tables: MeterTables, before: int, most: int) -> PurgeReport:
    """Settled reservations only: the rows of periods stay, being what was used."""
    return PurgeReport(_reservations(tables).run(connection, before, most), 0)


def purge_window(connection: Connection, tables: MeterTables, before: int, most: int) -> PurgeReport:
    """Settled reservations, then the rows of accounts that hold nothing and have not changed since."""
    gone = _reservations(tables).run(connection, before, most)
    return PurgeReport(gone, _accounts(tables).run(connection, before, most))
