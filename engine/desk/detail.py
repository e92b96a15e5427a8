"""Everything about one thread, at one moment: bounded statements in one snapshot (console.md F9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.listing import CLOCK
from engine.checkpoints.metadata import metadata_of
from engine.checkpoints.model import CheckpointStatus
from engine.checkpoints.records import Undecodable, instant_of
from engine.checkpoints.tables import checkpoint, effect, event, pending_write, thread
from engine.clock import from_ns, from_span
from engine.database.columns import check_id
from engine.database.constructs import Size
from engine.database.statement import Statement
from engine.desk.descendants import children
from engine.desk.queue import queue
from engine.desk.queue_views import QueueFilter
from engine.desk.refused import refusal_of
from engine.desk.rows import shown, thread_row
from engine.desk.texts import cut
from engine.desk.views import (
    MAX_CHECKPOINTS,
    MAX_PARTS,
    MAX_RELATED,
    CheckpointRow,
    ClaimDetail,
    EffectRow,
    ThreadDetail,
    TombstoneDetail,
    WriteRow,
)
from engine.errors import ValidationError

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, Connection

    from engine.desk.queue_views import QueueRow
    from engine.desk.views import Page

_ID: Final[BindParameter[str]] = bindparam("id")
_FURTHER: Final = (
    "parent_id",
    "claim_tenant",
    "claim_granted_at",
    "claim_renewed_at",
    "claim_renewals",
    "claim_expires_at",
    "latest_place",
    "first_seq",
    "next_seq",
    "floor_seq",
    "tomb_first",
    "deleted_at",
)


_THREAD = Statement(
    select(CLOCK.c.now, *shown(thread.c), *(thread.c[key] for key in _FURTHER)).where(
        thread.c.thread_id == _ID
    )
)
_CHECKPOINTS = Statement(
    select(*(each for each in checkpoint.c if each.key != "body"), Size(checkpoint.c.body).label("size"))
    .where(checkpoint.c.thread_id == _ID)
    .order_by(checkpoint.c.place.desc())
    .limit(bindparam("most"))
)
_WRITES = Statement(
    select(
        pending_write.c.n,
        pending_write.c.task_id,
        pending_write.c.node_id,
        *cut(pending_write.c.body, "body"),
    )
    .where(pending_write.c.thread_id == _ID, pending_write.c.place == bindparam("place"))
    .order_by(pending_write.c.n)
    .limit(bindparam("most"))
)
_EFFECTS = Statement(
    select(
        effect.c.key, effect.c.run_id, effect.c.token, effect.c.committed_at, *cut(effect.c.value, "value")
    )
    .where(effect.c.thread_id == _ID)
    .order_by(effect.c.key)
    .limit(bindparam("most"))
)
_BODY = Statement(
    select(checkpoint.c.body).where(
        checkpoint.c.thread_id == _ID, checkpoint.c.checkpoint_id == bindparam("name")
    )
)
_PAYLOAD = Statement(select(event.c.payload).where(event.c.thread_id == _ID, event.c.seq == bindparam("seq")))


def thread_detail(connection: Connection, thread_id: str) -> ThreadDetail | None:
    """All that is stored of the id, within the bounds of `views`; None when nothing is. Wants a SNAPSHOT."""
    row = _THREAD.one(connection, id=check_id("thread_id", thread_id))
    if row is None:
        return None
    checkpoints = _CHECKPOINTS.all(connection, id=thread_id, most=MAX_CHECKPOINTS + 1)
    writes = _WRITES.all(connection, id=thread_id, place=row.latest_place, most=MAX_PARTS + 1)
    effects = _EFFECTS.all(connection, id=thread_id, most=MAX_PARTS + 1)
    return ThreadDetail(
        thread_id=thread_id,
        row=None if row.latest_id is None else thread_row(row),
        claim=None if row.claim_token is None else _claim(row),
        refusal=refusal_of(connection, thread_id),
        checkpoints=tuple(map(_checkpoint_row, checkpoints[:MAX_CHECKPOINTS])),
        writes=tuple(_write_row(row.latest_id, each) for each in writes[:MAX_PARTS]),
        effects=tuple(map(_effect_row, effects[:MAX_PARTS])),
        metadata=metadata_of(connection, thread_id),
        first_seq=row.first_seq,
        next_seq=row.next_seq,
        floor_seq=row.floor_seq,
        tombstone=_tombstone(row),
        as_of=from_ns(row.now),
        more_checkpoints=len(checkpoints) > MAX_CHECKPOINTS,
        more_writes=len(writes) > MAX_PARTS,
        more_effects=len(effects) > MAX_PARTS,
        parent=row.parent_id,
        children=children(connection, thread_id, None, MAX_RELATED, now=row.now),
        queue=_entries(connection, thread_id, row.now),
    )


def _entries(connection: Connection, thread_id: str, now: int) -> Page[QueueRow] | None:
    try:
        return queue(connection, QueueFilter(thread_id=thread_id), None, MAX_RELATED, now=now)
    except ValidationError:
        # More open entries than can be listed by thread: all else of the thread is to be seen nevertheless.
        return None


def snapshot(connection: Connection, thread_id: str, checkpoint_id: str) -> str | None:
    """A checkpoint's body, JSON text exactly as stored; None without one."""
    check_id("checkpoint_id", checkpoint_id)
    row = _BODY.one(connection, id=check_id("thread_id", thread_id), name=checkpoint_id)
    return None if row is None else str(row.body)


def payload(connection: Connection, thread_id: str, seq: int) -> str | None:
    """An event's payload, JSON text exactly as stored; None without one."""
    row = _PAYLOAD.one(connection, id=check_id("thread_id", thread_id), seq=seq)
    return None if row is None else str(row.payload)


def _claim(row: Any) -> ClaimDetail:
    return ClaimDetail(
        holder=row.claim_holder,
        tenant=row.claim_tenant,
        token=row.claim_token,
        granted_at=from_ns(row.claim_granted_at),
        renewed_at=from_ns(row.claim_renewed_at),
        renewals=row.claim_renewals,
        expires_at=from_ns(row.claim_expires_at),
        live=row.lease_left > 0,
        left=from_span(row.lease_left),
    )


def _checkpoint_row(row: Any) -> CheckpointRow:
    try:
        status = CheckpointStatus(row.status)
    except ValueError as error:
        raise Undecodable(f"checkpoint {row.checkpoint_id!r}: {error}") from error
    return CheckpointRow(
        place=row.place,
        checkpoint_id=row.checkpoint_id,
        run_id=row.run_id,
        status=status,
        parent=row.parent,
        token=row.token,
        committed_at=from_ns(row.committed_at),
        created_at=instant_of(row.created_at),
        size=row.size,
    )


def _write_row(checkpoint_id: str, row: Any) -> WriteRow:
    return WriteRow(row.n, checkpoint_id, row.task_id, row.node_id, row.body, row.size)


def _effect_row(row: Any) -> EffectRow:
    return EffectRow(row.key, row.value, row.run_id, row.token, from_ns(row.committed_at), row.size)


def _tombstone(row: Any) -> TombstoneDetail | None:
    # Once an event was numbered again the thread's own numbers count, and the old ones say nothing any more.
    if row.deleted_at is None or row.first_seq is not None:
        return None
    return TombstoneDetail(row.tomb_first, from_ns(row.deleted_at))
