"""What a tail asks of a store, and what it is told beside rows (ruling 58)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from datetime import datetime

    from console.model import EventBatch, EventQuery


@dataclass(frozen=True, slots=True)
class EventsAhead:
    """How many numbers the log has gone on by: a difference of positions, so also what a filter leaves out."""

    number: int
    as_of: datetime
    held: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadEvent:
    """A thread's event of this number."""

    thread: str
    seq: int


class TailGateway(Protocol):
    """The calls on the event log. Each but `hear` is one bounded read."""

    def newest_events(self, query: EventQuery, limit: int) -> EventBatch:
        """The newest events, to begin a tail with."""
        ...

    def events(self, query: EventQuery, position: str, limit: int) -> EventBatch:
        """The newest events after a position; those in between are dropped, and counted."""
        ...

    def events_forward(self, query: EventQuery, position: str, limit: int) -> EventBatch:
        """The next events after a position, none passed over."""
        ...

    def events_ahead(self, query: EventQuery, position: str) -> EventsAhead:
        """How far the log has gone on since a position."""
        ...

    def older_events(self, query: EventQuery, before: str, limit: int) -> EventBatch:
        """The events before a batch whose `before` this is, oldest first."""
        ...

    def event_position(self, query: EventQuery, goal: datetime | ThreadEvent) -> str | None:
        """The position before the first event at or after a time, or before a thread's event; None if there is none."""
        ...

    def hear(self, stop: threading.Event, heard: Callable[[], None]) -> None:
        """Call `heard` soon after commits, ten times a second at most, until `stop` is set; blocks that long.

        Best effort: whoever shows events still asks again by his own clock. Never raises.
        """
        ...
