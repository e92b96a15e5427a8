"""The run queue's record (api.md, checkpoints-operations.md 4.9)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime


class QueueState(StrEnum):
    """Open: QUEUED and LEASED; they keep the evidence of the runs they recorded."""

    QUEUED = "queued"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """A wish that a run should be started. `run_ids` are the attempts so far, in the order of recording."""

    id: str
    thread_id: str
    tenant: str | None
    input: Any
    state: QueueState
    available_at: datetime
    lease_owner: str | None
    lease_token: int
    lease_until: datetime | None
    attempts: int
    max_attempts: int
    last_error: str | None
    run_ids: tuple[str, ...]
