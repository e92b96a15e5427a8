"""The direct children of a thread, as adopted (checkpoints-operations.md 2.1, rulings 25 and 72)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, select

from engine.checkpoints.listing import BEYOND, MOST, header
from engine.checkpoints.tables import CHILD, thread
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.database.columns import Identifier, check_id
from engine.database.statement import Statement
from engine.desk.rows import shown, thread_row
from engine.desk.views import MAX_PAGE, Page
from engine.paging import check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.views import ThreadRow

_PARENT: Final = bindparam("parent", type_=Identifier)
_AFTER: Final = bindparam("after", type_=BigInteger)
_CHILDREN: Final = Statement(
    header(
        select(*shown(thread.c), thread.c.child_position)
        .where(thread.c.parent_id == _PARENT, CHILD, thread.c.child_position > _AFTER)
        .order_by(thread.c.child_position)
        .limit(MOST)
        .subquery("page")
    )
)


def children(
    connection: Connection, parent: str, after: str | None, limit: int, now: int | None = None
) -> Page[ThreadRow]:
    """At most `limit` (1 to 200) direct children of any owner, earliest adopted first.

    The cursor is a place, not a child: it outlives the child. A parent nobody knows has none. `now` (ns) is
    the moment of the view that this is a part of.
    """
    check_limit(limit, MAX_PAGE)
    check_id("parent", parent)
    place = -BEYOND if after is None else int(decode_cursor(after, int)[0])
    moment = backend_of(connection).now() if now is None else now
    found = _CHILDREN.all(connection, parent=parent, after=place, most=limit + 1, now=moment)
    rows: list[Any] = [row for row in found if row.thread_id is not None]
    rows.sort(key=lambda row: int(row.child_position))
    following = encode_cursor(rows[limit - 1].child_position) if len(rows) > limit else None
    return Page(tuple(map(thread_row, rows[:limit])), following, from_ns(found[0].now))
