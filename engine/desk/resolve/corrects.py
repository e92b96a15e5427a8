"""A decision that puts an earlier one right names it by its operation; neither is ever changed (console.md F5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.desk import operations
from engine.desk.audit.model import ObjectKind
from engine.desk.resolve.checks import Check, Weight
from engine.errors import ValidationError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.operations import KnownOutcome


def check_corrects(connection: Connection, object_id: str, corrects: str | None) -> None:
    """ValidationError unless `corrects` is the operation of a decision about the reservation of this name, or None."""
    if corrects is None:
        return
    fault = _fault(object_id, corrects, operations.outcome_of(connection, corrects))
    if fault:
        raise ValidationError("corrects", (fault,))


def weigh_corrects(object_id: str, corrects: str, known: KnownOutcome | None) -> Check:
    """The same as a line of the form's checks: `known` is what the store says of that operation."""
    fault = _fault(object_id, corrects, known)
    if fault or known is None:
        return Check(Weight.NEED, f"corrects: {fault}")
    return Check(
        Weight.OK, f"corrects the {known.kind} of {known.actor}: {known.result.get('status', 'done')}"
    )


def _fault(object_id: str, corrects: str, known: KnownOutcome | None) -> str:
    if known is None:
        return (
            f"the store knows no operation {corrects!r:.80}; the reservation's screen and the audit name them"
        )
    if (known.object_kind, known.object_id) != (ObjectKind.RESERVATION.value, object_id):
        return f"{corrects} was about {known.object_kind} {known.object_id!r:.80}, not about this reservation"
    if "refused" in known.result:
        return f"{corrects} was refused: it decided nothing"
    return ""
