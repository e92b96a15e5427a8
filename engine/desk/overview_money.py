"""Money and fences in the overview: every source of reservations, each read in one statement (spend.md 2C)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, literal, select

from engine.clock import from_ns, from_span, span_ns
from engine.desk.days import day_of
from engine.desk.money_counts import OF_OPEN_ROWS, by_state, counts_of, held_micro
from engine.desk.money_day import DAY
from engine.desk.money_sources import Sources, all_meters, all_tables
from engine.desk.money_stretch import Asked, order_of
from engine.desk.money_views import DayRow, ReservationKind, ReservationState, ReservationTotals, StateCounts
from engine.desk.overview_part import number
from engine.desk.overview_views import FencesNow, MoneyNow
from engine.desk.pages import capped, together

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection

    from engine.desk.money_source import Source
    from engine.desk.views import Capped

OVERDUE: Final = timedelta(minutes=5)
"""A fence whose check came so long ago has been passed over several times: resolvers are asked every 45 seconds."""
LONGEST: Final = 2**63 - 1
"""Nanoseconds: what another implementation stored may be any number of milliseconds ago."""
_FENCES: Final = Asked(None, fenced=True, parts={})


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found at `at` (ns); `more`: the catalogue has more sources than one look takes."""

    at: int
    found: tuple[_Found, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class _Found:
    """One source's open rows; since when the first of the expired, and of the due ones, is so: None without any."""

    kind: ReservationKind
    counts: StateCounts
    expired_for: timedelta | None
    due_for: timedelta | None
    overdue: Capped


def survey(connection: Connection, at: int) -> Survey:
    """Every source: the day store, the meters, the adopting tables."""
    known = (Sources((DAY,)), all_meters(connection), all_tables(connection))
    return _survey(connection, at, known, OF_OPEN_ROWS)


def survey_of_fences(connection: Connection, at: int) -> Survey:
    """The sources that have fences, and no more of them than their fences."""
    known = (Sources((DAY,)), all_meters(connection))
    return _survey(connection, at, known, (ReservationState.FENCED, ReservationState.DUE))


def _survey(
    connection: Connection, at: int, known: Sequence[Sources], states: Collection[ReservationState]
) -> Survey:
    found = tuple(_look_at(connection, source, at, states) for sources in known for source in sources.found)
    return Survey(at, found, any(sources.more for sources in known))


def _look_at(connection: Connection, source: Source, at: int, wanted: Collection[ReservationState]) -> _Found:
    states = by_state(source, wanted)
    expired, due = states[ReservationState.EXPIRED].first, states[ReservationState.DUE].first
    columns = [column for each in states.values() for column in each.number]
    values = {"at": at // source.tick, "overdue": (at - span_ns(OVERDUE)) // source.tick}
    row = connection.execute(select(*columns, expired, due, _overdue(source)), values).mappings().one()
    return _Found(
        kind=source.kind,
        counts=counts_of(row),
        expired_for=_since(row["expired_first"], source, at),
        due_for=_since(row["due_first"], source, at),
        overdue=capped(row["overdue"]),
    )


def _overdue(source: Source) -> ColumnElement[Any]:
    if source.fenced is None:
        return literal(0).label("overdue")
    due = source.columns[source.due]
    past = select(due).where(source.fenced, due <= bindparam("overdue", type_=BigInteger))
    return number(past.order_by(*order_of(source, _FENCES, source.columns))).label("overdue")


def _since(first: int | None, source: Source, at: int) -> timedelta | None:
    return None if first is None else from_span(min(at - first * source.tick, LONGEST))


def fences_of(found: Survey) -> FencesNow:
    """The fences of what was found."""
    counts = StateCounts.together(*(each.counts for each in found.found))
    return FencesNow(
        waiting=counts.fenced,
        due=counts.due,
        overdue=together(*(each.overdue for each in found.found)),
        oldest_due=max((each.due_for for each in found.found if each.due_for is not None), default=None),
        more_sources=found.more,
        as_of=from_ns(found.at),
    )


def money_of(connection: Connection, found: Survey) -> MoneyNow:
    """What the days hold, beside what was found of all kinds."""
    today = from_ns(found.at).date().isoformat()
    totals = ReservationTotals(
        day=_of_kind(found, ReservationKind.DAY),
        meter=_of_kind(found, ReservationKind.METER),
        tentative=_of_kind(found, ReservationKind.TENTATIVE),
        held_micro=held_micro(connection),
        more_sources=found.more,
        as_of=from_ns(found.at),
    )
    return MoneyNow(totals, day_of(connection, today) or DayRow(today, 0, 0), _expired_for(found.found))


def _of_kind(found: Survey, kind: ReservationKind) -> StateCounts:
    return StateCounts.together(*(each.counts for each in found.found if each.kind is kind))


def _expired_for(found: Iterable[_Found]) -> dict[ReservationKind, timedelta]:
    longest: dict[ReservationKind, timedelta] = {}
    for each in found:
        if each.expired_for is not None:
            longest[each.kind] = max(each.expired_for, longest.get(each.kind, each.expired_for))
    return longest
