"""The event log: reading after a cursor, and compaction (checkpoints.md 2.8 and 2.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, select, update

from engine.arguments import whole
from engine.checkpoints.claims import LOCK
from engine.checkpoints.numbering import numbers_of
from engine.checkpoints.records import event_of
from engine.checkpoints.tables import event, thread
from engine.database.columns import MAX_NUMBER, check_id
from engine.database.statement import Statement
from engine.errors import ReplayUnavailable, ThreadDeleted, ValidationError

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, Connection

    from engine.checkpoints.model import EventRecord

COMPACT_STEP = 5_000  # events removed in one transaction (ruling 18)
MAX_EVENTS = 2**31 - 1

_ID: BindParameter[str] = bindparam("id")
# The three numbers and the events in one statement: between two, a compaction would look like a gap.
_READ = Statement(
    select(thread.c.first_seq, thread.c.next_seq, thread.c.floor_seq, thread.c.tomb_first, event)
    .select_from(thread)
    .outerjoin(
        event,
        and_(event.c.thread_id == thread.c.thread_id, event.c.seq > bindparam("after")),
    )
    .where(thread.c.thread_id == _ID)
    .order_by(event.c.seq)
    .limit(bindparam("most"))
)
_RAISE = Statement(update(thread).where(thread.c.thread_id == _ID).values(floor_seq=bindparam("floor")))
_DROP = Statement(delete(event).where(event.c.thread_id == _ID, event.c.seq < bindparam("floor")))


def events_after(connection: Connection, thread_id: str, after_seq: int, limit: int) -> list[EventRecord]:
    """At most `limit` events numbered above `after_seq`; 0 reads from the start of the thread's own log.

    ThreadDeleted for a cursor inside a deleted log, ReplayUnavailable for one behind the floor.
    """
    check_cursor(thread_id, after_seq)
    most = max(1, min(whole("limit", limit), MAX_EVENTS))
    rows = _READ.all(connection, id=thread_id, after=min(after_seq, MAX_NUMBER), most=most)
    numbers = numbers_of(connection, rows[0] if rows else None)
    if 0 < after_seq < numbers.first - 1:
        raise ThreadDeleted(thread_id)
    start = after_seq or numbers.first - 1
    if start + 1 < numbers.floor:
        raise ReplayUnavailable(thread_id, numbers.floor)
    if limit < 1:
        return []
    return [event_of(row) for row in rows if row.seq is not None]


def check_cursor(thread_id: str, after_seq: int) -> None:
    """ValidationError for a bad id or a negative cursor."""
    check_id("thread_id", thread_id)
    if whole("after_seq", after_seq) < 0:
        raise ValidationError("after_seq", (f"must be 0 or a number already seen, not {after_seq}",))


def compact_events(connection: Connection, thread_id: str, before_seq: int) -> bool:
    """Raise the floor towards `before_seq` by one step at most, dropping what lies below; True once there."""
    check_id("thread_id", thread_id)
    whole("before_seq", before_seq)
    row = LOCK.one(connection, id=thread_id)
    if row is None or row.first_seq is None:
        return True
    target = max(row.floor_seq, min(before_seq, row.next_seq))
    return raise_floor(connection, thread_id, row.floor_seq, target)


def raise_floor(connection: Connection, thread_id: str, floor: int, target: int) -> bool:
    """One bounded step of the floor from `floor` to `target` under the row lock; True when it arrived."""
    step = min(target, floor + COMPACT_STEP)
    if step > floor:
        _RAISE.count(connection, id=thread_id, floor=step)
        _DROP.count(connection, id=thread_id, floor=step)
    return step == target
