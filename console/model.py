"""What the screens show: frozen rows without behaviour; `console.reading` has the calls that fetch them.

Nothing here knows the engine. `console.gateway` turns the engine's records into these; the tests' fake makes
them up. Instants are aware UTC datetimes of the store's clock, durations are timedeltas computed by the
store.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from console.claims_model import ClaimStory
    from console.held_model import Failed, Held
    from console.queue_model import QueueRow

Row = TypeVar("Row")
"""One row of some list."""


class ThreadState(StrEnum):
    """Where a thread stands (checkpoints.md 2.10)."""

    RUNNING = "RUNNING"
    IDLE = "IDLE"
    SUSPENDED = "SUSPENDED"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    DELETED = "DELETED"


class Unset(Enum):
    """The value of a filter that is not set, where None means something of its own."""

    ANY = "any"


ANY: Final = Unset.ANY
MetadataPair = tuple[str, str]
"""A key of a thread's metadata, and its value."""
Tenancy = str | None | Literal[Unset.ANY]
"""A tenant, None for rows without one, or `ANY`."""


STOPPED: Final = "stopped"
"""The code of a call that the operator has ended."""
NOT_ALLOWED: Final = "not_allowed"
"""The code of a call for which the database role lacks a right."""


class GatewayError(Exception):
    """A reading call failed.

    `message` says what happened and what to do; `retryable` whether time may heal it.
    """

    def __init__(self, message: str, *, code: str, retryable: bool) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class StoreLabel:
    """How the header names the store: back end, short name, and the whole address without a password."""

    kind: str
    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """One keyset page. `next` continues after the last row, None at the end; `as_of` is the store's clock."""

    rows: tuple[Row, ...]
    next: str | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class Counted:
    """A count that stopped looking at its cap: `more` says that it did."""

    count: int
    more: bool


@dataclass(frozen=True, slots=True)
class ThreadQuery:
    """Which threads to list; every part is answered by the store."""

    tenant: Tenancy = ANY
    states: frozenset[ThreadState] | None = None
    prefix: str | None = None
    holder: str | None = None
    since: timedelta | None = None
    metadata: MetadataPair | None = None


@dataclass(frozen=True, slots=True)
class IncompleteQuery:
    """Threads that stopped half-way ("stuck": IDLE), longest untouched first."""

    tenant: Tenancy = ANY


@dataclass(frozen=True, slots=True)
class TombstoneQuery:
    """What deleted threads left behind, last deleted first; a tombstone has no owner."""

    since: timedelta | None = None


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """One thread. `lease_left` is negative once the lease is over and None without a claim.

    `held` is the money that days hold of it, or why that is not known.
    """

    id: str
    tenant: str | None
    state: ThreadState
    holder: str | None
    lease_left: timedelta | None
    token: int | None
    events: int
    updated_at: datetime | None
    age: timedelta | None
    checkpoint: str | None
    run: str | None
    held: Held | Failed | None = None


@dataclass(frozen=True, slots=True)
class Refusals:
    """Late writers that were turned away (ruling 20)."""

    count: int
    token: int
    verb: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One stored checkpoint without its body; `size` is the body's length in bytes."""

    id: str
    place: int
    run: str
    status: str
    parent: str | None
    token: int | None
    committed_at: datetime | None
    size: int


@dataclass(frozen=True, slots=True)
class Write:
    """One pending write of the latest checkpoint."""

    id: str
    task: str
    node: str
    body: str
    size: int


@dataclass(frozen=True, slots=True)
class Effect:
    """One side effect that was recorded as done."""

    key: str
    value: str
    size: int
    run: str | None
    token: int | None
    committed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of a deleted thread."""

    next_first_seq: int
    deleted_at: datetime


@dataclass(frozen=True, slots=True)
class TombstoneRow:
    """One deleted id. `continues_at` is the number of its next event; `reused`: the id lives again."""

    thread: str
    continues_at: int
    deleted_at: datetime
    age: timedelta
    reused: bool
    refused: int


@dataclass(frozen=True, slots=True)
class ThreadStory:
    """All that is stored of one thread, checkpoints newest first; `row` is None where no checkpoint is.

    `children` counts those of the first page, `queue` holds the entries of the first one. `more` names the
    parts that hold more than was read: "checkpoints", "writes", "effects", "children", "queue".
    """

    thread: str
    row: ThreadRow | None
    parent: str | None
    claim: ClaimStory | None
    refusals: Refusals | None
    checkpoints: tuple[Checkpoint, ...]
    writes: tuple[Write, ...]
    effects: tuple[Effect, ...]
    metadata: tuple[MetadataPair, ...]
    first_seq: int | None
    next_seq: int | None
    floor_seq: int | None
    tombstone: Tombstone | None
    children: int
    queue: tuple[QueueRow, ...]
    as_of: datetime
    more: frozenset[str] = frozenset()
    held: Held | Failed | None = None


@dataclass(frozen=True, slots=True)
class EventQuery:
    """Which events to follow; every part is answered by the store."""

    thread: str | None = None
    tenant: Tenancy = ANY
    kinds: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event.

    `position` is its opaque place in the whole store. `at` is when it arrived: the commit's time in the store's
    clock; `own` is the instant that its producer gave it, by his clock, if he did (console.md row 72). `skipped`
    events before it were dropped by the tail that shows it.
    """

    position: str
    thread: str
    tenant: str | None
    seq: int
    kind: str
    run: str
    checkpoint: str | None
    token: int
    at: datetime
    payload: str
    size: int
    own: datetime | None = None
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class EventBatch:
    """What a tail read: rows oldest first, where to read on, and how many events went by, `dropped` ones
    unread.

    `before` is where reading back goes on, None where the log begins. `gaps` are numbers that no event has,
    `behind` how many numbers the log goes on by, `searched` the number to which it was looked at, `held` what newer
    events wait for, in words.
    """

    rows: tuple[EventRow, ...]
    position: str
    received: int
    dropped: int
    as_of: datetime
    before: str | None = None
    gaps: int = 0
    behind: int = 0
    searched: int = 0
    held: str | None = None
