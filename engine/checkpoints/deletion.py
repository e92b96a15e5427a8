"""Deleting one thread: all goes but a tombstone that numbering continues from (checkpoints.md 2.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, null, update

from engine.arguments import of_kind, whole
from engine.checkpoints.claims import DROP_REFUSALS, LOCK, hold_current
from engine.checkpoints.commits import commit
from engine.checkpoints.events import COMPACT_STEP, raise_floor
from engine.checkpoints.mark import mark_over
from engine.checkpoints.model import CheckpointStatus, Commit, Fence, Origin
from engine.checkpoints.tables import (
    checkpoint,
    child_place,
    effect,
    event,
    pending_write,
    tenant_of,
    thread,
    thread_metadata,
)
from engine.database.columns import check_id
from engine.database.constructs import Now
from engine.database.hints import hint
from engine.database.statement import Statement
from engine.errors import StaleClaim

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, Connection

_ID: BindParameter[str] = bindparam("id")
_CONTENT = tuple(
    Statement(delete(table).where(table.c.thread_id == _ID))
    for table in (checkpoint, pending_write, event, effect, thread_metadata)
)
# A tombstone holds a number and a time, nothing more (ruling 20).
_KEPT = {
    "thread_id",
    "tomb_first",
    "deleted_at",
    "last_place",
    "next_write",
    "metadata_keys",
    "claim_tenant_recorded",
}
_BURY = Statement(
    update(thread)
    .where(thread.c.thread_id == _ID, thread.c.claim_token == bindparam("held"))
    .values(
        {
            **{column: null() for column in thread.c if column.key not in _KEPT},
            thread.c.tomb_first: bindparam("first"),
            thread.c.deleted_at: Now(),
            thread.c.last_place: 0,
            thread.c.next_write: 0,
            thread.c.metadata_keys: 0,
            thread.c.claim_tenant_recorded: False,
        }
    )
)
_DROP = Statement(delete(thread).where(thread.c.thread_id == _ID, thread.c.claim_token == bindparam("held")))
_DROP_PLACES = Statement(delete(child_place).where(child_place.c.child_id == _ID))


def delete_thread(connection: Connection, thread_id: str, token: int, fence: Fence | None = None) -> bool:
    """Remove the claimed thread; StaleClaim of it, then of the fence, before anything is touched.

    A log of more than one step is shortened by one step a call, behind a DELETING checkpoint that tells
    everybody; True once the thread is gone (ruling 18).
    """
    row = held(connection, thread_id, token, fence)
    if shortened(connection, thread_id, token, row):
        return False
    for statement in _CONTENT:
        statement.count(connection, id=thread_id)
    bury(connection, thread_id, token, row)
    hint(connection, thread_id)
    return True


def shortened(connection: Connection, thread_id: str, token: int, row: Any) -> int:
    """One step of a log that is too long to go at once, behind the mark: how many events it took, mostly 0."""
    if row.first_seq is None or row.next_seq - row.floor_seq <= COMPACT_STEP:
        return 0
    mark_deleting(connection, thread_id, token, row)
    raise_floor(connection, thread_id, row.floor_seq, row.next_seq)
    return COMPACT_STEP


def mark_deleting(connection: Connection, thread_id: str, token: int, row: Any) -> None:
    """Commit the deletion mark over the latest checkpoint, once; a thread without a checkpoint needs none."""
    if row.latest_id is not None and row.latest_status != CheckpointStatus.DELETING.value:
        put_mark(connection, thread_id, token, row)


def put_mark(connection: Connection, thread_id: str, token: int, row: Any) -> None:
    """Commit the holder's mark over the latest checkpoint, also over another's mark."""
    mark = mark_over(
        thread_id,
        row.latest_id,
        run_id=row.claim_holder,
        token=token,
        tenant=tenant_of(row.tenant_key),
        origin=None if row.parent_id is None else Origin(row.parent_id),
    )
    commit(connection, thread_id, Commit(token, mark))


def held(connection: Connection, thread_id: str, token: int, fence: Fence | None) -> Any:
    """The thread's row, locked, with its claim and then the fence's checked."""
    whole("token", token)
    if fence is not None:
        of_kind("fence", fence, Fence)
    row = LOCK.one(connection, id=check_id("thread_id", thread_id))
    current = None if row is None else row.claim_token
    if current != token:
        raise StaleClaim(thread_id, token, current)
    if fence is not None:
        hold_current(connection, fence.thread_id, fence.token)
    return row


def bury(connection: Connection, thread_id: str, token: int, row: Any) -> None:
    """Leave the tombstone, or nothing where no incarnation of the id ever numbered an event.

    One number is skipped, so that a reader who saw everything and one who waits for the next thread have
    cursors that differ (checkpoints.md 1.5).
    """
    first = row.tomb_first if row.first_seq is None else row.next_seq + 1
    if first is not None:
        _BURY.count(connection, id=thread_id, held=token, first=first)
        return
    _DROP.count(connection, id=thread_id, held=token)
    _DROP_PLACES.count(connection, id=thread_id)
    DROP_REFUSALS.count(connection, id=thread_id)
