"""A participant of the reserved-commit convention: a table of slots on an engine of its own (reserved.md, cases)."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Index, Integer, MetaData, Table, Text, func, insert, select, text

from engine.reserved import (
    Confirmation,
    Sweeper,
    SweepReport,
    Weight,
    application_predicate,
    confirm,
    convention_columns,
    convention_indexes,
    deadline,
    guard_predicate,
    release,
    reserve_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, Engine

    from tests.support.harness import Harness

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
NOTHING = timedelta(0)
SLOTS = "slots"


class Slots:
    """`slots(slot_id, name)` with the convention, and the verbs each in a transaction of its own.

    `exclusive` declares the unique index by which the database finds optimistic losers (ruling 30).
    """

    def __init__(
        self, harness: Harness, engine: Engine, *, exclusive: bool = False, name: str = SLOTS
    ) -> None:
        self.engine, self.clock = engine, harness.clock
        self.table = Table(
            name,
            MetaData(),
            Column("slot_id", Integer, primary_key=True),
            Column("name", Text),
            *convention_columns(),
        )
        convention_indexes("hw", self.table)
        if exclusive:
            taken = self.table.c.state == text("'committed'")
            names = (f"{name}_taken", self.table.c.name)
            Index(*names, unique=True, postgresql_where=taken, sqlite_where=taken)
        with self.begin() as connection:
            self.table.create(connection)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction that is committed in the end."""
        with self.engine.begin() as connection:
            yield connection

    def now(self) -> datetime:
        """What the participant takes the time to be."""
        return self.clock.now()

    def plain(self, *names: str) -> None:
        """Rows by a writer that knows nothing of the convention."""
        with self.begin() as connection:
            connection.execute(insert(self.table), [{"name": name} for name in names])

    def reserve(self, name: str, txn_id: str, ttl: timedelta) -> None:
        """A tentative row."""
        values = reserve_values(txn_id, deadline(self.now(), ttl))
        with self.begin() as connection:
            connection.execute(insert(self.table).values(name=name, **values))

    def live(self, name: str, txn_id: str) -> None:
        """A tentative row with a minute left."""
        self.reserve(name, txn_id, MINUTE)

    def lapsed(self, name: str, txn_id: str) -> None:
        """A tentative row a second past its deadline."""
        self.reserve(name, txn_id, -SECOND)

    def confirm(self, txn_id: str) -> Confirmation:
        """In a transaction of its own."""
        with self.begin() as connection:
            return confirm(connection, self.table, txn_id, self.now())

    def release(self, txn_id: str) -> int:
        """In a transaction of its own."""
        with self.begin() as connection:
            return release(connection, self.table, txn_id)

    def sweep(self, **options: Any) -> SweepReport:
        """One sweep of this table alone, by the participant's clock."""
        sweeper = Sweeper(clock=self.clock)
        sweeper.register(self.engine, self.table.name)
        return sweeper.sweep(**options)

    def seen(self, condition: ColumnElement[bool]) -> int:
        """How many rows meet it."""
        with self.begin() as connection:
            return int(connection.execute(select(func.count()).where(condition)).scalar_one())

    def guarded(self, weight: Weight) -> int:
        """How many rows count for a guard."""
        return self.seen(guard_predicate(self.table, weight, self.now()))

    def committed(self) -> int:
        """How many rows an application sees."""
        return self.seen(application_predicate(self.table))

    def rows(self) -> Sequence[tuple[Any, ...]]:
        """Name, owner, state and deadline of every row, in the order of insertion."""
        c = self.table.c
        columns = (c.name, c.txn_id, c.state, c.reserve_deadline)
        with self.begin() as connection:
            return [tuple(row) for row in connection.execute(select(*columns).order_by(c.slot_id))]


def counts(report: SweepReport) -> tuple[int, int, int]:
    """Examined, collected, errors."""
    return report.examined, report.collected, report.errors
