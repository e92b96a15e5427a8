"""What the screens show of jobs, and the calls that answer (console.md F10)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping
    from datetime import datetime, timedelta

    from console.acting.model import Order
    from console.model import Page


class JobState(StrEnum):
    """How a job stands. INTERRUPTED: it has a runner whose lease is over."""

    READY = "ready"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    PAUSED = "paused"
    CANCELLED = "cancelled"
    STOPPED = "stopped"
    DONE = "done"


class ItemOutcome(StrEnum):
    """What became of an item."""

    APPLIED = "applied"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class JobQuery:
    """Which jobs to list: of one stored state, or all. INTERRUPTED is no stored state: ask for RUNNING."""

    state: JobState | None = None


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job of a list; `done` of `total` items have a result."""

    id: str
    plan: str
    deed: str
    environment: str
    state: JobState
    owner: str | None
    lease_until: datetime | None
    done: int
    total: int
    applied: int
    skipped: int
    failed: int
    rate: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class JobView:
    """One job with how fast it goes: `left` is None where it cannot be told. `rows` have gone so far of the item at
    hand: one item may take many rows away (console.md F10).
    """

    row: JobRow
    per_second: float
    left: timedelta | None
    as_of: datetime
    rows: int = 0


@dataclass(frozen=True, slots=True)
class JobItemRow:
    """What became of one item; `detail` as it is stored, `why` the reason where it was not applied."""

    n: int
    id: str
    outcome: ItemOutcome
    operation: str
    at: datetime
    why: str
    detail: Mapping[str, object]


class JobsGateway(Protocol):
    """The reading calls about jobs."""

    def jobs(self, query: JobQuery, after: str | None, limit: int) -> Page[JobRow]:
        """Jobs, newest first."""
        ...

    def job(self, job: str) -> JobView | None:
        """One job, and its pace."""
        ...

    def job_items(
        self, job: str, outcome: ItemOutcome | None, after: str | None, limit: int
    ) -> Page[JobItemRow]:
        """What became of its items, in their order."""
        ...


class JobsActing(Protocol):
    """The changing calls about jobs."""

    def run_job(
        self,
        job: str | None,
        stop: threading.Event,
        resolvers: Mapping[str, str],
        passed: Callable[[str, str], object] = ...,
    ) -> JobRow | None:
        """Carry one job out, or the oldest that can be run here, until it ends or `stop` is set; blocks as long as that
        takes, and changes need not stay on meanwhile.

        `resolvers` are `module:function` by `day` and `meter:PREFIX`; `passed` is told of each job that was left to
        others, and why. None where no job waits.
        """
        ...

    def pause_job(self, job: str, order: Order) -> JobRow:
        """Let nobody go on with it."""
        ...

    def resume_job(self, job: str, order: Order) -> JobRow:
        """Let it be taken again."""
        ...

    def cancel_job(self, job: str, order: Order) -> JobRow:
        """End it where it stands."""
        ...
