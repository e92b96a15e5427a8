"""Cancel events and deadlines that reach into the driver (rulings 9 and 22)."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.database.backend import Limits

# The event that may end the call of this thread, for waits that the driver's own hooks do not reach.
CANCEL: ContextVar[threading.Event | None] = ContextVar("holdwatch_cancel", default=None)
# The event that may end the reads that a caller makes within `cancelling`.
_AROUND: ContextVar[threading.Event | None] = ContextVar("holdwatch_cancel_around", default=None)
WATCH_INTERVAL = 0.02  # seconds a cancel may go unnoticed


@contextmanager
def cancelling(cancel: threading.Event) -> Iterator[None]:
    """Setting `cancel` ends the reads of this thread within the block, also inside the driver: WaitCancelled."""
    told = _AROUND.set(cancel)
    try:
        yield
    finally:
        _AROUND.reset(told)


def cancel_around() -> threading.Event | None:
    """The event of the block that this thread is in."""
    return _AROUND.get()


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    cancel: threading.Event
    act: Callable[[], None]


class CancelWatch:
    """One thread per store that turns set events into actions; it runs only while something is watched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watched: set[_Watched] = set()
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(self, cancel: threading.Event | None, act: Callable[[], None]) -> Iterator[None]:
        """Call `act` once, from another thread, if `cancel` is set before the block ends; None: never."""
        if cancel is None:
            yield
            return
        entry = _Watched(cancel, act)
        self._add(entry)
        try:
            yield
        finally:
            with self._lock:
                self._watched.discard(entry)

    def _add(self, entry: _Watched) -> None:
        with self._lock:
            self._watched.add(entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name="holdwatch-cancel", daemon=True)
                self._thread.start()

    def _loop(self) -> None:
        while self._pass():
            time.sleep(WATCH_INTERVAL)

    def _pass(self) -> bool:
        # The action runs under the lock: a call that left its block has no cancel coming after it.
        with self._lock:
            for entry in [entry for entry in self._watched if entry.cancel.is_set()]:
                self._watched.discard(entry)
                entry.act()
            if not self._watched:
                self._thread = None
            return self._thread is not None


def expired(limits: Limits) -> Callable[[], bool]:
    """A question for a driver's progress handler: must this call end now?"""
    deadline = None if limits.timeout is None else time.monotonic() + limits.timeout.total_seconds()
    cancel = limits.cancel

    def ask() -> bool:
        return (cancel is not None and cancel.is_set()) or (
            deadline is not None and time.monotonic() > deadline
        )

    return ask
