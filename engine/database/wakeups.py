"""Commit hints: in process at once, elsewhere by the back end. Never needed for correctness (ruling 21)."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from engine.database.cancel import CancelWatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

EVERY_THREAD: Final = None
LONGEST_SLEEP: Final = 3600.0
"""Seconds of one sleep at most; the platform's own limit lies not far above."""


class _Nothing:
    """The key of waiters that no commit wakes."""


_NOTHING: Final = _Nothing()
_Key = str | None | _Nothing


class Waiter:
    """One reader waiting for a hint. Registered before its read, so that no commit falls between."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.wake = self._event.set

    def wait(self, seconds: float) -> bool:
        """Sleep until a hint, at most `seconds`; True for a hint, which is then used up."""
        woken = self._event.wait(min(max(seconds, 0.0), LONGEST_SLEEP))
        self._event.clear()
        return woken


class Signals(Protocol):
    """How a store hears of commits."""

    def publish(self, thread_ids: Sequence[str]) -> None:
        """Tell every reader, here and elsewhere, that these threads changed. Never raises, never blocks."""
        ...

    def waiting(
        self, thread_id: str | None, cancel: threading.Event | None = None
    ) -> AbstractContextManager[Waiter]:
        """A waiter for one thread, or for every thread with None; setting `cancel` wakes it too."""
        ...

    def sleeping(self, cancel: threading.Event | None = None) -> AbstractContextManager[Waiter]:
        """A waiter that only `cancel` and the store's end wake: for readers that poll."""
        ...

    def rest(self) -> None:
        """Give back what hearing of others costs, a connection for instance, unless somebody waits; the next
        waiter has it again.
        """
        ...

    def close(self) -> None:
        """End every helper thread and wake every waiter."""
        ...


class Hub:
    """The waiters of this store, by thread id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[_Key, set[Waiter]] = {}

    def add(self, key: _Key, waiter: Waiter) -> None:
        """Register."""
        with self._lock:
            self._waiters.setdefault(key, set()).add(waiter)

    def remove(self, key: _Key, waiter: Waiter) -> None:
        """Forget."""
        with self._lock:
            waiters = self._waiters.get(key, set())
            waiters.discard(waiter)
            if not waiters:
                self._waiters.pop(key, None)

    def wake(self, thread_ids: Sequence[str]) -> None:
        """Wake the waiters of these threads, and those of every thread."""
        if not self._waiters:
            return
        with self._lock:
            for key in (*thread_ids, EVERY_THREAD):
                for waiter in self._waiters.get(key, ()):
                    waiter.wake()

    def wake_all(self) -> None:
        """Wake everybody: something may have been missed."""
        with self._lock:
            for waiters in self._waiters.values():
                for waiter in waiters:
                    waiter.wake()

    @property
    def empty(self) -> bool:
        """Whether nobody waits."""
        return not self._waiters


class LocalSignals:
    """Hints within this store only: for a store in memory, and what the others build on."""

    def __init__(self) -> None:
        self.hub = Hub()
        self._cancels = CancelWatch()

    def publish(self, thread_ids: Sequence[str]) -> None:
        """Wake the waiters of this store."""
        self.hub.wake(thread_ids)

    @contextmanager
    def waiting(self, thread_id: str | None, cancel: threading.Event | None = None) -> Iterator[Waiter]:
        """A registered waiter."""
        with self._registered(thread_id, cancel) as waiter:
            self._attend()
            yield waiter

    @contextmanager
    def sleeping(self, cancel: threading.Event | None = None) -> Iterator[Waiter]:
        """A waiter that no hint reaches."""
        with self._registered(_NOTHING, cancel) as waiter:
            yield waiter

    @contextmanager
    def _registered(self, key: _Key, cancel: threading.Event | None) -> Iterator[Waiter]:
        waiter = Waiter()
        self.hub.add(key, waiter)
        try:
            with self._cancels.watching(cancel, waiter.wake):
                yield waiter
        finally:
            self.hub.remove(key, waiter)

    def _attend(self) -> None:
        """Somebody waits now: a back end listens to the other processes from here on."""

    def rest(self) -> None:
        """Nothing: hints within the store cost nothing."""

    def close(self) -> None:
        """Wake everybody, so that each sees the store closed."""
        self.hub.wake_all()


class Deadline:
    """How much of a timeout is left, by the process's own clock: a store's injected clock does not sleep."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds, never below zero."""
        return max(0.0, self._end - time.monotonic())
