"""Reading the event log of the store, or of one thread, by stretches (console.md F6, ruling 58).

A stretch is a run of stored events in the log's order: newer than a position, or older than one. What no
index answers - a tenant's events, some kinds - is looked for in stretches of 5,000; where there is nothing
to look for, the stretch is the page itself, and what lies between is counted from the positions alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, bindparam, func, select

from engine.checkpoints.listing import header, size_of
from engine.checkpoints.model import ANY, Unset
from engine.checkpoints.places import Place, place_of
from engine.checkpoints.records import instant_of
from engine.checkpoints.tables import event, tenant_key, tenant_of, thread
from engine.checkpoints.tail_rows import TailFilter
from engine.clock import from_ns
from engine.database.backend import backend_of
from engine.desk.filters import EventFilter
from engine.desk.texts import cut
from engine.desk.views import MAX_EVENTS, MAX_SEARCHED, EventPage, EventRow
from engine.errors import ValidationError
from engine.paging import check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from sqlalchemy import CTE, ColumnElement, Connection, Select, Subquery

    from engine.checkpoints.gaps import Held
    from engine.desk.frontier import Frontier

END: Final = 2**63 - 1
"""Past every position."""
_SHOWN: Final[list[ColumnElement[Any]]] = [
    *(each for each in event.c if each.key not in {"payload", "position"}),
    *cut(event.c.payload, "payload"),
]


class _End(StrEnum):
    """An end of a stretch."""

    OLDEST = "oldest"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Above `low`, at or below `high`; read from one end, at most so far; shown are those nearest to `shown`."""

    low: int
    high: int
    begin: _End
    most: int
    shown: _End = _End.NEWEST


def events(
    connection: Connection, frontier: Frontier, wanted: EventFilter, after: str, limit: int
) -> EventPage:
    """The newest `limit` (1 to 500) decided events after the position, oldest first.

    A filter without an index looks at the 5,000 events after the position; `position` says how far it came.
    Without one nothing is looked at but the page, and `received` counts what was passed over as well.
    """
    check_limit(limit, MAX_EVENTS)
    low = decode_position(wanted, after)
    most = MAX_SEARCHED if wanted.searches else limit + 1
    high, held = decided(connection, frontier, wanted)
    begin = _End.OLDEST if wanted.searches else _End.NEWEST
    found = _read(connection, wanted, _Stretch(low, high, begin, most), limit)
    rows = _rows(wanted, found)
    top = max(low, found[0].top or 0)
    skipped = not wanted.searches and found[0].looked > limit
    passed = top - low if skipped else found[0].matched
    return EventPage(
        rows=tuple(rows),
        position=encode_position(wanted, top),
        received=passed,
        as_of=from_ns(found[0].now),
        before=rows[0].position if rows else encode_position(wanted, top + 1),
        searched=top,
        held=held,
        gaps=0 if skipped else top - low - found[0].looked,
        behind=_behind(high, top) if wanted.searches and found[0].looked == most else 0,
    )


def forward(
    connection: Connection, frontier: Frontier, wanted: EventFilter, after: str, limit: int
) -> EventPage:
    """The next `limit` (1 to 500) decided events after the position, oldest first, none passed over.

    `behind` says whether the log goes on. A filter without an index looks at 5,000 events, as in `events`.
    """
    check_limit(limit, MAX_EVENTS)
    low = decode_position(wanted, after)
    most = MAX_SEARCHED if wanted.searches else limit
    high, held = decided(connection, frontier, wanted)
    found = _read(connection, wanted, _Stretch(low, high, _End.OLDEST, most, _End.OLDEST), limit)
    rows = _rows(wanted, found)
    cut_short = found[0].matched > len(rows)
    top = decode_position(wanted, rows[-1].position) if cut_short else max(low, found[0].top or 0)
    return EventPage(
        rows=tuple(rows),
        position=encode_position(wanted, top),
        received=len(rows),
        as_of=from_ns(found[0].now),
        before=rows[0].position if rows else encode_position(wanted, top + 1),
        searched=top,
        held=held,
        gaps=0 if cut_short else top - low - found[0].looked,
        behind=_behind(high, top) if cut_short or found[0].looked == most else 0,
    )


def _behind(high: int, top: int) -> int:
    """How many numbers follow; of one thread's log, whose end nobody has looked for, only that some may."""
    return 1 if high == END else high - top


def newest(connection: Connection, frontier: Frontier, wanted: EventFilter, limit: int) -> EventPage:
    """The log's newest page, oldest first: where a tail begins."""
    page = events_before(connection, frontier, wanted, None, limit)
    return replace(page, rows=page.rows[::-1])


def events_before(
    connection: Connection, frontier: Frontier, wanted: EventFilter, position: str | None, limit: int
) -> EventPage:
    """The newest `limit` (1 to 500) decided events before the position, newest first; None begins at the end.

    A filter without an index looks at 5,000 events; an empty page whose `before` is set says to look on
    there.
    """
    check_limit(limit, MAX_EVENTS)
    high, held = decided(connection, frontier, wanted)
    if position is not None:
        high = min(high, decode_position(wanted, position) - 1)
    most = MAX_SEARCHED if wanted.searches else limit
    found = _read(connection, wanted, _Stretch(0, high, _End.NEWEST, most + 1), limit)
    rows = _rows(wanted, found)[::-1]
    before = _before(rows, found[0], most, wanted)
    return EventPage(
        rows=tuple(rows),
        position=encode_position(wanted, (found[0].top or 0) if position is None else max(0, high)),
        received=len(rows),
        as_of=from_ns(found[0].now),
        before=before,
        searched=0 if before is None else decode_position(wanted, before),
        held=held,
    )


def _before(rows: list[EventRow], found: Any, most: int, wanted: EventFilter) -> str | None:
    """Where looking back goes on: below the page where the stretch held more, else below the stretch."""
    if found.matched > len(rows):
        return rows[-1].position
    return encode_position(wanted, found.bottom) if found.looked > most else None


def decided(connection: Connection, frontier: Frontier, wanted: EventFilter) -> tuple[int, Held | None]:
    """The end of what may be shown, and what it waits for; a thread's own numbers come in commit order."""
    return frontier.advance(connection) if wanted.thread_id is None else (END, None)


def _read(connection: Connection, wanted: EventFilter, stretch: _Stretch, limit: int) -> list[Any]:
    values: dict[str, Any] = {
        "thread_id": wanted.thread_id,
        "tenant": None if isinstance(wanted.tail.tenant, Unset) else tenant_key(wanted.tail.tenant),
        "kinds": sorted(wanted.tail.kinds or ()),
        "low": stretch.low,
        "high": stretch.high,
        "limit": limit,
        "most": stretch.most,
        "now": backend_of(connection).now(),
    }
    statement = _statement(_shape(wanted), stretch.begin, stretch.shown)
    return list(connection.execute(statement, values).all())


def _shape(wanted: EventFilter) -> EventFilter:
    """A filter of the same parts, whatever their values: those that differ in nothing else share a statement."""
    tenant = ANY if isinstance(wanted.tail.tenant, Unset) else None
    kinds = None if wanted.tail.kinds is None else frozenset[str]()
    return EventFilter(None if wanted.thread_id is None else "", TailFilter(tenant, kinds))


@cache
def _statement(wanted: EventFilter, begin: _End, shown: _End) -> Select[Any]:
    """Built once for a shape: a tail asks ten times a second, and building costs as much as asking."""
    looked = _looked(wanted, begin)
    matching = _matching(wanted, looked)
    nearest = _nearest(matching, shown)
    rows = _chosen(wanted, nearest) if wanted.searches else nearest
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


def _looked(wanted: EventFilter, begin: _End) -> CTE:
    """The stretch: what a search needs of its events, or else all that a page shows."""
    key = key_of(wanted)
    shown = [event.c.thread_id, event.c.kind] if wanted.searches else _SHOWN
    return (
        select(key.label("at"), *shown)
        .where(scope_of(wanted), key > bindparam("low"), key <= bindparam("high"))
        .order_by(_from(key, begin))
        .limit(bindparam("most"))
        .cte("looked")
    )


def _from(key: ColumnElement[int], end: _End) -> ColumnElement[int]:
    return key.desc() if end is _End.NEWEST else key.asc()


def _nearest(matching: CTE, end: _End) -> Subquery:
    return select(matching).order_by(_from(matching.c.at, end)).limit(bindparam("limit")).subquery("nearest")


def _chosen(wanted: EventFilter, nearest: Subquery) -> Subquery:
    here = and_(scope_of(wanted), key_of(wanted) == nearest.c.at)
    return select(nearest.c.at, *_SHOWN).select_from(nearest).join(event, here).subquery("chosen")


def _matching(wanted: EventFilter, looked: CTE) -> CTE:
    if not wanted.searches:
        return looked
    chosen = select(looked.c.at)
    if not isinstance(wanted.tail.tenant, Unset):
        owner = func.coalesce(thread.c.tenant_key, "")
        chosen = chosen.outerjoin(thread, thread.c.thread_id == looked.c.thread_id)
        chosen = chosen.where(owner == bindparam("tenant"))
    if wanted.tail.kinds is not None:
        chosen = chosen.where(looked.c.kind.in_(bindparam("kinds", expanding=True)))
    return chosen.cte("matching")


def key_of(wanted: EventFilter) -> ColumnElement[int]:
    """What orders the log: a thread's own numbers, or the store's positions."""
    return event.c.position if wanted.thread_id is None else event.c.seq


def scope_of(wanted: EventFilter) -> ColumnElement[bool]:
    """Which rows are of the log."""
    if wanted.thread_id is None:
        return event.c.position.is_not(None)
    return event.c.thread_id == bindparam("thread_id")


def _rows(wanted: EventFilter, found: list[Any]) -> list[EventRow]:
    rows = sorted((row for row in found if row.at is not None), key=lambda row: int(row.at))
    return [_event_row(wanted, row) for row in rows]


def _event_row(wanted: EventFilter, row: Any) -> EventRow:
    return EventRow(
        position=encode_position(wanted, row.at),
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


def encode_position(wanted: EventFilter, at: int) -> str:
    """A position as text: of the store's log the one that `watch_all` resumes from."""
    return Place(at).text if wanted.thread_id is None else encode_cursor(at)


def decode_position(wanted: EventFilter, position: str) -> int:
    """The number that a position stands for; ValidationError for any other text."""
    try:
        at = place_of(position).done if wanted.thread_id is None else int(decode_cursor(position, int)[0])
    except ValidationError as error:
        raise ValidationError("position", error.problems) from error
    if not 0 <= at <= END:
        raise ValidationError("position", ("is not a position of this log; start again without one",))
    return at
