"""Expired rows somebody is asked about: the page, and one answer written under what it was asked of (ruling 66)."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Text, bindparam, null, select, true, update

from engine.database.statement import Statement
from engine.spend.meter.asking import Postponed
from engine.spend.meter.counters import counters, ended
from engine.spend.meter.model import ReservationState
from engine.spend.meter.rows import reservation_of, reserved_rows
from engine.spend.meter.settle import STATES
from engine.spend.meter.tables import MOST_PREFIXES, RESERVED

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.meter.asking import Verdict
    from engine.spend.meter.model import MeterReservation
    from engine.spend.meter.tables import MeterTables


class Reach(StrEnum):
    """Which rows an answer may decide: UNFENCED only, where a default stands behind it, or EVERY one."""

    UNFENCED = "unfenced"
    EVERY = "every"


class Written(StrEnum):
    """What writing an answer came to. PENDING: the row is reserved, but no longer as it was asked about."""

    CONSUMED = "consumed"
    RELEASED = "released"
    DEFERRED = "deferred"
    PENDING = "pending"
    OVERTAKEN = "overtaken"


class _Rows:
    def __init__(self, tables: MeterTables, reach: Reach) -> None:
        row = tables.reservations
        at = bindparam("at", type_=BigInteger)
        allowed = tables.unfenced if reach is Reach.UNFENCED else true()
        due = reserved_rows(tables).where(row.c.expires_at <= at, allowed)
        guarded = update(row).where(
            row.c.operation_id == bindparam("op"),
            row.c.state == RESERVED,
            row.c.attempts == bindparam("attempt", type_=BigInteger),
            row.c.expires_at <= at,
            allowed,
        )
        self.due = Statement(due.limit(bindparam("most")))
        self.settle = Statement(
            guarded.values(
                state=bindparam("word"), outcome=bindparam("how"), settled_at=at, usage_json=null()
            ).returning(row.c.account_id, row.c.period, row.c.units)
        )
        self.state = Statement(select(row.c.state).where(row.c.operation_id == bindparam("op")))
        if tables.has_fences:
            later = {"evidence_json": bindparam("evidence", type_=Text)}
            until = bindparam("until", type_=BigInteger)
            self.postpone = Statement(guarded.values(fenced=true(), expires_at=until, **later))


@lru_cache(maxsize=2 * MOST_PREFIXES * len(Reach))
def _rows(tables: MeterTables, reach: Reach) -> _Rows:
    return _Rows(tables, reach)


def due_page(
    connection: Connection, tables: MeterTables, reach: Reach, at: int, limit: int
) -> list[MeterReservation]:
    """Expired rows within reach, the oldest lease first."""
    return [reservation_of(row) for row in _rows(tables, reach).due.all(connection, at=at, most=limit)]


def write_answer(
    connection: Connection,
    tables: MeterTables,
    reach: Reach,
    held: MeterReservation,
    verdict: Verdict,
    at: int,
) -> Written:
    """Write what was answered of `held`, if its attempt is still the same, expired, and within reach."""
    guard = {"op": held.operation_id, "attempt": held.attempt, "at": at}
    rows = _rows(tables, reach)
    if isinstance(verdict, Postponed):
        done = rows.postpone.count(connection, evidence=verdict.evidence, until=verdict.until, **guard)
        return Written.DEFERRED if done else _missed(connection, rows, held)
    row = rows.settle.one(connection, word=STATES[verdict].value, how=verdict.value, **guard)
    if row is None:
        return _missed(connection, rows, held)
    counters(tables).adjust(connection, [ended(row.account_id, row.period, row.units, verdict, at)])
    return Written(STATES[verdict].value)


def _missed(connection: Connection, rows: _Rows, held: MeterReservation) -> Written:
    row = rows.state.one(connection, op=held.operation_id)
    pending = row is not None and row.state == ReservationState.RESERVED.value
    return Written.PENDING if pending else Written.OVERTAKEN
