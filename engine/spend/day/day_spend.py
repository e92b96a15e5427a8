"""The facade of the day store (`store.days`, api.md): each call a transaction of its own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from engine.errors import ReadOnlyStore, StoreFailure
from engine.spend.day import days, defaults, expired, operations, reservations, runs
from engine.spend.day.admission import release_spend, reserve_spend, resume_operation, start_operation
from engine.spend.day.expired import START, expired_reservations
from engine.spend.day.model import PAGE, RETRY_AFTER, DaySweep
from engine.spend.day.store import SqlDayStore
from engine.spend.day.sweep import MAX_PAGES, release_expired_spend, retry_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime, timedelta

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.spend.amounts import Figure
    from engine.spend.day.model import (
        Admitted,
        DayTotal,
        ExpiredReservation,
        OperationAdmission,
        OperationRow,
        Resolver,
    )

P = ParamSpec("P")
T = TypeVar("T")


class DaySpend:
    """Money bounded per UTC day, in whole micro-dollars. Instants are aware; a naive one is a ValidationError.

    `at` is the caller's idea of now: no clock of the database plays a part.
    """

    def __init__(self, transactions: Transactions) -> None:
        self._tx = transactions

    def reserve(
        self,
        *,
        kind: str,
        micro: int,
        at: datetime,
        expires: datetime,
        cap_micro: int,
        require_fence: bool = False,
        thread_id: str | None = None,
    ) -> str:
        """Hold `micro` on the day of `at` if it fits under the cap; the id. CostCapExceeded if it does not."""

        def verb(connection: Connection) -> str:
            return reserve_spend(
                SqlDayStore(connection),
                kind=kind,
                micro=micro,
                at=at,
                expires=expires,
                cap_micro=cap_micro,
                require_fence=require_fence,
                thread_id=thread_id,
            )

        return self._tx.write_shared("reserve", verb)

    def release(
        self,
        reservation_id: str,
        settled_micro: Figure,
        at: datetime,
        *,
        expected_deferrals: int | None = None,
    ) -> bool:
        """Settle at what it cost; negative or not finite: whole. False when settled, unknown or not as shown."""

        def verb(connection: Connection) -> bool:
            return release_spend(
                SqlDayStore(connection),
                reservation_id,
                settled_micro,
                at,
                expected_deferrals=expected_deferrals,
            )

        return self._tx.write_shared("release", verb)

    def defer(
        self,
        reservation_id: str,
        next_check: datetime,
        evidence: Mapping[str, object],
        *,
        expected_deferrals: int | None = None,
    ) -> bool:
        """Fence for good and look again at `next_check`. False when settled, unknown or not as shown."""
        return self._write(
            "defer",
            reservations.defer_reservation,
            reservation_id,
            next_check,
            evidence,
            expected_deferrals=expected_deferrals,
        )

    def expired(
        self, at: datetime, *, after: str | None = None, limit: int = PAGE
    ) -> list[ExpiredReservation]:
        """Open reservations that are due at `at`, by (due time, id) behind the reservation `after`."""
        return self._tx.read("expired", expired_reservations, at, after=after, limit=limit)

    def sweep(
        self, at: datetime, resolver: Resolver | None = None, *, retry_after: timedelta = RETRY_AFTER
    ) -> DaySweep:
        """Settle or ask about everything that is due; see `release_expired_spend`.

        Without a resolver rows are settled a page to a transaction; an answer is written in one of its own.
        """
        if self._tx.read_only:
            raise ReadOnlyStore("sweep")
        if resolver is not None:
            return release_expired_spend(_EachAlone(self._tx), at, resolver, retry_after=retry_after)
        retry_at(at, retry_after)
        return self._sweep_defaults(at)

    def _sweep_defaults(self, at: datetime) -> DaySweep:
        settled, place = 0, START
        for _ in range(MAX_PAGES):
            done, following = self._tx.write("sweep", defaults.settle_defaults, at, place, PAGE)
            settled += done
            if following is None:
                break
            place = following
        return DaySweep(settled, 0, 0, self._tx.read("sweep", expired.fenced_and_due, at))

    def admit_operation(self, admission: OperationAdmission) -> Admitted:
        """Begin the operation's next run, making its row under the day's cap if it is the first (2A.9)."""
        # The second time somebody else has made the row, and the transaction that met it has let the day go.
        for _ in range(2):
            outcome = self._tx.write_shared("admit_operation", partial(_admit, admission=admission))
            if outcome is not None:
                return outcome
        raise StoreFailure("admit_operation", "the operation's row was there and is gone; admit it again")

    def begin_run(
        self, reservation_id: str, at: datetime, lease_until: datetime, run_micro: int, max_runs: int
    ) -> Admitted:
        """Lease the operation to a new run, or say why not (2A.10)."""
        return self._write("begin_run", runs.begin_run, reservation_id, at, lease_until, run_micro, max_runs)

    def end_run(
        self,
        reservation_id: str,
        run: int,
        settled_micro: Figure,
        at: datetime,
        close: bool = False,
    ) -> bool:
        """End a run, once, at what it cost; False when it had ended or never was (2A.11, ruling 68)."""
        return self._write("end_run", runs.end_run, reservation_id, run, settled_micro, at, close)

    def renew_run(self, reservation_id: str, run: int, at: datetime, lease_until: datetime) -> bool:
        """Move the lease of a run that holds it live: before it settles anything it holds elsewhere (2A.12)."""
        return self._write("renew_run", runs.renew_run, reservation_id, run, at, lease_until)

    def open_operation(self, operation_id: str) -> OperationRow | None:
        """The operation's row, open or settled."""
        return self._tx.read("open_operation", operations.open_operation_reservation, operation_id)

    def total(self, day: str) -> DayTotal:
        """What the UTC day, as `YYYY-MM-DD`, has reserved and settled."""
        return self._tx.read("total", days.total, day)

    def _write(
        self, name: str, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        return self._tx.write_shared(name, lambda connection: verb(connection, *args, **options))


def _admit(connection: Connection, admission: OperationAdmission) -> Admitted | None:
    """One try: None when the row was made by somebody else in the meantime (ruling 38)."""
    store = SqlDayStore(connection)
    return resume_operation(store, admission) or start_operation(store, admission)


class _EachAlone(SqlDayStore):
    """Every verb in a transaction of its own: for a sweep that asks a resolver between them."""

    def __init__(self, transactions: Transactions) -> None:
        self._tx = transactions

    def _run(self, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        return self._tx.write_shared("sweep", lambda connection: verb(connection, *args, **options))

    def expired_reservations(
        self, at: datetime, *, after: str | None = None, limit: int = PAGE
    ) -> list[ExpiredReservation]:
        """A page, read without a lock."""
        return self._tx.read("sweep", expired_reservations, at, after=after, limit=limit)
