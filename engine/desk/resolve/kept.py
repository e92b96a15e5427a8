"""A decision as the JSON object that a plan keeps, and back."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from engine.errors import ValidationError
from engine.spend.answers import Consumed, Deferred, Released

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.spend.answers import Answer


def answer_facts(answer: Answer) -> dict[str, Any]:
    """As plans, operations and the audit keep an answer."""
    match answer:
        case Consumed(figure):
            return {"answer": "consumed", "figure": figure}
        case Released():
            return {"answer": "released"}
        case Deferred(retry_at, evidence):
            return {"answer": "deferred", "retry_at": retry_at.isoformat(), "note": dict(evidence)}


def answer_of(facts: Mapping[str, Any]) -> Answer:
    """The answer again; ValidationError for what is none."""
    match facts:
        case {"answer": "consumed", "figure": figure}:
            return Consumed(figure)
        case {"answer": "released"}:
            return Released()
        case {"answer": "deferred", "retry_at": retry_at, "note": note}:
            return Deferred(datetime.fromisoformat(retry_at), note)
    raise ValidationError("answer", (f"is no answer: {dict(facts)!r:.80}",))
