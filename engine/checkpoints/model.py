"""The records of durable threads (api.md, checkpoints.md 1). Frozen, compared by value, checked when built.

Instants are aware UTC datetimes, durations timedeltas, fencing tokens ints. `snapshot`, `body`, `payload` and
effect values are plain JSON data that the store never looks into.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal

from engine.arguments import each_of_kind, of_kind, whole
from engine.clock import to_ns
from engine.database.columns import check_id, check_number, check_optional_id
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = Any  # Mapping, list, str, int, float, bool or None

FORMAT_VERSION: Final = 1
MAX_FORMAT: Final = 2**31 - 1
MAX_METADATA_KEYS: Final = 32
MAX_METADATA_KEY: Final = 64
MAX_METADATA_VALUE: Final = 512


class CheckpointStatus(StrEnum):
    """What the run left behind. Settled: COMPLETED or FAILED. DELETING marks a cascade that has begun."""

    RUNNING = "running"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"
    DELETING = "deleting"


SETTLED: Final = (CheckpointStatus.COMPLETED, CheckpointStatus.FAILED)


class ThreadStatus(StrEnum):
    """What an operator is told of a thread (checkpoints-operations.md 1.1). IDLE: work left, nobody on it."""

    RUNNING = "running"
    IDLE = "idle"
    SUSPENDED = "suspended"
    COMPLETED = "completed"
    FAILED = "failed"
    DELETED = "deleted"


def judge(latest: CheckpointStatus, *, live: bool) -> ThreadStatus:
    """The status by the newest checkpoint and whether a claim is live by the store's clock (1.1)."""
    if latest is CheckpointStatus.DELETING:
        return ThreadStatus.DELETED
    if latest is CheckpointStatus.RUNNING and not live:
        return ThreadStatus.IDLE
    return ThreadStatus(latest.value)


class Unset(Enum):
    """The value of a filter that was not given, where None has a meaning of its own."""

    ANY = "any"


ANY: Final = Unset.ANY
Tenancy = str | None | Literal[Unset.ANY]
"""A tenant, None for what belongs to no tenant, or `ANY`."""


class HolderKind(StrEnum):
    """How a refusal names who holds the claim. LAPSED is defined and never returned by a store."""

    RUN = "run"
    UNNAMED = "unnamed"
    LAPSED = "lapsed"


@dataclass(frozen=True, slots=True)
class BusyHolder:
    """Who holds the claim: the run's id only for the same recorded tenant."""

    kind: HolderKind
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """Who wants the claim and for how long; ValidationError (field `claim`) unless `ttl` is above zero."""

    holder: str
    ttl: timedelta
    tenant: str | None = None

    def __post_init__(self) -> None:
        check_id("holder", self.holder)
        check_optional_id("tenant", self.tenant)
        check_ttl(self.ttl)


def check_ttl(ttl: timedelta) -> None:
    """ValidationError (field `claim`) unless the lease is above zero and its end can be stored."""
    if not isinstance(ttl, timedelta) or ttl <= timedelta(0):
        raise ValidationError("claim", (f"ttl must be a timedelta above zero, not {ttl!r}",))
    if ttl > timedelta(days=36525):
        raise ValidationError("claim", ("ttl must be at most a hundred years",))


@dataclass(frozen=True, slots=True)
class RunClaim:
    """A granted lease. `token` fences every write; `taken_over_from` is its tenant's lapsed holder."""

    thread_id: str
    holder: str
    token: int
    expires_at: datetime
    taken_over_from: str | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    """Another thread's claim that must still be current in the step that writes."""

    thread_id: str
    token: int

    def __post_init__(self) -> None:
        check_id("fence.thread_id", self.thread_id)
        whole("fence.token", self.token)


@dataclass(frozen=True, slots=True)
class Origin:
    """Names the parent of a child thread."""

    parent: str

    def __post_init__(self) -> None:
        check_id("origin", self.parent)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A thread's state at one moment, over its `parent`; `created_at` is the producer's clock."""

    id: str
    thread_id: str
    run_id: str
    status: CheckpointStatus
    snapshot: Json
    parent: str | None = None
    created_at: datetime | None = None
    tenant: str | None = None
    fencing_token: int | None = None
    origin: Origin | None = None
    format_version: int = FORMAT_VERSION

    def __post_init__(self) -> None:
        check_id("checkpoint.id", self.id)
        check_id("checkpoint.thread_id", self.thread_id)
        check_id("checkpoint.run_id", self.run_id)
        check_optional_id("checkpoint.parent", self.parent)
        check_optional_id("checkpoint.tenant", self.tenant)
        if self.fencing_token is not None:
            check_number("checkpoint.fencing_token", self.fencing_token)
        if self.origin is not None:
            of_kind("checkpoint.origin", self.origin, Origin)
        check_number("checkpoint.format_version", self.format_version, MAX_FORMAT)
        object.__setattr__(self, "status", CheckpointStatus(self.status))
        object.__setattr__(self, "created_at", as_utc("checkpoint.created_at", self.created_at))


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """What one finished task of the current superstep wants to write. `body` is plain JSON."""

    checkpoint_id: str
    task_id: str
    node_id: str
    body: Json

    def __post_init__(self) -> None:
        check_id("write.checkpoint_id", self.checkpoint_id)
        check_id("write.task_id", self.task_id)
        check_id("write.node_id", self.node_id)


@dataclass(frozen=True, slots=True)
class EventDraft:
    """An event before it has a number. `timestamp` is the producer's clock."""

    kind: str
    payload: Json
    run_id: str
    checkpoint_id: str | None = None
    task_id: str | None = None
    node_id: str | None = None
    timestamp: datetime | None = None

    def __post_init__(self) -> None:
        check_id("event.kind", self.kind)
        check_id("event.run_id", self.run_id)
        check_optional_id("event.checkpoint_id", self.checkpoint_id)
        check_optional_id("event.task_id", self.task_id)
        check_optional_id("event.node_id", self.node_id)
        object.__setattr__(self, "timestamp", as_utc("event.timestamp", self.timestamp))


@dataclass(frozen=True, slots=True)
class EventRecord:
    """A numbered event. `seq` rises by one within an incarnation; `fencing_token` is its writer's."""

    thread_id: str
    seq: int
    kind: str
    payload: Json
    run_id: str
    checkpoint_id: str | None
    task_id: str | None
    node_id: str | None
    timestamp: datetime | None
    fencing_token: int


@dataclass(frozen=True, slots=True)
class EffectDraft:
    """A side effect done once: the first value under a key stays (checkpoints.md 2.12)."""

    key: str
    value: Json

    def __post_init__(self) -> None:
        check_id("effect.key", self.key)


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """A recorded side effect, with the run, token and store time of its commit."""

    key: str
    value: Json
    run_id: str | None
    fencing_token: int
    committed_at: datetime


@dataclass(frozen=True, slots=True)
class Commit:
    """Everything one step writes, all or nothing, under the claim of `token` (checkpoints.md 2.4).

    `metadata` merges into the thread's; None removes a key. `retract_turn` first drops every checkpoint after
    the newest settled one. `fence` is another thread's claim that must be current as well.
    """

    token: int
    checkpoint: Checkpoint | None = None
    writes: Sequence[PendingWrite] = ()
    events: Sequence[EventDraft] = ()
    effects: Sequence[EffectDraft] = ()
    metadata: Mapping[str, str | None] | None = None
    fence: Fence | None = None
    retract_turn: bool = False

    def __post_init__(self) -> None:
        whole("commit.token", self.token)
        if self.checkpoint is not None:
            of_kind("commit.checkpoint", self.checkpoint, Checkpoint)
        if self.fence is not None:
            of_kind("commit.fence", self.fence, Fence)
        # Tuples of their own: an iterator would be empty by the second look at it.
        for name, kind in _PARTS:
            object.__setattr__(self, name, each_of_kind(f"commit.{name}", getattr(self, name), kind))
        if self.metadata is not None:
            object.__setattr__(self, "metadata", check_metadata(self.metadata))


_PARTS: Final = (("writes", PendingWrite), ("events", EventDraft), ("effects", EffectDraft))


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """The latest checkpoint with the writes pending on it, in commit order."""

    checkpoint: Checkpoint
    writes: list[PendingWrite] = field(default_factory=list)


def check_metadata(changes: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """The changes as a dict of their own; ValidationError past 32 keys, 64 characters a key, 512 a value."""
    if not isinstance(changes, Mapping):
        raise ValidationError("metadata", (f"must be a mapping, not {type(changes).__name__}",))
    problems = []
    if len(changes) > MAX_METADATA_KEYS:
        problems.append(f"has {len(changes)} keys; at most {MAX_METADATA_KEYS} are allowed")
    for key, value in changes.items():
        check_id("metadata", key)
        if len(key) > MAX_METADATA_KEY:
            problems.append(f"key {key[:20]!r}… is longer than {MAX_METADATA_KEY} characters")
        if value is None:
            continue
        if not isinstance(value, str) or len(value) > MAX_METADATA_VALUE:
            problems.append(
                f"value of {key[:20]!r} must be a string of at most {MAX_METADATA_VALUE} characters"
            )
        elif "\0" in value or not _encodes(value):
            problems.append(f"value of {key[:20]!r} must be valid Unicode without U+0000")
    if problems:
        raise ValidationError("metadata", tuple(problems))
    return dict(changes)


def _encodes(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_utc(name: str, instant: datetime | None) -> datetime | None:
    """The instant in UTC; ValidationError for a naive one or one outside 1678 to 2262."""
    if instant is None:
        return None
    if of_kind(name, instant, datetime).tzinfo is UTC and 1678 < instant.year < 2262:
        return instant
    try:
        to_ns(instant)
    except ValidationError as error:
        raise ValidationError(name, error.problems) from error
    return instant.astimezone(UTC)
