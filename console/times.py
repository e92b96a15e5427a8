"""How a console tells instants: UTC, local by TZ, or relative to the store's clock (console.md F7, rows 69 to 71).

There is one way at a time for the whole console, kept here and nowhere else, so that no page can mix two. `present`
is the only caller of what formats; exports and files of this machine stay with UTC and do not come here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

UNKNOWN: Final = "clock?"
"""Said of an instant that no calendar of this machine has, and of an age below zero."""
EXACT_SECONDS: Final = 10
"""Below this an age in a list is told to the second, above it in steps as large: an idle list of threads that
are a few seconds old would else be drawn again with each refresh, which ruling 59 has no bytes for.
"""
_MANY_DAYS: Final = 100
"""Days from which an age says no hours: it would not fit into a column."""


class Telling(StrEnum):
    """The three ways, in the order in which the key goes through them."""

    UTC = "utc"
    LOCAL = "local"
    RELATIVE = "relative"

    @property
    def following(self) -> Telling:
        """The way that comes after this one."""
        ways = list(Telling)
        return ways[(ways.index(self) + 1) % len(ways)]


@dataclass(slots=True)
class Times:
    """How times are told now; `now` is the store's time of the page in front, which stands while its data is old."""

    telling: Telling = Telling.UTC
    now: datetime | None = None

    @property
    def manner(self) -> object:
        """What a line that was made before must have been made under to be still true."""
        return self.now if self.telling is Telling.RELATIVE else self.telling


TOLD: Final = Times()


def local(at: datetime) -> datetime | None:
    """An instant in the zone that TZ names; None where this machine's calendar does not reach."""
    try:
        return at.astimezone()
    except (OverflowError, ValueError, OSError):
        return None


def instant(at: datetime) -> str:
    """Date and time to the millisecond, with the offset where it is not UTC."""
    if _relative():
        return _ago(at)
    moment = _shown(at)
    return UNKNOWN if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}.{_millis(moment)}{_zone(moment)}"


def clock(at: datetime, as_of: datetime) -> str:
    """An instant in at most ten cells: the time of day on the day of `as_of`, else the date.

    Where the clocks were put forward or back between the two, the offset takes the place of the seconds: the hour
    alone would be another one.
    """
    if _relative():
        return _ago(at)
    moment, present = _shown(at), _shown(as_of)
    if moment is None or present is None:
        return UNKNOWN
    if moment.date() != present.date():
        return f"{moment:%Y-%m-%d}"
    if moment.utcoffset() != present.utcoffset():
        return f"{moment:%H:%M%z}"
    return f"{moment:%H:%M:%S}{'Z' if TOLD.telling is Telling.UTC else ''}"


def stamp(at: datetime) -> str:
    """The time of day to the millisecond, in at most thirteen cells; with its offset where that is not the page's."""
    if _relative():
        return _ago(at)
    moment = _shown(at)
    if moment is None:
        return UNKNOWN
    present = None if TOLD.now is None else _shown(TOLD.now)
    if present is not None and moment.utcoffset() != present.utcoffset():
        return f"{moment:%H:%M:%S%z}"
    return f"{moment:%H:%M:%S}.{_millis(moment)}{'Z' if TOLD.telling is Telling.UTC else ''}"


def page(as_of: datetime) -> str:
    """The store's time in a header, with the zone that all of the page is told in."""
    moment = _shown(as_of)
    if moment is None:
        return UNKNOWN
    return f"{moment:%H:%M:%S}{_zone(moment)}"


def titled(title: str) -> str:
    """A column's title with the way that times are told in place of `UTC`."""
    if TOLD.telling is Telling.UTC:
        return title
    return title.replace("(UTC)", "(local)" if TOLD.telling is Telling.LOCAL else "(age)")


def at_time(as_of: datetime, hour: int, minute: int, second: int, telling: Telling | None = None) -> datetime:
    """The last time before `as_of` at which a clock that tells so, or else like the page, showed this; relative
    counts as UTC.
    """
    near = local(as_of) if (telling or TOLD.telling) is Telling.LOCAL else None
    if near is None:
        near = as_of.astimezone(UTC)
        at = near.replace(hour=hour, minute=minute, second=second, microsecond=0)
        return at if at <= as_of else at - timedelta(days=1)
    # A wall clock's yesterday is not always 24 hours ago: the zone is asked for that day anew.
    bare = near.replace(tzinfo=None, hour=hour, minute=minute, second=second, microsecond=0)
    at = bare.astimezone()
    return at if at <= as_of else (bare - timedelta(days=1)).astimezone()


def rounded(seconds: int) -> str:
    """A length of time in the two largest units; seconds from ten on in steps of ten."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86_400
    if seconds < 60:
        return f"{seconds if seconds < EXACT_SECONDS else seconds - seconds % EXACT_SECONDS}s"
    if minutes < 60:
        return f"{minutes}m"
    if hours < 24:
        return f"{hours}h{minutes % 60:02d}m"
    return f"{days:,}d{hours % 24:02d}h"


def _relative() -> bool:
    return TOLD.telling is Telling.RELATIVE and TOLD.now is not None


def _ago(at: datetime) -> str:
    assert TOLD.now is not None
    seconds = int((TOLD.now - at).total_seconds())
    days = abs(seconds) // 86_400
    length = f"{days:,}d" if days >= _MANY_DAYS else rounded(abs(seconds))
    return f"{length} ago" if seconds >= 0 else f"in {length}"


def _shown(at: datetime) -> datetime | None:
    return local(at) if TOLD.telling is Telling.LOCAL else at.astimezone(UTC)


def _millis(moment: datetime) -> str:
    return f"{moment.microsecond // 1000:03d}"


def _zone(moment: datetime) -> str:
    if TOLD.telling is not Telling.LOCAL:
        return "Z"
    offset = f"{moment:%z}"
    return f"{offset[:3]}:{offset[3:5]}"
