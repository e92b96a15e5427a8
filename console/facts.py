"""Facts about one thing: labels with values, laid out in columns.

What the panes below and beside the lists say.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console import present
from console.present import Cell, Safe, Tone, middle, own, pad, width
from console.tables import lease_tone

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from console.jsontext import Line
    from console.model import Claim, EventRow, Refusals, ThreadRow, ThreadStory
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
        fact("lease", _lease_words(left, fresh=scene.fresh), lease_tone(left) if scene.fresh else Tone.MUTED),
        fact("updated", present.instant(row.updated_at)),
    )
    return grid(facts, room)


def _lease_words(left: timedelta | None, *, fresh: bool) -> Safe:
    if left is None:
        return own("no claim")
    if not fresh:
        return own("unknown while the store does not answer")
    if left < timedelta(0):
        return own(f"expired {present.age(-left)} ago")
    return own(f"{present.age(left)} left")


def of_story(story: ThreadStory, scene: Scene, room: int) -> tuple[Line, ...]:
    """The head of a thread's screen."""
    row, claim = story.row, story.claim
    left = None if claim is None else claim.left - scene.elapsed
    facts = (
        Fact(
            own("state"), Cell(own("no checkpoint"), Tone.MUTED) if row is None else present.state(row.state)
        ),
        fact("holder", present.optional(None if claim is None else claim.holder)),
        fact("tenant", present.optional(None if row is None else row.tenant)),
        fact("token", present.number(None if claim is None else claim.token)),
        fact("lease", _lease_words(left, fresh=scene.fresh), lease_tone(left) if scene.fresh else Tone.MUTED),
        fact("updated", present.instant(None if row is None else row.updated_at)),
    )
    return grid(facts, room)


def of_holding(story: ThreadStory, scene: Scene, room: int) -> tuple[Line, ...]:
    """The claim tab: who holds the thread, who was turned away, what the log holds, what was said about
    it.
    """
    parts = (
        _claim_part(story.claim, scene, room),
        _refusal_part(story.refusals, story.as_of, room),
        _log_part(story, room),
        _metadata_part(story, room),
    )
    return tuple(line for part in parts for line in (*part, ()))


def _claim_part(claim: Claim | None, scene: Scene, room: int) -> tuple[Line, ...]:
    if claim is None:
        return title("CLAIM"), (Cell(own("nobody holds this thread"), Tone.MUTED),)
    left = claim.left - scene.elapsed
    facts = (
        Fact(own("claim"), _claim_state(claim)),
        fact("token", present.number(claim.token), Tone.STRONG),
        fact("holder", present.safe(claim.holder), Tone.STRONG),
        fact("tenant", present.optional(claim.tenant)),
        fact("lease", _lease_words(left, fresh=scene.fresh), lease_tone(left) if scene.fresh else Tone.MUTED),
        fact("expires", present.instant(claim.expires_at)),
        fact("granted", present.instant(claim.granted_at)),
        fact("renewed", present.instant(claim.renewed_at)),
        fact("renewals", present.number(claim.renewals)),
    )
    return title("CLAIM"), *grid(facts, room, most=2)


def _claim_state(claim: Claim) -> Cell:
    return Cell(own("o LIVE"), Tone.GOOD) if claim.live else Cell(own("X EXPIRED"), Tone.BAD)


def _refusal_part(refusals: Refusals | None, as_of: datetime, room: int) -> tuple[Line, ...]:
    if refusals is None:
        return title("LATE WRITERS"), (Cell(own("none was turned away"), Tone.MUTED),)
    facts = (
        fact("refused", present.number(refusals.count), Tone.WARN),
        fact("last verb", present.safe(refusals.verb)),
        fact("last token", present.number(refusals.token)),
        fact("last at", present.instant(refusals.at)),
        fact("ago", present.age(as_of - refusals.at)),
    )
    return title("LATE WRITERS"), *grid(facts, room, most=2)


def _log_part(story: ThreadStory, room: int) -> tuple[Line, ...]:
    facts = [
        fact("events held", _log(story)),
        fact("next event", present.number(story.next_seq)),
        fact("first of this life", present.number(story.first_seq)),
        fact("checkpoint", present.optional(None if story.row is None else story.row.checkpoint)),
    ]
    if story.tombstone is not None:
        gone = story.tombstone
        facts.append(fact("deleted", present.instant(gone.deleted_at), Tone.GONE))
        facts.append(fact("numbers go on at", present.number(gone.next_first_seq)))
    return title("LOG"), *grid(facts, room, most=2)


def _log(story: ThreadStory) -> Safe:
    if story.next_seq is None or story.floor_seq is None:
        return present.NOTHING
    return (
        own(f"#{story.floor_seq:,} to #{story.next_seq - 1:,}")
        if story.next_seq > story.floor_seq
        else own("none")
    )


def _metadata_part(story: ThreadStory, room: int) -> tuple[Line, ...]:
    if not story.metadata:
        return ()
    facts = [Fact(present.safe(key, 40), Cell(present.safe(value))) for key, value in story.metadata]
    return title("METADATA"), *grid(facts, room, most=2)


def of_event(event: EventRow, room: int) -> tuple[Line, ...]:
    """The head of the pane that shows an event whole."""
    facts = (
        fact("thread", present.safe(event.thread), Tone.STRONG),
        fact("kind", present.safe(event.kind), Tone.ACCENT),
        fact("event", own(f"#{event.seq:,}  token {event.token:,}")),
        fact("committed", present.instant(event.at)),
        fact("run", present.safe(event.run)),
        fact("checkpoint", present.optional(event.checkpoint)),
    )
    return grid(facts, room)
