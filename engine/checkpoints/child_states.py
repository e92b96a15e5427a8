"""A parent's children with their state and age: what child retention decides by (checkpoints-operations.md 2.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, bindparam, select

from engine.checkpoints.model import CheckpointStatus
from engine.checkpoints.tables import CHILD, thread
from engine.clock import from_span
from engine.database.columns import check_id
from engine.database.constructs import page_now
from engine.database.statement import Statement
from engine.paging import check_limit

if TYPE_CHECKING:
    from datetime import timedelta

    from sqlalchemy import Connection

MAX_STATES = 1000  # of one page

_PAGE = Statement(
    select(
        thread.c.thread_id,
        thread.c.latest_status,
        (page_now() - thread.c.updated_at).label("age"),
        thread.c.child_position,
    )
    .where(thread.c.parent_id == bindparam("parent"), CHILD)
    .where(thread.c.child_position > bindparam("after"))
    .order_by(thread.c.child_position)
    .limit(bindparam("most", type_=BigInteger))
)


@dataclass(frozen=True, slots=True)
class ChildState:
    """A child, its latest checkpoint's status, how long ago that was committed, and its place.

    `age` is by the store's clock. The place is where a listing goes on, whatever becomes of the child meanwhile.
    """

    thread_id: str
    status: CheckpointStatus
    age: timedelta
    place: int


def child_states(connection: Connection, parent: str, after: int, limit: int) -> list[ChildState]:
    """At most `limit` children, earliest adopted first, behind the place `after`; 0 begins."""
    most = check_limit(limit, MAX_STATES)
    rows = _PAGE.all(connection, parent=check_id("parent", parent), after=after, most=most)
    return [_state(row) for row in rows]


def _state(row: Any) -> ChildState:
    status = CheckpointStatus(row.latest_status)
    return ChildState(row.thread_id, status, from_span(row.age), row.child_position)
