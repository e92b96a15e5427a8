"""A job claims a thread only as it was planned, or as it left it itself (rulings 17, 19 and 54)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.cascade import DEFAULT_TTL
from engine.checkpoints.claims import LOCK, claim, release
from engine.checkpoints.deletion import put_mark
from engine.checkpoints.model import CheckpointStatus, ClaimRequest
from engine.checkpoints.tables import effect, tenant_of, thread
from engine.database.constructs import Now
from engine.database.statement import Statement
from engine.desk.jobs.executors.outcomes import CHANGED, GONE
from engine.errors import StaleClaim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

TTL: Final = DEFAULT_TTL
_LIVE: Final = Statement(
    select(thread.c.thread_id).where(thread.c.thread_id == bindparam("id"), thread.c.claim_expires_at > Now())
)
_EFFECT: Final = Statement(
    select(effect.c.key)
    .where(effect.c.thread_id == bindparam("id"), effect.c.committed_at > bindparam("since"))
    .limit(1)
)
_DELETING: Final = CheckpointStatus.DELETING.value


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a thread is left alone; `now` is what the store holds of it instead."""

    why: str
    now: Mapping[str, Any]


def job_holder(job_id: str) -> str:
    """Under which name a job claims: whoever runs it goes on under the same."""
    return f"job:{job_id}"


def take(
    connection: Connection, thread_id: str, guard: Mapping[str, Any], holder: str, planned_at: int
) -> int | Refusal:
    """Claim the thread for the job under its tenant: the token, or why not. Compared under the row's lock.

    `planned_at` (ns) is when the plan was made: an effect or metadata written later is a change like any other.

    What an earlier runner of the job holds is taken over under a new token, so that of two only one writes.
    """
    row: Any = LOCK.one(connection, id=thread_id)
    if row is None or _is_gone(row, guard):
        return Refusal(GONE, {})
    if not (_is_own(row, guard, holder) or _is_planned(row, guard)) or _written(
        connection, row, holder, planned_at
    ):
        return Refusal(CHANGED, _state(row))
    if row.claim_token is not None and row.claim_holder != holder:
        if _LIVE.one(connection, id=thread_id) is not None:
            return Refusal(f"claimed by {row.claim_holder}", _state(row))
    elif row.claim_token is not None:
        release(connection, thread_id, row.claim_token)
    tenant = row.claim_tenant if row.latest_id is None else tenant_of(row.tenant_key)
    return claim(connection, thread_id, ClaimRequest(holder, TTL, tenant)).token


def mark(connection: Connection, thread_id: str, token: int) -> None:
    """Tell everybody that the thread is going, once; a thread without a checkpoint has no place for it."""
    row: Any = LOCK.one(connection, id=thread_id)
    if row is None or row.claim_token != token:
        raise StaleClaim(thread_id, token, None if row is None else row.claim_token)
    if row.latest_id is not None and not _bears_mark_of(row, row.claim_holder):
        put_mark(connection, thread_id, token, row)


def _is_gone(row: Any, guard: Mapping[str, Any]) -> bool:
    empty = row.latest_id is None and row.first_seq is None
    return empty and (guard["checkpoint"] is not None or guard["next_seq"] is not None)


def _is_planned(row: Any, guard: Mapping[str, Any]) -> bool:
    """Checkpoint, numbers and claim as shown; a claim that was given back since is no change by itself.

    The job itself gives back what it took over of a lapsed holder, when it is paused or handed over.
    """
    if (row.latest_id, row.next_seq) != (guard["checkpoint"], guard["next_seq"]):
        return False
    if row.next_write != guard.get("next_write", row.next_write):
        return False
    return row.claim_token is None or bool(row.claim_token == guard["token"])


def _written(connection: Connection, row: Any, holder: str, planned_at: int) -> bool:
    """Whether somebody wrote what moves neither checkpoint nor number, and may have given his claim back since."""
    if row.claim_token is not None and row.claim_holder == holder:
        return False
    if _EFFECT.one(connection, id=row.thread_id, since=planned_at) is not None:
        return True
    return bool(
        row.updated_at is not None and row.updated_at > planned_at and not _bears_mark_of(row, holder)
    )


def _is_own(row: Any, guard: Mapping[str, Any], holder: str) -> bool:
    """Held by the job, or marked by it and claimed by nobody since: all it ever adds is that mark."""
    if row.next_seq != guard["next_seq"]:
        return False
    if row.claim_token is not None:
        return bool(row.claim_holder == holder)
    return _bears_mark_of(row, holder)


def _bears_mark_of(row: Any, holder: str) -> bool:
    return bool(row.latest_status == _DELETING and row.latest_run_id == holder)


def _state(row: Any) -> dict[str, Any]:
    return {
        "token": row.claim_token,
        "holder": row.claim_holder,
        "checkpoint": row.latest_id,
        "next_seq": row.next_seq,
    }
