"""The calls to a store that run now, and how the operator ends them."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Running:
    """One cancel event for each call. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: set[threading.Event] = set()

    @contextmanager
    def one(self) -> Iterator[None]:
        """A call of this thread; from now until the block ends `end` ends it, also while it waits for its turn."""
        from engine.desk import cancelling

        event = threading.Event()
        with self._lock:
            self._events.add(event)
        try:
            with cancelling(event):
                yield
        finally:
            with self._lock:
                self._events.discard(event)

    def end(self) -> None:
        """End every call that runs; whatever comes later is not touched."""
        with self._lock:
            for event in self._events:
                event.set()
