"""What the panes say of a reservation: its facts, and in plain words what a pass without a resolver does with it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console import money, present
from console.facts import Fact, fact, grid
from console.money_model import Fate
from console.money_words import HoldState, Kind
from console.present import Cell, Safe, Tone, own
from console.tables import lease_tone

if TYPE_CHECKING:
    from console.jsontext import Line
    from console.money_model import FenceRow, ReservationRow, ReservationStory
    from console.widgets.columns import Scene

UNKNOWN: Final = own("unknown, no answer")
EVIDENCE_PREVIEW: Final = 300
"""Characters of evidence below a list; the reservation's own screen has it whole, laid out."""
_TIMES: Final = {0: own("never"), 1: own("once")}
_SOURCES: Final = {Kind.DAY: "day", Kind.METER: "meter", Kind.TENTATIVE: "table"}
_OWNERS: Final = {Kind.DAY: "for", Kind.METER: "account", Kind.TENTATIVE: "transaction"}


def place(row: ReservationRow) -> Safe:
    """Where it is kept: its day, its meter's prefix, or its table."""
    return present.optional(row.period if row.address.kind is Kind.DAY else row.address.source)


def state(row: ReservationRow, scene: Scene) -> Cell:
    """The state, in doubt while the store does not answer."""
    cell = present.hold_state(row.state)
    return cell if scene.fresh else Cell(own(f"{cell.text}?"), Tone.MUTED)


def due_words(row: ReservationRow, scene: Scene) -> Cell:
    """When a pass may look at it."""
    if row.due_in is None:
        return Cell(own("never") if row.state is not HoldState.SETTLED else own("it is over"), Tone.MUTED)
    if not scene.fresh:
        return Cell(UNKNOWN, Tone.MUTED)
    left = row.due_in - scene.elapsed
    if left <= timedelta(0):
        return Cell(own(f"{present.span(-left)} ago"), Tone.BAD)
    return Cell(own(f"in {present.span(left)}"), lease_tone(left))


def of_row(row: ReservationRow, story: ReservationStory | None, scene: Scene, room: int) -> tuple[Line, ...]:
    """The pane below the reservations; `story` once it has been fetched."""
    said = () if story is None else fate_lines(row, story.fate, scene, room)
    return (*said, *grid((*first(row, scene), *further(row), identity(row), *times(row)), room))


def of_fence(fence: FenceRow, scene: Scene, room: int) -> tuple[Line, ...]:
    """The pane below the fences: what a low screen must show, the beginning of the evidence, then the rest."""
    row = fence.row
    rest = (*further(row), identity(row), *times(row))
    return (*grid(first(row, scene), room), _evidence(fence), *grid(rest, room))


def _evidence(fence: FenceRow) -> Line:
    if fence.evidence is None:
        return (Cell(own("no evidence: it was never deferred"), Tone.MUTED),)
    label = Cell(own(f"evidence ({present.size(fence.size)})  "), Tone.MUTED)
    return label, Cell(present.safe(fence.evidence, EVIDENCE_PREVIEW))


def first(row: ReservationRow, scene: Scene) -> tuple[Fact, ...]:
    """What a low screen must still show."""
    kind = row.address.kind
    return (
        Fact(own("state"), state(row, scene)),
        fact("amount", money.words(row.micro, row.units), Tone.STRONG),
        Fact(own(_due_label(row)), due_words(row, scene)),
        fact(_OWNERS[kind], present.optional(row.owner), Tone.STRONG),
        fact(_SOURCES[kind], place(row)),
        fact("deferred", deferred(row)),
    )


def _due_label(row: ReservationRow) -> str:
    if row.state is HoldState.SETTLED:
        return "due"
    if row.lease_until is not None and row.lease_until == row.due_at:
        return "lease ends"
    return "next check" if row.fenced else "due"


def deferred(row: ReservationRow) -> Safe:
    """How often it was; a meter keeps no count."""
    if row.deferrals is not None:
        return _TIMES.get(row.deferrals, own(f"{row.deferrals:,} times"))
    if row.address.kind is Kind.METER:
        return own("yes, not counted") if row.next_check_at is not None else own("no")
    return present.NOTHING


def times(row: ReservationRow) -> tuple[Fact, ...]:
    """When it was made, ends, and is checked."""
    known = {
        "reserved": row.created_at,
        "expires": row.expires_at,
        "check at": None if row.state is HoldState.SETTLED else row.next_check_at,
        "lease until": row.lease_until,
        "settled": row.settled_at,
    }
    return tuple(fact(label, present.instant(at)) for label, at in known.items() if at is not None)


def further(row: ReservationRow) -> tuple[Fact, ...]:
    """What else is known of it."""
    told: list[Fact] = []
    if row.is_operation:
        told.append(fact("operation", present.optional(row.operation)))
        told.append(fact("runs begun", _runs(row)))
        told.append(fact("recorded", present.NOTHING if row.recorded is None else money.usd(row.recorded)))
    elif row.address.kind is Kind.METER:
        told += [fact("attempt", present.number(row.attempt)), fact("period", present.optional(row.period))]
    if row.address.kind is Kind.DAY:
        told.append(fact("thread", present.optional(row.thread)))
    return tuple(told)


def identity(row: ReservationRow) -> Fact:
    """Its id."""
    return fact("id", present.safe(row.address.id))


def _runs(row: ReservationRow) -> Safe:
    if row.lease_run is None:
        return own(f"{present.number(row.attempt)}, none holds it")
    return own(f"{present.number(row.attempt)}, run {row.lease_run:,} holds it")


# What a pass does


def fate_lines(row: ReservationRow, fate: Fate, scene: Scene, room: int) -> tuple[Line, ...]:
    """What a pass without a resolver does with it and when, in plain words."""
    if fate is Fate.ALREADY_SETTLED:
        return _folded("OVER", Tone.MUTED, over(row), room)
    if fate is Fate.LEFT_FENCED:
        return _folded("LEFT ALONE", Tone.WARN, own(f"{_check(row, scene)}{_FENCED}"), room)
    return _folded("BY DEFAULT", Tone.INFO, own(f"{_when(row, scene)} {_does(row, fate)}"), room)


def _folded(word: str, tone: Tone, text: Safe, room: int) -> tuple[Line, ...]:
    head, *others = present.wrap(own(f"{word}  {text}"), room)
    return ((Cell(own(word), tone), Cell(own(head[len(word) :]))), *((Cell(line),) for line in others))


_FENCED: Final = "no default settles what is fenced; a resolver or a person must say what became of it"


def _check(row: ReservationRow, scene: Scene) -> str:
    """When a resolver is asked next."""
    if not scene.fresh or row.due_in is None:
        return ""
    left = row.due_in - scene.elapsed
    if left <= timedelta(0):
        return f"its check came {present.span(-left)} ago: "
    return f"its check comes in {present.span(left)}; even then "


def _when(row: ReservationRow, scene: Scene) -> str:
    if not scene.fresh or row.due_in is None:
        return "once its time is over, a pass without a resolver"
    left = row.due_in - scene.elapsed
    if left <= timedelta(0):
        return f"its time was over {present.span(-left)} ago: the next pass without a resolver"
    return f"its time is over in {present.span(left)}; then a pass without a resolver"


def _does(row: ReservationRow, fate: Fate) -> str:
    if fate is Fate.SETTLED_AT_RECORDED and row.micro is not None and row.recorded is not None:
        back = money.usd(row.micro - row.recorded)
        return f"settles it at what its runs recorded, {money.usd(row.recorded)}; {back} go back to the day"
    if fate is Fate.SETTLED_WHOLE:
        whole = money.words(row.micro, row.units)
        return f"settles it whole, at {whole}: nobody has said that less was spent"
    return _OTHERWISE[fate]


_OTHERWISE: Final = {
    Fate.SETTLED_AT_RECORDED: "settles it at what its runs recorded",
    Fate.METER_DEFAULT: "settles it as its meter is configured, released or consumed whole "
    "(unknown_after_lease): the store does not know which",
    Fate.DELETED: "takes the row away: its transaction was neither confirmed nor released in time",
}


def over(row: ReservationRow) -> Safe:
    """What a settled one came to, and when."""
    perhaps = "" if row.fenced else ", so perhaps by a default"
    late = f"; after its time was over{perhaps}" if row.late else ""
    at = "" if row.settled_at is None else f" at {present.instant(row.settled_at)}"
    if row.micro is not None and row.settled_micro is not None:
        back = money.usd(row.micro - row.settled_micro)
        return own(f"settled at {money.usd(row.settled_micro)}{at}, {back} went back to the day{late}")
    units = "" if row.units is None else f" {money.counted(row.units)}"
    return own(f"{present.safe(row.outcome or row.state.value)}{units}{at}{late}")
