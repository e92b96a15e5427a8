"""The second pair of eyes: above which amount no one decides alone (console.md F5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.acting.amounts import dollars
from console.acting.resolving import Check, Deferred
from console.money_words import Kind

if TYPE_CHECKING:
    from console.acting.plans import Bounds
    from console.acting.resolving import Answer
    from console.money_model import ReservationRow

_ADVICE = "plan a reconcile pass with source ask over it, and let another person approve that"


def second_eyes(row: ReservationRow, answer: Answer | None, bounds: Bounds, approved: str = "") -> Check:
    """Whether another person is needed, or has said yes to the plan that led here: `approved` is who.

    To leave it deferred moves nothing and needs none.
    """
    meter = row.address.kind is Kind.METER
    held, bound = (row.units or 0, bounds.units) if meter else (row.micro or 0, bounds.micro)
    if bound is None:
        return Check("ok", "second pair of eyes: not asked for by the configuration")
    words = f"{bound:,} units" if meter else f"{dollars(bound)} USD"
    if held <= bound or isinstance(answer, Deferred):
        return Check("ok", f"second pair of eyes: asked for above {words}; not required here")
    if approved:
        return Check("ok", f"second pair of eyes: required above {words}; {approved} approved the plan")
    return Check("need", f"second pair of eyes: required above {words}, and this form has none; {_ADVICE}")
