"""What the pane and the tab of a claim say: the verdict first, then who, until when, and who came too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console import present
from console.facts import Fact, fact, grid, lease_words, of_log, title
from console.present import Cell, Tone, own
from console.tables import lease_tone, refused

if TYPE_CHECKING:
    from datetime import datetime

    from console.claims_model import ClaimRow, ClaimStory
    from console.jsontext import Line
    from console.model import Refusals, ThreadStory
    from console.widgets.columns import Scene


def verdict(row: ClaimRow, scene: Scene, room: int) -> tuple[Line, ...]:
    """Whether the holder can still be at work, and what that rests on."""
    if not scene.fresh:
        return ((Cell(own("no verdict while the store does not answer"), Tone.MUTED),),)
    said = present.verdict(row.verdict)
    silent = present.span(row.silent + scene.elapsed)
    why = present.safe(f"no renewal for {silent}; {row.reason}", 400)
    first, *others = present.wrap(own(f"{said.text.upper()}  {why}"), room)
    word, rest = present.split(first, present.width(said.text))
    return ((Cell(word, said.tone), Cell(rest)), *((Cell(line),) for line in others))


def of_row(row: ClaimRow, story: ClaimStory | None, scene: Scene, room: int) -> tuple[Line, ...]:
    """The pane below the list of claims; `story` once it has been fetched."""
    told = (*_first(row, scene), *_further(row, story))
    return (*verdict(row, scene, room), *grid(told, room), *_late(story, scene))


def of_tab(story: ThreadStory, scene: Scene, room: int) -> tuple[Line, ...]:
    """The claim tab: who holds the thread and whether he can be at work, who was turned away, what the log
    holds.
    """
    parts = (
        _claim_part(story.claim, scene, room),
        _refusal_part(story.refusals, story.as_of, room),
        of_log(story, room),
    )
    return tuple(line for part in parts for line in (*part, ()))


def _claim_part(story: ClaimStory | None, scene: Scene, room: int) -> tuple[Line, ...]:
    if story is None:
        return title("CLAIM"), (Cell(own("nobody holds this thread"), Tone.MUTED),)
    row = story.row
    told = (
        Fact(own("claim"), present.claim_state(live=row.live)),
        *_first(row, scene)[1:],
        fact("tenant", present.optional(row.tenant)),
        *_spans(row),
        _next(story),
    )
    return title("CLAIM"), *verdict(row, scene, room), *grid(told, room, most=2)


def _refusal_part(refusals: Refusals | None, as_of: datetime, room: int) -> tuple[Line, ...]:
    if refusals is None:
        return title("LATE WRITERS"), (Cell(own("none was turned away"), Tone.MUTED),)
    told = (
        fact("refused", present.number(refusals.count), Tone.WARN),
        fact("last verb", present.safe(refusals.verb)),
        fact("last token", present.number(refusals.token)),
        fact("last at", present.instant(refusals.at)),
        fact("ago", present.age(as_of - refusals.at)),
    )
    return title("LATE WRITERS"), *grid(told, room, most=2)


def _first(row: ClaimRow, scene: Scene) -> tuple[Fact, ...]:
    """What a low screen must still show."""
    left = row.left - scene.elapsed
    return (
        fact("thread", present.safe(row.thread), Tone.STRONG),
        fact("holder", present.safe(row.holder), Tone.STRONG),
        fact("token", present.number(row.token)),
        fact("lease", lease_words(left, fresh=scene.fresh), lease_tone(left) if scene.fresh else Tone.MUTED),
    )


def _further(row: ClaimRow, story: ClaimStory | None) -> tuple[Fact, ...]:
    state = Cell(own("no checkpoint yet"), Tone.MUTED)
    return (
        *_spans(row),
        fact("tenant", present.optional(row.tenant)),
        Fact(own("thread is"), state if row.thread_state is None else present.state(row.thread_state)),
        fact("checkpoint", present.optional(None if story is None else story.checkpoint)),
        _next(story),
        Fact(own("refused"), refused(row.refused)),
    )


def _spans(row: ClaimRow) -> tuple[Fact, ...]:
    return (
        fact("granted", present.instant(row.granted_at)),
        fact("renewed", present.instant(row.renewed_at)),
        fact("renewals", present.number(row.renewals)),
        fact("last sign", present.instant(row.seen_at)),
        fact("expires", present.instant(row.expires_at)),
    )


def _next(story: ClaimStory | None) -> Fact:
    return fact("next token", own("...") if story is None else own(f"{story.next_token:,} or higher"))


def _late(story: ClaimStory | None, scene: Scene) -> tuple[Line, ...]:
    """The last writer that came too late."""
    if story is None or story.refusals is None:
        return ()
    last = story.refusals
    ago = present.span(scene.as_of - last.at)
    said = present.safe(f"last refused write: {last.verb} by token {last.token:,}, {ago} ago")
    return ((Cell(said, Tone.WARN),),)
