"""A decision by hand that waits for a second pair of eyes: a plan of one item that holds the answer (console.md F5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.desk.audit.model import Deed
from engine.desk.jobs.executor import Done
from engine.desk.jobs.executors.settling import read_shown
from engine.desk.jobs.executors.shown_day import ShownDay
from engine.desk.moment import moment
from engine.desk.plans.budget import Budget
from engine.desk.plans.draft import Draft, dollars
from engine.desk.plans.model import Line, Totals
from engine.desk.resolve.checks import check_grounds, check_seen
from engine.desk.resolve.corrects import check_corrects
from engine.desk.resolve.resolve import check_fits
from engine.spend.answers import Consumed, Deferred, Released

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.jobs.executors.settling import Shown
    from engine.desk.plans.model import Item, Preview
    from engine.desk.resolve.resolve import Decision
    from engine.spend.answers import Answer

_KEPT: Final = ("the evidence, with this plan and in the audit",)


def preview_resolve(
    connection: Connection, environment: str, item: Item, decision: Decision, reason: str | None
) -> Preview:
    """The one reservation under the guard that was shown. Wants a SNAPSHOT.

    ValidationError for an answer that does not fit, without evidence or reason, on evidence that cannot have been
    seen yet, or that corrects no decision about it; a reservation that has changed since stands apart.
    """
    check_grounds(decision.answer, decision.evidence, reason)
    at, draft = moment(connection), Draft(Budget())
    check_seen(decision.evidence, at)
    check_corrects(connection, item.object_id, decision.corrects)
    shown = read_shown(connection, item)
    totals = Totals(rows=0, kept=_KEPT)
    if isinstance(shown, Done):
        draft.apart(item.object_id, str(shown.detail["why"]))
    else:
        check_fits(shown, decision.answer, at)
        draft.add(item.kind, item.object_id, item.guard, {"becomes": _becomes(shown, decision.answer)})
        totals = _totals(shown, decision.answer)
    return draft.preview(Deed.RESOLVE, environment, decision.facts(), at, totals)


def _totals(shown: Shown, answer: Answer) -> Totals:
    """At stake is all that is held: what is not charged of it is freed, and to defer it does neither."""
    stake = 0 if isinstance(answer, Deferred) else shown.held
    micro, units = (stake, 0) if isinstance(shown, ShownDay) else (0, stake)
    lines = (Line("reservation", 1, 0, _becomes(shown, answer)),)
    return Totals(rows=1, lines=lines, kept=_KEPT, micro=micro, units=units, phrase=_phrase(shown, answer))


def _becomes(shown: Shown, answer: Answer) -> str:
    match answer:
        case Released():
            return f"{_amount(shown, shown.held)} released"
        case Deferred(later, _):
            return f"deferred until {later.isoformat()}"
        case Consumed(figure):
            spent = shown.most if figure is None else figure
            if spent == shown.held:
                return f"{_amount(shown, spent)} consumed whole"
            rest = _amount(shown, shown.held - spent)
            return f"{_amount(shown, spent)} of {_amount(shown, shown.held)} consumed, {rest} released"


def _amount(shown: Shown, amount: int) -> str:
    """With its unit."""
    if isinstance(shown, ShownDay):
        return f"{dollars(amount)} USD"
    return f"{amount} unit{'' if amount == 1 else 's'}"


def _phrase(shown: Shown, answer: Answer) -> str:
    """The deed and the amount that is released or consumed, as the form has them."""
    match answer:
        case Deferred():
            return "DEFER"
        case Released():
            return f"RELEASE {_typed(shown, shown.held)}"
        case Consumed(figure):
            return f"CONSUME {_typed(shown, shown.most if figure is None else figure)}"


def _typed(shown: Shown, amount: int) -> str:
    return dollars(amount) if isinstance(shown, ShownDay) else _amount(shown, amount).upper()
