"""What a reconcile pass would settle, and who would decide about each row (console.md F10; rulings 39, 55, 66)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from engine.clock import from_ns
from engine.desk.audit.model import Deed
from engine.desk.jobs.executors.outcomes import GONE, SETTLED
from engine.desk.meters import find_meter, find_meters
from engine.desk.moment import look
from engine.desk.money_views import ReservationKind
from engine.desk.object_ids import parts
from engine.desk.plans.books import DAY_BOOK, meter_book
from engine.desk.plans.budget import Budget
from engine.desk.plans.draft import Draft
from engine.desk.plans.model import AnswerSource, ItemKind, Line, Totals
from engine.desk.views import MAX_COUNT
from engine.spend.meter.model import AfterLease

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from engine.desk.plans.books import Book, Owed
    from engine.desk.plans.model import Preview
    from engine.desk.plans.reconcile_asked import ReconcileAsked

FENCED: Final = "fenced: only a resolver or a person may decide"
_KEPT: Final = ("reservations that are not due", "every row of a plan that changes before it is its turn")


@dataclass(slots=True)
class _Pass:
    """What was found so far, under one budget."""

    asked: ReconcileAsked
    draft: Draft
    budget: Budget
    at: int
    micro: int = 0
    units: int = 0
    days: int = 0
    meters: int = 0

    @property
    def defaults(self) -> bool:
        """Whether nobody is asked."""
        return self.asked.source is AnswerSource.DEFAULT

    def add(self, owed: Owed) -> None:
        """One row that is due and may be decided about."""
        self.draft.add(owed.kind, owed.name, owed.guard, owed.note | self._becomes(owed))
        self.micro += owed.micro
        self.units += owed.units
        self.days += owed.kind is ItemKind.DAY
        self.meters += owed.kind is ItemKind.METER

    def weigh(self, owed: Owed) -> None:
        """A row that was named: add it, or say why it does not apply."""
        if not owed.open:
            self.draft.apart(owed.name, SETTLED)
        elif owed.due_at > self.at:
            self.draft.apart(owed.name, f"not due before {from_ns(owed.due_at).isoformat()}")
        elif owed.fenced and self.defaults:
            self.draft.apart(owed.name, FENCED)
        else:
            self.add(owed)

    def _becomes(self, owed: Owed) -> dict[str, Any]:
        """Who decides, and what the default will do."""
        asked = self.asked
        if asked.source is AnswerSource.RESOLVER:
            return {"fenced": owed.fenced, "becomes": f"as {asked.resolver or 'the resolver'} answers"}
        if asked.source is AnswerSource.ASK:
            return {"fenced": owed.fenced, "becomes": "as a person answers"}
        if owed.kind is ItemKind.METER:
            released = asked.after_lease is AfterLease.RELEASE
            return {"becomes": "released" if released else "consumed whole"}
        whole = owed.figure == owed.micro
        return {"becomes": "settled whole" if whole else "settled at the recorded figure"}


def preview_reconcile(
    connection: Connection, environment: str, asked: ReconcileAsked, budget: Budget | None = None
) -> Preview:
    """Each row that is due, guarded by what it was when it was seen (ruling 40). Wants a SNAPSHOT.

    Where the default decides, fenced rows stand apart. PlanRefused, why "too wide", beyond the budget;
    ValidationError for a meter that the database does not have.
    """
    at = look(connection)
    budget = Budget() if budget is None else budget
    found = _Pass(asked, Draft(budget), budget, at)
    if asked.names:
        _named(connection, found)
    else:
        for book in _books(connection, asked):
            _due(connection, book, found)
    lines = (
        Line("day reservation", found.days, 0),
        Line("meter reservation", found.meters, 0),
    )
    rows = found.days + found.meters
    totals = Totals(rows=rows, lines=lines, kept=_KEPT, micro=found.micro, units=found.units)
    return found.draft.preview(Deed.RECONCILE, environment, asked.facts(), at, totals)


def _books(connection: Connection, asked: ReconcileAsked) -> Iterator[Book]:
    if ReservationKind.DAY in asked.kinds:
        yield DAY_BOOK
    if ReservationKind.METER not in asked.kinds:
        return
    if asked.meters:
        for prefix in dict.fromkeys(asked.meters):
            yield meter_book(prefix, find_meter(connection, prefix).fences)
        return
    after: str | None = ""
    while after is not None:
        page = find_meters(connection, after)
        for meter in page.found:
            yield meter_book(meter.prefix, meter.fences)
        after = page.next


def _due(connection: Connection, book: Book, found: _Pass) -> None:
    """All of one book that is due, page by page."""
    found.budget.check()
    rows = book.due(connection, found.at, None, defaults=found.defaults)
    while rows:
        for row in rows:
            found.add(book.owed(row))
        found.budget.check()
        rows = book.due(connection, found.at, (rows[-1].due, rows[-1].key), defaults=found.defaults)
    if found.defaults:
        keys, number = book.fences(connection, found.at)
        found.draft.apart_all([book.name(key) for key in keys], FENCED, number)
        if number > MAX_COUNT:
            found.draft.warn(f"more than {MAX_COUNT:,} fenced rows are due and wait for an answer")


def _named(connection: Connection, found: _Pass) -> None:
    """The rows that were named, in their order."""
    books: dict[tuple[ReservationKind, str], Book] = {}
    for batch in found.budget.batches(found.asked.names):
        keys: dict[Book, list[str]] = {}
        for kind, source, key in map(parts, batch):
            book = books.get((kind, source)) or _book(connection, kind, source)
            books[kind, source] = book
            keys.setdefault(book, []).append(key)
        rows = {
            book.name(key): book.owed(row)
            for book, mine in keys.items()
            for key, row in book.named(connection, mine).items()
        }
        for name in batch:
            if name in rows:
                found.weigh(rows[name])
            else:
                found.draft.apart(name, GONE)


def _book(connection: Connection, kind: ReservationKind, source: str) -> Book:
    if kind is ReservationKind.DAY:
        return DAY_BOOK
    return meter_book(source, find_meter(connection, source).fences)
