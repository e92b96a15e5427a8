"""Sweeping what is due, over any DayStore (spend.md 2A.8, rulings 39, 41 and 67).

Over a store whose verbs each run in a transaction of their own, which is how `DaySpend` does it, a resolver is asked
outside any lock and its answer is written under the number of deferrals it was shown: of two answers to one question,
or an answer that comes after the owner's, only the first changes anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from engine.arguments import of_kind
from engine.clock import to_ns
from engine.errors import ValidationError
from engine.spend.answers import Consumed, Deferred, Released, evidence_text, raised
from engine.spend.counts import whole_count
from engine.spend.day.admission import need_fences
from engine.spend.day.model import PAGE, RETRY_AFTER, DaySweep
from engine.spend.day.store import SettlesDefaults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from engine.spend.answers import Answer
    from engine.spend.day.model import ExpiredReservation, Resolver
    from engine.spend.day.store import DayStore

MAX_PAGES: Final = 10_000
"""Pages of one sweep; what is left is due in the next."""


@dataclass(slots=True)
class _Tally:
    settled: int = 0
    released: int = 0
    deferred: int = 0
    left: int = 0

    def total(self) -> DaySweep:
        return DaySweep(self.settled, self.released, self.deferred, self.left)


def release_expired_spend(
    store: DayStore,
    at: datetime,
    resolver: Resolver | None = None,
    *,
    retry_after: timedelta = RETRY_AFTER,
) -> DaySweep:
    """Settle every row that is due and unfenced, an operation at its recorded figure; ask about the others.

    With a resolver plain rows are asked about too. One that raises, or answers nonsense, defers its row by
    `retry_after` with the error as evidence. UnsupportedStore for a resolver on a store without fences.
    Over `SqlDayStore` all of it is the caller's one transaction, which a settle of another row of the same day can
    deadlock with, and in which the resolver is asked under locks: `DaySpend.sweep` has neither fault.
    """
    again = retry_at(at, retry_after)
    if resolver is not None:
        need_fences(store, "sweep")
    tally = _Tally()
    for page in _pages(store, at):
        for item in page:
            if getattr(store, "fenced_reservations", False) is not True:
                tally.settled += store.settle_reservation(item.id, item.micro, at)
            elif not item.require_fence and (resolver is None or item.operation_id is not None):
                tally.settled += _by_default(store, item, at)
            elif resolver is None:
                tally.left += 1
            else:
                _write(store, item, asked(resolver, item, at, again), at, tally)
    return tally.total()


def retry_at(at: datetime, retry_after: timedelta) -> datetime:
    """When to ask again after no answer; ValidationError unless both are proper and it is later than `at`."""
    to_ns(at)
    if of_kind("retry_after", retry_after, timedelta) <= timedelta(0):
        raise ValidationError("retry_after", ("must be above zero",))
    try:
        again = at + retry_after
    except OverflowError as error:
        raise ValidationError("retry_after", ("leads out of the years a store can hold",)) from error
    to_ns(again)
    return again


def _pages(store: DayStore, at: datetime) -> Iterator[list[ExpiredReservation]]:
    """What is due, page by page; the next page is read first, for what is done to a page can move its rows."""
    page = store.expired_reservations(at)
    for _ in range(MAX_PAGES):
        following: list[ExpiredReservation] = []
        if len(page) >= PAGE:
            known = {item.id for item in page}
            behind = store.expired_reservations(at, after=page[-1].id)
            following = [item for item in behind if item.id not in known]
        yield page
        if not following:
            return
        page = following


def _by_default(store: DayStore, item: ExpiredReservation, at: datetime) -> bool:
    """Settle an unfenced row; where the store cannot look at it once more, as it was listed (ruling 40)."""
    if isinstance(store, SettlesDefaults):
        return store.settle_default(item.id, at)
    return store.settle_reservation(item.id, item.micro, at, expected_deferrals=item.deferrals)


def asked(resolver: Resolver, item: ExpiredReservation, at: datetime, again: datetime) -> Answer:
    """The resolver's answer, or a deferral that says what was wrong with it."""
    try:
        answer = resolver(item)
        _check(answer, at)
    except Exception as error:  # noqa: BLE001 - whatever it was, it is no answer: it becomes evidence
        return Deferred(again, raised(error))
    return answer


def _check(answer: Answer, at: datetime) -> None:
    match answer:
        case Released() | Consumed(None):
            return
        case Consumed(figure):
            whole_count("figure", figure)
        case Deferred(later, evidence):
            evidence_text(evidence)
            if to_ns(later) <= to_ns(at):
                raise ValidationError("retry_at", (f"must be later than {at.isoformat()}",))
        case _:
            raise ValidationError("answer", (f"must be Consumed, Released or Deferred, not {answer!r:.60}",))


def _write(store: DayStore, item: ExpiredReservation, answer: Answer, at: datetime, tally: _Tally) -> None:
    """Write a checked answer, if the row still is as it was when the question was asked (ruling 40)."""
    shown = item.deferrals
    match answer:
        case Consumed(figure):
            # Of an operation `micro` is the recorded figure, which an answer does not exceed (ruling 67).
            cost = item.micro if figure is None else min(figure, item.micro)
            tally.settled += store.settle_reservation(item.id, cost, at, expected_deferrals=shown)
        case Released():
            tally.released += store.settle_reservation(item.id, 0, at, expected_deferrals=shown)
        case Deferred(later, evidence):
            tally.deferred += store.defer_reservation(item.id, later, evidence, expected_deferrals=shown)
