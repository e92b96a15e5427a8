"""From the engine's records of threads and events to the console's rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from console.gateway.queue_rows import queue_row
from console.gateway.waits import lasting
from console.model import (
    Checkpoint,
    Counted,
    Effect,
    EventBatch,
    EventRow,
    Page,
    Refusals,
    ThreadRow,
    ThreadState,
    ThreadStory,
    Tombstone,
    TombstoneRow,
    Write,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.claims_model import ClaimStory
    from console.held_model import Failed, Held
    from engine import desk

R = TypeVar("R")


def page(found: desk.Page[Any], row: Callable[[Any], R]) -> Page[R]:
    """A page of the engine's with each row turned into the console's."""
    return Page(tuple(map(row, found.rows)), found.next, found.as_of)


def counted(found: desk.Capped) -> Counted:
    """A capped count."""
    return Counted(found.count, found.more)


def thread_row(row: desk.ThreadRow) -> ThreadRow:
    """A thread of a list."""
    return ThreadRow(
        id=row.thread_id,
        tenant=row.tenant,
        state=ThreadState[row.status.name],
        holder=row.holder,
        lease_left=row.lease_left,
        token=row.token,
        events=row.events,
        updated_at=row.updated_at,
        age=row.age,
        checkpoint=row.latest_id,
        run=row.latest_run_id,
    )


def tombstone_row(row: desk.TombstoneRow) -> TombstoneRow:
    """A deleted id."""
    return TombstoneRow(row.thread_id, row.continues_at, row.deleted_at, row.age, row.reused, row.refusals)


def story(detail: desk.ThreadDetail, claim: ClaimStory | None, held: Held | Failed | None) -> ThreadStory:
    """All about one thread."""
    children, queue = detail.children, detail.queue
    return ThreadStory(
        thread=detail.thread_id,
        row=None if detail.row is None else thread_row(detail.row),
        parent=detail.parent,
        claim=claim,
        refusals=None if detail.refusal is None else refusals(detail.refusal),
        checkpoints=tuple(map(_checkpoint, detail.checkpoints)),
        writes=tuple(
            Write(str(row.n), row.task_id, row.node_id, row.body, row.size) for row in detail.writes
        ),
        effects=tuple(map(_effect, detail.effects)),
        metadata=tuple(sorted(detail.metadata.items())),
        first_seq=detail.first_seq,
        next_seq=detail.next_seq,
        floor_seq=detail.floor_seq,
        tombstone=None if detail.tombstone is None else _tombstone(detail.tombstone),
        children=0 if children is None else len(children.rows),
        queue=() if queue is None else tuple(map(queue_row, queue.rows)),
        as_of=detail.as_of,
        more=_more(detail),
        held=held,
    )


def _more(detail: desk.ThreadDetail) -> frozenset[str]:
    further = {
        "checkpoints": detail.more_checkpoints,
        "writes": detail.more_writes,
        "effects": detail.more_effects,
        "children": detail.children is not None and detail.children.next is not None,
        "queue": detail.queue is not None and detail.queue.next is not None,
    }
    return frozenset(part for part, more in further.items() if more)


def refusals(refusal: desk.RefusalDetail) -> Refusals:
    """Late writers that were turned away."""
    return Refusals(refusal.count, refusal.last_token, refusal.last_verb, refusal.last_at)


def _tombstone(tombstone: desk.TombstoneDetail) -> Tombstone:
    return Tombstone(tombstone.next_first_seq, tombstone.deleted_at)


def _checkpoint(row: desk.CheckpointRow) -> Checkpoint:
    return Checkpoint(
        id=row.checkpoint_id,
        place=row.place,
        run=row.run_id,
        status=row.status.name,
        parent=row.parent,
        token=row.token,
        committed_at=row.committed_at,
        size=row.size,
    )


def _effect(row: desk.EffectRow) -> Effect:
    return Effect(row.key, row.value, row.size, row.run_id, row.token, row.committed_at)


def batch(found: desk.EventPage, rows: tuple[desk.EventRow, ...]) -> EventBatch:
    """What a tail read: `rows` are those of the page, oldest first."""
    dropped = found.received - len(rows)
    return EventBatch(
        tuple(map(_event, rows)),
        found.position,
        found.received,
        dropped,
        found.as_of,
        found.before,
        gaps=found.gaps,
        behind=found.behind,
        searched=found.searched,
        held=lasting(found.held),
    )


def first_batch(found: desk.EventPage) -> EventBatch:
    """What a tail begins with: of the log before it nothing was received, dropped or missing."""
    made = batch(found, found.rows)
    return replace(made, received=len(made.rows), dropped=0, gaps=0, behind=0)


def _event(row: desk.EventRow) -> EventRow:
    return EventRow(
        position=row.position,
        thread=row.thread_id,
        tenant=row.tenant,
        seq=row.seq,
        kind=row.kind,
        run=row.run_id,
        checkpoint=row.checkpoint_id,
        token=row.token,
        at=row.committed_at,
        own=row.timestamp,
        payload=row.payload,
        size=row.size,
    )
