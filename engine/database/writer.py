"""The process-wide writer lock of a SQLite file, held from BEGIN IMMEDIATE to the end of the transaction."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from itertools import compress, starmap
from typing import TYPE_CHECKING, Any

from engine.database.cancel import CANCEL
from engine.errors import ValidationError

if TYPE_CHECKING:
    from engine.database.anchor import Anchor

_SLICE = 0.05  # seconds between two looks at a cancel event
_PAUSE = 0.01  # seconds before the journal mode is asked for again
_locks: weakref.WeakValueDictionary[str, threading.Lock] = weakref.WeakValueDictionary()
_locks_guard = threading.Lock()


def writer_lock(path: str | None) -> threading.Lock:
    """The one lock of a file in this process; in memory a lock of its own."""
    if path is None:
        return threading.Lock()
    with _locks_guard:
        return _locks.setdefault(os.path.realpath(path), threading.Lock())


def _error(text: str, code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


def _is_busy(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


class WriterConnection(sqlite3.Connection):
    """A connection that takes the writer lock before BEGIN IMMEDIATE and frees it after its transaction."""

    lock: threading.Lock
    busy: float
    anchor: Anchor | None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._held: list[int] = []  # the thread that has the lock for a transaction on this connection

    def kept_cursor(self) -> sqlite3.Cursor:
        """A new one: it costs little, and what is left of one statement must not end with the next."""
        return self.cursor()

    def begin_immediate(self, patience: float | None = None) -> None:
        """Begin a write within `patience` seconds, or the busy timeout, the wait for the lock included."""
        me = threading.get_ident()
        if me in self._held and self.in_transaction:
            problem = "memory: has one connection, in use by this very thread; end that transaction first"
            raise ValidationError("store", (problem,))
        deadline = time.monotonic() + (self.busy if patience is None else patience)
        try:
            self._take(me, deadline)
            if self.anchor is not None:
                self.anchor.check()
            self._begin(deadline)
        except BaseException:
            self.give_up()
            raise

    def give_up(self) -> None:
        """Undo this thread's transaction and free its lock, whatever is left of the two."""
        if threading.get_ident() in self._held:
            self.rollback()

    @property
    def holds_lock(self) -> bool:
        """Whether its transaction is not ended: SQLite itself may have undone it, when the disk is full."""
        return bool(self._held)

    def _take(self, me: int, deadline: float) -> None:
        while me not in self._held:
            seconds = max(self._patience(deadline), 0.0)
            # One step of the interpreter: an interrupt between having the lock and noting it would keep it for ever.
            self._held.extend(compress((me,), map(self.lock.acquire, (True,), (seconds,))))
            if me not in self._held:
                self._still(deadline)

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
        if self._held:
            self._held[:] = filter(None, starmap(self.lock.release, ((),)))  # One step again.
