"""From the engine's records of the run queue to the console's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.model import Counted
from console.queue_model import QueueDepth, QueueRow, QueueRuns, QueueState

if TYPE_CHECKING:
    from engine import desk


def queue_row(row: desk.QueueRow) -> QueueRow:
    """An entry."""
    return QueueRow(
        entry=row.entry_id,
        thread=row.thread_id,
        tenant=row.tenant,
        state=QueueState[row.state.name],
        due_at=row.available_at,
        waiting=row.waiting,
        owner=row.lease_owner,
        token=row.lease_token,
        lease_until=row.lease_until,
        lease_left=row.lease_left,
        attempts=row.attempts,
        max_attempts=row.max_attempts,
        error=row.last_error,
        run=row.last_run_id,
        input=row.input,
        size=row.size,
    )


def queue_depth(found: desk.QueueDepth) -> QueueDepth:
    """How full the queue is."""
    queued, due, leased, lapsed = (
        Counted(each.count, each.more) for each in (found.queued, found.due, found.leased, found.lapsed)
    )
    return QueueDepth(queued, due, leased, lapsed, found.oldest_due, found.oldest_lapsed)


def queue_runs(found: desk.QueueDetail) -> QueueRuns:
    """What an entry recorded."""
    return QueueRuns(found.run_ids, found.more_runs)
