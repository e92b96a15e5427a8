"""What counts in a rolling window: the rows themselves, never the account's counter (spend.md 2B.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    or_,
    select,
)

from engine.database.statement import Statement
from engine.spend.meter.tables import CONSUMED, MOST_PREFIXES, RESERVED, WINDOW

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.meter.tables import MeterTables


@dataclass(frozen=True, slots=True)
class Held:
    """Units of an account that count at one moment."""

    used: int
    reserved: int


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _count(tables: MeterTables) -> Statement:
    row = tables.reservations.c
    reserved = row.state == RESERVED
    consumed = and_(row.state == CONSUMED, row.reserved_at >= bindparam("since", type_=BigInteger))
    mine = and_(row.account_id == bindparam("account"), row.period == literal(WINDOW))
    return Statement(
        select(_sum(consumed, row.units).label("used"), _sum(reserved, row.units).label("reserved")).where(
            mine, or_(reserved, consumed), row.operation_id.is_distinct_from(bindparam("but", type_=Text))
        )
    )


def _sum(where: ColumnElement[bool], units: ColumnElement[int]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(case((where, units), else_=0)), 0), BigInteger)


def held(
    connection: Connection, tables: MeterTables, account: str, since: int, but: str | None = None
) -> Held:
    """Consumed units reserved at `since` or later, and reserved ones of any age; without the operation `but`."""
    row = _count(tables).one(connection, account=account, since=since, but=but)
    assert row is not None
    return Held(row.used, row.reserved)
