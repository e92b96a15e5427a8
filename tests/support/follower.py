"""Somebody who follows every thread of a store, in a thread of its own."""

from __future__ import annotations

import threading
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from engine.checkpoints import watch_all
from engine.errors import EngineError, WaitCancelled
from tests.support.background import LIMIT, until

if TYPE_CHECKING:
    from engine.checkpoints import EventRecord
    from engine.store import Store

POLL = timedelta(milliseconds=50)


class Follower:
    """Delivers what `watch_all` yields until cancelled, as (position, record)."""

    def __init__(self, store: Store, **options: Any) -> None:
        self.delivered: list[tuple[str, EventRecord]] = []
        self.ended_by: EngineError | None = None
        self._cancel = threading.Event()
        self._stream = watch_all(store, cancel=self._cancel, **({"poll_interval": POLL} | options))
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    @property
    def records(self) -> list[EventRecord]:
        """What was delivered, in the order of delivery."""
        return [record for _, record in list(self.delivered)]

    @property
    def names(self) -> list[str]:
        """The names of the test's custom events, in the order of delivery."""
        return [record.payload["name"] for record in self.records]

    def by_thread(self) -> dict[str, list[int]]:
        """The numbers delivered of each thread, in the order of delivery."""
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for record in self.records:
            numbers[record.thread_id].append(record.seq)
        return dict(numbers)

    def wait_for(self, count: int, limit: float = LIMIT) -> None:
        """Until so many events are delivered; AssertionError after `limit` seconds."""
        until(lambda: len(self.delivered) >= count, f"{count} events (came: {self.names})", limit=limit)

    def cancel(self) -> None:
        """End it and wait until it has ended."""
        self._cancel.set()
        self.wait_ended()

    def wait_ended(self) -> None:
        """Until it has ended; AssertionError after LIMIT seconds."""
        self._thread.join(LIMIT)
        assert not self._thread.is_alive(), "the stream did not end"

    def _follow(self) -> None:
        try:
            for item in self._stream:
                self.delivered.append(item)
        except WaitCancelled:
            return  # The test has seen enough.
        except EngineError as error:
            self.ended_by = error
