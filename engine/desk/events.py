"""Reading the event log of the store, or of one thread, by stretches (console.md F6, ruling 58).

A stretch is a run of stored events in the log's order: newer than a position, or older than one. What no index answers -
a tenant's events, some kinds - is looked for in stretches of 5,000; where there is nothing to look for, the stretch is
the page itself, and what lies between is counted from the positions alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, bindparam, func, select

from engine.checkpoints.model import Unset
from engine.checkpoints.records import instant_of
from engine.checkpoints.tables import event, tenant_key, tenant_of, thread
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.desk.detail import cut
from engine.desk.pages import header, size_of
from engine.desk.views import MAX_EVENTS, MAX_SEARCHED, EventPage, EventRow
from engine.errors import ValidationError
from engine.paging import check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, Connection, Select, Subquery

    from engine.desk.filters import EventFilter

END: Final = 2**63 - 1
"""Past every position."""
_SHOWN: Final[list[ColumnElement[Any]]] = [
    *(each for each in event.c if each.key not in {"payload", "position"}),
    *cut(event.c.payload, "payload"),
]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What lies above `low` and at or below `high`; `newest` says from which end it is read, `most` how far."""

    low: int
    high: int
    newest: bool
    most: int


def events(connection: Connection, wanted: EventFilter, after: str, limit: int) -> EventPage:
    """The newest `limit` (1 to 500) events after the position, oldest first.

    A filter without an index looks at the 5,000 events after the position; `position` says how far it came. Without one
    nothing is looked at but the page, and `received` counts what was passed over as well.
    """
    check_limit(limit, MAX_EVENTS)
    low = _decode(after)
    most = MAX_SEARCHED if wanted.searches else limit + 1
    stretch = _Stretch(low, _settled(connection, wanted), newest=not wanted.searches, most=most)
    found = _read(connection, wanted, stretch, limit)
    rows = _rows(found)
    top = max(low, found[0].top or 0)
    passed = top - low if not wanted.searches and found[0].looked > limit else found[0].matched
    return EventPage(
        rows=tuple(rows),
        position=encode_cursor(top),
        received=passed,
        as_of=from_ns(found[0].now),
        before=rows[0].position if rows else encode_cursor(low + 1),
    )


def newest(connection: Connection, wanted: EventFilter, limit: int) -> EventPage:
    """The log's newest page, oldest first: where a tail begins."""
    page = events_before(connection, wanted, None, limit)
    return replace(page, rows=page.rows[::-1])


def events_before(connection: Connection, wanted: EventFilter, position: str | None, limit: int) -> EventPage:
    """The newest `limit` (1 to 500) events before the position, newest first; None begins at the log's end.

    A filter without an index looks at 5,000 events; an empty page whose `before` is set says to look on from there.
    """
    check_limit(limit, MAX_EVENTS)
    high = _settled(connection, wanted) if position is None else _decode(position) - 1
    most = MAX_SEARCHED if wanted.searches else limit
    found = _read(connection, wanted, _Stretch(0, high, newest=True, most=most + 1), limit)
    rows = _rows(found)[::-1]
    return EventPage(
        rows=tuple(rows),
        position=encode_cursor(found[0].top or 0) if position is None else encode_cursor(high),
        received=found[0].matched,
        as_of=from_ns(found[0].now),
        before=_before(rows, found[0], most),
    )


def _before(rows: list[EventRow], found: Any, most: int) -> str | None:
    """Where looking back goes on: below the page where the stretch held more than it, else below the stretch."""
    if found.matched > len(rows):
        return rows[-1].position
    return encode_cursor(found.bottom) if found.looked > most else None


def _settled(connection: Connection, wanted: EventFilter) -> int:
    """The newest position that no commit still under way lies below."""
    return END


def _read(connection: Connection, wanted: EventFilter, stretch: _Stretch, limit: int) -> list[Any]:
    values: dict[str, Any] = {
        "thread_id": wanted.thread_id,
        "tenant": None if isinstance(wanted.tenant, Unset) else tenant_key(wanted.tenant),
        "kinds": sorted(wanted.kinds or ()),
        "low": stretch.low,
        "high": stretch.high,
        "limit": limit,
        "now": backend_of(connection).now(),
    }
    return list(connection.execute(_statement(wanted, stretch), values).all())


def _statement(wanted: EventFilter, stretch: _Stretch) -> Select[Any]:
    looked = _looked(wanted, stretch)
    matching = _matching(wanted, looked)
    rows = _chosen(wanted, matching) if wanted.searches else _newest(matching)
    owned = select(rows, thread.c.tenant_key).outerjoin_from(
        rows, thread, thread.c.thread_id == rows.c.thread_id
    )
    return header(
        owned.subquery("page"),
        size_of(looked).label("looked"),
        size_of(matching).label("matched"),
        select(func.max(looked.c.at)).scalar_subquery().label("top"),
        select(func.min(looked.c.at)).scalar_subquery().label("bottom"),
    )


def _looked(wanted: EventFilter, stretch: _Stretch) -> CTE:
    """The stretch: what a search needs of its events, or else all that a page shows."""
    key = _key(wanted)
    shown = [event.c.thread_id, event.c.kind] if wanted.searches else _SHOWN
    return (
        select(key.label("at"), *shown)
        .where(_scope(wanted), key > bindparam("low"), key <= bindparam("high"))
        .order_by(key.desc() if stretch.newest else key.asc())
        .limit(stretch.most)
        .cte("looked")
    )


def _newest(matching: CTE) -> Subquery:
    return select(matching).order_by(matching.c.at.desc()).limit(bindparam("limit")).subquery("newest")


def _chosen(wanted: EventFilter, matching: CTE) -> Subquery:
    newest = _newest(matching)
    here = and_(_scope(wanted), _key(wanted) == newest.c.at)
    return select(newest.c.at, *_SHOWN).select_from(newest).join(event, here).subquery("chosen")


def _matching(wanted: EventFilter, looked: CTE) -> CTE:
    if not wanted.searches:
        return looked
    chosen = select(looked.c.at)
    if not isinstance(wanted.tenant, Unset):
        owner = func.coalesce(thread.c.tenant_key, "")
        chosen = chosen.outerjoin(thread, thread.c.thread_id == looked.c.thread_id)
        chosen = chosen.where(owner == bindparam("tenant"))
    if wanted.kinds is not None:
        chosen = chosen.where(looked.c.kind.in_(bindparam("kinds", expanding=True)))
    return chosen.cte("matching")


def _key(wanted: EventFilter) -> ColumnElement[int]:
    """What orders the log: a thread's own numbers, or the store's positions."""
    return event.c.position if wanted.thread_id is None else event.c.seq


def _scope(wanted: EventFilter) -> ColumnElement[bool]:
    if wanted.thread_id is None:
        return event.c.position.is_not(None)
    return event.c.thread_id == bindparam("thread_id")


def _rows(found: list[Any]) -> list[EventRow]:
    rows = sorted((row for row in found if row.at is not None), key=lambda row: int(row.at))
    return list(map(_event_row, rows))


def _event_row(row: Any) -> EventRow:
    return EventRow(
        position=encode_cursor(row.at),
        thread_id=row.thread_id,
        tenant=tenant_of(row.tenant_key),
        seq=row.seq,
        kind=row.kind,
        run_id=row.run_id,
        checkpoint_id=row.checkpoint_id,
        token=row.token,
        timestamp=instant_of(row.timestamp),
        committed_at=from_ns(row.committed_at),
        payload=row.payload,
        size=row.size,
    )


def _decode(position: str) -> int:
    try:
        (at,) = decode_cursor(position, int)
    except ValidationError as error:
        raise ValidationError("position", error.problems) from error
    if not 0 <= int(at) <= END:
        raise ValidationError("position", ("is not a position of this log; start again without one",))
    return int(at)
