"""What the screens show of the audit, and the calls that answer (console.md, "Audit trail")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from console.acting.model import Order, Outcome
    from console.model import Page


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which entries to list: of one object, one actor, one operation, or the intents that nothing came of.

    `other_kind` is a second kind under which the object's id is told: a claim is named by its thread.
    """

    object_kind: str | None = None
    object_id: str | None = None
    actor: str | None = None
    operation: str | None = None
    unfinished: bool = False
    other_kind: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One entry; `body` is all that it says, `deed` and `reason` what lists show of that."""

    seq: int
    phase: str
    at: datetime
    actor: str
    route: str
    deed: str
    object_kind: str
    object_id: str
    reason: str | None
    operation: str
    hash: str
    prev_hash: str
    body: Mapping[str, object]

    @property
    def of_job(self) -> bool:
        """Whether it is of a job as a whole, whose intent stands until its end; a move of one has an id of its own."""
        return self.object_kind == "job" and self.operation == self.object_id


@dataclass(frozen=True, slots=True)
class Verified:
    """How far the chain holds; `broken_at` is the first entry that does not fit."""

    entries: int
    head: str
    broken_at: int | None
    problem: str | None


class AuditGateway(Protocol):
    """The reading calls about the audit."""

    def audit(self, query: AuditQuery, after: str | None, limit: int) -> Page[AuditRow]:
        """Entries, newest first."""
        ...

    def audit_entry(self, seq: int) -> AuditRow | None:
        """One entry by its number."""
        ...

    def audit_of(self, operation: str) -> tuple[AuditRow, ...]:
        """Intent and result of one operation, as many of the two as there are."""
        ...

    def verify_audit(self, told: Callable[[int], object]) -> Verified:
        """Read the whole chain; `told` hears how many entries were read so far."""
        ...

    def outcome(self, operation: str) -> Outcome | None:
        """What became of a change; None: it has no effect in the store."""
        ...


class RecordsActing(Protocol):
    """The changing call about the audit."""

    def close_intent(self, operation: str, order: Order) -> Outcome:
        """Write down the end that an open intent lacks: what became of that change, as the store knows it."""
        ...
