"""A pass at every interval, in the background (spend.md 2B.6)."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from engine.errors import StoreClosed

if TYPE_CHECKING:
    from collections.abc import Callable

STOP_PATIENCE: Final = 10.0
"""Seconds that a stop waits for the pass that is running."""


class Reconciler:
    """One daemon thread: it keeps no process alive. A tick that comes while a pass runs is left out."""

    def __init__(self, run: Callable[[], object]) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._stopped: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def start(self, seconds: float, on_error: Callable[[Exception], object] | None) -> None:
        """Begin, the first pass one interval from now; nothing when it runs already."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._stopped = stopped = threading.Event()
            self._thread = threading.Thread(
                target=self._loop,
                args=(seconds, on_error, stopped),
                daemon=True,
                name="spend-meter-reconciler",
            )
            self._thread.start()

    def stop(self) -> None:
        """End it after the pass that is running; nothing when it does not run."""
        with self._lock:
            thread, self._thread = self._thread, None
            if self._stopped is not None:
                self._stopped.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(STOP_PATIENCE)

    def _loop(
        self, seconds: float, on_error: Callable[[Exception], object] | None, stopped: threading.Event
    ) -> None:
        due = time.monotonic() + seconds
        while not stopped.wait(max(0.0, due - time.monotonic())):
            try:
                self._run()
            except StoreClosed as error:
                _report(on_error, error)
                return
            except Exception as error:  # noqa: BLE001 - reported; the next tick tries again
                _report(on_error, error)
            late = max(0.0, time.monotonic() - due)
            due += seconds * (1 + late // seconds)


def _report(on_error: Callable[[Exception], object] | None, error: Exception) -> None:
    if on_error is not None:
        # Whoever hears of a failed pass must not end the passes by failing too.
        with suppress(Exception):
            on_error(error)
