"""What each planned deed is called: the label, the help, the title of its plan and the audit's verb, in one place
(console.md 3.1, row 35). The label is the very word that plans, jobs and the audit keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Deed(StrEnum):
    """What was or will be done: the word that plans, jobs, operations and the audit share."""

    DELETE = "delete"
    SWEEP = "sweep"
    RECONCILE = "reconcile"
    RELEASE = "release"
    RESOLVE = "resolve"


@dataclass(frozen=True, slots=True)
class Words:
    """`does` heads the table of what goes, `verb` is on the button, `help` says what the key begins."""

    title: str
    does: str
    verb: str
    help: str


WORDS: Final[dict[Deed, Words]] = {
    Deed.DELETE: Words(
        "Delete (fenced, cascading)",
        "WHAT WILL BE DELETED",
        "Delete",
        "Delete the marked threads, or this one, with all below them: plan first",
    ),
    Deed.SWEEP: Words(
        "Sweep (retention)",
        "WHAT WILL BE SWEPT",
        "Sweep",
        "Sweep by a retention policy: what it would take, as a plan that can be executed",
    ),
    Deed.RECONCILE: Words(
        "Reconcile what is due",
        "WHAT WILL BE RECONCILED",
        "Reconcile",
        "Reconcile what is due, of the marked rows or of all that the filter means: plan first",
    ),
    Deed.RELEASE: Words(
        "Release claims",
        "WHAT WILL BE RELEASED",
        "Release",
        "Release the claims of the marked rows, or of this one: plan first, then its token is typed",
    ),
    Deed.RESOLVE: Words(
        "Resolve by hand",
        "WHAT WILL BE DECIDED",
        "Resolve",
        "Resolve by hand what became of this reservation, on evidence",
    ),
}
