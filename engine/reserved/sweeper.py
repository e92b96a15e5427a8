"""Deleting lapsed rows: it frees space, and decides nothing (reserved.md, "Sweeper"; ruling 32)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from sqlalchemy.exc import DBAPIError

from engine.clock import SystemClock, to_ns
from engine.database.backend import BACKEND_OPTION
from engine.errors import StoreClosed, StoreFailure
from engine.reserved.lapsed import BATCH, EARLIEST, check_batch, count_reserved, delete_lapsed
from engine.reserved.names import shown, target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from sqlalchemy import Connection, Engine, TableClause

    from engine.clock import Clock
    from engine.reserved.lapsed import Counted

    P = ParamSpec("P")
    T = TypeVar("T")
    Verb = Callable[Concatenate[Connection, P], T]

MAX_BATCHES: Final = 100_000
"""Transactions that one sweep makes of one table."""
MAX_SAID: Final = 500
"""Characters of an error that a report keeps."""


@dataclass(frozen=True, slots=True)
class SweepFailure:
    """A table that was not swept to its end, and why."""

    table: str
    error: str


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What a sweep found and did, all tables together.

    `examined` counts reserved rows, `collected` those that were deleted (in a dry run: that would be), `errors`
    the tables that failed, each of which `failures` names.
    """

    examined: int = 0
    collected: int = 0
    errors: int = 0
    duration: timedelta = timedelta(0)
    failures: tuple[SweepFailure, ...] = ()


class Runner(Protocol):
    """Where a table's transactions are run: each call is one, committed at its end."""

    def now(self) -> int | None:
        """Nanoseconds by the clock the rows are judged by; None for the server's."""
        ...

    def read(self, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a verb that changes nothing."""
        ...

    def write(self, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Run a verb and commit what it did."""
        ...


class OnEngine:
    """Any engine: a participant's own, judged by the process's clock, or a store's, judged by the store's."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self.engine = engine
        self._clock = clock

    def now(self) -> int | None:
        """See `Runner`."""
        backend = self.engine.get_execution_options().get(BACKEND_OPTION)
        now: int | None = to_ns(self._clock.now()) if backend is None else backend.now()
        return now

    def read(self, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """See `Runner`."""
        return self.write(verb, *args, **options)

    def write(self, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        """See `Runner`."""
        with self.engine.begin() as connection:
            return verb(connection, *args, **options)


class Sweeper:
    """Tables, each on an engine of its own, whose lapsed rows `sweep` deletes. Safe to share between threads.

    `clock` is asked for the time on engines that are not a store's, where a sweep is given none.
    """

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._tables: list[tuple[Engine, TableClause]] = []
        self._lock = threading.Lock()

    def register(self, engine: Engine, table_name: TableClause | str) -> None:
        """Add a table behind those there are; a second time changes nothing.

        ValidationError for a name that is no identifier. Whether the table exists is seen by a sweep.
        """
        table = target(table_name)
        with self._lock:
            known = [(each, shown(other)) for each, other in self._tables]
            if (engine, shown(table)) not in known:
                self._tables.append((engine, table))

    def sweep(self, now: datetime | None = None, *, dry_run: bool = False, batch: int = BATCH) -> SweepReport:
        """Go over the tables as they stand now, in order; one that fails does not stop the others.

        Each deletes its rows that lapsed by `now`, `batch` to a transaction, till none is left but rows that
        others hold. A dry run only counts. ValidationError for a naive `now` and a batch outside 1 to 100,000.
        """
        run = Sweep(now, batch)
        with self._lock:
            tables = list(self._tables)
        for engine, table in tables:
            run.tend(OnEngine(engine, self._clock), table, dry_run=dry_run)
        return run.report()


class Sweep:
    """One sweep under way, and its figures so far.

    `go_on` is asked after each batch and each table: False ends the sweep there, and what it raises passes.
    """

    def __init__(
        self, now: datetime | None = None, batch: int = BATCH, go_on: Callable[[], bool] = lambda: True
    ) -> None:
        self._now = None if now is None else to_ns(now)
        self._batch = check_batch(batch)
        self._go_on = go_on
        self._began = monotonic()
        self._examined = self._collected = 0
        self._failures: list[SweepFailure] = []

    def tend_all(self, runner: Runner, tables: Iterable[TableClause], *, dry_run: bool) -> None:
        """One table after the other."""
        for table in tables:
            if not self.tend(runner, table, dry_run=dry_run):
                return

    def tend(self, runner: Runner, table: TableClause, *, dry_run: bool) -> bool:
        """Sweep one table, or count what a sweep of it would delete; False when told not to go on."""
        counted = self._tried(table, self._count, runner, table)
        if counted is not None and dry_run:
            self._collected += counted.lapsed
        elif counted is not None and counted.lapsed and not self._collect(runner, table, counted):
            return False
        return self._go_on()

    def fail(self, table: str, error: str) -> None:
        """Note a table that failed."""
        self._failures.append(SweepFailure(table, error))

    def report(self) -> SweepReport:
        """The figures."""
        spent = timedelta(seconds=monotonic() - self._began)
        failures = tuple(self._failures)
        return SweepReport(self._examined, self._collected, len(failures), spent, failures)

    def _count(self, runner: Runner, table: TableClause) -> Counted:
        now = runner.now() if self._now is None else self._now
        counted = runner.read(count_reserved, table, now)
        self._examined += counted.reserved
        return counted

    def _collect(self, runner: Runner, table: TableClause, counted: Counted) -> bool:
        after = EARLIEST
        for _ in range(MAX_BATCHES):
            done = self._tried(table, runner.write, delete_lapsed, table, counted, after, self._batch)
            if done is None or not done.rows:
                return True
            self._collected += done.rows
            after = done.last
            if not self._go_on():
                return False
        self.fail(shown(table), f"more was left after {MAX_BATCHES} batches; sweep again")
        return True

    def _tried(self, table: TableClause, call: Callable[..., T], *args: Any) -> T | None:
        try:
            return call(*args)
        except StoreClosed:
            raise
        except Exception as error:  # noqa: BLE001 - a report carries it: one table must not stop the others
            self.fail(shown(table), said(error))
            return None


def said(error: Exception) -> str:
    """What an error tells, in one line without the statement and its values."""
    if isinstance(error, StoreFailure):
        return error.message[:MAX_SAID]
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    first = (str(cause).strip().splitlines() or [""])[0]
    return (first or type(cause).__name__)[:MAX_SAID]
