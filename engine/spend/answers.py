"""What a resolver, or a person, may say of a reservation whose fate was unknown (spend.md 2A.8 and 4)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from engine.arguments import of_kind
from engine.database.columns import dump
from engine.errors import ValidationError

if TYPE_CHECKING:
    from datetime import datetime

MAX_EVIDENCE: Final = 16 * 1024
"""Bytes of the evidence's JSON text."""


@dataclass(frozen=True, slots=True)
class Consumed:
    """It was spent: whole, or in the day store `figure` micro-dollars of it."""

    figure: int | None = None


@dataclass(frozen=True, slots=True)
class Released:
    """It was not spent."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """Nobody knows yet: ask again at `retry_at`; `evidence` is a JSON object that says why to wait."""

    retry_at: datetime
    evidence: Mapping[str, Any]


Answer: TypeAlias = Consumed | Released | Deferred


def evidence_text(evidence: Mapping[str, Any]) -> str:
    """The JSON text of a piece of evidence; ValidationError unless it is an object of at most 16 KiB."""
    if not isinstance(evidence, Mapping):
        raise ValidationError("evidence", ("must be a JSON object, as a mapping",))
    text = dump("evidence", dict(evidence))
    if len(text) > MAX_EVIDENCE:
        raise ValidationError(
            "evidence", (f"is {len(text)} bytes of JSON; at most {MAX_EVIDENCE} are kept: refer to the rest",)
        )
    return text


def evidence_of(text: str | None) -> Mapping[str, Any] | None:
    """Stored evidence; ValueError when it does not decode."""
    return None if text is None else of_kind("evidence", json.loads(text), dict)


def raised(error: BaseException) -> Mapping[str, Any]:
    """The evidence that stands in for an answer when the resolver raised, or answered nonsense."""
    return {"error": f"{type(error).__name__}: {error_text(error)}"[: MAX_EVIDENCE // 16]}


def error_text(error: BaseException) -> str:
    """What an error of somebody else's code says, fit to be stored and shown; that its text may raise stops no pass."""
    try:
        return str(error).encode("utf-8", "backslashreplace").decode()
    except Exception:  # noqa: BLE001 - whatever it was, the first error is the one to tell of
        return "an error whose text cannot be read"
