"""Emptying a thread that is going, in bounded steps, so that the transaction which deletes it is short (ruling 18)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, delete, select

from engine.checkpoints.deletion import held, mark_deleting, shortened
from engine.checkpoints.tables import checkpoint, effect
from engine.database.statement import Statement

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, Table

    from engine.checkpoints.model import Fence

CONTENT_STEP: Final = 1_000
"""Checkpoints, or effects, that go in one transaction: their bodies are large where events' are small."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A thread's rows of one table: the key of the first one beyond a step, and the step itself."""

    beyond: Statement
    drop: Statement


def _part(table: Table, key: Column[Any]) -> _Part:
    mine = table.c.thread_id == bindparam("id")
    beyond = select(key.label("key")).where(mine).order_by(key).limit(1).offset(bindparam("step"))
    return _Part(Statement(beyond), Statement(delete(table).where(mine, key < bindparam("key"))))


# Pending writes hang on the latest checkpoint only: the mark's commit takes them. Metadata is bounded by itself.
_PARTS: Final = (_part(checkpoint, checkpoint.c.place), _part(effect, effect.c.key))


def empty(connection: Connection, thread_id: str, token: int, fence: Fence | None = None) -> int:
    """One step of a thread that is too large to go at once: how many rows it took.

    0 where `delete_thread` now deletes all there is. The deletion mark stands before anything goes, and stays the
    latest checkpoint to the end; a thread without a checkpoint bears none, so that only its log is shortened before.
    """
    row = held(connection, thread_id, token, fence)
    events = shortened(connection, thread_id, token, row)
    if events or row.latest_id is None:
        return events
    for part in _PARTS:
        found: Any = part.beyond.one(connection, id=thread_id, step=CONTENT_STEP)
        if found is not None:
            mark_deleting(connection, thread_id, token, row)
            return part.drop.count(connection, id=thread_id, key=found.key)
    return 0
