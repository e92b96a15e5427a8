"""The lists by name, with the titles of their columns: what a configuration may choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from console.lists.view import View

EVENTS: Final = "events"
_NAMES: Final = {
    "Threads": "threads",
    "Incomplete": "incomplete",
    "Tombstones": "tombstones",
    "Claim-only ids": "claim-only",
    "Claims": "claims",
    "Claims by holder": "holders",
    "Run queue": "queue",
    "Audit": "audit",
    "Jobs": "jobs",
    "Plans": "plans",
    "Items": "items",
    "Reservations": "reservations",
    "Fences": "fences",
    "Accounts": "accounts",
    "Days": "days",
}
"""By the titles of their views, which are not made for this: a console begins with one of them."""


def views() -> dict[str, View[object]]:
    """Every list's usual view."""
    from console import filters, job_filters, money_filters
    from console.lists import questions

    return {
        "threads": questions.of_threads("").view,
        "incomplete": questions.of_threads(filters.STUCK).view,
        "tombstones": questions.of_threads(filters.TOMBSTONES).view,
        "claim-only": questions.of_threads(filters.CLAIM_ONLY).view,
        "claims": questions.of_claims("").view,
        "holders": questions.of_claims(filters.HOLDERS).view,
        "queue": questions.of_queue("").view,
        "audit": questions.of_audit("", "").view,
        "jobs": questions.of_jobs("").view,
        "plans": questions.of_jobs(job_filters.PLANS).view,
        "items": questions.of_job("", "").view,
        "reservations": questions.of_reservations("").view,
        "fences": questions.of_fences("").view,
        "accounts": questions.of_budgets("", None).view,
        "days": questions.of_budgets(money_filters.DAYS, None).view,
    }


def titles() -> dict[str, tuple[str, ...]]:
    """The column titles of every list that a configuration may name."""
    from console import tables

    found = {name: tuple(column.title for column in view.columns) for name, view in views().items()}
    return {**found, EVENTS: tuple(column.title for column in tables.EVENTS)}


def name_of(view: View[object]) -> str:
    """What a list is called in a configuration; empty for one that is not there."""
    return _NAMES.get(view.title, "")
