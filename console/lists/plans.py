"""Stored plans, newest first: what each would do, whose it is, and whether it can still be executed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import audit_filters, job_facts, present
from console.acting.plans import PlanState
from console.commands import OpenPlan
from console.lists.sorting import Served
from console.lists.view import Question, View
from console.present import Cell, StateMark, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.acting.plans import PlanView
    from console.widgets.columns import Scene

STATES: Final = {
    PlanState.PREVIEW: StateMark(".", Tone.MUTED),
    PlanState.READY: StateMark(".", Tone.INFO),
    PlanState.AWAITING: StateMark("=", Tone.WARN),
    PlanState.BLOCKED: StateMark("!", Tone.BAD),
    PlanState.EXPIRED: StateMark("X", Tone.MUTED),
    PlanState.CANCELLED: StateMark("-", Tone.GONE),
    PlanState.EXECUTED: StateMark("#", Tone.GOOD),
}


def state(value: PlanState) -> Cell:
    """Glyph, word and tone."""
    mark = STATES[value]
    word = "AWAITING" if value is PlanState.AWAITING else value.name
    return Cell(own(f"{mark.glyph} {word}"), mark.tone)


def _expires(row: PlanView, scene: Scene) -> Cell:
    """In how long it can no longer be executed; nothing for one that cannot be anyway."""
    if row.expires_at is None or row.state not in {PlanState.READY, PlanState.AWAITING, PlanState.BLOCKED}:
        return Cell(present.NOTHING, Tone.MUTED)
    return Cell(present.lease(row.expires_at - scene.as_of - scene.elapsed), Tone.WARN)


COLUMNS: Final[tuple[Column[PlanView], ...]] = (
    Column(
        own("PLAN"), 12, lambda row, _: Cell(present.optional(row.id), Tone.STRONG), most=36, shorten=middle
    ),
    Column(own("DEED"), 9, lambda row, _: Cell(own(row.deed.value))),
    Column(own("STATE"), 11, lambda row, _: state(row.state)),
    Column(
        own("ENVIRONMENT"),
        11,
        lambda row, _: Cell(present.safe(row.environment)),
        most=16,
        leaves=2,
        shorten=middle,
    ),
    Column(
        own("ITEMS"), 7, lambda row, _: Cell(present.number(row.items)), right=True, by=lambda row: row.items
    ),
    Column(
        own("ROWS"), 9, lambda row, _: Cell(present.number(row.rows)), right=True, by=lambda row: row.rows
    ),
    Column(own("EXPIRES"), 8, _expires, right=True, by=lambda row: row.expires_at),
    Column(own("BY"), 10, lambda row, _: Cell(present.safe(row.actor)), most=28, leaves=3, shorten=middle),
    Column(
        own("MADE"),
        10,
        lambda row, scene: Cell(present.clock(row.made_at, scene.as_of)),
        right=True,
        leaves=1,
        by=lambda row: row.made_at,
    ),
)

PLANS: Final[View[PlanView]] = View(
    title=own("Plans"),
    order=own("newest first"),
    none=own("no plan is stored here; tab shows the jobs"),
    columns=COLUMNS,
    key=lambda row: row.id or "",
    facts=lambda row, _extra, _scene, room: job_facts.of_plan(row, room),
    opens=lambda row: OpenPlan(row.id or ""),
    ids="plans",
    history=lambda row: audit_filters.of_plan(row.id or ""),
    served=Served("MADE", falling=True),
)


def plans() -> Question[PlanView]:
    """All of them; the store keeps no count."""
    return Question(PLANS, lambda gateway, after, limit: gateway.plans(after, limit))
