"""How many reservations there are in each state, each source's counts in one statement, each capped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, case, func, literal, null, select, true

from engine.checkpoints.listing import size_of
from engine.clock import from_ns
from engine.database.statement import Statement
from engine.desk.moment import look
from engine.desk.money_day import DAY
from engine.desk.money_sources import all_meters, all_tables, sources_of
from engine.desk.money_stretch import (
    Asked,
    asked_of,
    by_time,
    can_hold,
    of_filter,
    searches,
    stretch,
    values_of,
)
from engine.desk.money_views import ReservationState, ReservationTotals, StateCounts
from engine.desk.pages import capped, together
from engine.desk.views import MAX_COUNT
from engine.spend.day.tables import spend_day

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import ColumnElement, Connection, RowMapping

    from engine.desk.money_filter import ReservationFilter
    from engine.desk.money_source import Source
    from engine.desk.views import Capped

S = ReservationState
OF_OPEN_ROWS: Final = (S.OPEN, S.EXPIRED, S.FENCED, S.DUE)
"""The states that an open row can be in."""
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
        statement = select(*counting(source, asked, "it").number)
        found = connection.execute(statement, values_of(asked, None, at // source.tick)).one()
        counts.append(capped(found.it, found.it_looked))
    return together(*counts)


def reservation_totals(connection: Connection) -> ReservationTotals:
    """The open ones of each kind by state, and the money that all days hold. Wants a SNAPSHOT."""
    at = look(connection)
    meters, tables = all_meters(connection), all_tables(connection)
    return ReservationTotals(
        day=state_counts(connection, DAY, at),
        meter=StateCounts.together(*(state_counts(connection, each, at) for each in meters.found)),
        tentative=StateCounts.together(*(state_counts(connection, each, at) for each in tables.found)),
        held_micro=held_micro(connection),
        more_sources=meters.more or tables.more,
        as_of=from_ns(at),
    )


def held_micro(connection: Connection) -> int:
    """Micro-dollars that the open reservations of all days hold, by the days' own totals."""
    held: Any = _HELD.one(connection)
    return int(held.micro)


def state_counts(connection: Connection, source: Source, at: int) -> StateCounts:
    """One source's open rows by state; `at` in nanoseconds."""
    columns = [column for each in by_state(source).values() for column in each.number]
    return counts_of(connection.execute(select(*columns), {"at": at // source.tick}).mappings().one())


def by_state(
    source: Source, wanted: Collection[ReservationState] = OF_OPEN_ROWS
) -> dict[ReservationState, Counting]:
    """The columns of each state that an open row can be in, named after it; zeros for those not wanted."""
    return {
        state: counting(source, Asked(state, fenced=False, parts={}), state.value)
        if state in wanted
        else _nothing(state.value)
        for state in OF_OPEN_ROWS
    }


def counts_of(row: RowMapping) -> StateCounts:
    """A row of the numbers of `by_state`."""
    return StateCounts(*(capped(row[state.value], row[f"{state.value}_looked"]) for state in OF_OPEN_ROWS))


@dataclass(frozen=True, slots=True)
class Counting:
    """A capped count `<name>`, and among how many rows it was looked for: `<name>_looked`.

    `<name>_first` is when the first of those counted is due, in the source's ticks.
    """

    number: tuple[ColumnElement[Any], ...]
    first: ColumnElement[Any]


def counting(source: Source, asked: Asked, name: str) -> Counting:
    """Of the open rows that are asked for; of settled ones the number alone has a meaning."""
    if not can_hold(source, asked):
        return _nothing(name)
    source = by_time(source, asked)
    if searches(source, asked):
        return _searched(source, asked, name)
    only = (source.columns[source.settled if asked.settled and source.settled else source.due],)
    number = size_of(stretch(source, asked, None, MAX_COUNT + 1, only).subquery(f"{name}_rows"))
    first = stretch(source, asked, None, 1, only).scalar_subquery()
    return Counting((number.label(name), literal(0).label(f"{name}_looked")), first.label(f"{name}_first"))


def _nothing(name: str) -> Counting:
    number = (literal(0).label(name), literal(0).label(f"{name}_looked"))
    return Counting(number, null().label(f"{name}_first"))


def _searched(source: Source, asked: Asked, name: str) -> Counting:
    """All three figures from one reading of the stretch."""
    rows = stretch(source, asked, None, MAX_COUNT + 1, _looked_at(source, asked)).subquery(f"{name}_stretch")
    wanted = and_(true(), *of_filter(source, asked, rows.c))
    figures = select(
        func.count().label("looked"),
        func.count(case((wanted, 1))).label("number"),
        func.min(case((wanted, rows.c[source.due]))).label("first"),
    ).cte(f"{name}_figures")
    looked, number, first = (select(each).scalar_subquery() for each in figures.c)
    return Counting((number.label(name), looked.label(f"{name}_looked")), first.label(f"{name}_first"))


def _looked_at(source: Source, asked: Asked) -> tuple[ColumnElement[Any], ...]:
    """Of what a row is made of, as much as is needed to pick it."""
    needed = {source.due, "fenced", *asked.parts} | ({"lease_until"} if "leased" in asked.parts else set())
    return tuple(column for column in source.shown if column.key in needed)
