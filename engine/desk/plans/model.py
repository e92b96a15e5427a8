"""Plans: a frozen list of things to change, each with the guard under which it was seen (console.md F1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from engine.desk.audit.model import Deed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from engine.desk.actor import Actor

MOST_ITEMS: Final = 10_000
PLANNING: Final = timedelta(seconds=5)
"""How long the making of a plan may take; after it the answer is to narrow the filter (ruling 55)."""
LIFETIME: Final = timedelta(minutes=5)
APPROVAL_LIFETIME: Final = timedelta(hours=1)
MOST_NOTES: Final = 200
"""Rows that are told apart as not applicable; what more there are is counted."""

PLANNED: Final = (Deed.DELETE, Deed.SWEEP, Deed.RECONCILE, Deed.RELEASE, Deed.RESOLVE)
"""The deeds that are planned."""


class ItemKind(StrEnum):
    """What an item is, and with it what its guard holds.

    THREAD {token, checkpoint, next_seq, next_write}: a delete of one thread, descendants before their parents.
    CLAIM {token, expires_at}: a release (ruling 53). RETENTION {checkpoints, floor}: what a sweep takes of a thread
    (ruling 54). TOMBSTONE {deleted_at}. LAPSED {until}: lapsed tentative rows of the table that is the object.
    PURGE {before}: settled rows of the meter that is the object. DAY {deferrals, expires_at, next_check_at}.
    METER {attempt, expires_at}. Instants are nanoseconds since 1970.
    """

    THREAD = "thread"
    CLAIM = "claim"
    RETENTION = "retention"
    TOMBSTONE = "tombstone"
    LAPSED = "lapsed rows"
    PURGE = "purge"
    DAY = "day reservation"
    METER = "meter reservation"


class Reach(StrEnum):
    """How far a delete goes: the named threads with all below them, or the named threads and nothing else."""

    TREE = "tree"
    ONE = "one"


class AnswerSource(StrEnum):
    """Who decides in a reconcile pass: the default (of unfenced rows only), a resolver, or a person row by row."""

    DEFAULT = "default"
    RESOLVER = "resolver"
    ASK = "ask"


class PlanState(StrEnum):
    """READY may be executed; AWAITING needs another actor's approval; BLOCKED has no item that could be executed."""

    READY = "ready"
    AWAITING = "awaiting approval"
    BLOCKED = "blocked"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    EXECUTED = "executed"


@dataclass(frozen=True, slots=True)
class Item:
    """One planned change. `note` says what it amounts to: depth, rows, bytes, amounts."""

    n: int
    kind: ItemKind
    object_id: str
    guard: Mapping[str, Any]
    note: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A row that was asked for and cannot be changed this way, and why (console.md 3.1, row 31)."""

    object_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table of what will go: `kind` of row, how many, their bytes, and a remark.

    None: unknown, for it could not be counted (console.md 3.2, row 44).
    """

    kind: str
    rows: int | None
    bytes: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """What a plan amounts to. `rows` is the number that the typed phrase names; `seconds` an estimate, least and most.

    `bytes` is None where part of it is unknown; `rows` counts what could be counted, and a warning says what not.

    `blockers` keep it from being executed, `warnings` do not; `not_applicable` holds the first MOST_NOTES of
    `not_applicable_count`; `kept` says what will not be touched; `micro` and `units` are money and meter units
    at stake. `phrase` stands in place of the usual one where a single object is named (F9: a claim by its token).
    """

    rows: int
    bytes: int | None = 0
    lines: tuple[Line, ...] = ()
    blockers: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    not_applicable: tuple[NotApplicable, ...] = ()
    not_applicable_count: int = 0
    seconds: tuple[float, float] = (0.0, 0.0)
    micro: int = 0
    units: int = 0
    phrase: str | None = None


def phrase_of(deed: Deed, environment: str, totals: Totals) -> str:
    """What has to be typed: the deed, the number of rows and the environment, or what the totals name."""
    if totals.phrase is not None:
        return totals.phrase
    return f"{deed.value.upper()} {totals.rows} ON {environment.upper()}"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a plan would hold; nothing of it is stored, and it has no id (ruling 55)."""

    deed: Deed
    environment: str
    params: Mapping[str, Any]
    items: tuple[Item, ...]
    totals: Totals
    at: datetime

    @property
    def phrase(self) -> str:
        """What has to be typed to execute it."""
        return phrase_of(self.deed, self.environment, self.totals)


@dataclass(frozen=True, slots=True)
class Plan:
    """A stored plan's header. `items` is their number; `hash` covers deed, environment, params, totals, every item.

    `expires_at`, five minutes after it was made, or an hour once it was sent for approval, is the end of all it can
    do; `job_id` is the job that executes it. `needs_approval`: it was more than the threshold when it was made.
    """

    plan_id: str
    deed: Deed
    environment: str
    params: Mapping[str, Any]
    actor: Actor
    hash: str
    items: int
    totals: Totals
    created_at: datetime
    expires_at: datetime
    state: PlanState
    approved_by: Actor | None = None
    approved_at: datetime | None = None
    job_id: str | None = None
    needs_approval: bool = False

    @property
    def phrase(self) -> str:
        """What has to be typed to execute it."""
        return phrase_of(self.deed, self.environment, self.totals)


@dataclass(frozen=True, slots=True)
class Threshold:
    """Above which amounts a plan waits for a second pair of eyes; None never asks."""

    micro: int | None = None
    units: int | None = None
    rows: int | None = None

    def exceeded_by(self, totals: Totals) -> bool:
        """Whether a plan of these totals needs another actor's approval."""
        bounds = ((self.micro, totals.micro), (self.units, totals.units), (self.rows, totals.rows))
        return any(most is not None and amount > most for most, amount in bounds)
