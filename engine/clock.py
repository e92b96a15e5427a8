"""How a store reads "now" (checkpoints.md 2.13). Inside the engine instants are nanoseconds since 1970."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

from engine.arguments import of_kind
from engine.errors import ValidationError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST = datetime(1678, 1, 1, tzinfo=UTC)
LATEST = datetime(2262, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Clock(Protocol):
    """What a store asks for the time."""

    def now(self) -> datetime:
        """The current instant: aware, UTC."""
        ...


class SystemClock:
    """The process's clock."""

    def now(self) -> datetime:
        """The current instant: aware, UTC, microseconds."""
        return from_ns(time.time_ns())


class ManualClock:
    """A clock that only moves when told: for tests and simulations. Safe to share between threads."""

    def __init__(self, start: datetime) -> None:
        self._now = from_ns(to_ns(start))
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """The instant last set."""
        with self._lock:
            return self._now

    def advance(self, by: timedelta) -> None:
        """Move by `by`, which may be negative."""
        with self._lock:
            try:
                self._now = from_ns(to_ns(self._now + by))
            except OverflowError as error:
                raise ValidationError("by", ("leads out of the years a clock can show",)) from error


def to_ns(instant: datetime) -> int:
    """Nanoseconds since 1970; ValidationError for a naive instant or one outside 1678 to 2262 (ruling 12)."""
    if of_kind("instant", instant, datetime).utcoffset() is None:
        raise ValidationError("instant", ("must be timezone-aware; use datetime.now(UTC)",))
    if not EARLIEST <= instant <= LATEST:
        raise ValidationError("instant", (f"must lie between {EARLIEST:%Y} and {LATEST:%Y}",))
    return (instant - EPOCH) // _MICROSECOND * 1000


def from_ns(ns: int) -> datetime:
    """The aware UTC instant of stored nanoseconds, cut to whole microseconds."""
    return EPOCH + timedelta(microseconds=ns // 1000)


def span_ns(span: timedelta) -> int:
    """A duration in nanoseconds."""
    return span // _MICROSECOND * 1000


def from_span(ns: int) -> timedelta:
    """The duration of stored nanoseconds, cut to whole microseconds."""
    return timedelta(microseconds=ns // 1000)
