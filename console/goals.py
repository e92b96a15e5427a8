"""What is typed to go to a place of the event log: a time, told as the page tells it, or a thread's number."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from console import times
from console.tail_model import ThreadEvent
from console.times import Telling

if TYPE_CHECKING:
    from console.model import EventRow

Goal = datetime | ThreadEvent
"""A place of the event log."""
_NUMBER: Final = re.compile(r"#?(\d(?:[\d,]{0,23}\d)?)", re.ASCII)
_CLOCK: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(Z?)", re.ASCII)
_DATED: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?Z?", re.ASCII)
_LARGEST: Final = 2**63 - 1


def goal_of(text: str, near: EventRow | None, as_of: datetime) -> Goal:
    """A time of the last day, a date with a time (UTC), or an event of the thread under the cursor; ValueError."""
    number, clock = _NUMBER.fullmatch(text), _CLOCK.fullmatch(text)
    if number is not None:
        return _event(text, int(number[1].replace(",", "")), near)
    if clock is not None:
        telling = Telling.UTC if clock[4] else times.TOLD.telling
        return times.at_time(as_of, int(clock[1]), int(clock[2]), int(clock[3] or 0), telling)
    if _DATED.fullmatch(text):
        return datetime.fromisoformat(text.removesuffix("Z")).replace(tzinfo=UTC)
    raise ValueError(
        f"{text!r} is neither a time (14:03, 14:03:22Z, 2026-05-04T14:03) nor an event number (#41)"
    )


def _event(text: str, number: int, near: EventRow | None) -> ThreadEvent:
    if near is None:
        raise ValueError(f"{text}: no event under the cursor says of which thread; filter with thread:ID")
    if not 1 <= number <= _LARGEST:
        raise ValueError(f"{text}: events are numbered from 1")
    return ThreadEvent(near.thread, number)


def is_held(goal: Goal, row: EventRow) -> bool:
    """Whether an event is the one that is wanted, or one behind it in time."""
    if isinstance(goal, ThreadEvent):
        return (row.thread, row.seq) == (goal.thread, goal.seq)
    return row.at >= goal
