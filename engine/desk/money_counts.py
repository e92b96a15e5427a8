"""How many reservations there are in each state, each source's counts in one statement, each capped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, literal, select

from engine.checkpoints.listing import size_of
from engine.clock import from_ns
from engine.database.statement import Statement
from engine.desk.moment import look
from engine.desk.money_day import DAY
from engine.desk.money_sources import all_meters, all_tables, sources_of
from engine.desk.money_stretch import Asked, asked_of, can_hold, picked, searches, stretch, values_of
from engine.desk.money_views import ReservationState, ReservationTotals, StateCounts
from engine.desk.pages import capped, together
from engine.desk.views import MAX_COUNT
from engine.spend.day.tables import spend_day

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from engine.desk.money_filter import ReservationFilter
    from engine.desk.money_source import Source
    from engine.desk.views import Capped

S = ReservationState
_COUNTED: Final = (S.OPEN, S.EXPIRED, S.FENCED, S.DUE)
MAX_DAYS: Final = 10_000
"""Newest days whose money is summed: twenty-seven years of them."""
_NEWEST_DAYS: Final = (
    select(spend_day.c.reserved_micro).order_by(spend_day.c.day.desc()).limit(MAX_DAYS).subquery("newest")
)
_HELD: Final = Statement(select(func.coalesce(func.sum(_NEWEST_DAYS.c.reserved_micro), 0).label("micro")))


def count_reservations(connection: Connection, wanted: ReservationFilter) -> Capped:
    """How many match, over all sources; stops at 10,000, and where a source had 10,000 looked at."""
    at, asked = look(connection), asked_of(wanted)
    counts = []
    for source in sources_of(connection, wanted):
        statement = select(*_counting(source, asked, "it"))
        found = connection.execute(statement, values_of(asked, None, at // source.tick)).one()
        counts.append(capped(found.it, found.it_looked))
    return together(*counts)


def reservation_totals(connection: Connection) -> ReservationTotals:
    """The open ones of each kind by state, and the money that all days hold. Wants a SNAPSHOT."""
    at = look(connection)
    meters, tables = all_meters(connection), all_tables(connection)
    held: Any = _HELD.one(connection)
    return ReservationTotals(
        day=state_counts(connection, DAY, at),
        meter=StateCounts.together(*(state_counts(connection, each, at) for each in meters.found)),
        tentative=StateCounts.together(*(state_counts(connection, each, at) for each in tables.found)),
        held_micro=int(held.micro),
        more_sources=meters.more or tables.more,
        as_of=from_ns(at),
    )


def state_counts(connection: Connection, source: Source, at: int) -> StateCounts:
    """One source's open rows by state; `at` in nanoseconds."""
    columns: list[ColumnElement[Any]] = []
    for state in _COUNTED:
        columns += _counting(source, Asked(state, fenced=False, parts={}), state.value)
    found = connection.execute(select(*columns), {"at": at // source.tick}).mappings().one()
    return StateCounts(*(capped(found[state.value], found[f"{state.value}_looked"]) for state in _COUNTED))


def _counting(source: Source, asked: Asked, name: str) -> list[ColumnElement[Any]]:
    """The number, and among how many it was looked for."""
    most = MAX_COUNT + 1
    if not can_hold(source, asked):
        return [literal(0).label(name), literal(0).label(f"{name}_looked")]
    if not searches(source, asked):
        only = (source.columns[source.settled if asked.settled and source.settled else source.due],)
        bounded = stretch(source, asked, None, most, only).subquery(f"{name}_rows")
        return [size_of(bounded).label(name), literal(0).label(f"{name}_looked")]
    held = stretch(source, asked, None, most).cte(f"{name}_stretch")
    matching = picked(source, asked, held, None, most).subquery(f"{name}_rows")
    return [size_of(matching).label(name), size_of(held).label(f"{name}_looked")]
