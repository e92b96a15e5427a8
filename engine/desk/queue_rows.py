"""From the columns of a queue entry to a `QueueRow`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, select

from engine.checkpoints.listing import NOW
from engine.checkpoints.queue_model import QueueState
from engine.checkpoints.records import Undecodable, instant_of
from engine.checkpoints.tables import queue_entry, queue_run
from engine.clock import from_ns, from_span
from engine.desk.detail import cut
from engine.desk.queue_views import QueueRow

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


def shown_of_entry(c: Any) -> list[ColumnElement[Any]]:
    """What a `QueueRow` is made of, from the columns of `queue_entry`; the runs are counted by their key."""
    runs = select(func.count()).where(queue_run.c.thread_id == c.thread_id, queue_run.c.entry_id == c.id)
    return [
        *(c[key] for key in _PLAIN),
        (NOW - c.available_at).label("waiting"),
        (c.lease_until - NOW).label("lease_left"),
        runs.scalar_subquery().label("runs"),
        *cut(c.input, "input"),
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
        runs=row.runs,
        input=row.input,
        size=row.size,
    )


ENTRY: Final = [queue_entry.c[key] for key in _PLAIN]
"""What a bounded stretch of entries carries: all but the bodies."""
