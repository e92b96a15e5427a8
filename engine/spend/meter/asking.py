"""Asking a resolver about one expired reservation, outside any transaction (spend.md 4; ruling 43)."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from engine.errors import ValidationError
from engine.spend.answers import Consumed, Deferred, Released, evidence_text, raised
from engine.spend.meter.instants import to_ms
from engine.spend.meter.model import AfterLease, MeterReservation, Outcome

if TYPE_CHECKING:
    from engine.spend.meter.options import Resolver

_log: Final = logging.getLogger("engine.spend.meter")
DEFAULTS: Final = {AfterLease.RELEASE: Outcome.RELEASED, AfterLease.CONSUME: Outcome.CONSUMED}


@dataclass(frozen=True, slots=True)
class Postponed:
    """Ask again at `until` (milliseconds); until then the row is fenced, with this evidence (JSON text)."""

    until: int
    evidence: str


Verdict = Outcome | Postponed


def ask_expired(resolver: Resolver, held: MeterReservation, at: int, lease: int) -> Verdict:
    """What `resolve_expired` decides; a raise, or an answer that is none, postpones by one lease."""
    try:
        return _verdict(resolver(held), at)
    except Exception as error:  # noqa: BLE001 - kept as evidence: it decides nothing (4, "Raise")
        return Postponed(at + lease, evidence_text(raised(error)))


def ask_unknown(resolver: Resolver, held: MeterReservation, default: Outcome) -> Verdict:
    """What `resolve_unknown` knows; anything but a plain Consumed or Released leaves it to the default."""
    try:
        return _definite(resolver(held)) or default
    except Exception:  # noqa: BLE001 - it decides nothing, and the default stands behind it
        _log.warning(
            "resolve_unknown raised for operation %r, which is settled by the default",
            held.operation_id,
            exc_info=True,
        )
        return default


def _definite(answer: object) -> Outcome | None:
    if answer == Consumed():
        return Outcome.CONSUMED
    return Outcome.RELEASED if answer == Released() else None


def _verdict(answer: object, at: int) -> Verdict:
    if isinstance(answer, Deferred):
        until = to_ms(answer.retry_at)
        if until <= at:
            raise ValidationError("retry_at", ("must be after the time of the pass",))
        return Postponed(until, evidence_text(answer.evidence))
    definite = _definite(answer)
    if definite is None:
        raise ValidationError(
            "answer", (f"must be Consumed(), Released() or Deferred(…), not {answer!r:.200}",)
        )
    return definite
