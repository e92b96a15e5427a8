"""Hints of a SQLite file: its data version changes with every commit of another connection."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Final

from engine.database.helper import Backoff, Helper
from engine.database.wakeups import LocalSignals

if TYPE_CHECKING:
    from collections.abc import Callable

POLL: Final = 0.005
"""Seconds between two looks, while somebody waits."""
SETTLE: Final = 0.2
"""Seconds within which everybody is woken for a commit that numbered no event: it may have been a delete."""
MOST_NAMED: Final = 100
"""Threads woken by name; where more changed, everybody is woken."""

_LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'event'"
_CHANGED = f"SELECT DISTINCT thread_id FROM event WHERE position > ? LIMIT {MOST_NAMED + 1}"  # noqa: S608


class PolledSignals(LocalSignals):
    """In-process commits at once; those of other stores and processes within `POLL` seconds."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        super().__init__()
        self._connect = connect
        self._needed = threading.Event()
        self._helper = Helper("holdwatch-poll", self._work)

    def _attend(self) -> None:
        self._needed.set()
        self._helper.ensure()

    def close(self) -> None:
        """End the poller, then wake everybody."""
        self._helper.close(self._needed.set)
        super().close()

    def _work(self) -> None:
        backoff = Backoff(self._helper.closing)
        while not self._helper.closing.is_set():
            try:
                with closing(self._connect()) as connection:
                    self._watch(_Changes(connection), backoff)
            except sqlite3.Error:
                # The readers meet the same trouble and report it; the next connection wakes them all.
                backoff.rest()

    def _watch(self, changes: _Changes, backoff: Backoff) -> None:
        # A commit before the first look would be seen by nobody: let whoever waits already read again.
        self.hub.wake_all()
        while not self._helper.closing.is_set():
            self._park()
            self._look(changes)
            backoff.reset()
            self._helper.closing.wait(POLL)

    def _park(self) -> None:
        """Sleep while nobody waits. What the last look saw is then older than any later waiter's read."""
        self._needed.clear()
        if self.hub.empty and not self._helper.closing.is_set():
            self._needed.wait()

    def _look(self, changes: _Changes) -> None:
        named = changes.threads()
        if named:
            self.hub.wake(named)
        if changes.everybody_due:
            self.hub.wake_all()


class _Changes:
    """What others committed since the last look."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._version = self._one("PRAGMA data_version")
        self._last = self._one(_LAST)
        self._due: float | None = None

    def threads(self) -> list[str]:
        """Threads with new events; none, and everybody due at once, when they are too many to name."""
        version = self._one("PRAGMA data_version")
        if version == self._version:
            return []
        self._version = version
        now = time.monotonic()
        self._due = now + SETTLE if self._due is None else self._due
        before, self._last = self._last, self._one(_LAST)
        if self._last == before:
            return []
        named = [row[0] for row in self._connection.execute(_CHANGED, (before,))]
        if len(named) <= MOST_NAMED:
            return named
        self._due = now
        return []

    @property
    def everybody_due(self) -> bool:
        """Whether the moment has come to wake everybody; says so once for each time."""
        if self._due is None or time.monotonic() < self._due:
            return False
        self._due = None
        return True

    def _one(self, statement: str) -> int:
        return int(self._connection.execute(statement).fetchone()[0])
