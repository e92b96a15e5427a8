"""What the panes say of a job, of its end, of one of its items, and of a stored plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from console import present
from console.acting import job_words, removed
from console.acting.jobs import JobState
from console.facts import Fact, fact, grid, lease_words
from console.present import Cell, Tone, own, safe
from console.tables import lease_tone

if TYPE_CHECKING:
    from datetime import timedelta

    from console.acting.job_report import Reason, Report
    from console.acting.jobs import JobItemRow, JobRow, JobView
    from console.acting.plans import PlanView
    from console.jsontext import Line
    from console.widgets.columns import Scene

BAR: Final = 60
"""Cells of the widest bar."""
NOTES: Final = 2
"""Blockers and warnings of a plan that are told below a list."""
_NEXT: Final = "next  "


def of_row(row: JobRow, scene: Scene, room: int) -> tuple[Line, ...]:
    """The pane below the list of jobs."""
    facts = (
        fact("job", safe(row.id), Tone.STRONG),
        fact("plan", safe(row.plan)),
        _runner(row),
        _lease(row, scene),
    )
    return *grid(facts, room, most=2), _bar(row, room), *_next(row, room, here=False)


def head(view: JobView, scene: Scene, room: int, *, here: bool) -> tuple[Line, ...]:
    """The head of a job's screen, while it is not over."""
    row = view.row
    live = row.state is JobState.RUNNING
    facts = (
        Fact(own("state"), job_words.state(row.state)),
        fact("deed", own(f"{safe(row.deed)} on {safe(row.environment)}"), Tone.STRONG),
        _runner(row),
        _lease(row, scene),
        fact("speed", own(f"{view.per_second:,.1f} items/s, {job_words.rate(row)}")),
        fact("time left", _left(view.left if live else None, scene)),
        fact("plan", safe(row.plan)),
        fact("made", present.instant(row.created_at)),
    )
    return *grid(facts, room, most=2), _bar(row, room), *_at_hand(view), *_next(row, room, here=here)


def _at_hand(view: JobView) -> tuple[Line, ...]:
    """What has gone of the item at hand, where that takes more than one transaction."""
    words = job_words.at_hand(view)
    return ((Cell(own(f"item  {words}"), Tone.PLAIN),),) if words else ()


def report(view: JobView, found: Report, room: int) -> tuple[Line, ...]:
    """The head of a job that is over: what it came to, why not all of it, and what to do next."""
    row = view.row
    facts = (
        Fact(own("state"), job_words.state(row.state)),
        fact("deed", own(f"{safe(row.deed)} on {safe(row.environment)}"), Tone.STRONG),
        fact("plan", safe(row.plan)),
        fact("made", present.instant(row.created_at)),
    )
    told = () if found.stopped is None else ((Cell(safe(f"stopped: {found.stopped}", 400), Tone.BAD),),)
    return (
        *grid(facts, room, most=2),
        _bar(row, room),
        *told,
        *_removed(row, found),
        *(_reason(each) for each in found.reasons),
        *_unread(found),
        *_next(row, room, here=False),
    )


def of_item(row: JobItemRow, room: int) -> tuple[Line, ...]:
    """The pane below a job's items."""
    facts = (
        fact("item", own(f"{row.n:,}  {safe(row.id)}"), Tone.STRONG),
        Fact(own("outcome"), job_words.outcome(row.outcome)),
        fact("operation", safe(row.operation)),
        fact("stored", present.instant(row.at)),
    )
    why = ((Cell(safe(row.why, 600), job_words.OUTCOMES[row.outcome].tone),),) if row.why else ()
    return *grid(facts, room, most=2), *why, *_detail(row)


def of_plan(row: PlanView, room: int) -> tuple[Line, ...]:
    """The pane below the list of plans."""
    facts = (
        fact("plan", present.optional(row.id), Tone.STRONG),
        fact("by", safe(row.actor)),
        fact("approved by", present.optional(row.approved_by)),
        fact("job", present.optional(row.job)),
        fact("expires", present.instant(row.expires_at)),
        fact("not applicable", present.number(row.apart_count)),
    )
    said = (*(f"blocker: {each}" for each in row.blockers), *row.warnings)
    more = (f"and {len(said) - NOTES:,} more: Enter shows them",) if len(said) > NOTES else ()
    told = ((Cell(safe(each, 300), Tone.WARN),) for each in (*said[:NOTES], *more))
    return *grid(facts, room, most=2), *told


def _detail(row: JobItemRow) -> tuple[Line, ...]:
    """What was stored with it, less what is said above."""
    kept = {key: value for key, value in row.detail.items() if key != "why"}
    if not kept:
        return ()
    text = json.dumps(kept, ensure_ascii=False, sort_keys=True, default=str)
    return ((Cell(own("stored with it  "), Tone.MUTED), Cell(safe(text, 600))),)


def _runner(row: JobRow) -> Fact:
    owner = own("nobody") if row.owner is None else safe(row.owner)
    gone = row.state is JobState.INTERRUPTED
    return fact("runner", own(f"{owner} (gone)") if gone else owner, Tone.BAD if gone else Tone.PLAIN)


def _lease(row: JobRow, scene: Scene) -> Fact:
    if row.lease_until is None:
        return fact("lease", own("none"), Tone.MUTED)
    left = row.lease_until - scene.as_of - scene.elapsed
    return fact(
        "lease", lease_words(left, fresh=scene.fresh), lease_tone(left) if scene.fresh else Tone.MUTED
    )


def _left(left: timedelta | None, scene: Scene) -> present.Safe:
    if left is None:
        return present.NOTHING
    return present.span(max(left - scene.elapsed, left * 0)) if scene.fresh else own("unknown")


def _bar(row: JobRow, room: int) -> Line:
    bar = job_words.bar(row, min(room, BAR))
    tones = (Tone.GOOD, Tone.WARN, Tone.BAD)
    counts = (row.applied, row.skipped, row.failed)
    said = [
        Cell(own(f"  {word} {count:,}"), tone if count else Tone.MUTED)
        for word, count, tone in zip(("applied", "skipped", "failed"), counts, tones, strict=True)
    ]
    if present.width(bar) + sum(present.width(cell.text) for cell in said) > room:
        bar = job_words.bar(row, max(20, room - sum(present.width(cell.text) for cell in said)))
    return Cell(bar, job_words.STATES[row.state].tone), *said


def _removed(row: JobRow, found: Report) -> tuple[Line, ...]:
    """Of a sweep the rows as well: an item may be a whole table."""
    if found.removed is None:
        return ()
    return ((Cell(own(removed.words(row, found.removed)), Tone.PLAIN),),)


def _reason(each: Reason) -> Line:
    mark = job_words.OUTCOMES[each.outcome]
    said = f"{mark.glyph} {each.outcome.value} {each.count:,}  "
    return Cell(own(said), mark.tone), Cell(safe(each.why or "no reason was stored", 300))


def _unread(found: Report) -> tuple[Line, ...]:
    if not found.more:
        return ()
    return ((Cell(own("more reasons than were read: / outcome: lists all"), Tone.MUTED),),)


def _next(row: JobRow, room: int, *, here: bool) -> tuple[Line, ...]:
    """What the operator may do, in as many lines as it needs."""
    told = present.wrap(own(job_words.next_step(row, here=here)), max(room - len(_NEXT), 2))
    heads = (_NEXT, *(" " * len(_NEXT) for _ in told[1:]))
    return tuple(
        (Cell(own(head), Tone.MUTED), Cell(line, Tone.INFO)) for head, line in zip(heads, told, strict=True)
    )
