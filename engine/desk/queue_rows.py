"""From the columns of a queue entry to a `QueueRow`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import select

from engine.checkpoints.listing import NOW
from engine.checkpoints.queue_model import QueueState
from engine.checkpoints.records import Undecodable, instant_of
from engine.checkpoints.tables import queue_entry, queue_run
from engine.clock import from_ns, from_span
from engine.desk.queue_views import QueueRow
from engine.desk.texts import cut

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

_PLAIN: Final = (
    "id",
    "thread_id",
    "tenant",
    "state",
    "available_at",
    "lease_owner",
    "lease_token",
    "lease_until",
    "attempts",
    "max_attempts",
    "last_error",
)


ENTRY: Final = [queue_entry.c[key] for key in _PLAIN]
"""What a bounded stretch of entries carries: all but the bodies."""
_WHOLE: Final = queue_entry.alias("whole")


def shown_of_entry(c: Any) -> list[ColumnElement[Any]]:
    """What a `QueueRow` is made of, from columns like `ENTRY`; body and newest run are looked up by key."""
    ran = (
        select(queue_run.c.run_id)
        .where(queue_run.c.thread_id == c.thread_id, queue_run.c.entry_id == c.id)
        .order_by(queue_run.c.n.desc())
        .limit(1)
    )
    text, size = (
        select(each).where(_WHOLE.c.id == c.id).scalar_subquery() for each in cut(_WHOLE.c.input, "input")
    )
    return [
        *(c[key] for key in _PLAIN),
        (NOW - c.available_at).label("waiting"),
        (c.lease_until - NOW).label("lease_left"),
        ran.scalar_subquery().label("last_run_id"),
        text.label("input"),
        size.label("size"),
    ]


def queue_row(row: Any) -> QueueRow:
    """A row of the `shown_of_entry` columns."""
    try:
        state = QueueState(row.state)
    except ValueError as error:
        raise Undecodable(f"queue entry {row.id!r}: {error}") from error
    return QueueRow(
        entry_id=row.id,
        thread_id=row.thread_id,
        tenant=row.tenant,
        state=state,
        available_at=from_ns(row.available_at),
        waiting=from_span(row.waiting),
        lease_owner=row.lease_owner,
        lease_token=row.lease_token,
        lease_until=instant_of(row.lease_until),
        lease_left=None if row.lease_left is None else from_span(row.lease_left),
        attempts=row.attempts,
        max_attempts=row.max_attempts,
        last_error=row.last_error,
        last_run_id=row.last_run_id,
        input=row.input,
        size=row.size,
    )
