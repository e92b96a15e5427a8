"""How many rows threads have, and their bytes: bounded counts, each of which may fail alone (row 44)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, func, literal_column, select

from engine.checkpoints.tables import checkpoint, effect, event, pending_write
from engine.database.constructs import Each, Size
from engine.database.statement import Statement
from engine.desk.plans.budget import attempted
from engine.desk.views import MAX_COUNT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Subquery, Table

    from engine.desk.plans.budget import Budget

MOST_SIZED: Final = 10_000
"""Rows of one kind whose bytes are added up; of more the bytes are not known."""
COUNTED: Final = ("checkpoint", "write", "effect")
"""Kinds of rows that are counted; events are known from their numbers."""
_TABLES: Final = {"checkpoint": checkpoint, "write": pending_write, "effect": effect, "event": event}
_BODIES: Final = {"checkpoint": "body", "write": "body", "effect": "value", "event": "payload"}
_ASKED: Final = Each(bindparam("ids")).table_valued("value").alias("asked")
_CAP: Final[ColumnElement[int]] = literal_column(str(MAX_COUNT + 1))


def _of_one(table: Table, shown: ColumnElement[Any]) -> Subquery:
    """A thread's rows by their key, one past the cap at most; whatever a planner knows of other threads'."""
    key = list(table.primary_key.columns)[1]
    mine = select(shown).where(table.c.thread_id == _ASKED.c.value).order_by(key).limit(_CAP)
    return mine.correlate(_ASKED).subquery()


def _number(table: Table) -> Statement:
    mine = _of_one(table, list(table.primary_key.columns)[1])
    number = select(func.count()).select_from(mine).scalar_subquery()
    return Statement(select(_ASKED.c.value.label("thread_id"), number.label("number")))


def _bytes(table: Table, body: str) -> Statement:
    mine = _of_one(table, Size(table.c[body]).label("size"))
    size = select(func.sum(mine.c.size).label("size")).scalar_subquery()
    return Statement(select(func.coalesce(func.sum(size), 0).label("total")).select_from(_ASKED))


_NUMBERS: Final = {kind: _number(_TABLES[kind]) for kind in COUNTED}
_SIZES: Final = {kind: _bytes(table, _BODIES[kind]) for kind, table in _TABLES.items()}


@dataclass(slots=True)
class Weight:
    """Rows of each kind, for every thread that was weighed; `unknown` are kinds that could not be counted."""

    rows: dict[str, Counter[str]] = field(default_factory=dict)
    bytes: dict[str, int | None] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)

    def of(self, kind: str, thread_id: str) -> int | None:
        """A thread's rows of a kind."""
        return None if kind in self.unknown else self.rows[kind][thread_id]

    def total(self, kind: str) -> int | None:
        """All rows of a kind."""
        return None if kind in self.unknown else sum(self.rows[kind].values())

    def capped(self, kind: str) -> bool:
        """Whether a thread has more rows of a kind than were counted."""
        return kind in COUNTED and any(number > MAX_COUNT for number in self.rows[kind].values())


def weigh(connection: Connection, events: dict[str, int], budget: Budget) -> Weight:
    """The rows of these threads, whose events are known by number, and the bytes where they are not too many."""
    ids = list(events)
    weight = Weight({kind: Counter() for kind in COUNTED} | {"event": Counter(events)})
    for kind in COUNTED:
        _count(connection, kind, ids, weight, budget)
    for kind in _SIZES:
        weight.bytes[kind] = _size(connection, kind, ids, weight, budget)
    return weight


def _count(connection: Connection, kind: str, ids: Sequence[str], weight: Weight, budget: Budget) -> None:
    for batch in budget.batches(ids):
        rows = attempted(connection, partial(_NUMBERS[kind].all, connection, ids=json.dumps(batch)))
        if rows is None:
            weight.unknown.add(kind)
            return
        weight.rows[kind].update({row.thread_id: row.number for row in rows})


def _size(
    connection: Connection, kind: str, ids: Sequence[str], weight: Weight, budget: Budget
) -> int | None:
    number = weight.total(kind)
    if number is None or number > MOST_SIZED:
        return None
    total = 0
    for batch in budget.batches(ids):
        row: Any = attempted(connection, partial(_SIZES[kind].one, connection, ids=json.dumps(batch)))
        if row is None:
            return None
        total += int(row.total)
    return total
