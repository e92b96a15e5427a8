"""Listing the run queue: by the time an entry is due, by its lease's end, by its state or by its thread.

A page picks from a stretch of an index behind the cursor, as claims do; a thread's entries are its open ones
together with those that recorded a run, for the table of runs is kept by thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import literal_column, select, tuple_

from engine.checkpoints.listing import BEYOND, ID, MAX_DRIVEN, MOST, UPDATED, header, size_of
from engine.checkpoints.model import Unset
from engine.checkpoints.queue_model import QueueState
from engine.checkpoints.registry_model import position
from engine.checkpoints.tables import queue_entry
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.database.constructs import Likely
from engine.desk.queue_rows import ENTRY, queue_row, shown_of_entry
from engine.desk.queue_thread import conditions_of, page_of_thread
from engine.desk.views import MAX_PAGE, Page
from engine.errors import ValidationError
from engine.paging import check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, Connection, Select

    from engine.desk.queue_views import QueueFilter, QueueRow

_TIMES: Final[dict[QueueState, str]] = {QueueState.QUEUED: "available_at", QueueState.LEASED: "lease_until"}
"""The states whose index is in the order of a time."""


def queue(
    connection: Connection,
    wanted: QueueFilter,
    after: str | None,
    limit: int,
    now: int | None = None,
) -> Page[QueueRow]:
    """At most `limit` (1 to 200) entries behind the cursor, in the filter's order.

    ValidationError for a limit or cursor out of bounds, and where the next 10,000 entries do not fill a page.
    `now` (ns) is the moment of the view that this is a part of.
    """
    check_limit(limit, MAX_PAGE)
    moment = backend_of(connection).now() if now is None else now
    values = _values(wanted, after) | {"most": limit + 1, "now": moment}
    found = connection.execute(_page(wanted, limit), values).all()
    rows = sorted((row for row in found if row.id is not None), key=_order_of(wanted))
    _check_looked(wanted, found[0], len(rows), limit)
    following = _cursor(wanted, rows[limit - 1]) if len(rows) > limit else None
    return Page(tuple(map(queue_row, rows[:limit])), following, from_ns(found[0].now))


def _page(wanted: QueueFilter, limit: int) -> Select[Any]:
    most = MAX_DRIVEN + 1 if wanted.searches else limit + 1
    if wanted.thread_id is not None:
        entries, facts = page_of_thread(wanted, most)
    else:
        stretch = _stretch(wanted, most).cte("stretch")
        matching = select(stretch).where(*conditions_of(stretch.c, wanted))
        entries = matching.order_by(*_keys(stretch.c, wanted)).limit(MOST)
        facts = [size_of(stretch).label("looked"), literal_column("0").label("open")]
    page = entries.subquery("page")
    return header(select(*shown_of_entry(page.c)).subquery("rows"), *facts)


def _stretch(wanted: QueueFilter, most: int) -> Select[Any]:
    """The first entries behind the cursor in the order of the state's index, or in that of all ids."""
    keys = _keys(queue_entry.c, wanted)
    asked: list[ColumnElement[bool]] = []
    if wanted.state is not None and wanted.state not in _TIMES:
        # The state stands in the row values: as an equality, a planner may walk the ids of all states.
        word: ColumnElement[str] = literal_column(f"'{wanted.state.value}'")
        asked = [queue_entry.c.state <= word, tuple_(queue_entry.c.state, *keys) > tuple_(word, ID)]
        return select(*ENTRY).where(*asked).order_by(queue_entry.c.state, *keys).limit(most)
    if wanted.state is not None:
        asked.append(Likely(queue_entry.c.state == literal_column(f"'{wanted.state.value}'")))
        asked.append(tuple_(*keys) > tuple_(UPDATED, ID))
    else:
        asked.append(queue_entry.c.id > ID)
    return select(*ENTRY).where(*asked).order_by(*keys).limit(most)


def _time_of(wanted: QueueFilter) -> str | None:
    """The column of the time that orders the listing, if one does."""
    return None if wanted.state is None or wanted.thread_id is not None else _TIMES.get(wanted.state)


def _keys(c: Any, wanted: QueueFilter) -> tuple[ColumnElement[Any], ...]:
    time = _time_of(wanted)
    return (c.id,) if time is None else (c[time], c.id)


def _order_of(wanted: QueueFilter) -> Callable[[Any], Any]:
    time = _time_of(wanted)
    return lambda row: row.id if time is None else (getattr(row, time), row.id)


def _values(wanted: QueueFilter, after: str | None) -> dict[str, Any]:
    time, entry = -BEYOND, ""
    if after is not None and _time_of(wanted) is not None:
        time, entry = position(after)
    elif after is not None:
        entry = str(decode_cursor(after, str)[0])
    return {"updated": time, "id": entry, "thread": wanted.thread_id}


def _cursor(wanted: QueueFilter, row: Any) -> str:
    time = _time_of(wanted)
    return encode_cursor(row.id) if time is None else encode_cursor(getattr(row, time), row.id)


def _check_looked(wanted: QueueFilter, sizes: Any, found: int, limit: int) -> None:
    if sizes.open > MAX_DRIVEN:
        problem = f"has more than {MAX_DRIVEN} open entries; list by state instead"
        raise ValidationError("thread_id", (problem,))
    if wanted.searches and sizes.looked > MAX_DRIVEN and found <= limit:
        field = "state" if isinstance(wanted.tenant, Unset) else "tenant"
        problem = f"{found} of the next {MAX_DRIVEN} entries match; leave this filter out or name a thread"
        raise ValidationError(field, (problem,))
