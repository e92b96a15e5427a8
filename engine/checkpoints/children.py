"""Children: threads whose latest checkpoint names a parent, as adopted (checkpoints-operations.md 2.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select

from engine.checkpoints.tables import child_place
from engine.database.backend import backend_of
from engine.database.constructs import Counter, Next
from engine.database.statement import Statement

if TYPE_CHECKING:
    from sqlalchemy import Connection

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
