"""Threads that work for a store: started at the first need, ended with the store."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

JOIN: Final = 2.0
"""Seconds that closing a store waits for a helper; one that hangs in the driver ends by itself later."""
FIRST_PAUSE: Final = 0.05
"""Seconds before the first reconnect."""
LONGEST_PAUSE: Final = 1.0
"""Seconds between two reconnects at most."""


class Helper:
    """One daemon thread running `work`, which must return soon after `closing` is set."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self.closing = threading.Event()
        self._name = name
        self._work = work
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def ensure(self) -> None:
        """Start the thread, once; never after `close`."""
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None and not self.closing.is_set():
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()

    def close(self, wake: Callable[[], None]) -> None:
        """End the thread: say so, rouse it with `wake`, and wait `JOIN` seconds at most."""
        with self._lock:
            self.closing.set()
            thread = self._thread
        wake()
        if thread is not None and thread is not threading.current_thread():
            thread.join(JOIN)


class Backoff:
    """Pauses between reconnects: they double up to a bound, with jitter, and start anew after a success."""

    def __init__(self, closing: threading.Event) -> None:
        self._closing = closing
        self._pause = FIRST_PAUSE

    def reset(self) -> None:
        """The connection works."""
        self._pause = FIRST_PAUSE

    def rest(self) -> None:
        """Sleep for this failure's pause, or until the store is closed."""
        self._closing.wait(self._pause * (0.5 + random.random() / 2))  # noqa: S311 - jitter guards no secret
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
