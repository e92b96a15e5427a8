"""Pages and jobs as documents: the fields of the console's own records, exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from console.read.documents import document

if TYPE_CHECKING:
    from console.acting.jobs import JobItemRow, JobRow
    from console.model import Page
    from console.read.documents import Document


def page(found: Page[Any], row: Any) -> Document:
    """A page of records."""
    return {"as_of": found.as_of, "next": found.next, "rows": [row(each) for each in found.rows]}


def job(row: JobRow, unapplied: tuple[JobItemRow, ...] = ()) -> Document:
    """A job, and those of its items that were not applied."""
    return document(row) | {"unapplied": [document(item) for item in unapplied]}
