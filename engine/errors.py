"""Every error the engine raises: one hierarchy, compared by its fields (api.md, `engine.errors`; ruling 47).

Driver exceptions never leave `engine.database.transaction`: they arrive here as a `StoreFailure` or as one of
the refusals below. Each message ends with what to do next.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from engine.checkpoints.model import BusyHolder

T = TypeVar("T")


class EngineError(Exception):
    """The base. `code` is a stable word for logs and scripts; `retryable`: a later call may succeed."""

    code: ClassVar[str] = "engine"
    retryable: ClassVar[bool] = False

    def explain(self) -> str:
        """What happened and what to do next, in one sentence or two."""
        return self.code

    def __str__(self) -> str:
        fields = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in _fields(self))
        return f"{self.explain()} [{self.code}{': ' if fields else ''}{fields}]"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), {field.name: getattr(self, field.name) for field in _fields(self)})


def _rebuild(kind: type[EngineError], fields: dict[str, Any]) -> EngineError:
    return kind(**fields)


def _fields(error: EngineError) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(error) if dataclasses.is_dataclass(error) else ()


@dataclass_transform(field_specifiers=(dataclasses.field,))
def record(kind: type[T]) -> type[T]:
    """Make an error class a dataclass that is compared, hashed and shown by its fields."""
    return dataclass(eq=True, unsafe_hash=True, repr=True)(kind)


@record
class ThreadBusy(EngineError):
    """A live claim stands on the thread; `holder` names its run to its own tenant (checkpoints.md 2.1)."""

    code = "thread_busy"
    retryable = True
    thread_id: str
    latest: str | None
    holder: BusyHolder

    def explain(self) -> str:
        who = (
            f"run {self.holder.run_id!r}"
            if self.holder.run_id is not None
            else "a holder that may not be named"
        )
        at = f"at checkpoint {self.latest!r}" if self.latest is not None else "without a checkpoint"
        return (
            f"thread {self.thread_id!r} ({at}) is claimed by {who}; wait for its release or its lease's end"
        )


@record
class StaleClaim(EngineError):
    """The presented fencing token is not the one now stored (checkpoints.md 2.2, 2.4, 2.11)."""

    code = "stale_claim"
    thread_id: str
    token: int
    current: int | None

    def explain(self) -> str:
        now = f"token {self.current} holds it" if self.current is not None else "nobody holds it"
        lost = f"token {self.token} no longer holds thread {self.thread_id!r}"
        return f"{lost}: {now}; stop writing and claim again"


@record
class CheckpointConflict(EngineError):
    """The commit's checkpoint does not build on the latest one (checkpoints.md 2.4, check 3)."""

    code = "checkpoint_conflict"
    thread_id: str
    expected: str | None
    actual: str | None

    def explain(self) -> str:
        return (
            f"thread {self.thread_id!r} is at checkpoint {self.actual!r}, "
            f"the commit builds on {self.expected!r}; read the latest checkpoint and commit over it"
        )


@record
class InvalidCommit(EngineError):
    """The commit contradicts itself or the thread (checkpoints.md 2.4, checks 4 to 7)."""

    code = "invalid_commit"
    thread_id: str
    reason: str

    def explain(self) -> str:
        return (
            f"the commit on thread {self.thread_id!r} was refused: {self.reason}; correct it and commit again"
        )


@record
class CheckpointNotFound(EngineError):
    """The named checkpoint is not in the thread's history."""

    code = "checkpoint_not_found"
    thread_id: str
    checkpoint_id: str

    def explain(self) -> str:
        missing = f"thread {self.thread_id!r} has no checkpoint {self.checkpoint_id!r}"
        return f"{missing}; list its history from the start"


@record
class ReplayUnavailable(EngineError):
    """Events behind the cursor were compacted away (checkpoints.md 2.8)."""

    code = "replay_unavailable"
    thread_id: str
    earliest_seq: int

    def explain(self) -> str:
        return (
            f"thread {self.thread_id!r} keeps events from #{self.earliest_seq} on; "
            f"read again after #{self.earliest_seq - 1}"
        )


@record
class ThreadDeleted(EngineError):
    """The cursor points into a deleted log, or the thread is going (checkpoints.md 2.8, ruling 17)."""

    code = "thread_deleted"
    thread_id: str

    def explain(self) -> str:
        return f"thread {self.thread_id!r} was deleted; read a new thread of this id from 0"


@record
class TenantMismatch(EngineError):
    """The thread belongs to another tenant than the caller's, which is the only one named."""

    code = "tenant_mismatch"
    thread_id: str
    tenant: str | None

    def explain(self) -> str:
        return (
            f"thread {self.thread_id!r} is not the caller's (tenant {self.tenant!r}); use the owner's tenant"
        )


@record
class UnsupportedCheckpointFormat(EngineError):
    """A stored checkpoint has a format this build cannot read."""

    code = "unsupported_checkpoint_format"
    found: int
    supported: int

    def explain(self) -> str:
        known = f"supported: {self.supported}"
        return f"checkpoint format {self.found} is not readable here ({known}); upgrade this program"


@record
class WaitCancelled(EngineError):
    """The caller's cancel event ended this call, and nothing else (ruling 22)."""

    code = "wait_cancelled"
    operation: str

    def explain(self) -> str:
        return f"{self.operation} was cancelled by its caller; call again to go on"


@record
class ValidationError(EngineError, ValueError):
    """An argument is out of its bounds; `problems` lists every fault found in `field`."""

    code = "validation"
    field: str
    problems: tuple[str, ...]

    def __post_init__(self) -> None:
        given: Any = self.problems
        self.problems = (given,) if isinstance(given, str) else tuple(given)

    def explain(self) -> str:
        return f"{self.field}: {'; '.join(self.problems)}"


@record
class StaleLease(EngineError):
    """The presented lease token of a queue entry is not the one that holds it (ruling 26)."""

    code = "stale_lease"
    entry_id: str
    token: int
    current: int | None

    def explain(self) -> str:
        now = f"token {self.current} holds it" if self.current is not None else "nothing is leased"
        return (
            f"lease {self.token} no longer holds queue entry {self.entry_id!r}: {now}; stop and lease again"
        )


@record
class CostCapExceeded(EngineError):
    """An admission would have taken a day past its cap; nothing was reserved (spend.md 2A.2).

    `current_usd` and `cap_usd` are floats, micro-dollars / 1,000,000.
    """

    code = "cost_cap_exceeded"
    kind: str
    cap_type: str
    current_usd: float
    cap_usd: float

    def explain(self) -> str:
        spent = f"{self.current_usd:.6f} of {self.cap_usd:.6f} USD are committed"
        return f"{self.kind!r} does not fit under the {self.cap_type} cap: {spent}; wait, or raise the cap"


@record
class SpendMeterUnavailable(EngineError):
    """The meter cannot answer, its cause being chained: do not spend (spend.md 2B.1)."""

    code = "SPEND_METER_UNAVAILABLE"
    retryable = True
    operation: str
    message: str

    def explain(self) -> str:
        return f"{self.operation}: {self.message}; spend nothing until the meter answers"


@record
class UnsupportedStore(EngineError):
    """The store lacks what was asked for; nothing was changed (spend.md 2A.2, 2B.0; ruling 35)."""

    code = "unsupported_store"
    operation: str
    reason: str

    def explain(self) -> str:
        return f"{self.operation}: {self.reason}"


@record
class ReservationInvalidated(EngineError):
    """A competitor was confirmed first: the rows stay reserved until released or lapsed (ruling 30)."""

    code = "reservation_invalidated"
    txn_id: str

    def explain(self) -> str:
        return f"transaction {self.txn_id!r} lost to one confirmed first; release it, and reserve anew"


@record
class StoreFailure(EngineError):
    """The storage failed, or holds what does not decode. Nothing changed unless the subclass says so."""

    code = "store_failure"
    operation: str
    message: str
    sqlstate: str | None = dataclasses.field(default=None, kw_only=True, compare=False)

    def explain(self) -> str:
        return f"{self.operation}: {self.message}"


@record
class StoreClosed(StoreFailure):
    """The store was closed."""

    code = "store_closed"
    message: str = "the store is closed; open it again"


@record
class ReadOnlyStore(StoreFailure):
    """A write on a store opened with `read_only=True`, refused by the database as well."""

    code = "read_only_store"
    message: str = "the store is open read-only; open it without read_only to write"


@dataclass(eq=True, unsafe_hash=True, repr=True, init=False)
class SchemaMismatch(StoreFailure):
    """The store's schema is not this build's; `found` 0 means that it has none (ruling 11)."""

    code = "schema_mismatch"
    found: int
    supported: int

    def __init__(
        self,
        found: int,
        supported: int,
        operation: str = "open_store",
        message: str = "",
        *,
        sqlstate: str | None = None,
    ) -> None:
        self.found, self.supported, self.operation, self.sqlstate = found, supported, operation, sqlstate
        newer = "this program is older than the store: upgrade it"
        older = "run `holdwatch migrate URL`, or let a worker open it with ensure_schema"
        has = f"the store has schema version {found}, this build reads {supported}"
        here = has if found else "there are no tables of Holdwatch here yet"
        self.message = message or f"{here}; {newer if found > supported else older}"


@record
class CommitUnknown(StoreFailure):
    """The connection was lost after COMMIT was sent: the write may or may not have landed (ruling 3)."""

    code = "commit_unknown"
    message: str = (
        "the connection was lost while committing; read the store to learn whether the write landed"
    )


@record
class PlanRefused(EngineError):
    """A plan that may not be made, approved or executed as asked; `why` is a stable word (rulings 54 and 55)."""

    code = "plan_refused"
    plan_id: str | None
    why: str
    message: str

    def explain(self) -> str:
        return self.message


@record
class JobRefused(EngineError):
    """A job that is not in a state for what was asked, or is another runner's (console.md F10)."""

    code = "job_refused"
    job_id: str
    why: str
    message: str

    def explain(self) -> str:
        return self.message
