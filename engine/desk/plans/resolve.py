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
    lines = (Line("reservation", 1, 0, _becomes(shown, answer)),)
    phrase = _phrase(shown, answer)
    if isinstance(shown, ShownDay):
        return Totals(rows=1, lines=lines, kept=_KEPT, micro=shown.most, phrase=phrase)
    return Totals(rows=1, lines=lines, kept=_KEPT, units=shown.most, phrase=phrase)


def _becomes(shown: Shown, answer: Answer) -> str:
    match answer:
        case Released():
            return f"{_held(shown)} released"
        case Deferred(later, _):
            return f"deferred until {later.isoformat()}"
        case Consumed(None):
            return f"{_held(shown)} consumed whole"
        case Consumed(figure):
            return f"{dollars(figure or 0)} of {_held(shown)} consumed"


def _held(shown: Shown) -> str:
    return (
        dollars(shown.most)
        if isinstance(shown, ShownDay)
        else f"{shown.most} unit{'' if shown.most == 1 else 's'}"
    )


def _phrase(shown: Shown, answer: Answer) -> str:
    """The deed and the amount, as the form has them."""
    match answer:
        case Deferred():
            return "DEFER"
        case Released():
            return f"RELEASE {_amount(shown, None)}"
        case Consumed(figure):
            return f"CONSUME {_amount(shown, figure)}"


def _amount(shown: Shown, figure: int | None) -> str:
    if isinstance(shown, ShownDay):
        return dollars(shown.most if figure is None else figure).removesuffix(" USD")
    units = shown.most
    return f"{units} UNIT{'' if units == 1 else 'S'}"
