"""The process-wide writer lock of a SQLite file, held from BEGIN IMMEDIATE to the end of the transaction."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref

from engine.database.cancel import CANCEL
from engine.errors import ValidationError

_SLICE = 0.05  # seconds between two looks at a cancel event
_PAUSE = 0.01  # seconds before the journal mode is asked for again
_locks: weakref.WeakValueDictionary[str, _Lock] = weakref.WeakValueDictionary()
_locks_guard = threading.Lock()


class _Lock:
    """A lock that a weak dictionary can hold."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.release = self._lock.release

    def acquire(self, timeout: float) -> bool:
        return self._lock.acquire(timeout=max(timeout, 0.0))


def writer_lock(path: str | None) -> _Lock:
    """The one lock of a file in this process; in memory a lock of its own."""
    if path is None:
        return _Lock()
    with _locks_guard:
        return _locks.setdefault(os.path.realpath(path), _Lock())


def _error(text: str, code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


class WriterConnection(sqlite3.Connection):
    """A connection that takes the writer lock before BEGIN IMMEDIATE and frees it after its transaction."""

    lock: _Lock
    busy: float
    _owner: int | None = None

    def begin_immediate(self, patience: float | None = None) -> None:
        """Begin a write within `patience` seconds, or the busy timeout, the wait for the lock included."""
        deadline = time.monotonic() + (self.busy if patience is None else patience)
        self._take(deadline)
        try:
            self._begin(deadline)
        except BaseException:
            self._free()
            raise

    def _take(self, deadline: float) -> None:
        if self._owner == threading.get_ident():
            problem = "memory: has one connection, in use by this very thread; end that transaction first"
            raise ValidationError("store", (problem,))
        while not self.lock.acquire(self._patience(deadline)):
            self._still(deadline)
        self._owner = threading.get_ident()

    def _begin(self, deadline: float) -> None:
        while True:
            self._wait_at_most(self._patience(deadline))
            try:
                self.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if not _is_busy(error):
                    raise
                self._still(deadline)
            else:
                break
        self._wait_at_most(self.busy)

    _waiting: float | None = None

    def _wait_at_most(self, seconds: float) -> None:
        rounded = round(seconds, 2)
        if rounded != self._waiting:
            self.execute(f"PRAGMA busy_timeout = {max(1, int(rounded * 1000))}")
            self._waiting = rounded

    def _patience(self, deadline: float) -> float:
        left = deadline - time.monotonic()
        return left if CANCEL.get() is None else min(left, _SLICE)

    def _still(self, deadline: float) -> None:
        cancel = CANCEL.get()
        if cancel is not None and cancel.is_set():
            raise _error("the wait for the writer lock was cancelled", sqlite3.SQLITE_INTERRUPT)
        if time.monotonic() >= deadline:
            raise _error("database is locked: another connection holds the writer lock", sqlite3.SQLITE_BUSY)

    def switch_to_wal(self) -> None:
        """Outside any transaction, tried again while others open the same new file (ruling 10)."""
        deadline = time.monotonic() + self.busy
        while not self._is_wal(deadline):
            self._still(deadline)
            time.sleep(_PAUSE)
        self._wait_at_most(self.busy)

    def _is_wal(self, deadline: float) -> bool:
        self._wait_at_most(self._patience(deadline))
        try:
            if self.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                self.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            return False
        return True

    def commit(self) -> None:
        """COMMIT, then free the lock."""
        try:
            super().commit()
        finally:
            self._free()

    def rollback(self) -> None:
        """ROLLBACK, then free the lock."""
        try:
            super().rollback()
        finally:
            self._free()

    def close(self) -> None:
        """Close; an open transaction is rolled back by SQLite."""
        super().close()
        self._release()

    def _free(self) -> None:
        if not self.in_transaction:
            self._release()

    def _release(self) -> None:
        if self._owner is not None:
            self._owner = None
            self.lock.release()
