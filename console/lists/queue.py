"""The run queue: which runs are wanted, who has leased them, and what became of the attempts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from console import audit_filters, present, queue_facts, tables
from console.commands import OpenThread
from console.lists.view import Extra, Question, Tally, View, claims_of
from console.present import Cell, Safe, Tone, middle, own
from console.queue_model import QueueQuery, QueueRow, QueueState
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.model import Counted
    from console.reading import Gateway
    from console.widgets.columns import Scene

_ORDERS: Final = {
    None: own("leased first, then by due time"),
    QueueState.QUEUED: own("by due time"),
    QueueState.LEASED: own("first lease to end first"),
}


def _state(row: QueueRow, scene: Scene) -> Cell:
    cell = present.queue_state(row.state, lapsed=queue_facts.lapsed(row))
    return cell if scene.fresh else Cell(own(f"{cell.text}?"), Tone.MUTED)


def _due(row: QueueRow, scene: Scene) -> Cell:
    """How long a queued entry has been waiting, or in how long it may be leased."""
    if row.state is not QueueState.QUEUED:
        return Cell(present.NOTHING, Tone.MUTED)
    if not scene.fresh:
        return tables.STALE_CELL
    waiting = row.waiting + scene.elapsed
    if waiting < timedelta(0):
        return Cell(own(f"in {present.age(-waiting)}"), Tone.MUTED)
    return Cell(own(f"{present.age(waiting)} ago"), Tone.INFO)


def _until_due(row: QueueRow) -> timedelta | None:
    """What the column of the due times is sorted by."""
    return -row.waiting if row.state is QueueState.QUEUED else None


def _lease(row: QueueRow, scene: Scene) -> Cell:
    return tables.lease(row.lease_left, scene)


THREAD_COLUMNS: Final[tuple[Column[QueueRow], ...]] = (
    Column(
        own("ENTRY"), 12, lambda row, _: Cell(present.safe(row.entry), Tone.STRONG), most=36, shorten=middle
    ),
    Column(own("STATE"), 11, _state),
    Column(own("WORKER"), 10, lambda row, _: tables.maybe(row.owner), most=24, shorten=middle),
    Column(own("LEASE LEFT"), 10, _lease, right=True, by=lambda row: row.lease_left),
    Column(own("DUE"), 8, _due, right=True, by=_until_due),
    Column(
        own("ATTEMPTS"),
        8,
        lambda row, _: Cell(queue_facts.attempts(row)),
        right=True,
        by=lambda row: row.attempts,
    ),
    Column(own("LAST RUN"), 10, lambda row, _: tables.maybe(row.run), most=30, leaves=1, shorten=middle),
)
"""A thread's own entries."""

COLUMNS: Final[tuple[Column[QueueRow], ...]] = (
    Column(
        own("THREAD"), 18, lambda row, _: Cell(present.safe(row.thread), Tone.STRONG), most=40, shorten=middle
    ),
    *THREAD_COLUMNS[1:3],
    Column(own("TENANT"), 8, lambda row, _: tables.maybe(row.tenant), most=12, leaves=2),
    *THREAD_COLUMNS[3:],
)

QUEUE: Final[View[QueueRow]] = View(
    title=own("Run queue"),
    order=_ORDERS[None],
    none=own("no run is wanted: the queue has no open entries"),
    columns=COLUMNS,
    key=lambda row: row.entry,
    facts=queue_facts.of_row,
    opens=lambda row: OpenThread(row.thread),
    owner=lambda row: None if row.run is None else claims_of(row.run),
    extra=Extra(
        lambda gateway, row: gateway.queue_runs(row.entry), lambda row: (row.state, row.token, row.run)
    ),
    ids="entries",
    history=lambda row: audit_filters.of_thread(row.thread),
)


def queue(query: QueueQuery) -> Question[QueueRow]:
    """The entries that match, in an order that the store has an index for."""
    order = _ORDERS.get(query.state, own("by entry id"))
    view = replace(QUEUE, order=own("of one thread") if query.thread is not None else order)
    return Question(
        view,
        lambda gateway, after, limit: gateway.queue(query, after, limit),
        partial(_tally, query=query),
    )


def _tally(gateway: Gateway, query: QueueQuery) -> Tally:
    depth = gateway.queue_depth()
    parts = (
        Cell(own(f"  {present.counted(depth.leased)} leased"), _tone(depth.leased, Tone.GOOD)),
        Cell(_besides(depth.lapsed, "lapsed", depth.oldest_lapsed), Tone.BAD),
        Cell(own(f"  {present.counted(depth.queued)} queued"), _tone(depth.queued, Tone.INFO)),
        Cell(_besides(depth.due, "due", depth.oldest_due), Tone.INFO),
    )
    total = {QueueState.QUEUED: depth.queued, QueueState.LEASED: depth.leased}
    whole = replace(query, state=None) == QueueQuery()
    return Tally(total.get(query.state) if whole and query.state is not None else None, parts)


def _tone(count: Counted, tone: Tone) -> Tone:
    return tone if count.count else Tone.MUTED


def _besides(count: Counted, word: str, since: timedelta | None) -> Safe:
    """How many of them, and since when the first of these."""
    if since is None:
        return own("")
    return own(f" ({present.counted(count)} {word}, first {present.age(since)} ago)")
