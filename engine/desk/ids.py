"""Threads whose id begins with a prefix, by id: a bounded stretch of the key's own order (ruling 24)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, literal, select

from engine.checkpoints.tables import thread
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.database.columns import check_id
from engine.desk.filters import after_prefix
from engine.desk.pages import count, counting, header
from engine.desk.rows import shown, thread_row
from engine.desk.sources import conditions, parameters
from engine.desk.views import MAX_DRIVEN, Page
from engine.errors import ValidationError
from engine.paging import decode_cursor, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

    from engine.desk.filters import ThreadFilter
    from engine.desk.views import Capped, ThreadRow


def threads_by_id(
    connection: Connection, wanted: ThreadFilter, after: str | None, limit: int
) -> Page[ThreadRow]:
    """At most `limit` threads of a prefix, by id; ValidationError when 10,000 ids do not fill the page."""
    found = connection.execute(_page(wanted, after, limit + 1), _values(connection, wanted, after)).all()
    rows = sorted((row for row in found if row.thread_id is not None), key=lambda row: str(row.thread_id))
    if len(rows) <= limit and found[0].looked > MAX_DRIVEN:
        problem = (
            f"{len(rows)} of the first {MAX_DRIVEN} ids with {wanted.prefix!r} match; use a longer prefix"
        )
        raise ValidationError("prefix", (problem,))
    following = encode_cursor(rows[limit - 1].thread_id) if len(rows) > limit else None
    return Page(tuple(map(thread_row, rows[:limit])), following, from_ns(found[0].now))


def count_by_id(connection: Connection, wanted: ThreadFilter) -> Capped:
    """How many of the first 10,000 ids with the prefix match; `more` when there are further ids."""
    stretch = _stretch(wanted, None)
    matching = (
        select(literal(1))
        .where(*_within(wanted, None, stretch), *conditions(thread.c, wanted))
        .order_by(thread.c.thread_id)
    )
    return count(connection, counting(matching, _looked(stretch)), _values(connection, wanted, None))


def _page(wanted: ThreadFilter, after: str | None, most: int) -> Select[Any]:
    stretch = _stretch(wanted, after)
    rows = (
        select(*shown(thread.c))
        .where(*_within(wanted, after, stretch), *conditions(thread.c, wanted))
        .order_by(thread.c.thread_id)
        .limit(most)
        .subquery("page")
    )
    return header(rows, _looked(stretch).label("looked"))


def _stretch(wanted: ThreadFilter, after: str | None) -> Any:
    """The first ids past the cursor, listed or not: where this page's looking ends."""
    ids = select(thread.c.thread_id).where(*_range(wanted, after)).order_by(thread.c.thread_id)
    stretch = ids.limit(MAX_DRIVEN + 1).subquery("stretch")
    edge = func.max(stretch.c.thread_id).label("edge")
    return select(edge, func.count().label("looked")).select_from(stretch).cte("edge")


def _looked(stretch: Any) -> ColumnElement[Any]:
    return select(stretch.c.looked).scalar_subquery()


def _within(wanted: ThreadFilter, after: str | None, stretch: Any) -> list[ColumnElement[bool]]:
    return [*_range(wanted, after), thread.c.thread_id <= select(stretch.c.edge).scalar_subquery()]


def _range(wanted: ThreadFilter, after: str | None) -> list[ColumnElement[bool]]:
    assert wanted.prefix is not None
    key = thread.c.thread_id
    start = key >= bindparam("start") if after is None else key > bindparam("start")
    return [start] if after_prefix(wanted.prefix) is None else [start, key < bindparam("end")]


def _values(connection: Connection, wanted: ThreadFilter, after: str | None) -> dict[str, Any]:
    assert wanted.prefix is not None
    start = wanted.prefix if after is None else check_id("after", str(decode_cursor(after, str)[0]))
    bounds = {"start": start, "end": after_prefix(wanted.prefix), "now": backend_of(connection).now()}
    return parameters(wanted) | bounds
