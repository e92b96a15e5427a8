"""Events in a list that a test may add to, and the hints that it gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from console.model import EventBatch, EventQuery, EventRow, Unset
from console.tail_model import EventsAhead, ThreadEvent
from tests.console.fake_moment import T0

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from datetime import datetime


@dataclass
class FakeTail:
    """A log whose positions are how many events lie before them; an event's own names it."""

    tail: list[EventRow] = field(default_factory=list)
    as_of: datetime = T0
    hearers: list[Callable[[], None]] = field(default_factory=list)

    def _asked(self, what: str) -> None:
        """Note a call."""

    def hint(self) -> None:
        """Something was committed."""
        for heard in tuple(self.hearers):
            heard()

    def hear(self, stop: threading.Event, heard: Callable[[], None]) -> None:
        """Pass on what the test hints at."""
        self.hearers.append(heard)
        stop.wait()
        self.hearers.remove(heard)

    def newest_events(self, query: EventQuery, limit: int) -> EventBatch:
        """The newest ones."""
        self._asked("newest")
        rows = tuple(event for event in self.tail if passes(event, query))[-limit:]
        return EventBatch(
            rows, str(len(self.tail)), len(rows), 0, self.as_of, _first(rows), searched=len(self.tail)
        )

    def events(self, query: EventQuery, position: str, limit: int) -> EventBatch:
        """Those that were added after a position, which is their count."""
        self._asked("events")
        rows = [event for event in self.tail[int(position) :] if passes(event, query)]
        shown = tuple(rows[-limit:])
        dropped = len(rows) - len(shown)
        return EventBatch(shown, str(len(self.tail)), len(rows), dropped, self.as_of, searched=len(self.tail))

    def events_forward(self, query: EventQuery, position: str, limit: int) -> EventBatch:
        """The next ones after a position, none left out."""
        self._asked("forward")
        start = int(position)
        rows = tuple(event for event in self.tail[start : start + limit] if passes(event, query))
        end = min(start + limit, len(self.tail))
        before = rows[0].position if rows else f"p{end:08d}"
        return EventBatch(
            rows, str(end), len(rows), 0, self.as_of, before, behind=len(self.tail) - end, searched=end
        )

    def events_ahead(self, query: EventQuery, position: str) -> EventsAhead:
        """How many were added after a position."""
        self._asked("ahead")
        return EventsAhead(len(self.tail) - int(position), self.as_of)

    def older_events(self, query: EventQuery, before: str, limit: int) -> EventBatch:
        """Those before a position."""
        self._asked("older")
        rows = tuple(event for event in self.tail if passes(event, query) and event.position < before)[
            -limit:
        ]
        return EventBatch(rows, before, len(rows), 0, self.as_of, _first(rows))

    def event_position(self, query: EventQuery, goal: datetime | ThreadEvent) -> str | None:
        """How many events lie before the one that is wanted."""
        self._asked("position")
        if isinstance(goal, ThreadEvent):
            places = (
                n for n, row in enumerate(self.tail) if (row.thread, row.seq) == (goal.thread, goal.seq)
            )
            place = next(places, None)
            return None if place is None else str(place)
        return str(sum(row.at < goal for row in self.tail))


def _first(rows: tuple[EventRow, ...]) -> str | None:
    return rows[0].position if rows else None


def passes(event: EventRow, query: EventQuery) -> bool:
    """What the store would answer."""
    return (
        (query.thread is None or event.thread == query.thread)
        and (query.kinds is None or event.kind in query.kinds)
        and (isinstance(query.tenant, Unset) or event.tenant == query.tenant)
    )
