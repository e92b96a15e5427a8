"""Fenced reservations: what no default may settle, with why it waits and when it is looked at again."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from console import audit_filters, money_facts, present, tables
from console.commands import OpenReservation, OpenThread
from console.lists import reservations
from console.lists.sorting import Served
from console.lists.view import Question, Tally, View
from console.model import Counted
from console.money_model import FenceQuery, FenceRow
from console.money_words import Kind
from console.present import Cell, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.jsontext import Line
    from console.reading import Gateway
    from console.widgets.columns import Scene


def _deferred(fence: FenceRow) -> Cell:
    """How often; of a meter's only whether."""
    row = fence.row
    if row.address.kind is Kind.METER:
        return Cell(own("yes" if row.next_check_at is not None else "no"), Tone.MUTED)
    return Cell(present.number(row.deferrals), Tone.PLAIN if row.deferrals else Tone.MUTED)


def _evidence(fence: FenceRow) -> Cell:
    text = own("none yet") if fence.evidence is None else present.safe(fence.evidence)
    return Cell(text, Tone.MUTED)


COLUMNS: Final[tuple[Column[FenceRow], ...]] = (
    Column(
        own("FENCE"),
        10,
        lambda fence, _: Cell(present.safe(fence.row.address.id), Tone.STRONG),
        most=20,
        shorten=middle,
    ),
    Column(own("KIND"), 5, lambda fence, _: Cell(own(fence.row.address.kind.value), Tone.MUTED)),
    Column(own("STATE"), 9, lambda fence, scene: money_facts.state(fence.row, scene)),
    Column(
        own("AMOUNT"),
        12,
        lambda fence, _: reservations.amount(fence.row),
        most=14,
        right=True,
        by=lambda fence: reservations.quantity(fence.row),
    ),
    Column(
        own("OWNER"), 8, lambda fence, _: tables.maybe(fence.row.owner), most=14, leaves=1, shorten=middle
    ),
    Column(
        own("DEFERRED"),
        8,
        lambda fence, _: _deferred(fence),
        right=True,
        by=lambda fence: fence.row.deferrals,
    ),
    Column(
        own("CHECK IN"),
        8,
        lambda fence, scene: tables.lease(fence.row.due_in, scene),
        right=True,
        by=lambda fence: fence.row.due_in,
    ),
    Column(
        own("AGE"),
        7,
        lambda fence, scene: reservations.age(fence.row, scene),
        right=True,
        leaves=2,
        by=lambda fence: fence.row.age,
    ),
    Column(own("EVIDENCE"), 11, lambda fence, _: _evidence(fence), most=400),
)


def _facts(fence: FenceRow, _extra: Any, scene: Scene, room: int) -> tuple[Line, ...]:
    return money_facts.of_fence(fence, scene, room)


FENCES: Final[View[FenceRow]] = View(
    title=own("Fences"),
    order=own("first check first"),
    none=own("nothing is fenced: defaults may settle all that is reserved"),
    columns=COLUMNS,
    key=lambda fence: reservations.key(fence.row),
    facts=_facts,
    opens=lambda fence: OpenReservation(fence.row.address),
    owner=lambda fence: None if fence.row.thread is None else OpenThread(fence.row.thread),
    orphan=reservations.NO_THREAD,
    copies=lambda fence: fence.row.address.id,
    ids="fences",
    history=lambda fence: audit_filters.of_reservation(fence.row.address),
    served=Served("CHECK IN"),
)


def fences(query: FenceQuery) -> Question[FenceRow]:
    """The fences that match."""
    return Question(
        FENCES,
        lambda gateway, after, limit: gateway.fences(query, after, limit),
        partial(_tally, query=query),
    )


def _tally(gateway: Gateway, query: FenceQuery) -> Tally:
    if query != FenceQuery():
        return Tally()
    counts = gateway.reservation_totals().all
    said = (
        Cell(own(f"  {present.counted(counts.due)} due"), Tone.WARN if counts.due.count else Tone.MUTED),
        Cell(
            own(f"  {present.counted(counts.fenced)} waiting"),
            Tone.INFO if counts.fenced.count else Tone.MUTED,
        ),
    )
    number = counts.due.count + counts.fenced.count
    more = counts.due.more or counts.fenced.more
    return Tally(Counted(min(number, reservations.MOST_COUNTED), more), said)
