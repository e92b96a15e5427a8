"""Jobs and what became of each of their items."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engine.desk.audit.model import Deed

LEASE: Final = timedelta(seconds=30)
"""How long a job stays with a runner that says nothing."""
CHUNK: Final = 50
"""Items read together; a pause or cancel is seen between two of them, and with the result of each."""


class JobState(StrEnum):
    """READY waits for a runner, RUNNING has one (or had: see `Job.interrupted`), PAUSED waits for a person."""

    READY = "ready"
    RUNNING = "running"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    STOPPED = "stopped"  # it met something that the plan did not hold: plan again
    DONE = "done"


OVER: Final = (JobState.CANCELLED, JobState.STOPPED, JobState.DONE)
"""The states that no job leaves."""


class ItemOutcome(StrEnum):
    """SKIPPED: it was no longer as planned, and was left alone. FAILED: it can be tried again in a new plan."""

    APPLIED = "applied"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """One job. `next_n` is the item that a run goes on with, of `total`; `rate` items a second, 0 for no limit,
    and of an item that takes rows away in many transactions so many rows a second.

    `interrupted`: RUNNING with a lease that is over; another runner may take it and goes on with `next_n`.
    """

    job_id: str
    plan_id: str
    deed: Deed
    environment: str
    state: JobState
    owner: str | None
    token: int
    lease_until: datetime | None
    next_n: int
    total: int
    applied: int
    skipped: int
    failed: int
    rate: int
    created_at: datetime
    interrupted: bool


@dataclass(frozen=True, slots=True)
class JobItem:
    """What became of one item. `detail` is a JSON object; a skipped or failed one's `why` is in it."""

    n: int
    object_id: str
    outcome: ItemOutcome
    operation_id: str
    at: datetime
    detail: Mapping[str, Any] = field(default_factory=dict)
