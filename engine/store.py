"""Opening a store, and what hangs from it (api.md)."""

from __future__ import annotations

import dataclasses
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from engine.arguments import of_kind, whole
from engine.clock import SystemClock
from engine.database.columns import check_id
from engine.database.migrations import check_version, upgrade
from engine.database.transaction import Transactions
from engine.database.urls import MEMORY, POSTGRES, SQLITE, check_url, secrets, shown
from engine.errors import SchemaMismatch, StoreFailure, ValidationError

if TYPE_CHECKING:
    import threading
    from types import TracebackType

    from sqlalchemy import Engine

    from engine.checkpoints.checkpointer import Checkpointer
    from engine.checkpoints.run_queue import RunQueue
    from engine.clock import Clock
    from engine.database.backend import Backend
    from engine.desk.desk import Desk
    from engine.reserved.reserved_rows import ReservedRows
    from engine.spend.day import DaySpend
    from engine.spend.meter import MeterOperator, SpendMeter
    from engine.spend.meter.options import Resolver

DEFAULT_BUSY_TIMEOUT = timedelta(seconds=5)
LONGEST_STATEMENT_TIMEOUT = timedelta(milliseconds=2**31 - 1)  # what PostgreSQL takes


class Store:
    """An open store: a context manager that closes everything it opened. Safe to share between threads."""

    def __init__(
        self, url: str, backend: Backend, clock: Clock, transactions: Transactions, *, wakeups: bool
    ) -> None:
        self.url = url
        self.clock = clock
        self._backend = backend
        self._transactions = transactions
        self._wakeups = wakeups

    @cached_property
    def checkpoints(self) -> Checkpointer:
        """Durable threads."""
        from engine.checkpoints.checkpointer import Checkpointer

        return Checkpointer(self._transactions, self.url, wakeups=self._wakeups)

    @cached_property
    def desk(self) -> Desk:
        """What an operator may see."""
        from engine.desk.desk import Desk

        return Desk(self._transactions, self.url)

    @cached_property
    def queue(self) -> RunQueue:
        """The run queue."""
        from engine.checkpoints.run_queue import RunQueue

        return RunQueue(self._transactions, self.url)

    @cached_property
    def days(self) -> DaySpend:
        """Money bounded per UTC day."""
        from engine.spend.day import DaySpend

        return DaySpend(self._transactions)

    @cached_property
    def reserved(self) -> ReservedRows:
        """Tentative rows in whatever tables of the database keep the convention."""
        from engine.reserved.reserved_rows import ReservedRows

        return ReservedRows(self._transactions)

    def meter(self, **options: Any) -> SpendMeter:
        """Units bounded per account; the options are those of `MeterOptions` (spend.md 2B.0)."""
        from engine.spend.meter import MeterOptions, SpendMeter

        return SpendMeter(self._transactions, self.clock, MeterOptions(**options))

    def meter_operator(
        self, prefix: str, *, lease: timedelta, unknown_after_lease: str, resolver: Resolver | None = None
    ) -> MeterOperator:
        """What a person may do about the reservations of the meter whose tables have this prefix (ruling 45)."""
        from engine.spend.meter import MeterOperator

        return MeterOperator(
            self._transactions,
            self.clock,
            prefix,
            lease=lease,
            unknown_after_lease=unknown_after_lease,
            resolver=resolver,
        )

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine, for verbs run inside a transaction of the caller's own."""
        self._transactions.check_open("engine")
        return self._backend.engine

    def close(self) -> None:
        """End every wait and give all connections back; later calls raise StoreClosed. Safe to call twice."""
        self._transactions.end()
        if not self._transactions.forked:
            self._backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(
    url: str,
    *,
    clock: Clock | None = None,
    ensure_schema: bool = True,
    read_only: bool = False,
    pool_size: int = 5,
    busy_timeout: timedelta = DEFAULT_BUSY_TIMEOUT,
    statement_timeout: timedelta | None = None,
    application_name: str = "holdwatch",
    wakeups: bool = True,
    cancel: threading.Event | None = None,
) -> Store:
    """Open `memory:`, `sqlite:///path` or `postgresql://…`; by default create or upgrade its tables.

    `read_only` runs no DDL and refuses every write, in the database as well. `statement_timeout` bounds each
    transaction's statements, `busy_timeout` the wait for SQLite's writer lock. Setting `cancel` ends the
    opening. Raises StoreFailure, SchemaMismatch, WaitCancelled or ValidationError.
    """
    _check_options(url, read_only, pool_size, statement_timeout)
    check_id("application_name", application_name)
    of_kind("busy_timeout", busy_timeout, timedelta)
    backend = _backend(url, clock, read_only, pool_size, busy_timeout, application_name)
    name = shown(url)
    transactions = Transactions(backend, read_only=read_only, timeout=statement_timeout, secrets=secrets(url))
    try:
        _prepare(transactions, create=ensure_schema and not read_only, cancel=cancel)
    except StoreFailure as failure:
        backend.close()
        raise dataclasses.replace(failure, message=f"{name}: {failure.message}") from failure
    except BaseException:
        backend.close()
        raise
    return Store(name, backend, clock or SystemClock(), transactions, wakeups=wakeups)


def _prepare(transactions: Transactions, *, create: bool, cancel: threading.Event | None) -> None:
    try:
        transactions.read_until("open_store", cancel, check_version)
    except SchemaMismatch as mismatch:
        if not create or mismatch.found > mismatch.supported:
            raise
        transactions.write_until("open_store", cancel, upgrade)


def _backend(
    url: str, clock: Clock | None, read_only: bool, pool_size: int, busy: timedelta, application_name: str
) -> Backend:
    if url.startswith(POSTGRES):
        from engine.database.postgres import PostgresBackend

        return PostgresBackend(
            url, clock, read_only=read_only, pool_size=pool_size, application_name=application_name
        )
    from engine.database.sqlite import SqliteBackend

    path = None if url == MEMORY else url.removeprefix(SQLITE)
    return SqliteBackend(
        path, clock or SystemClock(), busy_timeout=busy, read_only=read_only, pool_size=pool_size
    )


def _check_options(url: str, read_only: bool, pool_size: int, timeout: timedelta | None) -> None:
    check_url(url)
    if url == MEMORY and read_only:
        raise ValidationError("read_only", ("a store in memory starts empty, so there is nothing to read",))
    if whole("pool_size", pool_size) < 1:
        raise ValidationError("pool_size", ("must be at least 1",))
    if timeout is None:
        return
    if not timedelta(0) < of_kind("statement_timeout", timeout, timedelta) <= LONGEST_STATEMENT_TIMEOUT:
        raise ValidationError("statement_timeout", ("must be above zero and at most 24 days, or None",))
