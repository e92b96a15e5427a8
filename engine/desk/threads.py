"""Listing and counting threads: keyset pages newest first, each one statement (F6, rulings 24 and 58).

Every page is a header - the clock, and how large a bounded set was - joined to the rows, so that an empty
page has its header as well. Each source gives its own first rows in index order; at most six times a page
is merged here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import false, literal, select, union_all

from engine.checkpoints.listing import BEYOND, MAX_DRIVEN, driven_size, header, newest
from engine.checkpoints.registry_model import position
from engine.checkpoints.tables import thread
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.desk.ids import count_by_id, threads_by_id
from engine.desk.pages import count, counting
from engine.desk.pairs import check_window, count_of_pair, page_of_pair
from engine.desk.rows import shown, thread_row
from engine.desk.sources import parameters, sources
from engine.desk.views import MAX_COUNT, MAX_PAGE, Page
from engine.errors import ValidationError
from engine.paging import check_limit, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from engine.checkpoints.listing import Source
    from engine.desk.filters import ThreadFilter
    from engine.desk.views import Capped, ThreadRow


def threads(connection: Connection, wanted: ThreadFilter, after: str | None, limit: int) -> Page[ThreadRow]:
    """At most `limit` (1 to 200) threads after the cursor: newest first, or by id where a prefix is given.

    ValidationError for a limit or cursor out of bounds, and where a listing that is driven by claims, by a
    prefix or by a pair of metadata would have to look at more than 10,000 of them.
    """
    check_limit(limit, MAX_PAGE)
    if wanted.prefix is not None:
        return threads_by_id(connection, wanted, after, limit)
    updated, thread_id = (BEYOND, "") if after is None else position(after)
    values = parameters(wanted) | {"now": backend_of(connection).now()}
    values |= {"updated": updated, "id": thread_id, "most": limit + 1}
    by_pair = wanted.metadata is not None and wanted.holder is None
    statement = page_of_pair(wanted) if by_pair else _page(sources(wanted))
    found = connection.execute(statement, values).all()
    check_driven(wanted, found[0].looked)
    rows = [row for row in found if row.thread_id is not None]
    if by_pair:
        check_window(wanted, found[0].window, len(rows), limit)
    rows.sort(key=lambda row: (row.updated_at, row.thread_id), reverse=True)
    following = None
    if len(rows) > limit:
        following = encode_cursor(rows[limit - 1].updated_at, rows[limit - 1].thread_id)
    return Page(tuple(map(thread_row, rows[:limit])), following, from_ns(found[0].now))


def count_threads(connection: Connection, wanted: ThreadFilter) -> Capped:
    """How many threads match; the count stops at 10,000, and where a bounded set ends."""
    if wanted.prefix is not None:
        return count_by_id(connection, wanted)
    if wanted.metadata is not None and wanted.holder is None:
        return count_of_pair(connection, wanted)
    found = sources(wanted)
    arms = [select(_counted(source).subquery()) for source in found]
    matching = select(union_all(*arms).subquery("matching")) if arms else select(literal(1)).where(false())
    values = parameters(wanted) | {"now": backend_of(connection).now(), "updated": BEYOND, "id": ""}
    return count(connection, counting(matching, driven_size(found)), values)


def _page(found: list[Source]) -> Select[Any]:
    looked = driven_size(found).label("looked")
    arms = [newest(source, shown(source.columns)).subquery() for source in found]
    if not arms:
        return header(select(*shown(thread.c)).where(false()).subquery("page"), looked)
    return header(union_all(*map(select, arms)).subquery("page") if len(arms) > 1 else arms[0], looked)


def _counted(source: Source) -> Select[Any]:
    """Rows to be counted; in index order, or PostgreSQL might read the whole table to find enough."""
    one, most = literal(1).label("one"), MAX_COUNT + 1
    if source.driven is None:
        return newest(source, [one], most)
    return select(one).where(*source.members).limit(most)


def check_driven(wanted: ThreadFilter, looked: int) -> None:
    """ValidationError for a listing that would have to look at more claims than one page may."""
    if looked <= MAX_DRIVEN:
        return
    if wanted.holder is not None:
        raise ValidationError(
            "holder", (f"has more than {MAX_DRIVEN} claims; list by status or prefix instead",)
        )
    advice = "add a filter: a holder or a prefix, or ask for idle threads as well"
    raise ValidationError("statuses", (f"more than {MAX_DRIVEN} claims are live; {advice}",))
