"""SQLite: a writer lock per process and file, BEGIN IMMEDIATE, WAL, full sync (design 5, rulings 9, 10)."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, NullPool, QueuePool, create_engine, event, text

from engine.clock import to_ns
from engine.database.anchor import Anchor
from engine.database.backend import (
    ALONE,
    BACKEND_OPTION,
    MODE_OPTION,
    READING,
    Capabilities,
    Fault,
    Limits,
    Mode,
)
from engine.database.cancel import CANCEL, expired
from engine.database.constructs import Counter
from engine.database.disposal import dispose
from engine.database.hints import publish_on_return
from engine.database.lean import lean
from engine.database.memory import SharedConnection
from engine.database.polling import PolledSignals
from engine.database.solo import SoloWriter
from engine.database.wakeups import LocalSignals
from engine.database.writer import WriterConnection, writer_lock
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from datetime import timedelta

    from sqlalchemy import Connection

    from engine.clock import Clock
    from engine.database.wakeups import Signals

PROGRESS_STEPS = 1000  # virtual machine steps between two looks at the deadline (ruling 9)
MAX_BUSY_MS = 2**31 - 1
CHECKPOINT_PAGES = 4000
"""Pages of the log (16 MB) at which a commit copies them into the file: a fifth faster than at SQLite's 1,000."""
_ADVANCE = {
    Counter.TOKEN: text("UPDATE meta SET last_token = last_token + 1"),
    Counter.CHILD: text("UPDATE meta SET last_child = last_child + 1"),
}
_FAULTS = {
    sqlite3.SQLITE_BUSY: Fault.BUSY,
    sqlite3.SQLITE_LOCKED: Fault.BUSY,
    sqlite3.SQLITE_INTERRUPT: Fault.CANCELLED,
    sqlite3.SQLITE_READONLY: Fault.READ_ONLY,
}
_DUPLICATES = {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}


class SqliteBackend:
    """A file, or with path None one shared connection in memory."""

    driver_error: type[Exception] = sqlite3.Error

    def __init__(
        self, path: str | None, clock: Clock, *, busy_timeout: timedelta, read_only: bool, pool_size: int
    ) -> None:
        self._anchor = None if path is None else Anchor(path)
        self.path = None if self._anchor is None else self._anchor.path
        self._clock = clock
        self._read_only = read_only
        self._busy = check_busy_timeout(busy_timeout)
        self.capabilities = Capabilities(
            name="sqlite",
            server_clock=False,
            one_statement_commit=False,
            shared=False,
            shared_writes=None if path is None else self._busy,
        )
        self._lock = writer_lock(self.path)
        self._only: WriterConnection | None = None
        self.engine = self._engine(pool_size)
        self._modes = {mode: self._view(mode) for mode in Mode}
        self.signals: Signals = LocalSignals() if path is None else PolledSignals(self._poll_connection)
        self._solo = SoloWriter(self._modes[Mode.LEAN_WRITE], self._connect, self.signals)
        event.listen(self.engine, "begin", self._begin)
        if path is not None:
            event.listen(self.engine.pool, "reset", _reset)
        publish_on_return(self.engine, self.signals)

    def _engine(self, pool_size: int) -> Engine:
        # No reset on return: owners end their transactions, and in memory the next may already have begun.
        options: dict[str, Any] = {"poolclass": NullPool, "creator": self._shared}
        if self.path is not None:
            options = {
                "creator": self._connect,
                "poolclass": QueuePool,
                "pool_size": pool_size,
                "max_overflow": pool_size,
                "pool_use_lifo": True,
            }
        engine = create_engine("sqlite://", pool_reset_on_return=None, **options)
        return engine.execution_options(**{BACKEND_OPTION: self, MODE_OPTION: Mode.WRITE})

    def _view(self, mode: Mode) -> Engine:
        # In memory every use takes its turn, so there a single statement needs a transaction as well.
        kept = Mode.READ if mode in ALONE and self.path is None else mode
        return self.engine.execution_options(**{MODE_OPTION: kept})

    def _shared(self) -> SharedConnection:
        if self._only is None:
            self._only = self._connect()
        return SharedConnection(self._only)

    def _connect(self) -> WriterConnection:
        if self._anchor is not None:
            self._anchor.check()  # before it would make an empty file in the place of one that was removed
        target, uri = self._target()
        connection = sqlite3.connect(
            target,
            uri=uri,
            timeout=self._busy,
            isolation_level=None,
            check_same_thread=False,
            factory=WriterConnection,
            cached_statements=256,
        )
        try:
            connection.lock, connection.busy, connection.anchor = self._lock, self._busy, self._anchor
            self._prepare(connection)
            if self._anchor is not None:
                self._anchor.hold()
                self._anchor.check()
        except BaseException:
            connection.close()
            raise
        return connection

    def _target(self) -> tuple[str, bool]:
        if self.path is None:
            return ":memory:", False
        if self._read_only:
            return f"{Path(self.path).as_uri()}?mode=ro", True
        return self.path, False

    def _prepare(self, connection: WriterConnection) -> None:
        if self._read_only:
            connection.execute("PRAGMA query_only = ON")
        elif self.path is not None:
            connection.switch_to_wal()
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")

    def _poll_connection(self) -> sqlite3.Connection:
        return self._connect()

    def now(self) -> int | None:
        """Nanoseconds by the injected clock or the process's."""
        return to_ns(self._clock.now())

    def session(self, mode: Mode, limits: Limits) -> AbstractContextManager[Connection]:
        """A pooled connection, or in memory the only one."""
        if self.path is not None and not limits.any:
            if mode is Mode.LEAN:
                return lean(self._modes[mode])
            if mode is Mode.LEAN_WRITE:
                return self._solo.session(limits.patience)
        return self._session(mode, limits)

    @contextmanager
    def _session(self, mode: Mode, limits: Limits) -> Iterator[Connection]:
        told = CANCEL.set(limits.cancel)
        try:
            with self._modes[mode].connect() as connection, self._bounded(connection, limits):
                yield connection
        finally:
            CANCEL.reset(told)

    @contextmanager
    def _bounded(self, connection: Connection, limits: Limits) -> Iterator[None]:
        if not limits.any:
            yield
            return
        driver: Any = connection.connection.driver_connection
        driver.set_progress_handler(expired(limits), PROGRESS_STEPS)
        try:
            yield
        finally:
            if not connection.invalidated:
                driver.set_progress_handler(None, PROGRESS_STEPS)

    def _begin(self, connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        reading = connection.get_execution_options()[MODE_OPTION] in READING or self._read_only
        if reading and self.path is not None:
            driver.execute("BEGIN")
        else:
            driver.begin_immediate()

    def advance(self, connection: Connection, counter: Counter) -> None:
        """Count the number that `Next` read from meta."""
        connection.execute(_ADVANCE[counter])

    def lock_children(self, connection: Connection, parent: str) -> None:
        """Nothing: there is one writer."""

    def classify(self, error: BaseException) -> Fault:
        """By the primary result code."""
        code = getattr(error, "sqlite_errorcode", None)
        if code in _DUPLICATES:
            return Fault.DUPLICATE
        if code is not None:
            return _FAULTS.get(code & 0xFF, Fault.OTHER)
        return Fault.BUSY if "busy" in str(error) else Fault.OTHER

    def close(self) -> None:
        """Close the signals, the writer and every pooled connection."""
        self.signals.close()
        self._solo.close()
        dispose(self.engine)
        self._only = None  # Closed with the last call that uses it: to close it under one ends the program.


def _reset(driver: Any, _record: Any, _state: Any) -> None:
    # Owners end their transactions; one that was dropped with its Connection would keep every writer out.
    if driver.in_transaction:
        driver.rollback()


def check_busy_timeout(busy_timeout: timedelta) -> float:
    """Seconds, or ValidationError outside 1 ms to 2^31 - 1 ms."""
    milliseconds = busy_timeout.total_seconds() * 1000
    if not 0 < milliseconds <= MAX_BUSY_MS:
        raise ValidationError("busy_timeout", (f"must be above zero and at most {MAX_BUSY_MS} ms",))
    return busy_timeout.total_seconds()
