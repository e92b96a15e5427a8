"""What the meter answers (spend.md 2B, 3.2; api.md): frozen records and closed sets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engine.errors import EngineError


class Outcome(StrEnum):
    """What became of a reservation: spent, not spent, or spent and then withdrawn (a refund)."""

    CONSUMED = "consumed"
    RELEASED = "released"
    REPLACED = "replaced"


class ReservationState(StrEnum):
    """Where a reservation stands; a replaced one is released."""

    RESERVED = "reserved"
    CONSUMED = "consumed"
    RELEASED = "released"


class DenialReason(StrEnum):
    """Why nothing was reserved. All but the first are about the operation, whatever the allowance."""

    ALLOWANCE_EXHAUSTED = "allowance_exhausted"
    IN_FLIGHT = "in_flight"
    ALREADY_CONSUMED = "already_consumed"
    RETRIES_EXHAUSTED = "retries_exhausted"


class SettlementStatus(StrEnum):
    """What a settle did. Everything but SETTLED changed nothing.

    STALE_ATTEMPT and STALE_EXPIRY: the row has moved on from the attempt, or the expiry, that the caller named.
    """

    SETTLED = "settled"
    ALREADY_SETTLED = "already_settled"
    NOT_FOUND = "not_found"
    STALE_ATTEMPT = "stale_attempt"
    STALE_EXPIRY = "stale_expiry"


class AfterLease(StrEnum):
    """What a pass makes of an expired reservation that nobody is asked about."""

    RELEASE = "release"
    CONSUME = "consume"


@dataclass(frozen=True, slots=True)
class Reserved:
    """The units are held until `expires_at`; `remaining` is what the account has left."""

    operation_id: str
    account_id: str
    period: str
    units: int
    attempt: int
    remaining: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Denied:
    """Nothing was changed; `remaining` is what the requesting account has left."""

    reason: DenialReason
    operation_id: str
    account_id: str
    period: str
    remaining: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """The answer to a settle; `state` as it stands now, None for an unknown operation."""

    status: SettlementStatus
    state: ReservationState | None = None


@dataclass(frozen=True, slots=True)
class MeterReservation:
    """A reserved row, as resolvers and operators see it; `evidence` is that of its last deferral.

    `expires_at` is the end of its lease, or of a deferred one the next check.
    """

    operation_id: str
    account_id: str
    period: str
    units: int
    attempt: int
    reserved_at: datetime
    expires_at: datetime
    fenced: bool
    evidence: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class MeterPage:
    """A page of reserved rows; `next` is the cursor of the page behind it."""

    reservations: list[MeterReservation]
    next: str | None


@dataclass(frozen=True, slots=True)
class MeterSnapshot:
    """An account's units in the current period or window."""

    account_id: str
    period: str
    allowance: int
    used: int
    reserved: int
    remaining: int


@dataclass(frozen=True, slots=True)
class ReconcileReport:
    """Rows that one pass settled or deferred; `pending`: asked about, but they had moved on meanwhile."""

    consumed: int = 0
    released: int = 0
    deferred: int = 0
    pending: int = 0


@dataclass(frozen=True, slots=True)
class PurgeReport:
    """Rows that a purge took away."""

    reservations: int
    periods: int


@dataclass(frozen=True, slots=True)
class SchemaWarning:
    """A statement of `ensure_schema` that failed without harm: the tables work without it, only slower."""

    statement: str
    error: EngineError
