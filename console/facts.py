"""Facts about one thing: labels with values, laid out in columns.

What the panes below and beside the lists say.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console import present
from console.held_model import Failed
from console.present import Cell, Safe, Tone, middle, own, pad, width
from console.tables import lease_tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.held_model import Held
    from console.jsontext import Line
    from console.model import EventRow, ThreadRow, ThreadStory
    from console.widgets.columns import Scene

COLUMN: Final = 38
"""Cells that one column of facts needs at least."""
_GAP: Final = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """A label and what is to be said."""

    label: Safe
    value: Cell


def fact(label: str, text: Safe, tone: Tone = Tone.PLAIN) -> Fact:
    """A fact of one tone."""
    return Fact(own(label), Cell(text, tone))


def grid(facts: Sequence[Fact], room: int, most: int = 3) -> tuple[Line, ...]:
    """The facts in as many columns as fit, filled line by line; labels of a column stand under each other."""
    count = max(1, min(most, room // COLUMN))
    cells = (room - _GAP * (count - 1)) // count
    labels = [max((width(item.label) for item in facts[place::count]), default=0) for place in range(count)]
    return tuple(_line(facts[start : start + count], labels, cells) for start in range(0, len(facts), count))


def _line(facts: Sequence[Fact], labels: list[int], cells: int) -> Line:
    line: list[Cell] = []
    for place, (item, label) in enumerate(zip(facts, labels, strict=False)):
        room = cells - label - 2
        gap = 0 if place == len(labels) - 1 else _GAP
        text = pad(middle(item.value.text, room), room + gap)
        line += [Cell(own(f"{pad(item.label, label)}  "), Tone.MUTED), Cell(text, item.value.tone)]
    return tuple(line)


def title(text: str) -> Line:
    """A heading within a pane."""
    return (Cell(own(text), Tone.ACCENT),)


def of_row(row: ThreadRow, scene: Scene, room: int) -> tuple[Line, ...]:
    """What a thread's row knows, whole: the pane below the list."""
    left = None if row.lease_left is None else row.lease_left - scene.elapsed
    facts = (
        fact("thread", present.safe(row.id), Tone.STRONG),
        fact("tenant", present.optional(row.tenant)),
        fact("checkpoint", present.optional(row.checkpoint)),
        fact("token", present.number(row.token)),
        fact("run", present.optional(row.run)),
        fact("events", present.number(row.events)),
        fact("holder", present.optional(row.holder)),
        fact("lease", lease_words(left, fresh=scene.fresh), lease_tone(left) if scene.fresh else Tone.MUTED),
        fact("updated", present.instant(row.updated_at)),
        holds(row.held),
    )
    return *grid(facts, room), *_unread(row.held)


def holds(money: Held | Failed | None) -> Fact:
    """What days hold of a thread."""
    label = own("holds")
    if money is None:
        return Fact(label, Cell(present.NOTHING, Tone.MUTED))
    if isinstance(money, Failed):
        return Fact(label, Cell(own("not read"), Tone.BAD))
    if not money.open:
        return Fact(label, Cell(own("no money of a day"), Tone.MUTED))
    number = f"{money.open:,}{'+' if money.more else ''} open"
    fenced = f", {money.fenced:,} fenced" if money.fenced else ""
    text = f"{present.usd(money.micro)}{'+' if money.more else ''} USD, {number}{fenced}"
    return Fact(label, Cell(own(text), Tone.WARN if money.fenced else Tone.STRONG))


def _unread(money: Held | Failed | None) -> tuple[Line, ...]:
    """Why it is not known what a thread holds."""
    if not isinstance(money, Failed):
        return ()
    return ((Cell(own(f"holds not read: {present.safe(money.message, 300)}"), Tone.BAD),),)


def lease_words(left: timedelta | None, *, fresh: bool) -> Safe:
    """The rest of a lease, for a pane."""
    if left is None:
        return own("no claim")
    if not fresh:
        return own("unknown while the store does not answer")
    if left < timedelta(0):
        return own(f"expired {present.span(-left)} ago")
    return own(f"{present.span(left)} left")


def of_story(story: ThreadStory, scene: Scene, room: int) -> tuple[Line, ...]:
    """The head of a thread's screen."""
    row, claim = story.row, None if story.claim is None else story.claim.row
    left = None if claim is None else claim.left - scene.elapsed
    facts = (
        Fact(own("state"), _state(story)),
        fact("holder", present.optional(None if claim is None else claim.holder)),
        fact("tenant", present.optional(None if row is None else row.tenant)),
        fact("token", present.number(None if claim is None else claim.token)),
        fact("lease", lease_words(left, fresh=scene.fresh), lease_tone(left) if scene.fresh else Tone.MUTED),
        fact("updated", present.instant(None if row is None else row.updated_at)),
        holds(story.held),
        *(() if story.parent is None else (fact("child of (o)", present.safe(story.parent)),)),
    )
    return *grid(facts, room), *_unread(story.held)


def _state(story: ThreadStory) -> Cell:
    if story.row is not None:
        return present.state(story.row.state)
    if story.tombstone is not None:
        return Cell(own("T TOMBSTONE"), Tone.GONE)
    return Cell(own("no checkpoint"), Tone.MUTED)


def of_log(story: ThreadStory, room: int) -> tuple[Line, ...]:
    """What the thread's log holds, and where its numbering goes on."""
    facts = [
        fact("events held", _log(story)),
        fact("next event", present.number(story.next_seq)),
        fact("first of this life", present.number(story.first_seq)),
        fact("checkpoint", present.optional(None if story.row is None else story.row.checkpoint)),
    ]
    if story.tombstone is not None:
        gone = story.tombstone
        facts.append(fact("deleted", present.instant(gone.deleted_at), Tone.GONE))
        facts.append(fact("numbering continues at", present.number(gone.next_first_seq)))
    return title("LOG"), *grid(facts, room, most=2)


def _log(story: ThreadStory) -> Safe:
    if story.next_seq is None or story.floor_seq is None:
        return present.NOTHING
    return (
        own(f"#{story.floor_seq:,} to #{story.next_seq - 1:,}")
        if story.next_seq > story.floor_seq
        else own("none")
    )


def _own_time(event: EventRow) -> Safe:
    """By the producer's clock, which is not the store's: row 72 of console.md 3."""
    return own("none given by its producer") if event.own is None else present.instant(event.own)


def of_event(event: EventRow, room: int) -> tuple[Line, ...]:
    """The head of the pane that shows an event whole."""
    facts = (
        fact("thread", present.safe(event.thread), Tone.STRONG),
        fact("kind", present.safe(event.kind), Tone.ACCENT),
        fact("event", own(f"#{event.seq:,}  token {event.token:,}")),
        fact("own time", _own_time(event)),
        fact("arrived", present.instant(event.at)),
        fact("run", present.safe(event.run)),
        fact("checkpoint", present.optional(event.checkpoint)),
    )
    return grid(facts, room)
