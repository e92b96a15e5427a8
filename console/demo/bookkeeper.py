"""The pass that keeps the demo's money moving: defaults for what expired, the provider's word for what is fenced.

It touches the fleet's own reservations only: a store it was told to work on may hold somebody else's. The newest few
of each sort are left, so that there is always something to look at.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from sqlalchemy.exc import SQLAlchemyError

from console.demo import fences
from engine.errors import EngineError
from engine.spend import Consumed, Deferred, Released
from engine.spend.day import settle_default
from engine.spend.meter import Listed, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from console.demo.agents import Fleet
    from engine.spend import Answer, ExpiredReservation, MeterReservation

EVERY: Final = 3.0
"""Seconds between two passes."""
LEFT_EXPIRED: Final = 4
LEFT_DUE: Final = 2
PAGES: Final = 10
"""Pages of due reservations that one pass looks through for the fleet's own."""


class Bookkeeper(threading.Thread):
    """Pass after pass until the fleet is told to stop."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(name="bookkeeper", daemon=True)
        self._fleet = fleet
        self._money = fleet.money
        self._dice = fleet.dice(self.name)
        self._own = {subject.thread_id for subject in fleet.subjects}

    def run(self) -> None:
        """A duty that fails is tried again in the next pass."""
        while not self._fleet.stop.wait(EVERY):
            for duty in (self.tend_days, self.tend_units, self._money.seats.tend):
                self._tried(duty)

    def _tried(self, duty: Callable[[datetime], None]) -> None:
        try:
            duty(self._money.clock.now())
        except (EngineError, SQLAlchemyError):
            return  # the store is away; it may come back

    def tend_days(self, now: datetime) -> None:
        """Settle the oldest expired reservations by default, ask about the oldest fenced ones."""
        due = list(self._due(now))
        for item in [each for each in due if not each.require_fence][:-LEFT_EXPIRED]:
            self._settle(item, now)
        for item in [each for each in due if each.require_fence][:-LEFT_DUE]:
            self._decide(item, fences.answer(item.micro, item.evidence, self._dice, now), now)

    def _due(self, now: datetime) -> Iterator[ExpiredReservation]:
        """The fleet's own, first due first."""
        after = None
        for _ in range(PAGES):
            page = self._money.days.expired(now, after=after)
            yield from (item for item in page if (item.thread_id or "").partition(".")[0] in self._own)
            if not page:
                return
            after = page[-1].id

    def _settle(self, item: ExpiredReservation, now: datetime) -> None:
        with self._fleet.store.engine.begin() as connection:
            settle_default(connection, item.id, now)

    def _decide(self, item: ExpiredReservation, answer: Answer, now: datetime) -> None:
        days, shown = self._money.days, item.deferrals
        match answer:
            case Consumed(figure):
                cost = item.micro if figure is None else figure
                days.release(item.id, cost, now, expected_deferrals=shown)
            case Released():
                days.release(item.id, 0, now, expected_deferrals=shown)
            case Deferred(later, evidence):
                days.defer(item.id, later, evidence, expected_deferrals=shown)

    def tend_units(self, now: datetime) -> None:
        """The same for the meter, whose tables are the demo's alone."""
        operator = self._money.units.operator
        due = operator.list(Listed.DUE, now=now, limit=1000).reservations
        expired = sum(not each.fenced for each in due)
        if expired > LEFT_EXPIRED:
            operator.reconcile(now=now, limit=expired - LEFT_EXPIRED)
        for held in [each for each in due if each.fenced][:-LEFT_DUE]:
            self._answer(held, fences.answer(held.units, held.evidence, self._dice, now), now)

    def _answer(self, held: MeterReservation, answer: Answer, now: datetime) -> None:
        operator, unit = self._money.units.operator, held.operation_id
        if isinstance(answer, Deferred):
            operator.defer(
                unit, answer.retry_at, answer.evidence, attempt=held.attempt, expires_at=held.expires_at
            )
            return
        outcome = Outcome.RELEASED if isinstance(answer, Released) else Outcome.CONSUMED
        operator.settle(unit, outcome, attempt=held.attempt, expires_at=held.expires_at, now=now)
