"""The open reservations of the day store and of one meter, as a reconcile pass asks for them: what is due, by index."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, func, select, true, tuple_

from engine.database.columns import Identifier
from engine.database.constructs import Each
from engine.database.statement import Statement
from engine.desk.money_day import DAY
from engine.desk.money_meter import meter_source
from engine.desk.plans.budget import BATCH
from engine.desk.plans.model import MOST_NOTES, ItemKind
from engine.desk.views import MAX_COUNT
from engine.spend.meter.tables import MOST_PREFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection

    from engine.desk.money_source import Source

_AT: Final = bindparam("at", type_=BigInteger)
_ASKED: Final = Each(bindparam("ids")).table_valued("value").alias("asked")
_EARLIEST: Final = -(2**63)


@dataclass(frozen=True, slots=True)
class Owed:
    """A row as a plan needs it; instants in nanoseconds. `open`: it is not settled yet."""

    kind: ItemKind
    name: str
    open: bool
    fenced: bool
    due_at: int
    guard: dict[str, Any]
    micro: int
    figure: int
    units: int
    note: dict[str, Any]


class Book:
    """One table of reservations. `ended` is its condition that a row is over."""

    def __init__(
        self, source: Source, shown: tuple[ColumnElement[Any], ...], fenced: ColumnElement[bool]
    ) -> None:
        self._tick = source.tick
        due, key = source.columns[source.due], source.columns[source.key[0]]
        rows = select(*shown, due.label("due"), key.label("key"), source.open.label("held"))
        place = tuple_(due, key) > tuple_(
            bindparam("first", type_=BigInteger), bindparam("behind", type_=Identifier)
        )
        ready = rows.where(source.open, due <= _AT, place).order_by(due, key).limit(BATCH)
        asked = select(_ASKED.c.value).select_from(_ASKED)
        self._any = Statement(ready)
        self._unfenced = Statement(ready.where(~fenced))
        self._named = Statement(rows.where(key.in_(asked)))
        self._fences = self._counted = None
        if source.fenced is not None:
            standing = select(key.label("key")).where(source.fenced, due <= _AT).order_by(due, key)
            self._fences = Statement(standing.limit(MOST_NOTES))
            capped = standing.limit(MAX_COUNT + 1).subquery()
            self._counted = Statement(select(func.count().label("number")).select_from(capped))

    def due(
        self, connection: Connection, at: int, after: tuple[int, str] | None, *, defaults: bool
    ) -> Sequence[Any]:
        """The next rows behind a place that are due; those that a default may decide about, or all of them."""
        first, behind = (_EARLIEST, "") if after is None else after
        statement = self._unfenced if defaults else self._any
        return statement.all(connection, at=at // self._tick, first=first, behind=behind)

    def named(self, connection: Connection, keys: Sequence[str]) -> dict[str, Any]:
        """These rows, by key, whatever became of them."""
        rows = self._named.all(connection, ids=json.dumps(list(keys)))
        return {row.key: row for row in rows}

    def fences(self, connection: Connection, at: int) -> tuple[list[str], int]:
        """The first fenced rows that are due, by key, and how many there are, one past the cap at most."""
        if self._fences is None or self._counted is None:
            return [], 0
        moment = at // self._tick
        found: Any = self._counted.one(connection, at=moment)
        return [row.key for row in self._fences.all(connection, at=moment)], int(found.number)

    def name(self, key: str) -> str:
        """How plans name a row."""
        raise NotImplementedError

    def owed(self, row: Any) -> Owed:
        """A row as a plan needs it."""
        raise NotImplementedError


class DayBook(Book):
    """The day store: nanoseconds, micro-dollars."""

    def __init__(self) -> None:
        c = DAY.columns
        keys = (
            "kind",
            "day",
            "micro",
            "recorded_micro",
            "expires_at",
            "next_check_at",
            "deferrals",
            "thread_id",
        )
        super().__init__(DAY, (*(c[key] for key in keys), c.require_fence.label("fenced")), c.require_fence)

    def name(self, key: str) -> str:
        """See `Book`."""
        return f"day:{key}"

    def owed(self, row: Any) -> Owed:
        """See `Book`."""
        figure = row.micro if row.recorded_micro is None else row.recorded_micro
        guard = {key: getattr(row, key) for key in ("deferrals", "expires_at", "next_check_at")}
        note = {
            "owner": row.kind,
            "day": row.day,
            "thread": row.thread_id,
            "micro": row.micro,
            "figure": figure,
        }
        return Owed(
            kind=ItemKind.DAY,
            name=self.name(row.key),
            open=bool(row.held),
            fenced=bool(row.fenced),
            due_at=row.due,
            guard=guard,
            micro=row.micro,
            figure=figure,
            units=0,
            note=note,
        )


class MeterBook(Book):
    """One meter: milliseconds, units."""

    def __init__(self, prefix: str, fences: bool) -> None:
        source = meter_source(prefix, fences)
        self._prefix, self._ms = prefix, source.tick
        c = source.columns
        fenced = c.fenced if fences else ~true()
        shown = (*(c[key] for key in ("account_id", "period", "units", "attempts")), fenced.label("fenced"))
        super().__init__(source, shown, fenced)

    def name(self, key: str) -> str:
        """See `Book`."""
        return f"meter:{self._prefix}:{key}"

    def owed(self, row: Any) -> Owed:
        """See `Book`."""
        due_at = row.due * self._ms
        return Owed(
            kind=ItemKind.METER,
            name=self.name(row.key),
            open=bool(row.held),
            fenced=bool(row.fenced),
            due_at=due_at,
            guard={"attempt": row.attempts, "expires_at": due_at},
            micro=0,
            figure=0,
            units=row.units,
            note={"owner": row.account_id, "period": row.period, "units": row.units},
        )


DAY_BOOK: Final = DayBook()


@lru_cache(maxsize=2 * MOST_PREFIXES)
def meter_book(prefix: str, fences: bool) -> MeterBook:
    """The book of a meter; `fences`: its table has the two fence columns."""
    return MeterBook(prefix, fences)
