"""The columns of each list: what a row shows, in which order, and what leaves first on a narrow screen."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console import present
from console.held_model import Failed, Held
from console.present import Cell, Safe, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.model import Checkpoint, Effect, EventRow, MetadataPair, ThreadRow, Write
    from console.widgets.columns import Scene

STALE_CELL: Final = Cell(own("(stale)"), Tone.MUTED)
LEASE_SHORT: Final = timedelta(seconds=10)
"""A live lease with less than this left is marked."""


def lease_tone(left: timedelta | None) -> Tone:
    """How worrying the rest of a lease is."""
    if left is None:
        return Tone.MUTED
    if left < timedelta(0):
        return Tone.BAD
    return Tone.WARN if left < LEASE_SHORT else Tone.GOOD


def lease(given: timedelta | None, scene: Scene) -> Cell:
    """What is left of a lease: a dash where there is none, nothing said while the store does not answer."""
    if given is None:
        return Cell(present.NOTHING, Tone.MUTED)
    if not scene.fresh:
        return STALE_CELL
    left = given - scene.elapsed
    return Cell(present.lease(left), lease_tone(left))


def _age(row: ThreadRow, scene: Scene) -> Cell:
    if not scene.fresh:
        return STALE_CELL
    return Cell(present.age(None if row.age is None else row.age + scene.elapsed))


def _state(row: ThreadRow, scene: Scene) -> Cell:
    cell = present.state(row.state)
    return cell if scene.fresh else Cell(Safe(f"{cell.text}?"), Tone.MUTED)


def maybe(text: str | None) -> Cell:
    """A stored text; a muted dash for None."""
    return Cell(present.optional(text), Tone.MUTED if text is None else Tone.PLAIN)


def refused(count: int) -> Cell:
    """How many late writers were turned away; a number above zero stands out."""
    return Cell(present.number(count), Tone.WARN if count else Tone.MUTED)


def held(money: Held | Failed | None) -> Cell:
    """What days hold of a thread, exactly; a question mark where that was not read."""
    if not isinstance(money, Held):
        return Cell(own("?" if isinstance(money, Failed) else present.NOTHING), Tone.MUTED)
    more = "+" if money.more else ""
    return Cell(own(f"{present.usd(money.micro)}{more}"), Tone.STRONG if money.micro else Tone.MUTED)


def _micro(money: Held | Failed | None) -> int | None:
    return money.micro if isinstance(money, Held) else None


THREADS: Final[tuple[Column[ThreadRow], ...]] = (
    Column(
        own("THREAD"), 16, lambda row, _: Cell(present.safe(row.id), Tone.STRONG), most=44, shorten=middle
    ),
    Column(own("STATE"), 12, _state),
    Column(own("TENANT"), 8, lambda row, _: maybe(row.tenant), most=16, leaves=3),
    Column(own("HOLDER"), 10, lambda row, _: maybe(row.holder), most=24, leaves=5, shorten=middle),
    Column(
        own("LEASE LEFT"),
        10,
        lambda row, scene: lease(row.lease_left, scene),
        right=True,
        by=lambda row: row.lease_left,
    ),
    Column(
        own("HELD USD"),
        12,
        lambda row, _: held(row.held),
        most=18,
        right=True,
        by=lambda row: _micro(row.held),
    ),
    Column(
        own("TOKEN"),
        7,
        lambda row, _: Cell(present.number(row.token)),
        most=9,
        right=True,
        leaves=2,
        by=lambda row: row.token,
    ),
    Column(
        own("EVENTS"),
        7,
        lambda row, _: Cell(present.number(row.events)),
        most=9,
        right=True,
        leaves=1,
        by=lambda row: row.events,
    ),
    Column(
        own("UPDATED"),
        10,
        lambda row, scene: Cell(present.clock(row.updated_at, scene.as_of)),
        right=True,
        leaves=4,
        by=lambda row: row.updated_at,
    ),
    Column(own("AGE"), 7, _age, right=True, by=lambda row: row.age),
)

METADATA: Final[tuple[Column[MetadataPair], ...]] = (
    Column(own("KEY"), 18, lambda row, _: Cell(present.safe(row[0]), Tone.STRONG), most=40, shorten=middle),
    Column(own("VALUE"), 30, lambda row, _: Cell(present.safe(row[1])), most=400),
)

CHECKPOINTS: Final[tuple[Column[Checkpoint], ...]] = (
    Column(
        own("CHECKPOINT"), 18, lambda row, _: Cell(present.safe(row.id), Tone.STRONG), most=40, shorten=middle
    ),
    Column(own("STATUS"), 10, lambda row, _: checkpoint_state(row.status)),
    Column(own("RUN"), 12, lambda row, _: Cell(present.safe(row.run)), most=30, shorten=middle),
    Column(own("TOKEN"), 7, lambda row, _: Cell(present.number(row.token)), right=True, leaves=2),
    Column(own("SIZE"), 8, lambda row, _: Cell(present.size(row.size)), right=True, leaves=1),
    Column(
        own("COMMITTED"),
        10,
        lambda row, scene: Cell(present.clock(row.committed_at, scene.as_of)),
        right=True,
    ),
)

WRITES: Final[tuple[Column[Write], ...]] = (
    Column(
        own("TASK"), 14, lambda row, _: Cell(present.safe(row.task), Tone.STRONG), most=30, shorten=middle
    ),
    Column(own("NODE"), 12, lambda row, _: Cell(present.safe(row.node)), most=24, shorten=middle),
    Column(own("BODY"), 20, lambda row, _: Cell(present.safe(row.body), Tone.MUTED), most=400),
)

EFFECTS: Final[tuple[Column[Effect], ...]] = (
    Column(own("KEY"), 18, lambda row, _: Cell(present.safe(row.key), Tone.STRONG), most=40, shorten=middle),
    Column(own("RUN"), 12, lambda row, _: maybe(row.run), most=24, leaves=2, shorten=middle),
    Column(own("TOKEN"), 7, lambda row, _: Cell(present.number(row.token)), right=True, leaves=1),
    Column(
        own("COMMITTED"),
        10,
        lambda row, scene: Cell(present.clock(row.committed_at, scene.as_of)),
        right=True,
    ),
    Column(own("VALUE"), 14, lambda row, _: Cell(present.safe(row.value), Tone.MUTED), most=400),
)


def _own_time(row: EventRow) -> Cell:
    """The event's own instant; where its producer gave none, when it arrived, which `~` says."""
    if row.own is None:
        return Cell(own(f"~{present.stamp(row.at)}"), Tone.MUTED)
    return Cell(present.stamp(row.own), Tone.MUTED)


def _payload(row: EventRow) -> Cell:
    """The payload's beginning, after what the tail has to say of the events before it."""
    if not row.skipped:
        return Cell(present.safe(row.payload), Tone.MUTED)
    return Cell(own(f"[{row.skipped:,} dropped before this] {present.safe(row.payload)}"), Tone.WARN)


_TIME: Final[Column[EventRow]] = Column(own("TIME (UTC)"), 14, lambda row, _: _own_time(row))
_ARRIVED: Final[Column[EventRow]] = Column(
    own("ARRIVED"), 13, lambda row, _: Cell(present.stamp(row.at), Tone.MUTED), leaves=1
)
_SEQ: Final[Column[EventRow]] = Column(
    own("SEQ"), 7, lambda row, _: Cell(present.number(row.seq)), right=True, leaves=3
)
_KIND: Final[Column[EventRow]] = Column(
    own("KIND"), 16, lambda row, _: Cell(present.safe(row.kind), Tone.ACCENT), most=24
)
_TOKEN: Final[Column[EventRow]] = Column(
    own("TOKEN"), 7, lambda row, _: Cell(present.number(row.token)), right=True, leaves=1
)
_PAYLOAD: Final[Column[EventRow]] = Column(own("PAYLOAD"), 16, lambda row, _: _payload(row), most=400)

EVENTS: Final[tuple[Column[EventRow], ...]] = (
    _TIME,
    _ARRIVED,
    Column(
        own("THREAD"), 14, lambda row, _: Cell(present.safe(row.thread), Tone.STRONG), most=28, shorten=middle
    ),
    _SEQ,
    _KIND,
    Column(own("TENANT"), 8, lambda row, _: maybe(row.tenant), most=12, leaves=2),
    _TOKEN,
    _PAYLOAD,
)

THREAD_EVENTS: Final[tuple[Column[EventRow], ...]] = (
    _SEQ,
    _TIME,
    _ARRIVED,
    _KIND,
    Column(own("RUN"), 10, lambda row, _: Cell(present.safe(row.run)), most=20, leaves=2, shorten=middle),
    _TOKEN,
    _PAYLOAD,
)


def checkpoint_state(status: str) -> Cell:
    """A checkpoint's status, with the tone of the thread state of the same name."""
    tones = {state.value: mark.tone for state, mark in present.STATES.items()}
    return Cell(present.safe(status.upper()), tones.get(status.upper(), Tone.GONE))
