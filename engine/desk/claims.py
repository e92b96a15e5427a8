"""Listing and counting claims by the index on their end, or on their holder (console.md F9, ruling 53).

A page picks from a stretch of an index behind the cursor. Where everything asked is in the index the stretch
is the page; else it holds at most 10,000 claims, and a page that they do not fill is an error that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, bindparam, literal, select, tuple_

from engine.checkpoints.listing import BEYOND, ID, MAX_DRIVEN, MOST, NOW, SINCE, header, size_of
from engine.checkpoints.model import Unset
from engine.checkpoints.registry_model import position
from engine.checkpoints.tables import CLAIMED, thread
from engine.clock import from_ns, to_ns
from engine.database.backend import backend_of
from engine.database.columns import Identifier, Instant
from engine.desk.claim_filter import Stored
from engine.desk.claim_rows import NEEDED, claim_row, shown_of_claim
from engine.desk.claim_views import ClaimState, ClaimTotals
from engine.desk.pages import capped, count, counting
from engine.desk.views import MAX_COUNT, MAX_PAGE, Capped, Page
from engine.errors import ValidationError
from engine.paging import check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import CTE, BindParameter, ColumnElement, Connection, Select

    from engine.desk.claim_filter import ClaimFilter
    from engine.desk.claim_views import ClaimRow

_EXPIRES: Final = bindparam("expires", type_=Instant)
_HOLDER: Final[BindParameter[str]] = bindparam("holder", type_=Identifier)
_TENANT: Final[BindParameter[str]] = bindparam("tenant", type_=Identifier)
_END: Final = thread.c.claim_expires_at
_NEEDED_TO_COUNT: Final = (_END, thread.c.thread_id, thread.c.claim_tenant, thread.c.latest_id)
"""What a filter may ask of a claim; without one the index alone answers."""
_RANGES: Final[dict[ClaimState, ColumnElement[bool]]] = {
    ClaimState.LIVE: _END > NOW,
    ClaimState.EXPIRED: _END <= NOW,
}


def claims(connection: Connection, wanted: ClaimFilter, after: str | None, limit: int) -> Page[ClaimRow]:
    """At most `limit` (1 to 200) claims behind the cursor: oldest expiry first, or by id for one holder.

    ValidationError for a limit or cursor out of bounds, and where the next 10,000 claims do not fill a page.
    """
    check_limit(limit, MAX_PAGE)
    values = _values(connection, wanted, after) | {"most": limit + 1}
    found = connection.execute(_page(wanted, limit), values).all()
    rows = sorted((row for row in found if row.thread_id is not None), key=_order_of(wanted))
    _check_looked(wanted, found[0].looked, len(rows), limit)
    following = _cursor(wanted, rows[limit - 1]) if len(rows) > limit else None
    made = tuple(claim_row(row, found[0].now) for row in rows[:limit])
    return Page(made, following, from_ns(found[0].now))


def count_claims(connection: Connection, wanted: ClaimFilter) -> Capped:
    """How many claims match; the count stops at 10,000, and where 10,000 were looked at."""
    stretch = _stretch(wanted, MAX_COUNT + 1, _NEEDED_TO_COUNT if wanted.searches else (thread.c.thread_id,))
    matching = select(literal(1)).select_from(stretch).where(*_conditions(stretch.c, wanted))
    return count(connection, counting(matching, size_of(stretch)), _values(connection, wanted, None))


def claim_totals(connection: Connection) -> ClaimTotals:
    """The live claims and those that are over, each counted up to 10,000."""
    # In the index's order, or a planner may read every claim through the other index to find enough.
    sizes = [
        size_of(select(_END).where(CLAIMED, asked).order_by(_END).limit(MAX_COUNT + 1).subquery())
        for asked in _RANGES.values()
    ]
    statement = select(NOW.label("now"), sizes[0].label("live"), sizes[1].label("expired"))
    found = connection.execute(statement, {"now": backend_of(connection).now()}).one()
    return ClaimTotals(capped(found.live), capped(found.expired), from_ns(found.now))


def _page(wanted: ClaimFilter, limit: int) -> Select[Any]:
    stretch = _stretch(wanted, MAX_DRIVEN + 1 if wanted.searches else limit + 1)
    matching = select(stretch).where(*_conditions(stretch.c, wanted))
    page = matching.order_by(*_keys(stretch.c, wanted)).limit(MOST).subquery("page")
    return header(select(*shown_of_claim(page.c)).subquery("rows"), size_of(stretch).label("looked"))


def _stretch(wanted: ClaimFilter, most: int, shown: Iterable[ColumnElement[Any]] = NEEDED) -> CTE:
    """The first claims behind the cursor in the index's own order, whatever else is asked of them."""
    # The holder stands in the row values, never as an equality: else a planner may walk the ids of the store.
    keys = _keys(thread.c, wanted)
    start: ColumnElement[Any] = _EXPIRES if wanted.holder is None else _HOLDER
    asked: list[ColumnElement[bool]] = [CLAIMED]
    if wanted.holder is not None:
        asked.append(thread.c.claim_holder <= _HOLDER)
    elif wanted.state is not None:
        asked.append(_RANGES[wanted.state])
        if wanted.expired_since is not None:
            asked.append(_END >= SINCE)
    asked.append(tuple_(*keys) > tuple_(start, ID))
    return select(*shown).where(*asked).order_by(*keys).limit(most).cte("stretch")


def _keys(c: Any, wanted: ClaimFilter) -> tuple[ColumnElement[Any], ...]:
    return (c.claim_expires_at if wanted.holder is None else c.claim_holder, c.thread_id)


def _conditions(c: Any, wanted: ClaimFilter) -> list[ColumnElement[bool]]:
    """All that the filter asks of a claim, for rows that the stretch holds together."""
    asked: list[ColumnElement[bool]] = []
    if wanted.holder is not None and wanted.state is not None:
        live = c.claim_expires_at > NOW
        asked.append(live if wanted.state is ClaimState.LIVE else ~live)
        if wanted.expired_since is not None:
            asked.append(c.claim_expires_at >= SINCE)
    if not isinstance(wanted.tenant, Unset):
        of_nobody = c.claim_tenant.is_(None)
        asked.append(of_nobody if wanted.tenant is None else c.claim_tenant == _TENANT)
    if wanted.stored is not None:
        alone = c.latest_id.is_(None)
        asked.append(alone if wanted.stored is Stored.CLAIM_ONLY else ~alone)
    return [and_(*asked)] if asked else []


def _values(connection: Connection, wanted: ClaimFilter, after: str | None) -> dict[str, Any]:
    since = -BEYOND if wanted.expired_since is None else to_ns(wanted.expired_since)
    # Whichever of the two lower bounds a planner goes by, it is as good as the other.
    expires, thread_id = max(-BEYOND, since - 1), ""
    if after is not None and wanted.holder is not None:
        thread_id = str(decode_cursor(after, str)[0])
    elif after is not None:
        expires, thread_id = position(after)
    tenant = None if isinstance(wanted.tenant, Unset) else wanted.tenant
    now = backend_of(connection).now()
    values = {"expires": expires, "id": thread_id, "holder": wanted.holder, "tenant": tenant, "now": now}
    return values | {"since": since}


def _order_of(wanted: ClaimFilter) -> Any:
    return lambda row: row.thread_id if wanted.holder is not None else (row.claim_expires_at, row.thread_id)


def _cursor(wanted: ClaimFilter, row: Any) -> str:
    if wanted.holder is not None:
        return encode_cursor(row.thread_id)
    return encode_cursor(row.claim_expires_at, row.thread_id)


def _check_looked(wanted: ClaimFilter, looked: int, found: int, limit: int) -> None:
    if not wanted.searches or looked <= MAX_DRIVEN or found > limit:
        return
    advice = "name a holder" if wanted.holder is None else "leave the other filters out"
    field = "tenant" if not isinstance(wanted.tenant, Unset) else "stored" if wanted.stored else "state"
    raise ValidationError(field, (f"{found} of the next {MAX_DRIVEN} claims match; {advice}",))
