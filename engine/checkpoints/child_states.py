"""A parent's children with their state and age: what child retention decides by (checkpoints-operations.md 2.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, bindparam, func, select

from engine.checkpoints.model import CheckpointStatus
from engine.checkpoints.tables import CHILD, child_place, thread
from engine.clock import from_span
from engine.database.columns import check_id
from engine.database.constructs import page_now
from engine.database.statement import Statement
from engine.paging import check_limit

if TYPE_CHECKING:
    from datetime import timedelta

    from sqlalchemy import Connection

MAX_STATES = 1000  # of one page

_PLACE = (
    select(child_place.c.position)
    .where(child_place.c.parent_id == bindparam("parent"), child_place.c.child_id == bindparam("after"))
    .scalar_subquery()
)
_PAGE = Statement(
    select(thread.c.thread_id, thread.c.latest_status, (page_now() - thread.c.updated_at).label("age"))
    .where(thread.c.parent_id == bindparam("parent"), CHILD)
    .where(thread.c.child_position > func.coalesce(_PLACE, 0))
    .order_by(thread.c.child_position)
    .limit(bindparam("most", type_=BigInteger))
)


@dataclass(frozen=True, slots=True)
class ChildState:
    """A child, its latest checkpoint's status, and how long ago that was committed by the store's clock."""

    thread_id: str
    status: CheckpointStatus
    age: timedelta


def child_states(connection: Connection, parent: str, after: str | None, limit: int) -> list[ChildState]:
    """At most `limit` children, earliest adopted first, behind the child `after`."""
    most = check_limit(limit, MAX_STATES)
    rows = _PAGE.all(connection, parent=check_id("parent", parent), after=after or "", most=most)
    return [
        ChildState(row.thread_id, CheckpointStatus(row.latest_status), from_span(row.age)) for row in rows
    ]
