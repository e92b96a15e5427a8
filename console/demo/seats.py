"""Seats at events, held for customers: a table of the demo's own that keeps the reserved-commit convention.

A seat is tentative from the run's beginning; it is confirmed, given back, or lapses with the agent (reserved.md).
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from sqlalchemy import Column, MetaData, Table, Text, delete, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from engine.clock import from_ns
from engine.reserved import (
    State,
    Sweeper,
    VisibilityTier,
    Weight,
    application_predicate,
    confirm,
    convention_columns,
    convention_indexes,
    deadline,
    predicate_for,
    release,
    reserve_values,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from datetime import datetime

    from sqlalchemy import Connection, Engine

T = TypeVar("T")

CAPACITY: Final = 18
"""Seats at one event."""
LASTS: Final = timedelta(seconds=12)
"""How long a tentative seat counts."""
LEFT_LAPSED: Final = 2
"""Lapsed seats that are left for an operator to see."""
EVENTS: Final = ("onboarding-day", "model-clinic", "security-briefing", "roadmap-hour")

SEATS: Final = Table(
    "demo_seats",
    MetaData(),
    Column("seat", Text, primary_key=True),
    Column("event", Text, nullable=False),
    Column("guest", Text, nullable=False),
    *convention_columns(),
)
convention_indexes("demo", SEATS)


class Seats:
    """Each call is one transaction. Where the database will not have this table, nobody takes a seat."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sweeper = Sweeper()
        self._sweeper.register(engine, SEATS.name)
        self._alone(SEATS.metadata.create_all)

    def hold(
        self, txn: str, guest: str, dice: random.Random, now: datetime, lasts: timedelta = LASTS
    ) -> bool:
        """Hold a seat at some event until `now + lasts`; False where all of them are taken."""
        event, seat = dice.choice(EVENTS), f"seat-{dice.randrange(16**8):08x}"
        row = {"seat": seat, "event": event, "guest": guest, **reserve_values(txn, deadline(now, lasts))}

        def verb(connection: Connection) -> bool:
            counts = predicate_for(SEATS, VisibilityTier.GUARD, Weight.PESSIMISTIC, now)
            taken = select(func.count()).select_from(SEATS).where(SEATS.c.event == event, counts)
            free = connection.execute(taken).scalar_one() < CAPACITY
            if free:
                connection.execute(insert(SEATS).values(row))
            return free

        return self._alone(verb) or False

    def confirm(self, txn: str, now: datetime) -> None:
        """Keep the seats of a transaction, if they have not lapsed."""
        self._alone(lambda connection: confirm(connection, SEATS, txn, now))

    def release(self, txn: str) -> None:
        """Give back those that were not confirmed."""
        self._alone(lambda connection: release(connection, SEATS, txn))

    def tend(self, now: datetime) -> None:
        """Sweep what lapsed, but the last few; an event whose seats are all confirmed takes place, and makes room."""
        until = self._alone(partial(_lapsed_but_few, now=now))
        if until is not None:
            self._sweeper.sweep(until)
        for event in EVENTS:
            self._alone(partial(_take_place, event=event))

    def _alone(self, verb: Callable[[Connection], T]) -> T | None:
        """The verb's answer; None where the database refuses, say a role that may not make tables."""
        try:
            with self._engine.begin() as connection:
                return verb(connection)
        except SQLAlchemyError:
            return None


def _lapsed_but_few(connection: Connection, now: datetime) -> datetime | None:
    """The deadline up to which tentative seats go; None where only a few have lapsed."""
    due = SEATS.c.reserve_deadline
    lapsed = select(due).where(SEATS.c.state == State.RESERVED, due <= deadline(now, timedelta(0)))
    ns = connection.execute(lapsed.order_by(due.desc()).offset(LEFT_LAPSED).limit(1)).scalar()
    return None if ns is None else from_ns(ns)


def _take_place(connection: Connection, event: str) -> None:
    mine = (SEATS.c.event == event, application_predicate(SEATS))
    if connection.execute(select(func.count()).select_from(SEATS).where(*mine)).scalar_one() >= CAPACITY:
        connection.execute(delete(SEATS).where(*mine))
