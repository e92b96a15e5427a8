"""The events a tail holds: a ring of the newest, where to read on, and honest counters (ruling 58).

`received` is how many events went by in the store since the tail began, `shown` how many of them the ring
holds, and `dropped` how many were skipped because they came faster than they were read. Events that only fell
off the ring's old end are neither lost nor dropped: they were shown. `gaps` are numbers that no event has.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from console.sieve import Sieve
from console.tail_model import EventsAhead

if TYPE_CHECKING:
    from datetime import datetime

    from console.model import EventBatch, EventQuery, EventRow
    from console.reading import Gateway
    from console.tail_model import ThreadEvent

RING: Final = 5_000
"""Events that are held."""
FRAME: Final = 500
"""Events that one query brings at most."""
BEFORE: Final = 100
"""Events before a place that was gone to."""
RATE_SECONDS: Final = 10.0
"""Over how long the events a second are told."""
MOST_MARKS: Final = 200
"""Answers that the rate is made of, at most."""
NO_SIEVE: Final = Sieve()


class Way(StrEnum):
    """How a tail that has begun reads on."""

    NEWEST = "newest"
    """The newest; what came too fast is dropped, and counted."""
    FORWARD = "forward"
    """One frame after the other, and nothing is passed over."""
    COUNT = "count"
    """Not at all; only how far the log has gone on."""


class Tail:
    """A tail over one filter. `ask` and `sifted` run in a call's thread; everything else in the event loop's."""

    def __init__(self, query: EventQuery, sieve: Sieve = NO_SIEVE) -> None:
        self.query = query
        self.sieve = sieve
        self.rows: deque[EventRow] = deque(maxlen=RING)
        self.position: str | None = None
        self.before: str | None = None
        self.received = 0
        self.dropped = 0
        self.gaps = 0
        self.waiting = 0
        self.searched = 0
        self.held: str | None = None
        self.travelled = False
        self._marks: deque[tuple[datetime, int]] = deque(maxlen=MOST_MARKS)

    def ask(self, gateway: Gateway) -> EventBatch:
        """The newest events the first time, after that those that came since."""
        if self.position is None:
            return self.sifted(gateway.newest_events(self.query, FRAME))
        return self.sifted(gateway.events(self.query, self.position, FRAME))

    def ask_by(self, gateway: Gateway, way: Way) -> EventBatch | EventsAhead:
        """The newest events the first time, after that as the way says."""
        if self.position is None or way is Way.NEWEST:
            return self.ask(gateway)
        if way is Way.COUNT:
            return gateway.events_ahead(self.query, self.position)
        return self.sifted(gateway.events_forward(self.query, self.position, FRAME))

    def sifted(self, batch: EventBatch) -> EventBatch:
        """The batch with the rows that are held; GatewayError where choosing them takes too long."""
        return replace(batch, rows=self.sieve.sift(batch.rows))

    def take(self, answer: EventBatch | EventsAhead) -> None:
        """Add what was read, or that something waits."""
        self.held = answer.held
        if isinstance(answer, EventsAhead):
            self.waiting = answer.number
            return
        if self.position is None:
            self.before = answer.before
        self.rows.extend(_marked(answer))
        self.position = answer.position
        self.searched = answer.searched
        self.received += answer.received
        self.dropped += answer.dropped
        self.gaps += answer.gaps
        self.waiting = answer.behind
        self._marks.append((answer.as_of, answer.received))

    @property
    def rate(self) -> float | None:
        """Events received a second, by the store's clock, over the last seconds; None before that can be told."""
        if not self._marks:
            return None
        end = self._marks[-1][0]
        near = [mark for mark in self._marks if (end - mark[0]).total_seconds() <= RATE_SECONDS]
        spent = (end - near[0][0]).total_seconds()
        return sum(count for _, count in near[1:]) / spent if spent > 0 else None

    @property
    def room(self) -> int:
        """How many older events the ring can still take."""
        return 0 if self.before is None else RING - len(self.rows)

    def take_older(self, batch: EventBatch) -> None:
        """Put older events before those held, as far as the ring has room."""
        kept = batch.rows[max(0, len(batch.rows) - self.room) :]
        self.rows.extendleft(reversed(kept))
        self.before = batch.before if len(kept) == len(batch.rows) else None

    def elsewhere(self, gateway: Gateway, goal: datetime | ThreadEvent) -> tuple[Tail, str | None] | None:
        """A tail of the same events around another place, and the position of the row that was wanted; None where
        there is no such place. Three bounded reads.
        """
        position = gateway.event_position(self.query, goal)
        if position is None:
            return None
        here = self.sifted(gateway.events_forward(self.query, position, FRAME))
        tail = Tail(self.query, self.sieve)
        tail.take(here)
        tail.received = tail.gaps = 0
        tail.travelled = True
        if tail.before is not None:
            tail.take_older(self.sifted(gateway.older_events(self.query, tail.before, BEFORE)))
        return tail, here.rows[0].position if here.rows else None


def _marked(batch: EventBatch) -> tuple[EventRow, ...]:
    """The rows, the first of which says how many were dropped before it."""
    if not batch.dropped or not batch.rows:
        return batch.rows
    return replace(batch.rows[0], skipped=batch.dropped), *batch.rows[1:]
