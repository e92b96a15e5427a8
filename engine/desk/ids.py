"""Threads whose id begins with a prefix, by id: a bounded stretch of the key's own order (ruling 24)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import literal, select

from engine.checkpoints.listing import MAX_DRIVEN, header
from engine.checkpoints.prefix import IdRange, check_stretch, stretch, stretch_size
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.desk.pages import count, counting
from engine.desk.rows import shown, thread_row
from engine.desk.sources import conditions, parameters
from engine.desk.views import Page
from engine.paging import decode_cursor, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.filters import ThreadFilter
    from engine.desk.views import Capped, ThreadRow


def threads_by_id(
    connection: Connection, wanted: ThreadFilter, after: str | None, limit: int
) -> Page[ThreadRow]:
    """At most `limit` threads of a prefix, by id; ValidationError when 10,000 ids do not fill the page."""
    prefix = _prefix(wanted)
    ids = IdRange.of(prefix, None if after is None else str(decode_cursor(after, str)[0]))
    page = stretch(ids, MAX_DRIVEN)
    matching = select(*shown(page.c)).where(*conditions(page.c, wanted)).order_by(page.c.thread_id)
    statement = header(
        matching.limit(limit + 1).subquery("page"), stretch_size(ids, MAX_DRIVEN).label("looked")
    )
    found = connection.execute(statement, _values(connection, wanted, ids)).all()
    rows = sorted((row for row in found if row.thread_id is not None), key=lambda row: str(row.thread_id))
    check_stretch(prefix, len(rows), limit, found[0].looked, MAX_DRIVEN)
    following = encode_cursor(rows[limit - 1].thread_id) if len(rows) > limit else None
    return Page(tuple(map(thread_row, rows[:limit])), following, from_ns(found[0].now))


def count_by_id(connection: Connection, wanted: ThreadFilter) -> Capped:
    """How many of the first 10,000 ids with the prefix match; `more` when there are further ids."""
    ids = IdRange.of(_prefix(wanted), None)
    page = stretch(ids, MAX_DRIVEN)
    matching = select(literal(1)).select_from(page).where(*conditions(page.c, wanted))
    statement = counting(matching, stretch_size(ids, MAX_DRIVEN))
    return count(connection, statement, _values(connection, wanted, ids))


def _prefix(wanted: ThreadFilter) -> str:
    assert wanted.prefix is not None
    return wanted.prefix


def _values(connection: Connection, wanted: ThreadFilter, ids: IdRange) -> dict[str, Any]:
    return parameters(wanted) | ids.values | {"now": backend_of(connection).now()}
