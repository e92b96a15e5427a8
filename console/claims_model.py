"""What the screens show of claims: frozen rows, and the questions asked about them (console.md F9)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from console.model import ANY, Tenancy

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from console.model import Counted, Refusals, ThreadState


class ClaimState(StrEnum):
    """Whether a claim's lease is over by the store's clock."""

    LIVE = "live"
    EXPIRED = "expired"


class Stored(StrEnum):
    """What else is stored of a claimed id: a checkpoint, or none yet."""

    CHECKPOINT = "checkpoint"
    CLAIM_ONLY = "claim-only"


class Verdict(StrEnum):
    """What may be said of the holder of a claim, as the store judges it."""

    SAFE = "safe to release"
    ALIVE = "holder may be alive"


@dataclass(frozen=True, slots=True)
class ClaimQuery:
    """Which claims to list; every part is answered by the store. `since`: over, and not for longer than that."""

    tenant: Tenancy = ANY
    state: ClaimState | None = None
    holder: str | None = None
    stored: Stored | None = None
    since: timedelta | None = None


@dataclass(frozen=True, slots=True)
class HolderQuery:
    """All who hold claims, by name."""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim, live or over. `left` is negative once the lease is over; `silent` the time since the last
    renewal, or since the grant.

    `thread_state` is None for an id without a checkpoint; `reason` says what the verdict rests on; `refused`
    counts the late writers of the thread that were turned away.
    """

    thread: str
    holder: str
    tenant: str | None
    token: int
    granted_at: datetime
    renewed_at: datetime
    renewals: int
    expires_at: datetime
    left: timedelta
    live: bool
    thread_state: ThreadState | None
    silent: timedelta
    seen_at: datetime
    verdict: Verdict
    reason: str
    refused: int


@dataclass(frozen=True, slots=True)
class ClaimStory:
    """A claim with what its list leaves out: the last late writer, and the token that a new holder would
    get at least.
    """

    row: ClaimRow
    refusals: Refusals | None
    checkpoint: str | None
    run: str | None
    next_token: int


@dataclass(frozen=True, slots=True)
class ClaimTotals:
    """How many claims are live, and how many are over but not released; both capped."""

    live: Counted
    expired: Counted


@dataclass(frozen=True, slots=True)
class HolderRow:
    """The claims of one holder; `more` says that it has more than were looked at."""

    holder: str
    live: int
    expired: int
    more: bool
    first_expiry: datetime
    last_renewal: datetime
    silent: timedelta
