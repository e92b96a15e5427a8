"""What an operator sees: frozen rows, each view of one moment by the store's clock (console.md F7).

Bodies in lists are cut to `PREVIEW` characters; `size` is always the whole length in bytes. Durations are
computed in the database, so that no clock of the reader's decides whether a lease is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from engine.checkpoints.gaps import Held
    from engine.checkpoints.model import CheckpointStatus, ThreadStatus
    from engine.desk.queue_views import QueueRow

Row = TypeVar("Row")

MAX_PAGE: Final = 200
"""Rows of one keyset page at most (console.md F6)."""
MAX_COUNT: Final = 10_000
"""Where a count stops."""
MAX_EVENTS: Final = 500
"""Events of one page at most (ruling 58)."""
MAX_SEARCHED: Final = 5_000
"""Events that one filtered query looks at (ruling 58)."""
MAX_CHECKPOINTS: Final = 50
MAX_PARTS: Final = 200
"""Pending writes, effects, and runs of a queue entry, of one detail at most."""
MAX_RELATED: Final = 50
"""Children, and queue entries, of one thread's detail; their own listings go on behind them."""
PREVIEW: Final = 16_384
"""Characters of a body or payload that a list carries."""


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One keyset page. `next` is set exactly when more rows follow; `as_of` is the store's clock."""

    rows: tuple[Row, ...]
    next: str | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class Capped:
    """A count that stops at its cap; `more` says that it did, or that it had looked at as much as it may."""

    count: int
    more: bool


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """One thread with a checkpoint. `lease_left`: zero or below once the lease is over, None without one.

    `events` is how many can be replayed; `age` the time since `updated_at`.
    """

    thread_id: str
    tenant: str | None
    status: ThreadStatus
    holder: str | None
    lease_left: timedelta | None
    token: int | None
    events: int
    updated_at: datetime
    age: timedelta
    latest_id: str
    latest_run_id: str


@dataclass(frozen=True, slots=True)
class ClaimDetail:
    """The claim stored on a thread, live or over. `renewals` counts since it was granted (ruling 20)."""

    holder: str
    tenant: str | None
    token: int
    granted_at: datetime
    renewed_at: datetime
    renewals: int
    expires_at: datetime
    live: bool
    left: timedelta


@dataclass(frozen=True, slots=True)
class RefusalDetail:
    """Late writers that were turned away, as far as they were counted (ruling 20)."""

    count: int
    last_token: int
    last_verb: str
    last_at: datetime


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One stored checkpoint without its body. `created_at` is the producer's clock, `committed_at` ours."""

    place: int
    checkpoint_id: str
    run_id: str
    status: CheckpointStatus
    parent: str | None
    token: int | None
    committed_at: datetime
    created_at: datetime | None
    size: int


@dataclass(frozen=True, slots=True)
class WriteRow:
    """One write pending on the latest checkpoint; `n` counts in commit order."""

    n: int
    checkpoint_id: str
    task_id: str
    node_id: str
    body: str
    size: int


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One side effect recorded as done."""

    key: str
    value: str
    run_id: str | None
    token: int
    committed_at: datetime
    size: int


@dataclass(frozen=True, slots=True)
class TombstoneDetail:
    """What is left of a deleted thread: the number its next event would get, and when it went."""

    next_first_seq: int
    deleted_at: datetime


@dataclass(frozen=True, slots=True)
class ThreadDetail:
    """All that is stored of one id, at one moment.

    `row` is None for an id without a checkpoint. The three numbers are None until the first event (ruling
    14); `tombstone` stands as long as numbering would still continue from it. Checkpoints come newest
    first, writes in commit order, effects by key; `more_…` says that the bound left some out. `children` and
    `queue` are the first pages of `Desk.children` and of `Desk.queue` for the thread, to be read on there;
    `queue` is None where a thread has more than 10,000 open entries.
    """

    thread_id: str
    row: ThreadRow | None
    claim: ClaimDetail | None
    refusal: RefusalDetail | None
    checkpoints: tuple[CheckpointRow, ...]
    writes: tuple[WriteRow, ...]
    effects: tuple[EffectRow, ...]
    metadata: Mapping[str, str]
    first_seq: int | None
    next_seq: int | None
    floor_seq: int | None
    tombstone: TombstoneDetail | None
    as_of: datetime
    more_checkpoints: bool = False
    more_writes: bool = False
    more_effects: bool = False
    parent: str | None = None
    children: Page[ThreadRow] | None = None
    queue: Page[QueueRow] | None = None


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event. `position` is its place in the log it was read from; `payload` is cut to `PREVIEW`."""

    position: str
    thread_id: str
    tenant: str | None
    seq: int
    kind: str
    run_id: str
    checkpoint_id: str | None
    token: int
    timestamp: datetime | None
    committed_at: datetime
    payload: str
    size: int


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events of one stretch of a log.

    `position` is the stretch's upper end, for `events`; `before` its lower end, for `events_before`, None
    where the log begins. `received` is how many matching events lie in the stretch, those past the limit
    included. `searched` is the number to which the log was looked at. `held`: newer events wait for a
    transaction that drew an earlier position. `gaps` are the stretch's numbers that no event has, zero where it was
    not looked at whole; `behind` is how many numbers follow that a page's bound left for the next one.
    """

    rows: tuple[EventRow, ...]
    position: str
    received: int
    as_of: datetime
    before: str | None = None
    searched: int = 0
    held: Held | None = None
    gaps: int = 0
    behind: int = 0
