"""Late writers of a thread that were turned away, as far as they were counted (ruling 20)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.tables import refusal
from engine.clock import from_ns
from engine.database.statement import Statement
from engine.desk.views import RefusalDetail

if TYPE_CHECKING:
    from sqlalchemy import Connection

_REFUSAL: Final = Statement(select(refusal).where(refusal.c.thread_id == bindparam("id")))


def refusal_of(connection: Connection, thread_id: str) -> RefusalDetail | None:
    """What is known of the thread's late writers; None when none was turned away."""
    row = _REFUSAL.one(connection, id=thread_id)
    if row is None:
        return None
    return RefusalDetail(row.count, row.last_token, row.last_verb, from_ns(row.last_at))
