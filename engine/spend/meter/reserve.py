"""Reserving units: one transaction that leaves everything behind, or nothing (spend.md 2B.3).

The reservation's row is taken first and the account's after it, as everywhere in the meter.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Boolean, bindparam, null, select, update

from engine.database.statement import Statement
from engine.database.upsert import insert_if_absent
from engine.spend.meter import snapshot, window
from engine.spend.meter.counters import counters
from engine.spend.meter.instants import from_ms
from engine.spend.meter.model import DenialReason, Denied, ReservationState, Reserved
from engine.spend.meter.tables import MOST_PREFIXES, RELEASED, RESERVED

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.meter.tables import MeterTables

_REPLAYS = {
    ReservationState.RESERVED.value: DenialReason.IN_FLIGHT,
    ReservationState.CONSUMED.value: DenialReason.ALREADY_CONSUMED,
}


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for; `at` and `until` in milliseconds, `window` likewise or None for a meter of periods."""

    operation_id: str
    account_id: str
    period: str
    units: int
    allowance: int
    fenced: bool
    at: int
    until: int
    most_attempts: int
    window: int | None

    def reserved(self, attempt: int, remaining: int) -> Reserved:
        """The answer when it was granted."""
        return Reserved(
            self.operation_id,
            self.account_id,
            self.period,
            self.units,
            attempt,
            max(0, remaining),
            from_ms(self.until),
        )

    def denied(self, reason: DenialReason, remaining: int) -> Denied:
        """The answer when it was not."""
        return Denied(reason, self.operation_id, self.account_id, self.period, max(0, remaining))


class NoRoom(Exception):
    """The units do not fit; the transaction must be rolled back, row, attempt and all."""

    def __init__(self, denial: Denied) -> None:
        super().__init__(denial)
        self.denial = denial


class _Rows:
    """The statements that make a reservation's row, or give a released one its next attempt."""

    def __init__(self, tables: MeterTables) -> None:
        row = tables.reservations
        given: dict[str, Any] = {
            "account_id": bindparam("account"),
            "period": bindparam("label"),
            "units": bindparam("n", type_=BigInteger),
            "state": RESERVED,
            "reserved_at": bindparam("at", type_=BigInteger),
            "expires_at": bindparam("until", type_=BigInteger),
        }
        again: dict[str, Any] = {"outcome": null(), "settled_at": null(), "usage_json": null()}
        if tables.has_fences:
            given["fenced"] = bindparam("fence", type_=Boolean)
            again["evidence_json"] = null()
        operation = row.c.operation_id == bindparam("op")
        self.add = Statement(insert_if_absent(row, operation_id=bindparam("op"), attempts=1, **given))
        self.again = Statement(
            update(row)
            .where(operation, row.c.state == RELEASED, row.c.attempts < bindparam("most", type_=BigInteger))
            .values(attempts=row.c.attempts + 1, **given, **again)
            .returning(row.c.attempts)
        )
        self.state = Statement(select(row.c.state).where(operation))


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _rows(tables: MeterTables) -> _Rows:
    return _Rows(tables)


def reserve(connection: Connection, tables: MeterTables, request: Request) -> Reserved | Denied:
    """Hold the units for the operation; a denial for the operation's own sake changes nothing.

    NoRoom where they do not fit: the caller's transaction must then end without a commit.
    """
    attempt = _attempt(connection, tables, request)
    if attempt is None:
        return _replayed(connection, tables, request)
    room = _fit if request.window is None else _fit_in_window
    return request.reserved(attempt, room(connection, tables, request))


def _attempt(connection: Connection, tables: MeterTables, request: Request) -> int | None:
    """Take the operation's row; the number of its attempt, None where it may have no further one."""
    rows = _rows(tables)
    values: dict[str, Any] = {
        "op": request.operation_id,
        "account": request.account_id,
        "label": request.period,
        "n": request.units,
        "at": request.at,
        "until": request.until,
        "fence": request.fenced,
    }
    if rows.add.count(connection, **values):
        return 1
    again = rows.again.one(connection, most=request.most_attempts, **values)
    return None if again is None else int(again.attempts)


def _replayed(connection: Connection, tables: MeterTables, request: Request) -> Denied:
    row = _rows(tables).state.one(connection, op=request.operation_id)
    reason = DenialReason.RETRIES_EXHAUSTED
    if row is not None:
        reason = _REPLAYS.get(row.state, reason)
    seen = snapshot.snapshot(
        connection, tables, request.account_id, request.period, request.allowance, _since(request)
    )
    return request.denied(reason, seen.remaining)


def _fit(connection: Connection, tables: MeterTables, request: Request) -> int:
    """Add the units to the account's row; what remains."""
    rows, key = counters(tables), (request.account_id, request.period)
    rows.declare(connection, *key, request.allowance, request.at)
    taken = rows.take(connection, *key, request.units, request.at)
    if taken is not None:
        return int(taken.allowance - taken.used - taken.reserved)
    held = rows.read(connection, *key)
    left = request.allowance - held.used - held.reserved
    raise NoRoom(request.denied(DenialReason.ALLOWANCE_EXHAUSTED, left))


def _fit_in_window(connection: Connection, tables: MeterTables, request: Request) -> int:
    """The same, where rows are counted: in a statement after the one that locked the account (ruling 1)."""
    rows, key = counters(tables), (request.account_id, request.period)
    rows.declare(connection, *key, request.allowance, request.at)
    rows.hold(connection, *key, request.units, request.at)
    since = _since(request)
    assert since is not None
    others = window.held(connection, tables, request.account_id, since, request.operation_id)
    room = request.allowance - others.used - others.reserved
    if request.units > room:
        raise NoRoom(request.denied(DenialReason.ALLOWANCE_EXHAUSTED, room))
    return room - request.units


def _since(request: Request) -> int | None:
    return None if request.window is None else request.at - request.window
