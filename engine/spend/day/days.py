"""A day's totals: the lock that admissions queue at, and the increments of everything else (spend.md 2A.1).

Locks on PostgreSQL are taken in one order: the reservation's row, then the day's. Only an admission holds a day
first, and it touches no reservation that anybody else can see (ruling 38).
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, BindParameter, bindparam, select, update

from engine.database.columns import check_id
from engine.database.statement import Statement
from engine.database.upsert import insert_if_absent
from engine.errors import StoreFailure, ValidationError
from engine.spend.day.model import DayTotal
from engine.spend.day.tables import spend_day

if TYPE_CHECKING:
    from sqlalchemy import Connection

_DAY: BindParameter[str] = bindparam("on_day")
_TOTALS = select(spend_day.c.reserved_micro, spend_day.c.settled_micro).where(spend_day.c.day == _DAY)
_READ = Statement(_TOTALS)
_LOCK = Statement(_TOTALS.with_for_update())
_OPEN = Statement(insert_if_absent(spend_day, day=_DAY))
_MOVE = Statement(
    update(spend_day)
    .where(spend_day.c.day == _DAY)
    .values(
        reserved_micro=spend_day.c.reserved_micro + bindparam("reserved", type_=BigInteger),
        settled_micro=spend_day.c.settled_micro + bindparam("settled", type_=BigInteger),
    )
)


def lock_day(connection: Connection, day: str) -> int:
    """Hold the day's row, made when missing, to the transaction's end; the micro-dollars committed that day."""
    row = _LOCK.one(connection, on_day=check_day(day))
    if row is None:
        _OPEN.count(connection, on_day=day)
        row = _LOCK.one(connection, on_day=day)
    assert row is not None, "a day's row is never deleted"
    return int(row.reserved_micro + row.settled_micro)


def total(connection: Connection, day: str) -> DayTotal:
    """The day's totals, without a lock; a day without a row holds nothing."""
    row = _READ.one(connection, on_day=check_day(day))
    return DayTotal(day, 0, 0) if row is None else DayTotal(day, row.reserved_micro, row.settled_micro)


def hold(connection: Connection, day: str, micro: int) -> None:
    """Count a new reservation of a day that the caller has locked."""
    if _MOVE.count(connection, on_day=day, reserved=micro, settled=0) != 1:
        raise ValidationError("day", (f"{day} is not locked; call lock_day in this transaction first",))


def settle(connection: Connection, day: str, micro: int, figure: int) -> None:
    """Count `figure` as settled in the place of a reservation of `micro`, whose row the caller has locked."""
    if _MOVE.count(connection, on_day=day, reserved=-micro, settled=figure) != 1:
        raise StoreFailure("settle", f"the totals of {day} are missing; restore the store from a backup")


def check_day(day: str) -> str:
    """The day itself; ValidationError unless it is a date written as `YYYY-MM-DD`."""
    try:
        if date.fromisoformat(check_id("day", day)).isoformat() == day:
            return day
    except ValueError as error:
        raise ValidationError("day", (f"must be a date as YYYY-MM-DD, not {day!r:.40}",)) from error
    raise ValidationError("day", (f"must be a date as YYYY-MM-DD, not {day!r:.40}",))
