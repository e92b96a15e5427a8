"""Instants as they are typed into the form: `2026-05-04T14:08:10Z`, `5m ago`, `now`; for the next check `30m`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from console.spans import span_of

if TYPE_CHECKING:
    from datetime import timedelta

MOST_TYPED: Final = 40
_PAST: Final = "write 2026-05-04T14:08:10Z, or 5m ago"
_NEXT: Final = "write a span such as 30m, or 2026-05-04T14:08:10Z"


def seen_at(text: str, now: datetime) -> datetime:
    """When something was seen; ValueError with what may be written. `now` is the store's time."""
    words = text.strip()
    if words == "now":
        return now
    if words.endswith("ago"):
        return _shifted(words.removesuffix("ago").strip(), now, -1, _PAST)
    return _iso(words, _PAST)


def next_check(text: str, now: datetime) -> datetime:
    """When to look again, after `now`; ValueError with what may be written."""
    words = text.strip().removeprefix("in ").strip()
    at = _iso(words, _NEXT) if "-" in words else _shifted(words, now, 1, _NEXT)
    if at <= now:
        raise ValueError(f"the next check must come after the store's time, {utc(now)}")
    return at


def utc(at: datetime) -> str:
    """To the second, in UTC, whatever the console tells times in: what is sent is what is read here."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _shifted(words: str, now: datetime, sign: int, form: str) -> datetime:
    try:
        span: timedelta = span_of(words)
        return now + sign * span
    except (ValueError, OverflowError):
        raise ValueError(f"{words[:MOST_TYPED]!r} is no span of time; {form}") from None


def _iso(words: str, form: str) -> datetime:
    """One without a zone is meant in UTC, as all that the form shows."""
    at = _read(words) if len(words) <= MOST_TYPED and words.isascii() and "-" in words else None
    if at is None:
        raise ValueError(f"that is no time; {form}" if words else f"is needed; {form}")
    return at


def _read(words: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(words)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
