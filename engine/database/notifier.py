"""Sending hints: gathered, on a connection of their own, after the commit (design: NOTIFY; ruling 21)."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import psycopg

from engine.database.helper import Backoff, Helper
from engine.database.payloads import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CHANNEL: Final = "holdwatch_commits"
GATHER: Final = 0.01
"""Seconds between two sendings; the first after a pause leaves at once."""
MOST_PENDING: Final = 1_000
"""Thread ids kept while they cannot be sent; beyond that they become one hint for every thread."""

_SEND = "SELECT pg_notify(%s, payload) FROM unnest(%s::text[]) AS payload"


class Notifier:
    """One thread and connection per store, from the first hint on. What cannot be sent is late or lost."""

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]], sender: str) -> None:
        self._connect = connect
        self._sender = sender
        self._pending = _Pending()
        self._helper = Helper("holdwatch-notify", self._work)

    def send(self, thread_ids: Iterable[str]) -> None:
        """Queue hints for these threads and return at once."""
        self._pending.add(thread_ids)
        self._helper.ensure()

    def close(self) -> None:
        """Send what is queued, if the connection stands, and end."""
        self._helper.close(self._pending.rouse)

    def _work(self) -> None:
        backoff = Backoff(self._helper.closing)
        while True:  # Once at least: a store that is closed right after its only commit still tells of it.
            try:
                with closing(self._connect()) as connection:
                    self._serve(connection, backoff)
            except (psycopg.Error, OSError):
                # What was being sent may be lost, so the next sending says "every thread".
                self._pending.add(None)
                backoff.rest()
            if self._helper.closing.is_set():
                return

    def _serve(self, connection: psycopg.Connection[Any], backoff: Backoff) -> None:
        ending = self._helper.closing
        while not ending.is_set() or self._pending:
            self._pending.wait(ending)
            threads = self._pending.take()
            if threads != ():
                connection.execute(_SEND, (CHANNEL, encode(self._sender, threads)))
                backoff.reset()
            ending.wait(GATHER)


class _Pending:
    """The threads still to be named."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._some = threading.Event()
        self._threads: dict[str, None] = {}
        self._everything = False

    def add(self, thread_ids: Iterable[str] | None) -> None:
        """Add these, or with None every thread."""
        with self._lock:
            if thread_ids is None:
                self._everything = True
            else:
                self._threads.update(dict.fromkeys(thread_ids))
            if self._everything or len(self._threads) > MOST_PENDING:
                self._everything = True
                self._threads.clear()
            if not self._some.is_set():
                self._some.set()

    def take(self) -> tuple[str, ...] | None:
        """What is queued, now no longer; None for every thread."""
        with self._lock:
            taken = None if self._everything else tuple(self._threads)
            self._everything = False
            self._threads.clear()
            self._some.clear()
            return taken

    def wait(self, closing: threading.Event) -> None:
        """Sleep until there is something, or the store is closed."""
        if not closing.is_set():
            self._some.wait()

    def rouse(self) -> None:
        """End a wait although there is nothing."""
        self._some.set()

    def __bool__(self) -> bool:
        return self._everything or bool(self._threads)
