"""The events a tail holds: a ring of the newest, where to read on, and honest counters (ruling 58).

`received` is how many events went by in the store since the tail began, `shown` how many of them the ring
holds, and `dropped` how many were skipped because they came faster than they were read. Events that only fell
off the ring's old end are neither lost nor dropped: they were shown.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from console.model import EventBatch, EventQuery, EventRow, Gateway

RING: Final = 5_000
"""Events that are held."""
FRAME: Final = 500
"""Events that one query brings at most."""


class Tail:
    """A tail over one filter. `ask` runs in a call's thread; everything else in the event loop's."""

    def __init__(self, query: EventQuery) -> None:
        self.query = query
        self.rows: deque[EventRow] = deque(maxlen=RING)
        self.position: str | None = None
        self.before: str | None = None
        self.received = 0
        self.dropped = 0

    def ask(self, gateway: Gateway) -> EventBatch:
        """The newest events the first time, after that those that came since."""
        if self.position is None:
            return gateway.newest_events(self.query, FRAME)
        return gateway.events(self.query, self.position, FRAME)

    def take(self, batch: EventBatch) -> None:
        """Add what was read."""
        if self.position is None:
            self.before = batch.before
        self.rows.extend(batch.rows)
        self.position = batch.position
        self.received += batch.received
        self.dropped += batch.dropped

    @property
    def room(self) -> int:
        """How many older events the ring can still take."""
        return 0 if self.before is None else RING - len(self.rows)

    def take_older(self, batch: EventBatch) -> None:
        """Put older events before those held, as far as the ring has room."""
        kept = batch.rows[max(0, len(batch.rows) - self.room) :]
        self.rows.extendleft(reversed(kept))
        self.before = batch.before if len(kept) == len(batch.rows) else None
