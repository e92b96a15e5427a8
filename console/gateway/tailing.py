"""The calls of `console.tail_model.TailGateway` over a store of the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console.gateway import questions, rows
from console.gateway.waits import lasting
from console.model import EventBatch, GatewayError
from console.tail_model import EventsAhead, ThreadEvent

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from datetime import datetime

    from console.gateway.store import OpenedStore
    from console.model import EventQuery

LISTENING: Final = 0.25
"""Seconds that a listener sleeps at most before it looks whether it should end."""
APART: Final = 0.1
"""Seconds between two hints that are passed on, at least."""
AGAIN: Final = 2.0
"""Seconds after which a store that could not be listened to is tried anew."""


class TailReading:
    """Reads the event log, through `engine.desk`."""

    _store: OpenedStore

    def newest_events(self, query: EventQuery, limit: int) -> EventBatch:
        """The newest events, to begin a tail with: nothing before them counts as dropped."""
        with self._store.desk() as door:
            page = door.events(None, limit=limit, **questions.event_filter(query))
        return rows.first_batch(page)

    def events(self, query: EventQuery, position: str, limit: int) -> EventBatch:
        """The newest events after a position."""
        with self._store.desk() as door:
            page = door.events(position, limit=limit, **questions.event_filter(query))
        return rows.batch(page, page.rows)

    def events_forward(self, query: EventQuery, position: str, limit: int) -> EventBatch:
        """The next events after a position."""
        with self._store.desk() as door:
            page = door.events_forward(position, limit=limit, **questions.event_filter(query))
        return rows.batch(page, page.rows)

    def events_ahead(self, query: EventQuery, position: str) -> EventsAhead:
        """How far the log has gone on since a position."""
        with self._store.desk() as door:
            found = door.events_ahead(position, **questions.event_filter(query))
        return EventsAhead(found.number, found.as_of, lasting(found.held))

    def older_events(self, query: EventQuery, before: str, limit: int) -> EventBatch:
        """The events before a position, oldest first."""
        with self._store.desk() as door:
            page = door.events_before(before, limit=limit, **questions.event_filter(query))
        return rows.batch(page, page.rows[::-1])

    def event_position(self, query: EventQuery, goal: datetime | ThreadEvent) -> str | None:
        """The position before the first event that is wanted."""
        wanted = questions.event_filter(query)
        with self._store.desk() as door:
            if isinstance(goal, ThreadEvent):
                return door.event_position_of(goal.thread, goal.seq, **wanted)
            return door.event_position_at(goal, **wanted)

    def hear(self, stop: threading.Event, heard: Callable[[], None]) -> None:
        """Pass the store's hints on until told to stop, on the third of a console's connections (ruling 57)."""
        while not stop.is_set() and not self._store.closing:
            try:
                self._listen(stop, heard)
            except GatewayError:
                stop.wait(AGAIN)  # the readers meet the same trouble and show it

    def _listen(self, stop: threading.Event, heard: Callable[[], None]) -> None:
        with self._store.listening() as door, door.hints() as hints:
            while not stop.is_set():
                if hints.wait(LISTENING) and not stop.is_set():
                    heard()
                    stop.wait(APART)
