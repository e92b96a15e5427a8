"""What the screens show of plans, what they ask for, and the calls that answer (console.md F1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from console.acting.deeds import Deed
    from console.acting.model import Order
    from console.acting.resolving import Answer, Evidence, Resolvable
    from console.model import Page
    from console.money_words import Address, Kind


class Source(StrEnum):
    """Who decides in a reconcile pass."""

    DEFAULT = "default"
    RESOLVER = "resolver"
    ASK = "ask"


class PlanState(StrEnum):
    """How a plan stands; PREVIEW is one that was not stored."""

    PREVIEW = "preview"
    READY = "ready"
    AWAITING = "awaiting approval"
    BLOCKED = "blocked"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    EXECUTED = "executed"


class SweepPart(StrEnum):
    """What a sweep may take away."""

    THREADS = "threads"
    TOMBSTONES = "tombstones"
    LAPSED = "lapsed rows"
    METERS = "meters"


@dataclass(frozen=True, slots=True)
class DeleteWish:
    """Threads to delete, with all their descendants unless `alone`."""

    threads: tuple[str, ...]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class ReleaseWish:
    """Threads whose claims are to be released."""

    threads: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReconcileWish:
    """A pass over what is due: of whole kinds (meters: all, unless some are named) or of the rows in `addresses`.

    `resolver` is the name under which the configuration has one; `consume`: what the default makes of a meter's
    expired units, None where no meter is meant.
    """

    source: Source
    kinds: frozenset[Kind] = frozenset()
    meters: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = ()
    resolver: str | None = None
    consume: bool | None = None


@dataclass(frozen=True, slots=True)
class SweepWish:
    """A retention sweep: what may go. Spans and counts are None where they keep everything."""

    parts: frozenset[SweepPart]
    max_age: timedelta | None = None
    max_checkpoints: int | None = None
    max_events: int | None = None
    tombstone_age: timedelta | None = None
    prefix: str = ""
    tables: tuple[str, ...] = ()
    meters: tuple[str, ...] = ()
    before: datetime | None = None
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class DecideWish:
    """A decision by hand, planned instead of written at once, so that another person can approve it first."""

    shown: Resolvable
    answer: Answer
    evidence: tuple[Evidence, ...]
    reason: str
    corrects: str | None = None


Wish = DeleteWish | ReleaseWish | ReconcileWish | SweepWish | DecideWish


@dataclass(frozen=True, slots=True)
class Bounds:
    """Above which a plan waits for another person's approval; None never asks."""

    micro: int | None = None
    units: int | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One kind of row that will go; None where it could not be counted."""

    kind: str
    rows: int | None
    bytes: int | None
    note: str


@dataclass(frozen=True, slots=True)
class Apart:
    """A row that was asked for and cannot be changed this way, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One planned change; `guard` and `note` as they are stored."""

    n: int
    kind: str
    id: str
    guard: Mapping[str, object]
    note: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan, or a preview of one, which has no id, no end, and no state but PREVIEW.

    `rows` is what the phrase names; `seconds` the least and the most that it may take.
    """

    id: str | None
    deed: Deed
    environment: str
    phrase: str
    state: PlanState
    items: int
    rows: int
    bytes: int | None
    lines: tuple[PlanLine, ...]
    blockers: tuple[str, ...]
    warnings: tuple[str, ...]
    kept: tuple[str, ...]
    apart: tuple[Apart, ...]
    apart_count: int
    seconds: tuple[float, float]
    micro: int
    units: int
    params: Mapping[str, object]
    made_at: datetime
    as_of: datetime
    expires_at: datetime | None = None
    actor: str = ""
    needs_approval: bool = False
    approved_by: str | None = None
    job: str | None = None
    hash: str = ""
    preview_items: tuple[PlanItem, ...] = field(default=())


class PlansGateway(Protocol):
    """The reading calls about plans."""

    def preview(self, wish: Wish, environment: str) -> PlanView:
        """What a plan would hold now; nothing of it is stored. GatewayError `plan_refused` where it is too wide."""
        ...

    def plans(self, after: str | None, limit: int) -> Page[PlanView]:
        """Stored plans, newest first."""
        ...

    def plan(self, plan: str) -> PlanView | None:
        """One plan as it stands now."""
        ...

    def plan_items(self, plan: str, after: str | None, limit: int) -> Page[PlanItem]:
        """Its items, in the order in which they will be changed."""
        ...


class PlansActing(Protocol):
    """The changing calls about plans."""

    def make_plan(self, wish: Wish, environment: str, bounds: Bounds) -> PlanView:
        """Freeze what the wish means now, for five minutes; for an hour where another person must approve it."""
        ...

    def cancel_plan(self, plan: str, order: Order) -> PlanView:
        """Give it up."""
        ...

    def approve_plan(self, plan: str, order: Order) -> PlanView:
        """Another person's yes."""
        ...

    def execute(self, plan: str, order: Order, phrase: str, rate: int) -> str:
        """Make it a job that waits for a runner; the job's id. `rate` items a second, 0 for no limit."""
        ...
