"""The connection on which a SQLite store's shared writes run, one transaction at a time (see `group`).

It stands for a Connection to verbs that run `Statement`s only. It stays open: no checkout, and SQLite's page cache
stays warm, which a pool of writers would empty for each other with every commit.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, cast

from engine.database.hints import taken_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sqlalchemy import Connection, Dialect, Engine

    from engine.database.wakeups import Signals
    from engine.database.writer import WriterConnection


class SoloWriter:
    """What `Statement`, `hint`, `backend_of` and `Transactions` ask of a Connection; whoever leads the group has it."""

    def __init__(self, engine: Engine, connect: Callable[[], WriterConnection], signals: Signals) -> None:
        self.dialect: Dialect = engine.dialect
        self.info: dict[str, Any] = {}
        self.driver_connection: WriterConnection | None = None
        self._options: Mapping[str, Any] = engine.get_execution_options()
        self._connect, self._signals = connect, signals
        self._patience: float | None = None
        self._guard = threading.Lock()
        self._in_use = self._closed = False

    @property
    def connection(self) -> Self:
        """Itself, as the holder of the driver's connection."""
        return self

    def get_execution_options(self) -> Mapping[str, Any]:
        """Those of the engine it belongs to."""
        return self._options

    def in_transaction(self) -> bool:
        """Whether it has begun and not ended."""
        return self.driver_connection is not None and self.driver_connection.in_transaction

    def begin(self) -> None:
        """Take the writer lock, within the patience that is left, and begin."""
        if self.driver_connection is None:
            self.driver_connection = self._connect()
        self.driver_connection.begin_immediate(self._patience)

    def commit(self) -> None:
        """Commit and free the lock."""
        assert self.driver_connection is not None
        self.driver_connection.commit()

    def invalidate(self) -> None:
        """Close the driver's connection, which undoes what it had begun; the next transaction opens another."""
        driver, self.driver_connection = self.driver_connection, None
        if driver is not None:
            driver.close()

    @contextmanager
    def session(self, patience: float | None) -> Iterator[Connection]:
        """Itself, for one transaction; what is not committed by its end is undone, and said to nobody."""
        self._patience = patience
        self._mark(in_use=True)
        try:
            yield cast("Connection", self)
        finally:
            self._end()
            self._mark(in_use=False)

    def _end(self) -> None:
        threads = taken_hints(self.info)
        if self.driver_connection is not None and self.driver_connection.holds_lock:
            self.driver_connection.rollback()
        elif threads and self.driver_connection is not None:
            self._signals.publish(threads)

    def _mark(self, *, in_use: bool) -> None:
        with self._guard:
            self._in_use = in_use
            if self._closed and not in_use:
                self.invalidate()

    def close(self) -> None:
        """Close it, or let the transaction that runs on it do so at its end."""
        with self._guard:
            self._closed = True
            if not self._in_use:
                self.invalidate()
