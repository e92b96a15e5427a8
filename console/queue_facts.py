"""What the panes say of an entry of the run queue."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from console import jsontext, present
from console.facts import Fact, fact, grid, lease_words
from console.present import Cell, Safe, Tone, own
from console.queue_model import QueueState
from console.tables import lease_tone

if TYPE_CHECKING:
    from console.jsontext import Line
    from console.queue_model import QueueRow, QueueRuns
    from console.widgets.columns import Scene


def lapsed(row: QueueRow) -> bool:
    """Whether the entry's lease is over although nobody gave it back."""
    return row.state is QueueState.LEASED and row.lease_left is not None and row.lease_left <= timedelta(0)


def attempts(row: QueueRow) -> Safe:
    """How many attempts were made, of how many."""
    return own(f"{row.attempts:,} of {row.max_attempts:,}")


def of_row(row: QueueRow, runs: QueueRuns | None, scene: Scene, room: int) -> tuple[Line, ...]:
    """The pane below the run queue; `runs` once they have been fetched."""
    return (*_error(row), *grid(_facts(row, scene), room), *_runs(row, runs), _asked(row))


def of_entry(row: QueueRow, scene: Scene, room: int) -> tuple[Line, ...]:
    """The text of an entry in its thread's tab: what is known of it, then its input."""
    body = jsontext.lines(row.input, row.size)
    return (*_error(row), *grid(_facts(row, scene)[1:], room, most=2), (), *body)


def _facts(row: QueueRow, scene: Scene) -> tuple[Fact, ...]:
    left = None if row.lease_left is None else row.lease_left - scene.elapsed
    return (
        fact("thread", present.safe(row.thread), Tone.STRONG),
        Fact(own("state"), present.queue_state(row.state, lapsed=lapsed(row))),
        fact("worker", present.optional(row.owner)),
        fact(
            "lease",
            own("no lease") if left is None else lease_words(left, fresh=scene.fresh),
            lease_tone(left) if scene.fresh else Tone.MUTED,
        ),
        fact("attempts", attempts(row)),
        fact("due", present.instant(row.due_at)),
        fact("tenant", present.optional(row.tenant)),
        fact("lease token", present.number(row.token)),
        fact("entry", present.safe(row.entry)),
    )


def _error(row: QueueRow) -> tuple[Line, ...]:
    if row.error is None:
        return ()
    return ((Cell(own("last error  "), Tone.MUTED), Cell(present.safe(row.error, 400), Tone.BAD)),)


def _runs(row: QueueRow, found: QueueRuns | None) -> tuple[Line, ...]:
    """The attempts' runs: while the entry is open, their evidence is kept."""
    if found is None or not found.runs:
        return ()
    kept = "kept as evidence" if row.is_open else "no longer kept as evidence"
    older = "older ones, " if found.more else ""
    label = Cell(own(f"runs ({kept})  "), Tone.MUTED)
    return ((label, Cell(present.safe(older + ", ".join(found.runs), 400))),)


def _asked(row: QueueRow) -> Line:
    return Cell(own(f"input ({present.size(row.size)})  "), Tone.MUTED), Cell(present.safe(row.input, 200))
