"""What is typed into the form of a sweep, as a wish; each field removes by itself, an empty one removes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from console.acting.plans import SweepPart, SweepWish
from console.spans import span_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import timedelta

ALL: Final = "all"
"""Stands for every table that adopted the convention."""


class SweepError(ValueError):
    """A field that means nothing; the message names it."""


@dataclass(frozen=True, slots=True)
class Field:
    """One line of the form, which begins empty; `hint` says so, and how something is written there."""

    name: str
    label: str
    hint: str


FIELDS: Final = (
    Field("age", "remove checkpoints and events older than", "no limit; such as 30d"),
    Field("checkpoints", "remove a thread's checkpoints beyond its newest", "no limit; such as 5"),
    Field("events", "remove a thread's events beyond its newest", "no limit; such as 1000"),
    Field("prefix", "only of threads whose ids begin so", "any thread"),
    Field("tombstones", "remove tombstones older than", "none; such as 90d"),
    Field("lapsed", "remove lapsed tentative rows of these tables", f"none; {ALL}, or their names"),
    Field("purge", "remove settled meter rows from before", "none; such as 2026-01-31"),
    Field("meters", "only of these meters", "any meter"),
)
RULE: Final = "each limit removes by itself; empty removes nothing"
"""How the fields go together: none protects what another one removes."""


def wish_of(typed: Mapping[str, str]) -> SweepWish:
    """The policy that the fields say; SweepError."""
    said = {name: text.strip() for name, text in typed.items()}
    wish = SweepWish(
        parts=_parts(said),
        max_age=_span("age", said),
        max_checkpoints=_count("checkpoints", said),
        max_events=_count("events", said),
        tombstone_age=_span("tombstones", said),
        prefix=said.get("prefix", ""),
        tables=() if said.get("lapsed") == ALL else _words(said.get("lapsed", "")),
        meters=_words(said.get("meters", "")),
        before=_instant(said.get("purge", "")),
    )
    if not wish.parts:
        raise SweepError("say what may go: an age, a count, tombstones, tables, or a date")
    return wish


def _parts(said: Mapping[str, str]) -> frozenset[SweepPart]:
    asked = {
        SweepPart.THREADS: any(said.get(name) for name in ("age", "checkpoints", "events")),
        SweepPart.TOMBSTONES: bool(said.get("tombstones")),
        SweepPart.LAPSED: bool(said.get("lapsed")),
        SweepPart.METERS: bool(said.get("purge")),
    }
    return frozenset(part for part, wanted in asked.items() if wanted)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())


def _span(name: str, said: Mapping[str, str]) -> timedelta | None:
    text = said.get(name, "")
    try:
        return span_of(text) if text else None
    except ValueError as error:
        raise SweepError(f"{name}: {error}") from error


def _count(name: str, said: Mapping[str, str]) -> int | None:
    text = said.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise SweepError(f"{name}: {text!r} is no count; write a whole number")
    return int(text)


def _instant(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise SweepError(f"purge: {text!r} is no date; write 2026-01-31 or 2026-01-31T12:00Z") from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
