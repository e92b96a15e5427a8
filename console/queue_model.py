"""What the screens show of the run queue: frozen rows, and the question asked about them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from console.model import ANY, Tenancy

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from console.model import Counted


class QueueState(StrEnum):
    """Where an entry of the run queue stands."""

    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class QueueQuery:
    """Which entries to list; without a state and a thread, the open ones: leased first, then queued."""

    tenant: Tenancy = ANY
    state: QueueState | None = None
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One entry.

    `waiting` is how long it could have been leased, negative before it is due; `lease_left` is negative once
    the lease is over and None without one; `input` is the beginning of `size` bytes of JSON; `run` the newest
    attempt that was recorded.
    """

    entry: str
    thread: str
    tenant: str | None
    state: QueueState
    due_at: datetime
    waiting: timedelta
    owner: str | None
    token: int
    lease_until: datetime | None
    lease_left: timedelta | None
    attempts: int
    max_attempts: int
    error: str | None
    run: str | None
    input: str
    size: int

    @property
    def is_open(self) -> bool:
        """Whether the run is still wanted, so that its evidence is kept."""
        return self.state in {QueueState.QUEUED, QueueState.LEASED}


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """How full the queue is: `due` of the `queued` may be leased, `lapsed` of the `leased` are over."""

    queued: Counted
    due: Counted
    leased: Counted
    lapsed: Counted
    oldest_due: timedelta | None
    oldest_lapsed: timedelta | None


@dataclass(frozen=True, slots=True)
class QueueRuns:
    """The runs that an entry recorded, first attempt first; `more`: older ones were left out."""

    runs: tuple[str, ...]
    more: bool
