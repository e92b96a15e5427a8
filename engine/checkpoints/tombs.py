"""What deleted threads left behind, for the operator (checkpoints-operations.md 1 and 2.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, bindparam, select, true, tuple_

from engine.checkpoints.registry_model import MAX_LIMIT, Tombstone
from engine.checkpoints.tables import BURIED, thread
from engine.clock import from_ns
from engine.database.columns import check_optional_id
from engine.database.statement import Statement
from engine.errors import ValidationError
from engine.paging import check_limit

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.store import Store

_PAGE = (
    select(thread.c.thread_id, thread.c.tomb_first, thread.c.deleted_at)
    .where(BURIED)
    .order_by(thread.c.deleted_at, thread.c.thread_id)
    .limit(bindparam("most", type_=BigInteger))
)
_FIRST = Statement(_PAGE)
_OF = thread.alias("of_cursor")
_CURSOR = (
    select(_OF.c.deleted_at, _OF.c.thread_id)
    .where(_OF.c.thread_id == bindparam("after"), _OF.c.deleted_at.is_not(None))
    .cte("cursor")
)
_BEHIND = tuple_(thread.c.deleted_at, thread.c.thread_id) > tuple_(
    select(_CURSOR.c.deleted_at).scalar_subquery(), select(_CURSOR.c.thread_id).scalar_subquery()
)
_REST = _PAGE.where(_BEHIND).subquery("page")
# One statement, hence one snapshot. No row at all: the cursor's tombstone is gone.
_NEXT = Statement(select(*_REST.c).select_from(_CURSOR.outerjoin(_REST, true())))


def tombstones(store: Store, *, after: str | None = None, limit: int = 100) -> list[Tombstone]:
    """At most `limit` (1 to 1000) tombstones of the whole store, longest deleted first.

    `after` is the last id of the page before; ValidationError when its tombstone was reclaimed meanwhile. An
    id that lives again keeps its tombstone until a sweep finds it without data.
    """
    return store.checkpoints.tombstones(after=after, limit=limit)


def list_tombstones(connection: Connection, after: str | None, limit: int) -> list[Tombstone]:
    """The verb of `tombstones`."""
    check_limit(limit, MAX_LIMIT)
    check_optional_id("after", after)
    if after is None:
        rows = _FIRST.all(connection, most=limit)
    else:
        rows = _NEXT.all(connection, after=after, most=limit)
        if not rows:
            raise ValidationError("after", (f"{after!r} has no tombstone; start again without it",))
    return [
        Tombstone(row.thread_id, row.tomb_first, from_ns(row.deleted_at))
        for row in rows
        if row.thread_id is not None
    ]
