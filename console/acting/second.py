"""The second pair of eyes: above which amount no one decides alone (console.md F5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.acting.amounts import dollars
from console.acting.permission import decision_above
from console.acting.resolving import Check
from console.money_words import Kind
from console.present import several

if TYPE_CHECKING:
    from console.acting.model import Approved
    from console.acting.plans import Bounds
    from console.acting.resolving import Answer
    from console.money_model import ReservationRow

_ADVICE = "plan a reconcile pass with source ask over it, and let another person approve that"


def second_eyes(
    row: ReservationRow, answer: Answer | None, bounds: Bounds, approved: Approved | None = None
) -> Check:
    """Whether another person is needed, or has said yes to the plan that led here.

    To leave it deferred moves nothing and needs none.
    """
    words = _words(bounds, meter=row.address.kind is Kind.METER)
    if not words:
        return Check("ok", "second pair of eyes: not asked for by the configuration")
    if not decision_above(bounds, row, answer):
        return Check("ok", f"second pair of eyes: asked for above {words}; not required here")
    if approved is not None:
        return Check("ok", f"second pair of eyes: required above {words}; {approved.by} approved the plan")
    return Check("need", f"second pair of eyes: required above {words}, and this form has none; {_ADVICE}")


def _words(bounds: Bounds, *, meter: bool) -> str:
    """The bounds that a decision about one row can be above; empty where there is none."""
    units = () if bounds.units is None or not meter else (several(bounds.units, "unit"),)
    micro = () if bounds.micro is None or meter else (f"{dollars(bounds.micro)} USD",)
    rows = () if bounds.rows is None else (several(bounds.rows, "row"),)
    return " or ".join((*units, *micro, *rows))
