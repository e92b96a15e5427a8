"""The operator's door to the event log as something that goes on: forward, backward, by time, and when to look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.checkpoints.model import ANY
from engine.database.columns import check_id
from engine.desk import event_places, events
from engine.desk.bound import Bound
from engine.desk.filters import EventFilter
from engine.desk.frontier import Frontier
from engine.desk.hints import hints

if TYPE_CHECKING:
    import threading
    from collections.abc import Collection
    from contextlib import AbstractContextManager
    from datetime import datetime

    from engine.checkpoints.model import Tenancy
    from engine.database.transaction import Transactions
    from engine.desk.event_places import Ahead
    from engine.desk.hints import Hints
    from engine.desk.views import EventPage


class TailDesk(Bound):
    """The part of the desk that tails; each call is one bounded read."""

    def __init__(self, transactions: Transactions, store: str) -> None:
        super().__init__(transactions, store)
        self._frontier = Frontier()

    def events_forward(
        self,
        after_position: str,
        *,
        thread_id: str | None = None,
        tenant: Tenancy = ANY,
        kinds: Collection[str] | None = None,
        limit: int = 500,
    ) -> EventPage:
        """The next events after a position, oldest first, none passed over."""
        wanted = EventFilter.of(thread_id, tenant, kinds)
        return self._tx.read(
            "desk.events_forward", events.forward, self._frontier, wanted, after_position, limit
        )

    def events_ahead(
        self,
        after_position: str,
        *,
        thread_id: str | None = None,
        tenant: Tenancy = ANY,
        kinds: Collection[str] | None = None,
    ) -> Ahead:
        """How many numbers the log has gone on by since a position; two keyed reads."""
        wanted = EventFilter.of(thread_id, tenant, kinds)
        return self._tx.read("desk.events_ahead", event_places.ahead, self._frontier, wanted, after_position)

    def event_position_at(
        self,
        instant: datetime,
        *,
        thread_id: str | None = None,
        tenant: Tenancy = ANY,
        kinds: Collection[str] | None = None,
    ) -> str:
        """The position before the first event committed at or after an instant; the log's end if there is none."""
        wanted = EventFilter.of(thread_id, tenant, kinds)
        return self._tx.read("desk.event_position_at", event_places.place_at, self._frontier, wanted, instant)

    def event_position_of(
        self,
        thread: str,
        seq: int,
        *,
        thread_id: str | None = None,
        tenant: Tenancy = ANY,
        kinds: Collection[str] | None = None,
    ) -> str | None:
        """The position before a thread's event of this number, or its next one; None if there is none."""
        wanted = EventFilter.of(thread_id, tenant, kinds)
        check_id("thread", thread)
        return self._tx.read("desk.event_position_of", event_places.place_of, wanted, thread, seq)

    def hints(self, cancel: threading.Event | None = None) -> AbstractContextManager[Hints]:
        """Listen for commits, on a connection of its own where the back end needs one, until the context is left."""
        return hints(self._tx, cancel)
