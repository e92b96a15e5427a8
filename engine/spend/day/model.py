"""Records of the day store (api.md, spend.md 2A): compared by value, amounts in whole micro-dollars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from engine.clock import from_ns, to_ns
from engine.database.columns import check_id, check_number, check_optional_id
from engine.errors import StoreFailure, ValidationError
from engine.spend.answers import Answer, evidence_of
from engine.spend.counts import whole_count

MAX_RUNS: Final = 2**31 - 1
MAX_PAGE: Final = 1000
PAGE: Final = 500
"""Reservations in a page, unless the caller says."""
RETRY_AFTER: Final = timedelta(seconds=45)
"""How long a sweep waits before it asks again about what a resolver did not answer."""


@dataclass(frozen=True, slots=True)
class DayTotal:
    """What a UTC day holds: reserved and not settled, and settled."""

    day: str
    reserved_micro: int
    settled_micro: int

    @property
    def committed_micro(self) -> int:
        """What counts against a cap."""
        return self.reserved_micro + self.settled_micro


@dataclass(frozen=True, slots=True)
class Begun:
    """The run that now holds the operation's lease."""

    reservation_id: str
    run: int


@dataclass(frozen=True, slots=True)
class InFlight:
    """Another run holds the lease: ask again when it has ended or lapsed."""

    reservation_id: str


@dataclass(frozen=True, slots=True)
class Gone:
    """No further run: settled, expired, out of runs or out of money."""

    reservation_id: str


Admitted: TypeAlias = Begun | InFlight | Gone


@dataclass(frozen=True, slots=True)
class OperationAdmission:
    """An operation of up to `max_runs` runs that may cost `micro` together, and its next run `run_micro` (2A.9)."""

    operation_id: str
    kind: str
    micro: int
    run_micro: int
    at: datetime
    expires: datetime
    lease_until: datetime
    cap_micro: int
    max_runs: int
    thread_id: str | None = None


@dataclass(frozen=True, slots=True)
class OperationRow:
    """An operation's reservation, open or settled; `recorded_micro` is what its runs so far may have cost."""

    reservation_id: str
    operation_id: str
    kind: str
    micro: int
    recorded_micro: int
    runs: int
    lease_run: int | None
    lease_until: datetime | None
    expires_at: datetime
    settled_micro: int | None


@dataclass(frozen=True, slots=True)
class ExpiredReservation:
    """An open reservation that is due; `micro` is an operation's recorded figure, else the amount held."""

    id: str
    kind: str
    micro: int
    created_at: datetime
    expires_at: datetime
    require_fence: bool
    evidence: Mapping[str, Any] | None
    deferrals: int
    operation_id: str | None
    thread_id: str | None


Resolver: TypeAlias = Callable[[ExpiredReservation], Answer]


@dataclass(frozen=True, slots=True)
class DaySweep:
    """What one sweep did; `left` are fenced rows that nobody was there to ask about (2A.8).

    A row that somebody else settled or deferred first counts nowhere.
    """

    settled: int
    released: int
    deferred: int
    left: int


def check_operation(admission: OperationAdmission) -> None:
    """ValidationError for the first fault of an admission (2A.9, step 1)."""
    check_id("operation_id", admission.operation_id)
    check_id("kind", admission.kind)
    check_optional_id("thread_id", admission.thread_id)
    if whole_count("run_micro", admission.run_micro) > whole_count("micro", admission.micro):
        raise ValidationError("run_micro", (f"must be at most the operation's {admission.micro} micro",))
    check_runs(admission.max_runs)
    for instant in (admission.at, admission.expires, admission.lease_until):
        to_ns(instant)


def check_runs(max_runs: int) -> int:
    """The number itself, from 1 on."""
    if check_number("max_runs", max_runs, MAX_RUNS) < 1:
        raise ValidationError("max_runs", ("must be at least 1",))
    return max_runs


def check_guard(expected_deferrals: int | None) -> int | None:
    """The guard of a reservation's row (ruling 40): the deferrals shown, or None for whatever they are."""
    if expected_deferrals is not None:
        check_number("expected_deferrals", expected_deferrals, MAX_RUNS)
    return expected_deferrals


def expired_of(row: Any) -> ExpiredReservation:
    """A row of the due listing."""
    try:
        evidence = evidence_of(row.evidence)
    except ValueError as error:
        said = f"the evidence of reservation {row.id!r} does not decode: {error}; restore it from a backup"
        raise StoreFailure("expired", said) from error
    return ExpiredReservation(
        row.id,
        row.kind,
        row.micro if row.recorded_micro is None else row.recorded_micro,
        from_ns(row.created_at),
        from_ns(row.expires_at),
        bool(row.require_fence),
        evidence,
        row.deferrals,
        row.operation_id,
        row.thread_id,
    )


def operation_of(row: Any) -> OperationRow:
    """A reservation's row that has an operation."""
    return OperationRow(
        row.id,
        row.operation_id,
        row.kind,
        row.micro,
        row.recorded_micro,
        row.runs,
        row.lease_run,
        None if row.lease_until is None else from_ns(row.lease_until),
        from_ns(row.expires_at),
        row.settled_micro,
    )
