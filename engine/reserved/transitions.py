"""Confirm and release, inside the caller's transaction (reserved.md; rulings 30 and 31)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, case, delete, func, null, select, update
from sqlalchemy.exc import DBAPIError

from engine.clock import to_ns
from engine.database.columns import check_id
from engine.database.savepoint import key_was_taken, savepoint
from engine.errors import ReservationInvalidated, StoreFailure
from engine.reserved.convention import COMMITTED, RESERVED
from engine.reserved.names import shown, target

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, TableClause

MAX_REPEATS: Final = 3
"""How often confirm tries again when it sees a live row that its UPDATE did not (ruling 31)."""


class Outcome(StrEnum):
    """What a confirm came to."""

    CONFIRMED = "confirmed"
    ALREADY_CONFIRMED = "already-confirmed"
    EXPIRED = "expired"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """`rows`: how many were confirmed, now or, where ALREADY_CONFIRMED, earlier."""

    outcome: Outcome
    rows: int


def confirm(connection: Connection, table: TableClause | str, txn_id: str, now: datetime) -> Confirmation:
    """Make the live rows of `txn_id` committed; what they came to otherwise is read from the table.

    EXPIRED where any reserved row has lapsed by `now`, ALREADY_CONFIRMED where all are committed, else GONE. The
    UPDATE runs in a savepoint: where a unique key refuses it, a competitor was confirmed first and
    ReservationInvalidated is raised, the rows stay reserved and the caller's transaction goes on. ValidationError
    for a connection in AUTOCOMMIT; StoreFailure where the database lets live rows be seen but not changed.
    """
    rows, txn, instant = target(table), check_id("txn_id", txn_id), to_ns(now)
    for _ in range(1 + MAX_REPEATS):
        count = _confirmed(connection, rows, txn, instant)
        if count:
            return Confirmation(Outcome.CONFIRMED, count)
        found = _classified(connection, rows, txn, instant)
        if found is not None:
            return found
    kept = f"live rows of {txn!r} in {shown(rows)} were seen but not changed"
    raise StoreFailure("confirm", f"{kept}; look for a trigger or policy on the table")


def release(connection: Connection, table: TableClause | str, txn_id: str) -> int:
    """Delete the reserved rows of `txn_id`, live or lapsed; how many went. Committed ones stay."""
    rows = target(table)
    mine = (rows.c["txn_id"] == check_id("txn_id", txn_id), rows.c["state"] == RESERVED)
    return int(connection.execute(delete(rows).where(*mine)).rowcount)


def _confirmed(connection: Connection, rows: TableClause, txn: str, instant: int) -> int:
    columns = rows.c
    live = (columns["txn_id"] == txn, columns["state"] == RESERVED, columns["reserve_deadline"] > instant)
    flip = update(rows).where(*live).values({"state": COMMITTED, "reserve_deadline": null()})
    try:
        with savepoint(connection):
            return int(connection.execute(flip).rowcount)
    except DBAPIError as error:
        if not key_was_taken(error):
            raise
        raise ReservationInvalidated(txn) from error


def _classified(connection: Connection, rows: TableClause, txn: str, instant: int) -> Confirmation | None:
    """Why there was nothing to confirm; None where a live row has come meanwhile."""
    found = connection.execute(_counts(rows, txn, instant)).one()
    if found.lapsed:
        return Confirmation(Outcome.EXPIRED, 0)
    if found.live:
        return None
    if found.committed:
        return Confirmation(Outcome.ALREADY_CONFIRMED, int(found.committed))
    return Confirmation(Outcome.GONE, 0)


def _counts(rows: TableClause, txn: str, instant: int) -> Any:
    """One statement, one snapshot; committed rows are counted only where they matter, as no index holds them."""
    columns, mine = rows.c, rows.c["txn_id"] == txn
    due = columns["reserve_deadline"]
    reserved = (
        select(
            func.count().label("reserved"),
            func.count(case((due <= instant, 1))).label("lapsed"),
            func.count(case((due > instant, 1))).label("live"),
        )
        .where(mine, columns["state"] == RESERVED)
        .cte("reserved_rows")
    )
    committed = select(func.count()).where(and_(mine, columns["state"] == COMMITTED)).scalar_subquery()
    counted = case((reserved.c.reserved > 0, 0), else_=committed).label("committed")
    return select(reserved.c.lapsed, reserved.c.live, counted)
