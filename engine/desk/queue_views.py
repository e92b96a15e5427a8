"""What an operator sees of the run queue: frozen rows, each page of one moment (console.md F6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.checkpoints.model import ANY, Tenancy, Unset
from engine.checkpoints.queue_model import QueueState
from engine.database.columns import check_optional_id
from engine.desk.claim_filter import as_word

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from engine.desk.views import Capped


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Entries for which every given part holds, in an order that an index has.

    QUEUED by (available_at, id), LEASED by (lease_until, id), any other state and all of them by id. `tenant`
    has no index: it is looked for among the next 10,000 entries. A thread's entries are its open ones and
    those that recorded a run: one that was closed before its first attempt is found by its state only.
    """

    tenant: Tenancy = ANY
    state: QueueState | None = None
    thread_id: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tenant, Unset):
            check_optional_id("tenant", self.tenant)
        check_optional_id("thread_id", self.thread_id)
        object.__setattr__(self, "state", as_word("state", self.state, QueueState))

    @property
    def searches(self) -> bool:
        """Whether entries must be looked at one by one, for want of an index on what is asked."""
        states = self.thread_id is not None and self.state is not None
        return states or not isinstance(self.tenant, Unset)


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One entry.

    `waiting`: since when it could have been leased; below zero before that. `lease_left`: zero or below once
    the lease is over, None without one. `input` is JSON text cut to `PREVIEW`, `size` the whole's bytes.
    `last_run_id` is the newest attempt that was recorded.
    """

    entry_id: str
    thread_id: str
    tenant: str | None
    state: QueueState
    available_at: datetime
    waiting: timedelta
    lease_owner: str | None
    lease_token: int
    lease_until: datetime | None
    lease_left: timedelta | None
    attempts: int
    max_attempts: int
    last_error: str | None
    last_run_id: str | None
    input: str
    size: int


@dataclass(frozen=True, slots=True)
class QueueDetail:
    """One entry with the runs that it recorded, in their order: the newest 200 of them."""

    row: QueueRow
    run_ids: tuple[str, ...]
    more_runs: bool
    as_of: datetime


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """How full the queue is, each count up to 10,000.

    `queued` has `due` in it, `leased` has `lapsed`, the leases that are over. `oldest_due` is how long the first
    of the due entries has been waiting, `oldest_lapsed` since when the first of those leases is over; None where
    there is no such entry.
    """

    queued: Capped
    due: Capped
    leased: Capped
    lapsed: Capped
    oldest_due: timedelta | None
    oldest_lapsed: timedelta | None
    as_of: datetime
