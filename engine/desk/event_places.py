"""Places in the event log that are not the end of a page: how far a position lies behind, where an instant is.

A position stands behind an event: reading forward from it begins with the next one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, func, select

from engine.checkpoints.tables import event
from engine.clock import from_ns, to_ns
from engine.database.statement import Statement
from engine.desk.events import decided, decode_position, encode_position, key_of, scope_of
from engine.desk.moment import moment
from engine.errors import ValidationError

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection, Select

    from engine.checkpoints.gaps import Held
    from engine.desk.filters import EventFilter
    from engine.desk.frontier import Frontier

STEPS: Final = 64
"""Halvings of a search by time at most: there are no more numbers than two to the power of these."""
_PLACE: Final = Statement(
    select(event.c.position.label("at"))
    .where(event.c.thread_id == bindparam("thread_id"), event.c.seq >= bindparam("seq"))
    .order_by(event.c.seq)
    .limit(1)
)
_LAST: Final = Statement(
    select(func.max(event.c.position).label("at")).where(event.c.position <= bindparam("high"))
)


@dataclass(frozen=True, slots=True)
class Ahead:
    """What lies behind a position: so many numbers of the log, whoever's and whether used or not."""

    number: int
    as_of: datetime
    held: Held | None = None


def ahead(connection: Connection, frontier: Frontier, wanted: EventFilter, after: str) -> Ahead:
    """How far the log has gone on since the position, by the difference of positions (ruling 58)."""
    low = decode_position(wanted, after)
    high, held = _end(connection, frontier, wanted)
    if wanted.thread_id is None:
        last: Any = _LAST.one(connection, high=high)
        high = int(last.at or 0)
    return Ahead(max(0, high - low), from_ns(moment(connection)), held)


def place_at(connection: Connection, frontier: Frontier, wanted: EventFilter, at: datetime) -> str:
    """The position before the first event that was committed at or after an instant; the end if there is none.

    Found by halving the numbers, a keyed read each (ruling 58). Commit times rise with positions but for commits
    that were under way together, so the place is off by no more than these.
    """
    goal = to_ns(at)
    high, _ = _end(connection, frontier, wanted)
    low = _first(connection, wanted, high) - 1
    for _ in range(STEPS):
        if low >= high:
            break
        middle = (low + high) // 2
        row = _next(connection, wanted, middle, high)
        if row is None or row.committed_at >= goal:
            high = middle
        else:
            low = int(row.at)
    return encode_position(wanted, low)


def place_of(connection: Connection, wanted: EventFilter, thread_id: str, seq: int) -> str | None:
    """The position before a thread's event of this number, or before its next one; None if it has no such."""
    if seq < 1:
        raise ValidationError("seq", ("events are numbered from 1",))
    if wanted.thread_id == thread_id:
        return encode_position(wanted, seq - 1)
    row: Any = _PLACE.one(connection, thread_id=thread_id, seq=seq)
    return None if row is None or row.at is None else encode_position(wanted, int(row.at) - 1)


def _end(connection: Connection, frontier: Frontier, wanted: EventFilter) -> tuple[int, Held | None]:
    """The newest number that may be shown."""
    if wanted.thread_id is None:
        return decided(connection, frontier, wanted)
    top = select(func.max(event.c.seq)).where(scope_of(wanted))
    return int(connection.execute(top, {"thread_id": wanted.thread_id}).scalar() or 0), None


def _first(connection: Connection, wanted: EventFilter, high: int) -> int:
    row = _next(connection, wanted, 0, high)
    return high + 1 if row is None else int(row.at)


def _next(connection: Connection, wanted: EventFilter, low: int, high: int) -> Any:
    values = {"thread_id": wanted.thread_id, "low": low, "high": high}
    return connection.execute(_following(wanted), values).first()


def _following(wanted: EventFilter) -> Select[Any]:
    key = key_of(wanted)
    return (
        select(key.label("at"), event.c.committed_at)
        .where(scope_of(wanted), key > bindparam("low"), key <= bindparam("high"))
        .order_by(key)
        .limit(1)
    )
