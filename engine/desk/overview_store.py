"""What else the overview shows of fixed tables: claims, the maintenance, the queue, tombstones, events.

None of it has an index by tenant.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import literal_column, select

from engine.checkpoints.listing import NOW, size_of
from engine.checkpoints.places import Place
from engine.checkpoints.tables import BURIED, CLAIMED, event, queue_entry, thread
from engine.clock import from_ns, from_span, span_ns
from engine.desk.maintenance import MAINTENANCE_THREAD
from engine.desk.overview_part import ONE, Part, fields, number
from engine.desk.overview_views import (
    ClaimsNow,
    EventsNow,
    OldestClaim,
    QueueNow,
    SweepLease,
    SweepNow,
    TombstonesNow,
)
from engine.desk.pages import capped
from engine.desk.queue_entry import DEPTH, depth_of
from engine.desk.views import MAX_SEARCHED, Capped

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

LAST: Final = timedelta(minutes=1)
"""How far back events are counted."""
_END, _ID = thread.c.claim_expires_at, thread.c.thread_id


def claims_part() -> Part[ClaimsNow]:
    """By the index on their end, of which each state is one side."""
    ends = select(ONE).where(CLAIMED).order_by(_END)
    first = (
        select(_ID, thread.c.claim_holder, _END)
        .where(CLAIMED, _END <= NOW)
        .order_by(_END, _ID)
        .limit(ONE)
        .cte("first_claim")
    )
    columns = (
        number(ends.where(_END > NOW)).label("claims_live"),
        number(ends.where(_END <= NOW)).label("claims_expired"),
        *fields(first, "thread_id", "claim_holder", "claim_expires_at"),
    )
    return Part(columns, _claims)


def _claims(row: Any) -> ClaimsNow:
    oldest, end = None, row.first_claim_claim_expires_at
    if end is not None:
        over_for = from_span(row.now - end)
        oldest = OldestClaim(row.first_claim_thread_id, row.first_claim_claim_holder, from_ns(end), over_for)
    return ClaimsNow(capped(row.claims_live), capped(row.claims_expired), oldest, from_ns(row.now))


def sweep_part() -> Part[SweepNow]:
    """One look-up: the thread whose claim is the lease."""
    c = thread.c
    lease = (
        select(c.claim_holder, c.claim_granted_at, c.claim_renewed_at, c.claim_expires_at)
        .where(c.thread_id == literal_column(f"'{MAINTENANCE_THREAD}'"), CLAIMED)
        .cte("sweep")
    )
    return Part(tuple(fields(lease, *lease.c.keys())), _sweep)


def _sweep(row: Any) -> SweepNow:
    lease = None
    if row.sweep_claim_holder is not None:
        lease = SweepLease(
            holder=row.sweep_claim_holder,
            running_for=from_span(row.now - row.sweep_claim_granted_at),
            renewed_ago=from_span(row.now - row.sweep_claim_renewed_at),
            left=from_span(row.sweep_claim_expires_at - row.now),
        )
    return SweepNow(lease, from_ns(row.now))


def queue_part() -> Part[QueueNow]:
    """The depth, and the dead."""
    dead = select(ONE).where(queue_entry.c.state == literal_column("'dead'")).order_by(queue_entry.c.id)
    return Part((*DEPTH, number(dead).label("dead")), lambda row: QueueNow(depth_of(row), capped(row.dead)))


def tombstones_part() -> Part[TombstonesNow]:
    """Their number, and both ends of their index."""
    at = thread.c.deleted_at
    buried = select(at).where(BURIED)
    columns = (
        number(buried.order_by(at, _ID)).label("tombstones"),
        _head(buried, at, _ID).label("first_deleted"),
        _head(buried, at.desc(), _ID.desc()).label("last_deleted"),
    )
    return Part(columns, _tombstones)


def _head(rows: Any, *order: ColumnElement[Any]) -> ColumnElement[Any]:
    head: ColumnElement[Any] = rows.order_by(*order).limit(ONE).scalar_subquery()
    return head


def _tombstones(row: Any) -> TombstonesNow:
    return TombstonesNow(
        count=capped(row.tombstones),
        oldest=_since(row.first_deleted, row.now),
        newest=_since(row.last_deleted, row.now),
        as_of=from_ns(row.now),
    )


def _since(at: int | None, now: int) -> timedelta | None:
    return None if at is None else from_span(now - at)


def events_part() -> Part[EventsNow]:
    """The end of the log; no index has the time, so the last minute is looked for there too."""
    at = event.c.position
    newest = (
        select(at, event.c.thread_id, event.c.committed_at).order_by(at.desc()).limit(ONE).cte("newest_event")
    )
    recent = (
        select(event.c.committed_at)
        .order_by(at.desc())
        .limit(literal_column(str(MAX_SEARCHED + 1)))
        .subquery("recent")
    )
    lately = select(ONE).select_from(recent).where(recent.c.committed_at > NOW - span_ns(LAST))
    columns = (
        *fields(newest, "position", "thread_id", "committed_at"),
        size_of(lately.subquery("lately")).label("last_minute"),
    )
    return Part(columns, _events)


def _events(row: Any) -> EventsNow:
    at, when = row.newest_event_position, row.newest_event_committed_at
    return EventsNow(
        position=None if at is None else Place(at).text,
        thread_id=row.newest_event_thread_id,
        committed_at=None if when is None else from_ns(when),
        age=_since(when, row.now),
        last_minute=Capped(min(row.last_minute, MAX_SEARCHED), row.last_minute > MAX_SEARCHED),
        as_of=from_ns(row.now),
    )
