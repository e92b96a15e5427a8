"""Reading checkpoints: the latest with its writes, one by id, the history (checkpoints.md 2.5 to 2.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, case, func, select

from engine.arguments import whole
from engine.checkpoints.model import StoredCheckpoint
from engine.checkpoints.records import checkpoint_of, write_of
from engine.checkpoints.tables import checkpoint as checkpoints
from engine.checkpoints.tables import pending_write, thread
from engine.database.columns import check_id
from engine.database.statement import Statement
from engine.errors import CheckpointNotFound

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, Connection

    from engine.checkpoints.model import Checkpoint

_ID: BindParameter[str] = bindparam("id")
# One statement, hence one snapshot. The checkpoint's columns repeat with each write pending on it, but for the
# body: a megabyte of it with a hundred writes would be a hundred megabytes. The writes of a place count from 0.
_BODY_ONCE = case((func.coalesce(pending_write.c.n, 0) == 0, checkpoints.c.body))
_LATEST = Statement(
    select(
        *(column for column in checkpoints.c if column.key != "body"),
        _BODY_ONCE.label("body"),
        pending_write.c.n,
        pending_write.c.task_id,
        pending_write.c.node_id,
        pending_write.c.body.label("write_body"),
    )
    .select_from(thread)
    .join(
        checkpoints,
        and_(checkpoints.c.thread_id == thread.c.thread_id, checkpoints.c.place == thread.c.latest_place),
    )
    .outerjoin(
        pending_write,
        and_(pending_write.c.thread_id == thread.c.thread_id, pending_write.c.place == thread.c.latest_place),
    )
    .where(thread.c.thread_id == _ID)
    .order_by(pending_write.c.n)
)
_ONE = Statement(
    select(checkpoints).where(
        checkpoints.c.thread_id == _ID, checkpoints.c.checkpoint_id == bindparam("name")
    )
)
_PLACE = Statement(
    select(checkpoints.c.place).where(
        checkpoints.c.thread_id == _ID, checkpoints.c.checkpoint_id == bindparam("name")
    )
)
_PAGE = Statement(
    select(checkpoints)
    .where(checkpoints.c.thread_id == _ID, checkpoints.c.place < bindparam("before"))
    .order_by(checkpoints.c.place.desc())
    .limit(bindparam("most"))
)
_BEYOND = 2**63 - 1  # above every place


def latest(connection: Connection, thread_id: str) -> StoredCheckpoint | None:
    """The newest checkpoint and its pending writes in commit order; None without one."""
    rows = _LATEST.all(connection, id=check_id("thread_id", thread_id))
    if not rows:
        return None
    newest = checkpoint_of(rows[0])
    writes = [
        write_of(newest.id, row.task_id, row.node_id, row.write_body) for row in rows if row.n is not None
    ]
    return StoredCheckpoint(newest, writes)


def checkpoint(connection: Connection, thread_id: str, checkpoint_id: str) -> Checkpoint | None:
    """One checkpoint by id, or None."""
    check_id("checkpoint_id", checkpoint_id)
    row = _ONE.one(connection, id=check_id("thread_id", thread_id), name=checkpoint_id)
    return None if row is None else checkpoint_of(row)


def history(connection: Connection, thread_id: str, before: str | None, limit: int) -> list[Checkpoint]:
    """At most `limit` checkpoints, newest first, strictly older than `before`; else CheckpointNotFound."""
    check_id("thread_id", thread_id)
    whole("limit", limit)
    start = _BEYOND if before is None else _place(connection, thread_id, before)
    if limit < 1:
        return []
    return [
        checkpoint_of(row)
        for row in _PAGE.all(connection, id=thread_id, before=start, most=min(limit, _BEYOND))
    ]


def _place(connection: Connection, thread_id: str, checkpoint_id: str) -> int:
    row = _PLACE.one(connection, id=thread_id, name=check_id("before", checkpoint_id))
    if row is None:
        raise CheckpointNotFound(thread_id, checkpoint_id)
    return int(row.place)
