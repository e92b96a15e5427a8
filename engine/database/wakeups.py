"""Commit hints: in process at once, across processes through the back end. Never needed for correctness (ruling 21)."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

EVERY_THREAD = None


class Waiter:
    """One reader waiting for a hint. Registered before its read, so that no commit falls between."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.wake = self._event.set

    def wait(self, seconds: float) -> bool:
        """Sleep until a hint, at most `seconds`; True for a hint. Clears it, so the next wait is for the next hint."""
        woken = self._event.wait(max(seconds, 0.0))
        self._event.clear()
        return woken


class Signals(Protocol):
    """How a store hears of commits."""

    def publish(self, thread_ids: Sequence[str]) -> None:
        """Tell every reader, here and elsewhere, that these threads changed. Never raises, never blocks."""
        ...

    def waiting(self, thread_id: str | None) -> AbstractContextManager[Waiter]:
        """A waiter for one thread, or for every thread with None."""
        ...

    def close(self) -> None:
        """End every helper thread and wake every waiter."""
        ...


class Hub:
    """The waiters of this store, by thread id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[str | None, set[Waiter]] = {}

    def add(self, thread_id: str | None, waiter: Waiter) -> None:
        """Register."""
        with self._lock:
            self._waiters.setdefault(thread_id, set()).add(waiter)

    def remove(self, thread_id: str | None, waiter: Waiter) -> None:
        """Forget."""
        with self._lock:
            waiters = self._waiters.get(thread_id, set())
            waiters.discard(waiter)
            if not waiters:
                self._waiters.pop(thread_id, None)

    def wake(self, thread_ids: Sequence[str]) -> None:
        """Wake the waiters of these threads, and those of every thread."""
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
    """Hints within this store only: for a store in memory."""

    def __init__(self) -> None:
        self.hub = Hub()

    def publish(self, thread_ids: Sequence[str]) -> None:
        """Wake the waiters of this store."""
        self.hub.wake(thread_ids)

    @contextmanager
    def waiting(self, thread_id: str | None) -> Iterator[Waiter]:
        """A registered waiter."""
        waiter = Waiter()
        self.hub.add(thread_id, waiter)
        try:
            yield waiter
        finally:
            self.hub.remove(thread_id, waiter)

    def close(self) -> None:
        """Wake everybody, so that each sees the store closed."""
        self.hub.wake_all()


class PolledSignals(LocalSignals):
    def __init__(self, connect: object) -> None:
        super().__init__()
