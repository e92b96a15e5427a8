"""Reserved rows as resolvers and operators see them, and the pages they come in (spend.md 2C and 4)."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, Select, Text, bindparam, false, null, select, tuple_

from engine.database.statement import Statement
from engine.paging import check_limit, decode_cursor, encode_cursor
from engine.spend.answers import evidence_of
from engine.spend.meter.instants import from_ms
from engine.spend.meter.model import MeterPage, MeterReservation
from engine.spend.meter.tables import MOST_PREFIXES, RESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from engine.spend.meter.tables import MeterTables

MAX_PAGE: Final = 1000
_FIRST: Final = -(2**63)
_SHOWN: Final = 500
"""Characters shown of evidence that is no JSON object."""


class Listed(StrEnum):
    """Which reserved rows to list."""

    ALL = "all"
    DUE = "due"
    FENCED = "fenced"


def reserved_rows(tables: MeterTables) -> Select[Any]:
    """Reserved rows with what `reservation_of` reads, by their lease's end."""
    row = tables.reservations.c
    fences = (row.fenced, row.evidence_json) if tables.has_fences else _no_fences()
    return (
        select(
            row.operation_id,
            row.account_id,
            row.period,
            row.units,
            row.attempts,
            row.reserved_at,
            row.expires_at,
            *fences,
        )
        .where(row.state == RESERVED)
        .order_by(row.expires_at, row.operation_id)
    )


def _no_fences() -> tuple[Any, Any]:
    return false().label("fenced"), null().label("evidence_json")


def reservation_of(row: Any) -> MeterReservation:
    """The record of such a row."""
    return MeterReservation(
        row.operation_id,
        row.account_id,
        row.period,
        row.units,
        row.attempts,
        from_ms(row.reserved_at),
        from_ms(row.expires_at),
        bool(row.fenced),
        _evidence(row.evidence_json),
    )


def _evidence(stored: str | None) -> Mapping[str, Any] | None:
    """Stored by somebody else, it may be anything: a row that cannot be read would hold up every pass."""
    try:
        return evidence_of(stored)
    except (ValueError, TypeError, RecursionError):
        return {"undecodable": str(stored)[:_SHOWN]}


@lru_cache(maxsize=2 * MOST_PREFIXES * len(Listed))
def _page(tables: MeterTables, listed: Listed) -> Statement:
    row = tables.reservations.c
    key = tuple_(row.expires_at, row.operation_id)
    after = tuple_(bindparam("at_key", type_=BigInteger), bindparam("id_key", type_=Text))
    page = reserved_rows(tables).where(key > after).limit(bindparam("most"))
    if listed is Listed.FENCED:
        page = page.where(row.fenced if tables.has_fences else false())
    if listed is Listed.DUE:
        page = page.where(row.expires_at <= bindparam("at", type_=BigInteger))
    return Statement(page)


def page(
    connection: Connection, tables: MeterTables, listed: Listed, at: int, after: str | None, limit: int
) -> MeterPage:
    """At most `limit` rows behind the cursor, those whose lease ends first in front."""
    most = check_limit(limit, MAX_PAGE)
    last, operation = decode_cursor(after, int, str) if after is not None else (_FIRST, "")
    rows = _page(tables, listed).all(connection, at=at, at_key=last, id_key=operation, most=most + 1)
    found = [reservation_of(row) for row in rows[:most]]
    more = encode_cursor(rows[most - 1].expires_at, rows[most - 1].operation_id) if len(rows) > most else None
    return MeterPage(found, more)
