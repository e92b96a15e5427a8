"""PostgreSQL 14 or newer, psycopg 3: READ COMMITTED, row locks, the clock after the lock (design rule 5)."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg
from psycopg.conninfo import make_conninfo
from sqlalchemy import Engine, create_engine, event, text

from engine.clock import to_ns
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
from engine.database.cancel import CancelWatch
from engine.database.disposal import dispose
from engine.database.hints import publish_on_return
from engine.database.hot import HotConnection
from engine.database.lean import lean
from engine.database.notify import NotifiedSignals
from engine.database.urls import connection_options

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

    from engine.clock import Clock
    from engine.database.constructs import Counter
    from engine.database.wakeups import Signals

CONNECT_TIMEOUT = 10  # seconds
CANCEL_TIMEOUT = 5.0  # seconds for a cancel request to be taken
# Two keys, so that a parent's lock never meets the one of the migrations.
_CHILDREN = text("SELECT pg_advisory_xact_lock(1212369484, hashtext(:parent))")
_TIMEOUT = "holdwatch_timeout"
_IDLE = psycopg.pq.TransactionStatus.IDLE
# The server's timeouts that end a session: for an idle one, an idle transaction, a transaction's length.
_ENDED = {"57P05": Fault.ENDED_IDLE, "25P03": Fault.ENDED_IDLE, "25P04": Fault.ENDED}


class PostgresBackend:
    """A pool in the driver's autocommit mode; BEGIN is sent by our own hook, with the call's bounds."""

    capabilities = Capabilities(name="postgresql", server_clock=True, one_statement_commit=True, shared=True)
    driver_error: type[Exception] = psycopg.Error

    def __init__(
        self, url: str, clock: Clock | None, *, read_only: bool, pool_size: int, application_name: str
    ) -> None:
        self._clock = clock
        self._read_only = read_only
        # Not a URL again: libpq's rules of quoting are others, and it refuses a blank in a password.
        self._options = connection_options(url)
        self._pooler = self._options.pop("pooler", None) == "transaction"
        self._application = application_name
        self.engine = self._engine(pool_size)
        self._modes = {mode: self.engine.execution_options(**{MODE_OPTION: mode}) for mode in Mode}
        self._cancels = CancelWatch()
        self.signals: Signals = NotifiedSignals(self.connect, listen=not self._pooler)
        event.listen(self.engine, "begin", self._begin)
        event.listen(self.engine.pool, "reset", _reset)
        publish_on_return(self.engine, self.signals)

    def _engine(self, pool_size: int) -> Engine:
        engine = create_engine(
            "postgresql+psycopg://",
            creator=self.connect,
            isolation_level="AUTOCOMMIT",
            pool_reset_on_return=None,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_use_lifo=True,
        )
        return engine.execution_options(**{BACKEND_OPTION: self, MODE_OPTION: Mode.WRITE})

    def connect(self) -> psycopg.Connection[Any]:
        """A connection of its own, outside the pool's count."""
        ours = {"application_name": self._application, "client_encoding": "UTF8"}
        if not self._pooler:
            access = f"-c default_transaction_read_only={'on' if self._read_only else 'off'}"
            ours["options"] = f"{self._options.get('options', '')} {access}".lstrip()
        return HotConnection.connect(
            make_conninfo(**{"connect_timeout": str(CONNECT_TIMEOUT), **self._options, **ours}),
            autocommit=True,
            prepare_threshold=None if self._pooler else 0,
        )

    def now(self) -> int | None:
        """Nanoseconds by the injected clock; None: the server's decides."""
        return None if self._clock is None else to_ns(self._clock.now())

    def session(self, mode: Mode, limits: Limits) -> AbstractContextManager[Connection]:
        """A pooled connection; a deadline needs a transaction to be set in, and so does READ ONLY behind a pooler."""
        if mode in ALONE and (limits.timeout is not None or (self._pooler and self._read_only)):
            mode = Mode.READ
        if mode is Mode.LEAN and limits.cancel is None:
            return lean(self._modes[mode])
        return self._session(mode, limits)

    @contextmanager
    def _session(self, mode: Mode, limits: Limits) -> Iterator[Connection]:
        with ExitStack() as stack:
            connection = stack.enter_context(self._modes[mode].connect())
            if limits.timeout is not None:
                connection.info[_TIMEOUT] = max(1, int(limits.timeout.total_seconds() * 1000))
                stack.callback(_forget_timeout, connection)
            if limits.cancel is not None:
                stack.enter_context(self._cancels.watching(limits.cancel, _canceller(connection)))
            yield connection

    def _begin(self, connection: Connection) -> None:
        mode = connection.get_execution_options()[MODE_OPTION]
        level = "REPEATABLE READ" if mode is Mode.SNAPSHOT else "READ COMMITTED"
        access = "READ ONLY" if self._read_only or mode in READING else "READ WRITE"
        begin = f"BEGIN ISOLATION LEVEL {level} {access}"
        timeout = connection.info.get(_TIMEOUT)
        if timeout is not None:
            begin = f"{begin}; SET LOCAL statement_timeout = {timeout}"
        driver: Any = connection.connection.driver_connection
        driver.execute(begin, prepare=False)

    def advance(self, connection: Connection, counter: Counter) -> None:
        """Nothing: a sequence counts itself."""

    def lock_children(self, connection: Connection, parent: str) -> None:
        """An advisory lock to the transaction's end; the parent's row stays free for others (ruling 7)."""
        connection.execute(_CHILDREN, {"parent": parent})

    def classify(self, error: BaseException) -> Fault:
        """By SQLSTATE, and by what a broken connection raises."""
        if isinstance(error, (pg.SerializationFailure, pg.DeadlockDetected)):
            return Fault.CONFLICT
        if isinstance(error, pg.QueryCanceled):
            return Fault.CANCELLED
        if isinstance(error, pg.LockNotAvailable):
            return Fault.BUSY
        if isinstance(error, pg.UniqueViolation):
            return Fault.DUPLICATE
        if isinstance(error, pg.ReadOnlySqlTransaction):
            return Fault.READ_ONLY
        if isinstance(error, psycopg.Error) and error.sqlstate in _ENDED:
            return _ENDED[error.sqlstate]
        if isinstance(error, psycopg.OperationalError) and _is_lost(error):
            return Fault.LOST
        return Fault.OTHER

    def close(self) -> None:
        """Close the signals and every pooled connection."""
        self.signals.close()
        dispose(self.engine)


def _is_lost(error: psycopg.OperationalError) -> bool:
    # No SQLSTATE: libpq itself failed. 57P01 to 57P03: the server is ending or not up; 08: the connection.
    state = error.sqlstate
    return state is None or state.startswith("08") or state in {"57P01", "57P02", "57P03"}


def _reset(driver: Any, record: Any, _state: Any) -> None:
    # Owners end their transactions; asking is free, where the pool's own rollback costs as much as the checkout.
    if driver.closed:
        record.invalidate()
    elif driver.info.transaction_status != _IDLE:
        driver.rollback()


def _forget_timeout(connection: Connection) -> None:
    if not connection.invalidated:
        connection.info.pop(_TIMEOUT, None)


def _canceller(connection: Connection) -> Any:
    driver: Any = connection.connection.driver_connection

    def cancel() -> None:
        # A request that cannot be delivered leaves the statement to its own end; the watch must go on for others.
        with suppress(psycopg.Error):
            driver.cancel_safe(timeout=CANCEL_TIMEOUT)

    return cancel
