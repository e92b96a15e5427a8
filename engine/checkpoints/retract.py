"""Taking back an open turn: all after the newest settled checkpoint (checkpoints.md 2.4, rulings 16, 71)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import and_, bindparam, delete, func, literal, select

from engine.checkpoints.model import SETTLED
from engine.checkpoints.tables import OPEN_ENTRY, checkpoint, queue_entry, queue_run
from engine.database.statement import Statement

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, Connection

_ID: BindParameter[str] = bindparam("id")
_SETTLED = (
    select(func.coalesce(func.max(checkpoint.c.place), literal(0)))
    .where(checkpoint.c.thread_id == _ID, checkpoint.c.status.in_([status.value for status in SETTLED]))
    .scalar_subquery()
)
# Runs that an open queue entry still asks about: the newest checkpoint of each stays.
_RECORDED = (
    select(queue_run.c.run_id)
    .join(queue_entry, and_(queue_entry.c.id == queue_run.c.entry_id, OPEN_ENTRY))
    .where(queue_run.c.thread_id == _ID)
)
_EVIDENCE = Statement(
    select(func.max(checkpoint.c.place).label("place"))
    .where(checkpoint.c.thread_id == _ID, checkpoint.c.run_id.in_(_RECORDED))
    .where(checkpoint.c.run_id != bindparam("closing"))
    .group_by(checkpoint.c.run_id)
)


def retract_turn(connection: Connection, thread_id: str, closing_run: str) -> None:
    """Drop the open turn; the closing checkpoint's own run will be evidenced by that checkpoint."""
    kept = [row.place for row in _EVIDENCE.all(connection, id=thread_id, closing=closing_run)]
    gone = delete(checkpoint).where(checkpoint.c.thread_id == _ID, checkpoint.c.place > _SETTLED)
    connection.execute(gone.where(checkpoint.c.place.not_in(kept)), {"id": thread_id})
