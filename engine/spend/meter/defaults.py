"""Expired rows nobody is asked about, settled a page at a time in one transaction (spend.md 4; ruling 43).

Reservations first, passing over those that somebody has in hand, then their accounts by (account, period): whoever
locks several rows locks them in this order.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, bindparam, null, select, update

from engine.database.constructs import Each
from engine.database.statement import Statement
from engine.spend.meter.counters import counters, ended
from engine.spend.meter.settle import STATES
from engine.spend.meter.tables import MOST_PREFIXES, RESERVED

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.meter.model import Outcome
    from engine.spend.meter.tables import MeterTables


class _Page:
    def __init__(self, tables: MeterTables) -> None:
        row = tables.reservations
        at = bindparam("at", type_=BigInteger)
        self.lock = Statement(
            select(row.c.operation_id, row.c.account_id, row.c.period, row.c.units)
            .where(row.c.state == RESERVED, row.c.expires_at <= at, tables.unfenced)
            .order_by(row.c.expires_at, row.c.operation_id)
            .limit(bindparam("most"))
            .with_for_update(skip_locked=True)
        )
        locked = Each(bindparam("ids")).table_valued("value").alias("locked")
        self.settle = Statement(
            update(row)
            .where(row.c.operation_id.in_(select(locked.c.value)))
            .values(state=bindparam("word"), outcome=bindparam("how"), settled_at=at, usage_json=null())
        )


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _page(tables: MeterTables) -> _Page:
    return _Page(tables)


def settle_page(connection: Connection, tables: MeterTables, outcome: Outcome, at: int, limit: int) -> int:
    """Give the oldest expired, unfenced reservations this outcome; how many there were."""
    page = _page(tables)
    rows = page.lock.all(connection, at=at, most=limit)
    if rows:
        ids = json.dumps([row.operation_id for row in rows])
        page.settle.count(connection, ids=ids, word=STATES[outcome].value, how=outcome.value, at=at)
        units: Counter[tuple[str, str]] = Counter()
        for row in rows:
            units[row.account_id, row.period] += row.units
        changes = [ended(*account, n, outcome, at) for account, n in sorted(units.items())]
        counters(tables).adjust(connection, changes)
    return len(rows)
