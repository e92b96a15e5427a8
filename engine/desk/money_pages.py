"""Reservations and fences of all sources in one keyset list (spend.md 2C, ruling 65).

Each source gives one bounded page behind the cursor, in the same snapshot; the pages are merged by (due, kind,
source, key). A cursor names all four, so that it means the same whichever sources a later page finds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import select

from engine.checkpoints.listing import MAX_DRIVEN, size_of
from engine.clock import from_ns
from engine.desk.moment import look
from engine.desk.money_fences import fence_rows
from engine.desk.money_sources import sources_of
from engine.desk.money_stretch import (
    Asked,
    Start,
    asked_of,
    asked_of_fences,
    by_time,
    can_hold,
    page,
    searches,
    stretch,
    values_of,
)
from engine.desk.views import MAX_PAGE, Page
from engine.errors import ValidationError
from engine.paging import MAX_NUMBER, check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from engine.desk.money_filter import FenceFilter, ReservationFilter
    from engine.desk.money_source import Source
    from engine.desk.money_views import FenceRow, ReservationRow

_LAST: Final = MAX_NUMBER
_FIRST: Final = -MAX_NUMBER - 1
# Milliseconds of 64 bits as nanoseconds: a number that a cursor holds as text, for its own are of 64 bits.
_NUMBER: Final = re.compile(r"-?[0-9]{1,25}", re.ASCII)
_ADVICE: Final = {
    None: "name a state, or one kind, meter or table",
    "state": "leave the state out, or list the fences by themselves",
    "owner": "name the meter or table, or a state",
    "day": "look at fewer states of the day",
    "thread_id": "list by state instead",
    "leased": "add a state",
    "deferred": "leave it out",
}


@dataclass(frozen=True, slots=True)
class _Found:
    """A stored row and where it came from; `at` is its place in time, ns."""

    source: Source
    at: int
    row: Any


@dataclass(frozen=True, slots=True)
class _Cursor:
    """The last row of a page, in nanoseconds."""

    at: int
    place: tuple[str, str]
    key: str


def reservations(
    connection: Connection, wanted: ReservationFilter, after: str | None, limit: int
) -> Page[ReservationRow]:
    """At most `limit` (1 to 200) reservations behind the cursor: first due first, SETTLED ones newest first.

    ValidationError for a limit or cursor out of bounds, for a meter or table that is not there, and where the
    next 10,000 rows of a source do not fill a page. Wants a SNAPSHOT.
    """
    check_limit(limit, MAX_PAGE)
    at = look(connection)
    found = _merged(connection, sources_of(connection, wanted), asked_of(wanted), (after, limit, at))
    rows = tuple(each.source.row(each.row) for each in found[:limit])
    return Page(rows, _following(found, limit), from_ns(at))


def fences(connection: Connection, wanted: FenceFilter, after: str | None, limit: int) -> Page[FenceRow]:
    """The same for fenced open rows of days and meters, with the beginning of their evidence."""
    check_limit(limit, MAX_PAGE)
    at = look(connection)
    asked = asked_of_fences(wanted)
    found = _merged(connection, sources_of(connection, wanted), asked, (after, limit, at))
    rows = fence_rows(connection, [(each.source, each.row) for each in found[:limit]])
    return Page(rows, _following(found, limit), from_ns(at))


def _merged(
    connection: Connection, sources: Iterable[Source], asked: Asked, of: tuple[str | None, int, int]
) -> list[_Found]:
    """The first rows of all sources behind the cursor: one more than `limit`, if there are."""
    after, limit, at = of
    cursor = None if after is None else _cursor(after)
    sign = -1 if asked.settled else 1
    found: list[_Found] = []
    for source in filter(lambda each: can_hold(each, asked), sources):
        found += _of_source(connection, source, asked, cursor, (limit, at))
    # The sort is stable: within a source the database's order stands, whatever its collation is.
    found.sort(key=lambda each: (sign * each.at, each.source.place))
    return found[: limit + 1]


def _of_source(
    connection: Connection, source: Source, asked: Asked, cursor: _Cursor | None, of: tuple[int, int]
) -> list[_Found]:
    limit, at = of
    start = None if cursor is None else _start(source, cursor, settled=asked.settled)
    if cursor is not None and start is None:
        return []
    values = values_of(asked, start, at // source.tick)
    rows = connection.execute(page(source, asked, start, limit + 1), values).all()
    if len(rows) <= limit and searches(source, asked):
        _check_looked(connection, source, asked, start, (values, len(rows)))
    time = source.settled if asked.settled else source.due
    assert time is not None
    return [_Found(source, getattr(row, time) * source.tick, row) for row in rows]


def _start(source: Source, cursor: _Cursor, *, settled: bool) -> Start | None:
    """Behind the cursor's row in its own source; in the others at its moment, or just beyond where they precede it.

    None where that is beyond whatever the source's column can hold.
    """
    if source.place == cursor.place:
        return Start(min(max(cursor.at // source.tick, _FIRST), _LAST), source.key_values(cursor.key))
    beyond = source.place < cursor.place
    if settled:
        latest = (cursor.at - beyond) // source.tick
        return Start(min(latest, _LAST)) if latest >= _FIRST else None
    earliest = -(-(cursor.at + beyond) // source.tick)
    return Start(max(earliest, _FIRST)) if earliest <= _LAST else None


def _check_looked(
    connection: Connection, source: Source, asked: Asked, start: Start | None, of: tuple[dict[str, Any], int]
) -> None:
    """ValidationError where a full stretch did not fill the page: there may be more behind it."""
    values, found = of
    only = (source.columns[source.settled if asked.settled and source.settled else source.due],)
    here = start is not None and start.key is not None
    rows = stretch(source if here else by_time(source, asked), asked, start, MAX_DRIVEN + 1, only)
    held = rows.subquery("looked")
    if connection.execute(select(size_of(held)), values).scalar_one() <= MAX_DRIVEN:
        return
    field = next(iter(asked.parts), "state")
    where = f"{source.kind.value} {source.name}".strip()
    problem = f"{found} of the next {MAX_DRIVEN} rows of {where} match; {_ADVICE[field]}"
    raise ValidationError(field, (problem,))


def _following(found: list[_Found], limit: int) -> str | None:
    if len(found) <= limit:
        return None
    last = found[limit - 1]
    return encode_cursor(str(last.at), *last.source.place, last.source.key_text(last.row))


def _cursor(after: str) -> _Cursor:
    at, kind, name, key = decode_cursor(after, str, str, str, str)
    if not _NUMBER.fullmatch(str(at)):
        raise ValidationError("after", ("is not a cursor of this listing; start again without one",))
    return _Cursor(int(at), (str(kind), str(name)), str(key))
