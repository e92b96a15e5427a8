"""The listing of threads from its other end: longest untouched first, by the same indexes (console.md 5.2, key `G`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import false, select, union_all

from engine.checkpoints.listing import BEYOND, driven_size, header, oldest
from engine.checkpoints.registry_model import position
from engine.checkpoints.tables import thread
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.desk.rows import shown, thread_row
from engine.desk.sources import parameters, sources
from engine.desk.threads import check_driven
from engine.desk.views import MAX_PAGE, Page
from engine.errors import ValidationError
from engine.paging import check_limit, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from engine.checkpoints.listing import Source
    from engine.desk.filters import ThreadFilter
    from engine.desk.views import ThreadRow


def threads_from_end(
    connection: Connection, wanted: ThreadFilter, after: str | None, limit: int
) -> Page[ThreadRow]:
    """At most `limit` (1 to 200) threads after the cursor, oldest first: the rows of `threads`, last one first.

    ValidationError as there, and for a prefix or a pair of metadata, which are listed from their first row only.
    """
    check_limit(limit, MAX_PAGE)
    for field, asked in (("prefix", wanted.prefix), ("metadata", wanted.metadata)):
        if asked is not None:
            raise ValidationError(field, ("is listed from its first row only; leave it out",))
    values = parameters(wanted) | {"now": backend_of(connection).now(), "most": limit + 1}
    # All that `since` lets through lies behind this place, which a later cursor only moves on.
    updated, thread_id = (values["since"] or -BEYOND, "") if after is None else position(after)
    found = connection.execute(_page(sources(wanted)), values | {"updated": updated, "id": thread_id}).all()
    check_driven(wanted, found[0].looked)
    rows = [row for row in found if row.thread_id is not None]
    rows.sort(key=lambda row: (row.updated_at, row.thread_id))
    following = None
    if len(rows) > limit:
        following = encode_cursor(rows[limit - 1].updated_at, rows[limit - 1].thread_id)
    return Page(tuple(map(thread_row, rows[:limit])), following, from_ns(found[0].now))


def _page(found: list[Source]) -> Select[Any]:
    looked = driven_size(found).label("looked")
    arms = [oldest(source, shown(source.columns)).subquery() for source in found]
    if not arms:
        return header(select(*shown(thread.c)).where(false()).subquery("page"), looked)
    return header(union_all(*map(select, arms)).subquery("page") if len(arms) > 1 else arms[0], looked)
