"""Reservations of every kind in one list: money of days, units of meters, tentative rows (console.md, top table)."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from console import audit_filters, money, money_facts, present, tables
from console.commands import OpenReservation, OpenThread
from console.lists.sorting import Served
from console.lists.view import Extra, Question, Tally, View
from console.model import Counted
from console.money_model import ReservationQuery, ReservationRow
from console.money_words import HoldState
from console.present import Cell, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.money_model import ReservationTotals, StateCounts
    from console.reading import Gateway
    from console.widgets.columns import Scene

MOST_COUNTED: Final = 10_000
"""Where a count stops, as the store's own do."""
NO_THREAD: Final = own("no thread is kept with this row")


def key(row: ReservationRow) -> str:
    """What tells a row from all others: ids of two kinds may be alike."""
    return json.dumps([row.address.kind, row.address.source, row.address.id])


def age(row: ReservationRow, scene: Scene) -> Cell:
    """Since when it is reserved."""
    if not scene.fresh:
        return tables.STALE_CELL
    return Cell(present.age(None if row.age is None else row.age + scene.elapsed))


def amount(row: ReservationRow) -> Cell:
    """What it holds; nothing is counted of a tentative row."""
    text = money.amount(row.micro, row.units)
    return Cell(text, Tone.MUTED if text == present.NOTHING else Tone.STRONG)


def quantity(row: ReservationRow) -> tuple[int, int] | None:
    """What amounts are sorted by: money, then units, for the two have no common measure."""
    if row.micro is not None:
        return 0, row.micro
    return None if row.units is None else (1, row.units)


_AMOUNT: Final = 13

COLUMNS: Final[tuple[Column[ReservationRow], ...]] = (
    Column(
        own("RESERVATION"),
        11,
        lambda row, _: Cell(present.safe(row.address.id), Tone.STRONG),
        most=36,
        shorten=middle,
    ),
    Column(own("KIND"), 9, lambda row, _: Cell(own(row.address.kind.value), Tone.MUTED)),
    Column(own("STATE"), 10, money_facts.state),
    Column(own("AMOUNT"), _AMOUNT, lambda row, _: amount(row), most=20, right=True, by=quantity),
    Column(own("OWNER"), 8, lambda row, _: tables.maybe(row.owner), most=24, shorten=middle),
    Column(own("WHERE"), 10, lambda row, _: Cell(money_facts.place(row)), most=20, leaves=2, shorten=middle),
    Column(
        own("ATTEMPT"),
        7,
        lambda row, _: Cell(present.number(row.attempt)),
        right=True,
        leaves=1,
        by=lambda row: row.attempt,
    ),
    Column(
        own("DUE IN"),
        7,
        lambda row, scene: tables.lease(row.due_in, scene),
        right=True,
        by=lambda row: row.due_in,
    ),
    Column(own("AGE"), 7, age, right=True, by=lambda row: row.age),
)

RESERVATIONS: Final[View[ReservationRow]] = View(
    title=own("Reservations"),
    order=own("first due first"),
    none=own("nothing is reserved: no day, no meter and no table holds anything"),
    columns=COLUMNS,
    key=key,
    facts=money_facts.of_row,
    opens=lambda row: OpenReservation(row.address),
    owner=lambda row: None if row.thread is None else OpenThread(row.thread),
    orphan=NO_THREAD,
    copies=lambda row: row.address.id,
    extra=Extra(
        lambda gateway, row: gateway.reservation(row.address),
        lambda row: (row.state, row.attempt, row.deferrals, row.recorded),
    ),
    ids="reservations",
    history=lambda row: audit_filters.of_reservation(row.address),
    served=Served("DUE IN"),
)
SETTLED: Final = replace(
    RESERVATIONS, order=own("last settled first"), none=own("nothing was settled yet"), served=None
)


def reservations(query: ReservationQuery) -> Question[ReservationRow]:
    """The reservations that match."""
    return Question(
        SETTLED if query.state is HoldState.SETTLED else RESERVATIONS,
        lambda gateway, after, limit: gateway.reservations(query, after, limit),
        partial(_tally, query=query),
    )


def _tally(gateway: Gateway, query: ReservationQuery) -> Tally:
    totals = gateway.reservation_totals()
    whole = query == ReservationQuery()
    total = together(totals.all) if whole else gateway.count_reservations(query)
    return Tally(total, below=said(totals))


def said(totals: ReservationTotals) -> tuple[Cell, ...]:
    """How many are in which state, and what all days hold."""
    counts = totals.all
    more = (Cell(own("  not all meters and tables counted"), Tone.WARN),) if totals.more_sources else ()
    return (
        Cell(own(f" {present.counted(counts.open)} open"), _tone(counts.open, Tone.GOOD)),
        Cell(own(f"  {present.counted(counts.expired)} expired"), _tone(counts.expired, Tone.BAD)),
        Cell(own(f"  {present.counted(counts.fenced)} fenced"), _tone(counts.fenced, Tone.INFO)),
        Cell(own(f"  {present.counted(counts.due)} due"), _tone(counts.due, Tone.WARN)),
        Cell(own("   days hold "), Tone.MUTED),
        Cell(money.usd(totals.held_micro), Tone.STRONG),
        *more,
    )


def together(counts: StateCounts) -> Counted:
    """All states of one kind."""
    parts = (counts.open, counts.expired, counts.fenced, counts.due)
    number = sum(part.count for part in parts)
    return Counted(min(number, MOST_COUNTED), any(part.more for part in parts) or number > MOST_COUNTED)


def _tone(count: Counted, tone: Tone) -> Tone:
    return tone if count.count else Tone.MUTED
