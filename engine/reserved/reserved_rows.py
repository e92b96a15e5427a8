"""The facade of a store's adopting tables (`store.reserved`; rulings 34 and 49)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import ReadOnlyStore
from engine.reserved.adopters import MAX_ADOPTERS, adopters, reserved_counts, reserved_page
from engine.reserved.lapsed import BATCH
from engine.reserved.sweeper import Sweep, SweepReport

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from engine.database.transaction import Transactions, Verb
    from engine.reserved.adopters import Adopter, Adopters, ReservedCounts, ReservedPage
    from engine.reserved.sweeper import P, T


class ReservedRows:
    """The tentative rows of every table in the store's database that keeps the convention."""

    def __init__(self, transactions: Transactions) -> None:
        self._tx = transactions

    def adopters(self) -> Adopters:
        """The tables, found by their columns."""
        return self._tx.read("adopters", adopters)

    def counts(self, adopter: Adopter) -> ReservedCounts:
        """How many of its rows are reserved and lapsed, capped."""
        return self._tx.read("reserved", reserved_counts, adopter, self._tx.backend.now())

    def page(self, adopter: Adopter, *, after: str | None = None, limit: int = 100) -> ReservedPage:
        """Its reserved rows by (deadline, key)."""
        now = self._tx.backend.now()
        return self._tx.read("reserved", reserved_page, adopter, now, after=after, limit=limit)

    def sweep(
        self,
        now: datetime | None = None,
        *,
        dry_run: bool = False,
        batch: int = BATCH,
        go_on: Callable[[], bool] = lambda: True,
    ) -> SweepReport:
        """Delete what has lapsed in all of them, as `Sweeper.sweep` does; by the store's clock without a `now`.

        `go_on` is asked after each batch: False ends the sweep there. A table that cannot be swept is a failure
        in the report. Raises StoreFailure where the tables cannot even be looked for, ReadOnlyStore unless it
        is a dry run.
        """
        if self._tx.read_only and not dry_run:
            raise ReadOnlyStore("sweep")
        run = Sweep(now, batch, go_on)
        found = self.adopters()
        if found.more:
            run.fail("(others)", f"only the first {MAX_ADOPTERS} tables are swept; register the others")
        for name in found.left_out:
            run.fail(name, "its name would be taken for a placeholder of a statement; rename the table")
        run.tend_all(_InStore(self._tx), [each.table for each in found.tables], dry_run=dry_run)
        return run.report()


class _InStore:
    """The store's own transactions, with their deadline, their retries and their errors."""

    def __init__(self, transactions: Transactions) -> None:
        self._tx = transactions

    def now(self) -> int | None:
        return self._tx.backend.now()

    def read(self, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        return self._tx.read("sweep", verb, *args, **options)

    def write(self, verb: Verb[P, T], *args: P.args, **options: P.kwargs) -> T:
        return self._tx.write("sweep", verb, *args, **options)
