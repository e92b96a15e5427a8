"""What a run came to: the tally, which items were not applied and why, and how to go on."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import typer

from console.act import carrying, documents
from console.acting import equivalent
from console.acting.jobs import ItemOutcome, JobState
from console.acting.removed import removed_by, words
from console.present import Safe, own, safe
from console.read.output import print_document, print_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.act.site import Site
    from console.acting.jobs import JobItemRow, JobRow
    from console.acting.removed import Removed
    from console.command_line import Exit

MOST_TOLD: Final = 50
"""Items of each outcome that are named; a list has all of them."""
LONG: Final = 600
_WAITS: Final = frozenset({JobState.READY, JobState.RUNNING, JobState.INTERRUPTED})


def unapplied(site: Site, row: JobRow) -> tuple[JobItemRow, ...]:
    """The first of the items that were skipped, and of those that failed."""
    counts = ((ItemOutcome.FAILED, row.failed), (ItemOutcome.SKIPPED, row.skipped))
    pages = (site.gateway.job_items(row.id, which, None, MOST_TOLD).rows for which, count in counts if count)
    return tuple(chain.from_iterable(pages))


def report(site: Site, row: JobRow, code: Exit, *, as_json: bool, more: dict[str, Any] | None = None) -> None:
    """Print it, and end the command with its code."""
    items, command = unapplied(site, row), going_on(site, row)
    if as_json:
        print_document({**(more or {}), "job": documents.job(row, items), "next_command": command})
    else:
        print_lines(_lines(row, removed_by(site.gateway, row), items, command))
    raise typer.Exit(code)


def going_on(site: Site, row: JobRow) -> str | None:
    """The command that goes on with a job; None where it is over."""
    if row.state in _WAITS:
        return equivalent.running(site.aim, row.id)
    return equivalent.resuming(site.aim, row.id) if row.state is JobState.PAUSED else None


def _lines(
    row: JobRow, removed: Removed | None, items: tuple[JobItemRow, ...], command: str | None
) -> Iterator[Safe]:
    yield safe(carrying.said(row), LONG)
    if removed is not None:
        yield own(words(row, removed))
    for item in items:
        yield safe(f"{item.outcome.value}  {item.id}: {item.why}", LONG)
    rest = row.skipped + row.failed - len(items)
    if rest > 0:
        yield own(f"and {rest:,} more")
    if command is not None:
        yield safe(f"next: {command}", LONG)
