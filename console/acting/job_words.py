"""What is said of a job: its state, how far it is, what it came to, what to do next (console.md F10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import present
from console.acting.jobs import ItemOutcome, JobState
from console.acting.pace import paced
from console.present import Cell, Safe, StateMark, Tone, own, several

if TYPE_CHECKING:
    from console.acting.jobs import JobRow, JobView

OVER: Final = frozenset({JobState.CANCELLED, JobState.STOPPED, JobState.DONE})
"""States that no job leaves."""
STATES: Final = {
    JobState.READY: StateMark(".", Tone.INFO),
    JobState.RUNNING: StateMark(">", Tone.GOOD),
    JobState.INTERRUPTED: StateMark("X", Tone.BAD),
    JobState.PAUSED: StateMark("=", Tone.WARN),
    JobState.CANCELLED: StateMark("-", Tone.GONE),
    JobState.STOPPED: StateMark("!", Tone.BAD),
    JobState.DONE: StateMark("#", Tone.MUTED),
}
OUTCOMES: Final = {
    ItemOutcome.APPLIED: StateMark("#", Tone.GOOD),
    ItemOutcome.SKIPPED: StateMark("-", Tone.WARN),
    ItemOutcome.FAILED: StateMark("x", Tone.BAD),
}


def state(value: JobState) -> Cell:
    """Glyph, word and tone."""
    mark = STATES[value]
    return Cell(own(f"{mark.glyph} {value.name}"), mark.tone)


def outcome(value: ItemOutcome) -> Cell:
    """Glyph, word and tone."""
    mark = OUTCOMES[value]
    return Cell(own(f"{mark.glyph} {value.name}"), mark.tone)


def tally(row: JobRow) -> str:
    """What became of its items, in one line."""
    rest = row.total - row.done
    left = f", {rest:,} of {row.total:,} left" if rest else f" of {row.total:,}"
    return f"applied {row.applied:,}, skipped {row.skipped:,}, failed {row.failed:,}{left}"


def bar(row: JobRow, cells: int) -> Safe:
    """How far it is, as `[####..] 66% 40/60` in at most so many cells; less where they are few."""
    share = 100 * row.done // row.total if row.total else 100
    words = f"{share:,}% {row.done:,}/{row.total:,}"
    room = cells - len(words) - 3
    if room < _LEAST_BAR:
        return present.clip(own(words), cells)
    filled = room * row.done // row.total if row.total else room
    return own(f"[{'#' * filled}{'.' * (room - filled)}] {words}")


_LEAST_BAR: Final = 4


def rate(row: JobRow) -> Safe:
    """How many items a second it may do."""
    return paced(row.rate)


def at_hand(view: JobView) -> str:
    """How many rows have gone of the item at hand; empty where none have, or it is not that sort."""
    if not view.rows:
        return ""
    return f"{several(view.rows, 'row')} of item {view.row.done + 1:,} so far"


def next_step(row: JobRow, *, here: bool) -> str:
    """What the operator may do now."""
    if here:
        return "it runs in this console: B hands it over, H pauses it, F ends it where it stands"
    match row.state:
        case JobState.READY:
            return "it waits for a runner: B runs it here, or another console does"
        case JobState.RUNNING:
            return "it runs elsewhere: H pauses it and F ends it, both after the item at hand"
        case JobState.INTERRUPTED:
            return f"its runner is gone: B goes on with item {row.done + 1:,}; nothing is done twice"
        case JobState.PAUSED:
            return f"H lets it go on with item {row.done + 1:,}; F ends it where it stands"
        case JobState.CANCELLED:
            return f"not done: {row.total - row.done:,}; what was applied stays, plan again for the rest"
        case JobState.STOPPED:
            return "it met what the plan did not hold: plan again, and look at what stands there now"
        case JobState.DONE:
            return _after(row)


def _after(row: JobRow) -> str:
    if row.failed:
        return "what failed is as it was: / outcome:failed lists it; plan again to try once more"
    if row.skipped:
        return "what had changed since the plan was left alone: / outcome:skipped says why; plan again if it must go"
    return "nothing is left to do"
