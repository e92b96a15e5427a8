"""Children: threads whose latest checkpoint names a parent, as adopted (checkpoints-operations.md 2.1).

What is listed is said by the children's own rows; `child_place` only keeps each child's place under each
parent, so that a cursor works for a child that has left or was deleted (ruling 25).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, insert, select, true

from engine.arguments import whole
from engine.checkpoints.tables import CHILD, child_place, thread
from engine.database.backend import backend_of
from engine.database.columns import check_id, check_optional_id
from engine.database.constructs import Counter, Next
from engine.database.statement import Statement
from engine.errors import ValidationError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

MAX_CHILDREN: Final = 2**31 - 1  # of one page; the caller's limit is the bound

_PLACE = Statement(
    select(child_place.c.position).where(
        child_place.c.parent_id == bindparam("parent"), child_place.c.child_id == bindparam("child")
    )
)
_ADOPT = Statement(
    insert(child_place)
    .values(
        parent_id=bindparam("parent"),
        child_id=bindparam("child"),
        position=Next(Counter.CHILD),
    )
    .returning(child_place.c.position)
)


def _page() -> Select[Any]:
    return (
        select(thread.c.thread_id)
        .where(thread.c.parent_id == bindparam("parent"), CHILD)
        .order_by(thread.c.child_position)
        .limit(bindparam("most", type_=BigInteger))
    )


_FIRST = Statement(_page())
_CURSOR = (
    select(child_place.c.position)
    .where(child_place.c.parent_id == bindparam("parent"), child_place.c.child_id == bindparam("after"))
    .cte("cursor")
)
_REST = _page().where(thread.c.child_position > select(_CURSOR.c.position).scalar_subquery()).subquery("page")
# One statement, hence one snapshot. No row at all: the cursor has no place under this parent.
_NEXT = Statement(select(_CURSOR.c.position, _REST.c.thread_id).select_from(_CURSOR.outerjoin(_REST, true())))


def children(connection: Connection, parent: str, after: str | None, limit: int) -> list[str]:
    """At most `limit` direct children, earliest adopted first, behind the child `after`.

    A limit below 1 answers [] before the cursor is looked at; ValidationError for a cursor that has no place
    under this parent: never adopted by it, or reclaimed.
    """
    check_id("parent", parent)
    check_optional_id("after", after)
    if whole("limit", limit) < 1:
        return []
    most = min(limit, MAX_CHILDREN)
    if after is None:
        return [row.thread_id for row in _FIRST.all(connection, parent=parent, most=most)]
    rows = _NEXT.all(connection, parent=parent, after=after, most=most)
    if not rows:
        problem = f"{after!r} has no place among the children of {parent!r}; start again without it"
        raise ValidationError("after", (problem,))
    return [row.thread_id for row in rows if row.thread_id is not None]


def adopt(connection: Connection, parent: str | None, child: str) -> int | None:
    """The child's place under `parent`: its old one, or the next under the numbering lock (ruling 7)."""
    if parent is None:
        return None
    known = _PLACE.one(connection, parent=parent, child=child)
    if known is not None:
        return int(known.position)
    backend = backend_of(connection)
    backend.lock_children(connection, parent)
    row = _ADOPT.one(connection, parent=parent, child=child)
    assert row is not None
    backend.advance(connection, Counter.CHILD)
    return int(row.position)
