"""What a job that is over came to, with the reasons of what was not applied, counted (console.md F10)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from console.acting.job_words import OVER
from console.acting.jobs import ItemOutcome, JobState
from console.acting.removed import removed_by

if TYPE_CHECKING:
    from console.acting.jobs import JobView
    from console.acting.removed import Removed
    from console.reading import Gateway

PAGE: Final = 200
MOST_PAGES: Final = 5
"""Of each outcome: so many pages of items are read for their reasons."""
MOST_REASONS: Final = 5
"""Reasons that are told apart, the most frequent ones."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why so many items came to this."""

    outcome: ItemOutcome
    why: str
    count: int


@dataclass(frozen=True, slots=True)
class Report:
    """`stopped` says what stopped a job; `more`: there are reasons that were not read, or are not told apart;
    `removed` is what a sweep took away.
    """

    reasons: tuple[Reason, ...]
    more: bool = False
    stopped: str | None = None
    removed: Removed | None = None


def report_of(gateway: Gateway, view: JobView) -> Report | None:
    """The report of a job; None while it is not over. Some bounded reads, behind each other."""
    row = view.row
    if row.state not in OVER:
        return None
    counted: Counter[tuple[ItemOutcome, str]] = Counter()
    more = False
    for outcome, count in ((ItemOutcome.SKIPPED, row.skipped), (ItemOutcome.FAILED, row.failed)):
        if count:
            more |= _count(gateway, row.id, outcome, counted)
    told = counted.most_common(MOST_REASONS)
    reasons = tuple(Reason(outcome, why, count) for (outcome, why), count in told)
    more |= len(counted) > MOST_REASONS
    return Report(reasons, more, _stopped(gateway, view), removed_by(gateway, row))


def _count(
    gateway: Gateway, job: str, outcome: ItemOutcome, counted: Counter[tuple[ItemOutcome, str]]
) -> bool:
    """Whether there are more items than were read."""
    after: str | None = None
    for _ in range(MOST_PAGES):
        page = gateway.job_items(job, outcome, after, PAGE)
        counted.update((outcome, row.why) for row in page.rows)
        after = page.next
        if after is None:
            return False
    return True


def _stopped(gateway: Gateway, view: JobView) -> str | None:
    """Why, as the audit has the end of the job as a whole."""
    if view.row.state is not JobState.STOPPED:
        return None
    entries = gateway.audit_of(view.row.id)
    end = next((row.body for row in entries if row.phase == "result"), {})
    return None if "why" not in end else str(end["why"])
