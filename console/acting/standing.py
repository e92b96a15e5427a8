"""Whether a plan can be executed now, and if not, why: said in one line (console.md F1, 3.1 rows 29 and 31)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from console.acting.confirmation import Asked
from console.acting.deeds import WORDS, Deed
from console.acting.plans import PlanState
from console.action import Level

if TYPE_CHECKING:
    from console.acting.plans import PlanView


@dataclass(frozen=True, slots=True)
class Moment:
    """When and under what a plan is looked at: `now` by the store's clock, whether changes are on, whether the store
    answers.
    """

    now: datetime
    writable: bool
    connected: bool = True


def left(view: PlanView, now: datetime) -> timedelta | None:
    """How long it can still be executed, never less than nothing; None for what has no end."""
    if view.expires_at is None:
        return None
    return max(timedelta(0), view.expires_at - now)


def is_over(view: PlanView, now: datetime) -> bool:
    """Whether its time has run out, be it told so by the store yet or not."""
    remaining = left(view, now)
    open_states = {PlanState.READY, PlanState.AWAITING, PlanState.BLOCKED}
    return view.state is PlanState.EXPIRED or (view.state in open_states and remaining == timedelta(0))


def why_not(view: PlanView, at: Moment) -> str:
    """What keeps the plan from being executed; empty where nothing does."""
    if view.state is PlanState.PREVIEW:
        return (
            "a preview changes nothing: r makes a plan of it"
            if at.writable
            else ("a preview changes nothing: W turns changes on, r plans it")
        )
    if view.state is PlanState.EXECUTED:
        return "done already: enter leads to its job"
    if view.state is PlanState.CANCELLED:
        return "given up: r plans anew"
    if is_over(view, at.now):
        return "expired: a plan is never renewed; r plans anew"
    return _hindrance(view) or _outside(at)


def _hindrance(view: PlanView) -> str:
    if not view.items:
        return "nothing here can be changed this way"
    if view.blockers:
        return f"blocked: {view.blockers[0]}"
    if view.state is PlanState.BLOCKED:
        return "blocked: see above"
    if view.state is PlanState.AWAITING:
        return "waits for another person's approval (O, from their console)"
    return ""


def _outside(at: Moment) -> str:
    if not at.writable:
        return "read-only: W turns changes on"
    return "" if at.connected else "the store does not answer: changes are off until it does"


def asked_of(view: PlanView) -> Asked:
    """How it is confirmed: the token of a single claim, else count and environment; always with a reason."""
    single = view.deed is Deed.RELEASE and view.items == 1
    level = Level.PHRASE if single else Level.REASON
    return Asked(level, WORDS[view.deed].verb, view.phrase, reasoned=True)
