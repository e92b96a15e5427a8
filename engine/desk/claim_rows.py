"""From the columns of a claim to a `ClaimRow`: its thread's status, the holder's last sign of life, a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, select

from engine.checkpoints.model import CheckpointStatus, judge
from engine.checkpoints.records import Undecodable
from engine.checkpoints.tables import event, refusal, thread
from engine.clock import from_ns, from_span
from engine.desk.claim_views import ClaimRow, judge_holder

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

    from engine.checkpoints.model import ThreadStatus
    from engine.desk.claim_views import Judgement

_COLUMNS: Final = (
    "thread_id",
    "claim_holder",
    "claim_tenant",
    "claim_token",
    "claim_granted_at",
    "claim_renewed_at",
    "claim_renewals",
    "claim_expires_at",
    "latest_id",
    "latest_run_id",
    "latest_status",
    "updated_at",
)
NEEDED: Final = [*(thread.c[key] for key in _COLUMNS), thread.c.next_seq]
"""What a stretch of claims carries."""


def shown_of_claim(c: Any) -> list[ColumnElement[Any]]:
    """What a `ClaimRow` is made of, from columns like `NEEDED`; two look-ups by key for each row."""
    # Scalar subqueries: as joins, a planner may read the whole log to find the last event of a few threads.
    wrote = select(event.c.committed_at).where(
        event.c.thread_id == c.thread_id, event.c.seq == c.next_seq - 1
    )
    refused = select(refusal.c.count).where(refusal.c.thread_id == c.thread_id)
    return [
        *(c[key] for key in _COLUMNS),
        wrote.scalar_subquery().label("wrote_at"),
        func.coalesce(refused.scalar_subquery(), 0).label("refusals"),
    ]


def claim_row(row: Any, now: int) -> ClaimRow:
    """A row of the `shown_of_claim` columns, judged at `now` (ns)."""
    left = row.claim_expires_at - now
    judgement = judgement_of(row, now)
    return ClaimRow(
        thread_id=row.thread_id,
        holder=row.claim_holder,
        tenant=row.claim_tenant,
        token=row.claim_token,
        granted_at=from_ns(row.claim_granted_at),
        renewed_at=from_ns(row.claim_renewed_at),
        renewals=row.claim_renewals,
        expires_at=from_ns(row.claim_expires_at),
        left=from_span(left),
        live=left > 0,
        status=_status(row, live=left > 0),
        last_seen_at=from_ns(_last_seen(row)),
        verdict=judgement.verdict,
        reason=judgement.reason,
        refusals=row.refusals,
    )


def judgement_of(row: Any, now: int) -> Judgement:
    """What may be said of the holder of a row of the `shown_of_claim` columns at `now` (ns)."""
    left = row.claim_expires_at - now
    lease = row.claim_expires_at - row.claim_renewed_at
    silent = now - max(row.claim_expires_at, _last_seen(row))
    return judge_holder(left=from_span(left), lease=from_span(lease), silent=from_span(silent))


def _last_seen(row: Any) -> int:
    """The newest trace of the holder; every commit since the grant was its own, for it needed the token."""
    return int(max(row.claim_renewed_at, row.claim_granted_at, row.updated_at or 0, row.wrote_at or 0))


def _status(row: Any, *, live: bool) -> ThreadStatus | None:
    if row.latest_id is None:
        return None
    try:
        return judge(CheckpointStatus(row.latest_status), live=live)
    except ValueError as error:
        raise Undecodable(f"thread {row.thread_id!r}: {error}") from error
