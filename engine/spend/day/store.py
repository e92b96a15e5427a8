"""The day store as admissions and sweeps see it, and the one that is this package's own (ruling 37)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar, runtime_checkable

from engine.spend.day import days, defaults, expired, operations, reservations, runs
from engine.spend.day.model import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.spend.amounts import Figure
    from engine.spend.day.model import Admitted, ExpiredReservation, OperationAdmission, OperationRow

P = ParamSpec("P")
T = TypeVar("T")


class DayStore(Protocol):
    """The verbs on money of a day. Whoever calls them begins and ends the transaction they run in.

    A store without `fenced_reservations` needs neither the fenced form, nor deferrals, nor `expected_deferrals`;
    one without `operation_reservations` none of the verbs on operations and runs.
    """

    @property
    def fenced_reservations(self) -> bool:
        """Whether it keeps fences, next checks and evidence."""
        ...

    @property
    def operation_reservations(self) -> bool:
        """Whether it keeps operations and their runs."""
        ...

    def lock_day(self, day: str) -> int:
        """See `days.lock_day`."""
        ...

    def add_reservation(
        self, kind: str, micro: int, at: datetime, expires: datetime, thread_id: str | None = None
    ) -> str:
        """See `reservations.add_reservation`."""
        ...

    def add_fenced_reservation(
        self, kind: str, micro: int, at: datetime, expires: datetime, thread_id: str | None = None
    ) -> str:
        """See `reservations.add_fenced_reservation`."""
        ...

    def settle_reservation(
        self, reservation_id: str, settled_micro: int, at: datetime, *, expected_deferrals: int | None = None
    ) -> bool:
        """See `reservations.settle_reservation`."""
        ...

    def defer_reservation(
        self,
        reservation_id: str,
        next_check: datetime,
        evidence: Mapping[str, object],
        *,
        expected_deferrals: int | None = None,
    ) -> bool:
        """See `reservations.defer_reservation`."""
        ...

    def expired_reservations(
        self, at: datetime, *, after: str | None = None, limit: int = PAGE
    ) -> list[ExpiredReservation]:
        """See `expired.expired_reservations`."""
        ...

    def add_operation_reservation(self, admission: OperationAdmission) -> str | None:
        """See `operations.add_operation_reservation`."""
        ...

    def open_operation_reservation(self, operation_id: str) -> OperationRow | None:
        """See `operations.open_operation_reservation`."""
        ...

    def begin_run(
        self, reservation_id: str, at: datetime, lease_until: datetime, run_micro: int, max_runs: int
    ) -> Admitted:
        """See `runs.begin_run`."""
        ...

    def end_run(
        self,
        reservation_id: str,
        run: int,
        settled_micro: Figure,
        at: datetime,
        close: bool = False,
    ) -> bool:
        """See `runs.end_run`."""
        ...

    def renew_run(self, reservation_id: str, run: int, at: datetime, lease_until: datetime) -> bool:
        """See `runs.renew_run`."""
        ...


@runtime_checkable
class SettlesDefaults(Protocol):
    """What a DayStore may add: a default that is decided by the row as it stands, not as it was listed."""

    def settle_default(self, reservation_id: str, at: datetime) -> bool:
        """See `defaults.settle_default`."""
        ...


class SqlDayStore:
    """The verbs bound to a connection of `store.engine`, inside the transaction of whoever owns it."""

    fenced_reservations = True
    operation_reservations = True

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _run(self, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs) -> T:
        return verb(self._connection, *args, **options)

    def lock_day(self, day: str) -> int:
        """See `days.lock_day`."""
        return self._run(days.lock_day, day)

    def add_reservation(
        self, kind: str, micro: int, at: datetime, expires: datetime, thread_id: str | None = None
    ) -> str:
        """See `reservations.add_reservation`."""
        return self._run(reservations.add_reservation, kind, micro, at, expires, thread_id)

    def add_fenced_reservation(
        self, kind: str, micro: int, at: datetime, expires: datetime, thread_id: str | None = None
    ) -> str:
        """See `reservations.add_fenced_reservation`."""
        return self._run(reservations.add_fenced_reservation, kind, micro, at, expires, thread_id)

    def settle_reservation(
        self, reservation_id: str, settled_micro: int, at: datetime, *, expected_deferrals: int | None = None
    ) -> bool:
        """See `reservations.settle_reservation`."""
        return self._run(
            reservations.settle_reservation,
            reservation_id,
            settled_micro,
            at,
            expected_deferrals=expected_deferrals,
        )

    def settle_default(self, reservation_id: str, at: datetime) -> bool:
        """See `defaults.settle_default`."""
        return self._run(defaults.settle_default, reservation_id, at)

    def defer_reservation(
        self,
        reservation_id: str,
        next_check: datetime,
        evidence: Mapping[str, object],
        *,
        expected_deferrals: int | None = None,
    ) -> bool:
        """See `reservations.defer_reservation`."""
        return self._run(
            reservations.defer_reservation,
            reservation_id,
            next_check,
            evidence,
            expected_deferrals=expected_deferrals,
        )

    def expired_reservations(
        self, at: datetime, *, after: str | None = None, limit: int = PAGE
    ) -> list[ExpiredReservation]:
        """See `expired.expired_reservations`."""
        return self._run(expired.expired_reservations, at, after=after, limit=limit)

    def add_operation_reservation(self, admission: OperationAdmission) -> str | None:
        """See `operations.add_operation_reservation`."""
        return self._run(operations.add_operation_reservation, admission)

    def open_operation_reservation(self, operation_id: str) -> OperationRow | None:
        """See `operations.open_operation_reservation`."""
        return self._run(operations.open_operation_reservation, operation_id)

    def begin_run(
        self, reservation_id: str, at: datetime, lease_until: datetime, run_micro: int, max_runs: int
    ) -> Admitted:
        """See `runs.begin_run`."""
        return self._run(runs.begin_run, reservation_id, at, lease_until, run_micro, max_runs)

    def end_run(
        self,
        reservation_id: str,
        run: int,
        settled_micro: Figure,
        at: datetime,
        close: bool = False,
    ) -> bool:
        """See `runs.end_run`."""
        return self._run(runs.end_run, reservation_id, run, settled_micro, at, close)

    def renew_run(self, reservation_id: str, run: int, at: datetime, lease_until: datetime) -> bool:
        """See `runs.renew_run`."""
        return self._run(runs.renew_run, reservation_id, run, at, lease_until)
