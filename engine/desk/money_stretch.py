"""A bounded stretch of one source's index, and what a page picks from it.

Where everything asked is in the index the stretch is the page; else it holds at most 10,000 rows, and a page
that they do not fill is an error that says so. Conditions repeat those of the partial indexes word by word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, select, tuple_

from engine.checkpoints.listing import MAX_DRIVEN
from engine.desk.moment import AT
from engine.desk.money_views import ReservationState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import CTE, ColumnElement, Select

    from engine.desk.money_filter import FenceFilter, ReservationFilter
    from engine.desk.money_source import Source

S = ReservationState
_FENCED_STATES: Final = frozenset({S.FENCED, S.DUE})
_FIRST: Final = bindparam("first", type_=BigInteger)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of every source: a state (None: all that is open), fenced ones alone, and the other parts."""

    state: ReservationState | None
    fenced: bool
    parts: Mapping[str, Any]

    @property
    def settled(self) -> bool:
        """Whether what is over is asked for, newest first."""
        return self.state is S.SETTLED

    @property
    def only_fenced(self) -> bool:
        """Whether an unfenced row is of no use."""
        return self.fenced or self.state in _FENCED_STATES


@dataclass(frozen=True, slots=True)
class Start:
    """Where a page begins in one source, in its ticks: at `first`, or behind (`first`, `*key`)."""

    first: int
    key: tuple[Any, ...] | None = None


def asked_of(wanted: ReservationFilter) -> Asked:
    """A filter of reservations in these terms."""
    parts = {"owner": wanted.owner, "day": wanted.day, "thread_id": wanted.thread_id}
    given = {name: value for name, value in parts.items() if value is not None}
    return Asked(wanted.state, fenced=False, parts=given | ({"leased": True} if wanted.leased else {}))


def asked_of_fences(wanted: FenceFilter) -> Asked:
    """A filter of fences in these terms."""
    parts = {"owner": wanted.owner, "thread_id": wanted.thread_id, "deferred": wanted.deferred}
    given = {name: value for name, value in parts.items() if value is not None}
    return Asked(wanted.state, fenced=True, parts=given)


def can_hold(source: Source, asked: Asked) -> bool:
    """Whether the source's table can have such rows at all."""
    return source.fenced is not None or not asked.only_fenced


def searches(source: Source, asked: Asked) -> bool:
    """Whether rows must be looked at one by one, for want of an index on what is asked."""
    unfenced = asked.state in {S.OPEN, S.EXPIRED} and source.fenced is not None
    return unfenced or bool(asked.parts)


def narrow_of(source: Source, asked: Asked) -> str | None:
    """The part that an index of its own answers, if it was asked for."""
    return source.narrow if source.narrow in asked.parts else None


def stretch(
    source: Source,
    asked: Asked,
    start: Start | None,
    most: int,
    shown: tuple[ColumnElement[Any], ...] | None = None,
) -> Select[Any]:
    """The first rows behind the start in the index's own order, whatever else is asked of them."""
    rows = select(*(source.shown if shown is None else shown))
    part = narrow_of(source, asked)
    if part is not None:
        # Without an order the planners have nothing but this index to go by.
        return rows.where(source.open, source.columns[part] == bindparam(part)).limit(most)
    c = source.columns
    conditions = [*_members(source, asked), *_behind(source, asked, c, start)]
    return rows.where(*conditions).order_by(*order_of(source, asked, c)).limit(most)


def picked(source: Source, asked: Asked, held: CTE, start: Start | None, most: int) -> Select[Any]:
    """What the filter picks from a stretch, in order."""
    c = held.c
    conditions = of_filter(source, asked, c)
    if narrow_of(source, asked) is not None:
        conditions += _behind(source, asked, c, start)
    return select(held).where(*conditions).order_by(*order_of(source, asked, c)).limit(most)


def by_time(source: Source, asked: Asked) -> Source:
    """The source with its rows in the order of their times alone, for counts: they need no order among the rows of
    one moment, which a meter has to sort for. Of fences their own index has it, and nothing else leads a planner there.
    """
    return source if asked.only_fenced else replace(source, key=())


def of_filter(source: Source, asked: Asked, c: Any) -> list[ColumnElement[bool]]:
    """What is asked of each row of a stretch."""
    parts = [_of(c, part, value) for part, value in asked.parts.items()]
    return [*parts, *_by_state(source, asked, c)]


def page(source: Source, asked: Asked, start: Start | None, most: int) -> Select[Any]:
    """At most `most` rows behind the start; looks at no more than 10,001 where it must search."""
    if not searches(source, asked):
        return stretch(source, asked, start, most)
    held = stretch(source, asked, start, MAX_DRIVEN + 1).cte("stretch")
    return picked(source, asked, held, start, most)


def values_of(asked: Asked, start: Start | None, at: int) -> dict[str, Any]:
    """The values of a page's statement; `at` in the source's ticks."""
    values = {"at": at, **asked.parts}
    if start is not None:
        values |= {"first": start.first}
        values |= {f"key_{n}": part for n, part in enumerate(start.key or ())}
    return values


def order_of(source: Source, asked: Asked, c: Any) -> list[ColumnElement[Any]]:
    """First due first; what is over newest first."""
    keys = [c[_time(source, asked)], *(c[key] for key in source.key)]
    return [key.desc() for key in keys] if asked.settled else keys


def _time(source: Source, asked: Asked) -> str:
    if not asked.settled:
        return source.due
    assert source.settled is not None
    return source.settled


def _members(source: Source, asked: Asked) -> list[ColumnElement[bool]]:
    """The range of an index that holds the state, or the smallest that holds it among others."""
    if asked.settled:
        return [source.columns[_time(source, asked)].is_not(None)]
    base = source.fenced if asked.only_fenced else source.open
    assert base is not None, "no such rows can be there: see `can_hold`"
    return [base, *_range(source.columns[source.due], asked.state)]


def _range(due: ColumnElement[int], state: ReservationState | None) -> list[ColumnElement[bool]]:
    if state is None:
        return []
    return [due <= AT] if state in {S.EXPIRED, S.DUE} else [due > AT]


def _by_state(source: Source, asked: Asked, c: Any) -> list[ColumnElement[bool]]:
    """The state, for rows that the stretch holds together."""
    if asked.state is None or asked.settled:
        return []
    fenced = c.fenced if asked.state in _FENCED_STATES else ~c.fenced
    return [fenced, *_range(c[source.due], asked.state)]


def _of(c: Any, part: str, value: Any) -> ColumnElement[bool]:
    if part == "leased":
        return c.lease_until > AT  # type: ignore[no-any-return]
    if part == "deferred":
        return c.deferred if value else ~c.deferred  # type: ignore[no-any-return]
    return c[part] == bindparam(part)  # type: ignore[no-any-return]


def _behind(source: Source, asked: Asked, c: Any, start: Start | None) -> list[ColumnElement[bool]]:
    if start is None:
        return []
    time = c[_time(source, asked)]
    if start.key is None:
        return [time <= _FIRST if asked.settled else time >= _FIRST]
    keys = [c[key] for key in source.key]
    here = tuple_(time, *keys)
    there = tuple_(_FIRST, *(bindparam(f"key_{n}", type_=key.type) for n, key in enumerate(keys)))
    return [here < there if asked.settled else here > there]
