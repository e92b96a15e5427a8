"""Who holds claims, and how many: the index on holders, read in bounded stretches (console.md F6, F9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, case, func, literal_column, select

from engine.checkpoints.listing import MAX_DRIVEN, NOW, header, size_of
from engine.checkpoints.tables import CLAIMED, thread
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.database.columns import Identifier
from engine.desk.claim_views import HolderRow
from engine.desk.views import MAX_PAGE, Page
from engine.paging import check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, Connection, Select

_AFTER: Final[BindParameter[str]] = bindparam("after", type_=Identifier)


def holders(connection: Connection, after: str | None, limit: int) -> Page[HolderRow]:
    """At most `limit` (1 to 200) holders of claims, by name, from the next 10,000 claims.

    A page may end early where those claims do; `next` then goes on with the first holder that was not read
    whole. A holder with more claims than that has a row of its own page, with `more` set.
    """
    check_limit(limit, MAX_PAGE)
    start = "" if after is None else str(decode_cursor(after, str)[0])
    values = {"after": start, "now": backend_of(connection).now()}
    found = connection.execute(_page(first=after is None), values).all()
    full = found[0].looked > MAX_DRIVEN
    rows = sorted((row for row in found if row.holder is not None), key=lambda row: str(row.holder))
    # The last holder of a full stretch may go on behind it; one that fills the stretch alone is shown as it is.
    whole = rows[:-1] if full and len(rows) > 1 else rows
    kept = whole[:limit]
    following = encode_cursor(kept[-1].holder) if full or len(whole) > limit else None
    alone = full and len(rows) == 1
    return Page(tuple(_holder_row(row, more=alone) for row in kept), following, from_ns(found[0].now))


def _page(*, first: bool) -> Select[Any]:
    begin = thread.c.claim_holder >= _AFTER if first else thread.c.claim_holder > _AFTER
    stretch = (
        select(
            thread.c.claim_holder, thread.c.claim_expires_at, thread.c.claim_renewed_at, thread.c.thread_id
        )
        .where(CLAIMED, begin)
        .order_by(thread.c.claim_holder, thread.c.thread_id)
        .limit(literal_column(str(MAX_DRIVEN + 1)))
        .cte("stretch")
    )
    live = case((stretch.c.claim_expires_at > NOW, 1), else_=0)
    rows = select(
        stretch.c.claim_holder.label("holder"),
        func.count().label("number"),
        func.sum(live).label("live"),
        func.min(stretch.c.claim_expires_at).label("first_expiry"),
        func.max(stretch.c.claim_renewed_at).label("last_renewal"),
    ).group_by(stretch.c.claim_holder)
    return header(rows.subquery("rows"), size_of(stretch).label("looked"))


def _holder_row(row: Any, *, more: bool) -> HolderRow:
    live = int(row.live)
    return HolderRow(
        row.holder,
        live,
        int(row.number) - live,
        more,
        from_ns(row.first_expiry),
        from_ns(row.last_renewal),
    )
