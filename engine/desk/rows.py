"""From the registry's columns to a `ThreadRow`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func

from engine.checkpoints.listing import NOW
from engine.checkpoints.model import CheckpointStatus, judge
from engine.checkpoints.records import Undecodable
from engine.checkpoints.tables import tenant_of
from engine.clock import from_ns, from_span
from engine.desk.views import ThreadRow

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

_PLAIN = (
    "thread_id",
    "tenant_key",
    "latest_status",
    "claim_holder",
    "claim_token",
    "updated_at",
    "latest_id",
    "latest_run_id",
)


def shown(c: Any) -> list[ColumnElement[Any]]:
    """What a `ThreadRow` is made of, from columns like those of `thread`; no bodies."""
    return [
        *(c[key] for key in _PLAIN),
        (c.claim_expires_at - NOW).label("lease_left"),
        (NOW - c.updated_at).label("age"),
        func.coalesce(c.next_seq - c.floor_seq, 0).label("events"),
    ]


def thread_row(row: Any) -> ThreadRow:
    """A row of the `shown` columns."""
    left = row.lease_left
    try:
        status = judge(CheckpointStatus(row.latest_status), live=left is not None and left > 0)
    except ValueError as error:
        raise Undecodable(f"thread {row.thread_id!r}: {error}") from error
    return ThreadRow(
        thread_id=row.thread_id,
        tenant=tenant_of(row.tenant_key),
        status=status,
        holder=row.claim_holder,
        lease_left=None if left is None else from_span(left),
        token=row.claim_token,
        events=row.events,
        updated_at=from_ns(row.updated_at),
        age=from_span(row.age),
        latest_id=row.latest_id,
        latest_run_id=row.latest_run_id,
    )
