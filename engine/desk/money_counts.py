"""How many reservations there are in each state, each source's counts in one statement, each capped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, literal, null, select

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
    from sqlalchemy import ColumnElement, Connection, RowMapping

    from engine.desk.money_filter import ReservationFilter
    from engine.desk.money_source import Source
    from engine.desk.views import Capped

S = ReservationState
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


def by_state(source: Source) -> dict[ReservationState, Counting]:
    """The columns of each state that an open row can be in, named after it."""
    return {
        state: counting(source, Asked(state, fenced=False, parts={}), state.value)
        for state in ReservationState
        if state is not S.SETTLED
    }


def counts_of(row: RowMapping) -> StateCounts:
    """A row of the numbers of `by_state`."""
    return StateCounts(
        *(
            capped(row[state.value], row[f"{state.value}_looked"])
            for state in (S.OPEN, S.EXPIRED, S.FENCED, S.DUE)
        )
    )


@dataclass(frozen=True, slots=True)
class Counting:
    """A capped count `<name>`, and among how many rows it was looked for: `<name>_looked`.

    `<name>_first` is when the first of those counted is due, in the source's ticks.
    """

    number: tuple[ColumnElement[Any], ...]
    first: ColumnElement[Any]


def counting(source: Source, asked: Asked, name: str) -> Counting:
    """Of the open rows that are asked for; of settled ones the number alone has a meaning."""
    most = MAX_COUNT + 1
    if not can_hold(source, asked):
        nothing = (literal(0).label(name), literal(0).label(f"{name}_looked"))
        return Counting(nothing, null().label(f"{name}_first"))
    time = source.settled if asked.settled and source.settled else source.due
    only = (source.columns[time],)
    if not searches(source, asked):
        bounded = stretch(source, asked, None, most, only).subquery(f"{name}_rows")
        looked: ColumnElement[Any] = literal(0)
        head = stretch(source, asked, None, 1, only).scalar_subquery()
    else:
        held = stretch(source, asked, None, most, _looked_at(source, asked)).cte(f"{name}_stretch")
        bounded = picked(source, asked, held, None, most).subquery(f"{name}_rows")
        looked = size_of(held)
        head = select(picked(source, asked, held, None, 1).subquery().c[source.due]).scalar_subquery()
    number = (size_of(bounded).label(name), looked.label(f"{name}_looked"))
    return Counting(number, head.label(f"{name}_first"))


def _looked_at(source: Source, asked: Asked) -> tuple[ColumnElement[Any], ...]:
    """Of what a row is made of, as much as is needed to pick it and to order it."""
    needed = {source.due, source.settled, *source.key, "fenced", "lease_until", *asked.parts}
    return tuple(column for column in source.shown if column.key in needed)
