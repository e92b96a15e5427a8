"""Plans, jobs and resolutions as documents: the fields of the console's own records, exact."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from console.read.documents import document

if TYPE_CHECKING:
    from console.acting.jobs import JobItemRow, JobRow
    from console.acting.model import Outcome
    from console.acting.plans import PlanView
    from console.model import Page
    from console.read.documents import Document


def plan(view: PlanView) -> Document:
    """A plan; a preview brings its items."""
    made = document(view)
    least, most = made.pop("seconds")
    made["least_seconds"], made["most_seconds"] = timedelta(seconds=least), timedelta(seconds=most)
    items = made.pop("preview_items")
    if not view.items:
        made["phrase"] = None  # nothing that could be confirmed
    return made | {"preview_items": items} if view.id is None else made


def page(found: Page[Any], row: Any) -> Document:
    """A page of records."""
    return {"as_of": found.as_of, "next": found.next, "rows": [row(each) for each in found.rows]}


def job(row: JobRow, unapplied: tuple[JobItemRow, ...] = ()) -> Document:
    """A job, and those of its items that were not applied."""
    return document(row) | {"unapplied": [document(item) for item in unapplied]}


def outcome(found: Outcome) -> Document:
    """What became of a change."""
    return document(found)
