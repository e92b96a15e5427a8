"""Forgetting a tombstone: its row and places go, the store-wide mark takes over its number (2.6, 2.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BindParameter, and_, bindparam, delete, select, update

from engine.checkpoints.claims import LOCK
from engine.checkpoints.tables import child_place, effect, meta, refusal, thread, thread_metadata
from engine.clock import span_ns
from engine.database.columns import check_id
from engine.database.constructs import Now
from engine.database.statement import Statement

if TYPE_CHECKING:
    from datetime import timedelta

    from sqlalchemy import ColumnElement, Connection, FromClause, Table

LONGEST: Final = 2**62
"""Nanoseconds, 146 years: a longer age is cut to it, so that no clock's reading less the age leaves 64 bits."""

_ID: BindParameter[str] = bindparam("id")


def bare_tombstone(rows: FromClause) -> ColumnElement[bool]:
    """Only a number and a time: a claim, a checkpoint, an event, an effect or metadata is data under the id."""
    held = (
        rows.c.claim_token,
        rows.c.latest_id,
        rows.c.first_seq,
        _one(effect, rows),
        _one(thread_metadata, rows),
    )
    return and_(rows.c.deleted_at.is_not(None), *(each.is_(None) for each in held))


def _one(table: Table, rows: FromClause) -> ColumnElement[str]:
    """A scalar, not EXISTS, which PostgreSQL may answer by hashing the whole table for one page of threads."""
    return select(table.c.thread_id).where(table.c.thread_id == rows.c.thread_id).limit(1).scalar_subquery()


_DUE = Statement(
    select(thread.c.tomb_first)
    .where(thread.c.thread_id == _ID, bare_tombstone(thread))
    .where(thread.c.deleted_at < Now() - bindparam("age", type_=thread.c.deleted_at.type))
)
_BARE = Statement(
    select(thread.c.tomb_first).where(
        thread.c.thread_id == _ID, bare_tombstone(thread), thread.c.deleted_at == bindparam("since")
    )
)
_GONE: tuple[Statement, ...] = (
    Statement(delete(thread).where(thread.c.thread_id == _ID)),
    Statement(delete(child_place).where(child_place.c.child_id == _ID)),
    Statement(delete(refusal).where(refusal.c.thread_id == _ID)),
)
_RAISE_MARK = Statement(
    update(meta)
    .where(meta.c.reclamation_mark < bindparam("first"))
    .values(reclamation_mark=bindparam("first"))
)


def reclaim(connection: Connection, thread_id: str, age: timedelta) -> bool:
    """Drop the tombstone if it is strictly older than `age` and alone under the id; True if it went.

    Looked at again under the row's lock: a first commit takes the same lock before it reads the mark, so it
    sees either the tombstone or the raised mark.
    """
    LOCK.one(connection, id=thread_id)
    due: Any = _DUE.one(connection, id=thread_id, age=min(span_ns(age), LONGEST))
    if due is None:
        return False
    _drop(connection, thread_id, due.tomb_first)
    return True


def reclaim_shown(connection: Connection, thread_id: str, deleted_at: int) -> tuple[Any, bool]:
    """Drop the tombstone if it still is the one of this delete (ns) and alone under the id (ruling 54).

    The thread's row as it stood under its lock, None where there is none, and whether it went.
    """
    row = LOCK.one(connection, id=check_id("thread_id", thread_id))
    due: Any = _BARE.one(connection, id=thread_id, since=deleted_at)
    if due is None:
        return row, False
    _drop(connection, thread_id, due.tomb_first)
    return row, True


def _drop(connection: Connection, thread_id: str, first: int) -> None:
    for statement in _GONE:
        statement.count(connection, id=thread_id)
    _RAISE_MARK.count(connection, first=first)
