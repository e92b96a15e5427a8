"""What the screens show of a store at a glance: frozen parts, and the calls that answer (console.md 5.1).

Each part says when it was read by the store's clock; spans are the store's. What a tenant's indexes cannot answer
is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from console.held_model import Failed
    from console.model import Counted, Tenancy, ThreadState
    from console.money_model import DayRow, ReservationTotals
    from console.money_words import Kind
    from console.queue_model import QueueDepth


@dataclass(frozen=True, slots=True)
class Oldest:
    """The first of its kind: a thread, since when, and who holds it where somebody does."""

    thread: str
    age: timedelta
    holder: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadsNow:
    """Threads by state: children included, but for a tenant's, which are its root threads."""

    by_state: Mapping[ThreadState, Counted]
    all: Counted
    as_of: datetime


@dataclass(frozen=True, slots=True)
class IncompleteNow:
    """Threads that stopped half-way; `oldest` may be unknown although there are some."""

    count: Counted
    oldest: Oldest | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class CascadesNow:
    """Deletes that have begun; `interrupted` are those that nobody carries on, `oldest` the first of these."""

    begun: Counted
    interrupted: Counted
    oldest: Oldest | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class ClaimsNow:
    """Claims that are live, and those that are over and were not released."""

    live: Counted
    expired: Counted
    oldest: Oldest | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class SweepLease:
    """The maintenance at work; `left` zero or below: it stopped without giving its lease back."""

    holder: str
    running: timedelta
    renewed: timedelta
    left: timedelta


@dataclass(frozen=True, slots=True)
class SweepNow:
    """Who does the maintenance; None between two passes, of which a store keeps no time."""

    lease: SweepLease | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class FencesNow:
    """Fences whose check is ahead, has come, and came long ago; `more_sources`: not every meter was looked at."""

    waiting: Counted
    due: Counted
    overdue: Counted
    oldest_due: timedelta | None
    more_sources: bool
    as_of: datetime


@dataclass(frozen=True, slots=True)
class MoneyNow:
    """What open reservations hold, today's totals, and of each kind since when its first reservation is expired."""

    totals: ReservationTotals
    today: DayRow
    expired_for: Mapping[Kind, timedelta]
    as_of: datetime


@dataclass(frozen=True, slots=True)
class QueueNow:
    """How full the run queue is; `dead` entries were given up."""

    depth: QueueDepth
    dead: Counted
    as_of: datetime


@dataclass(frozen=True, slots=True)
class TombstonesNow:
    """Deleted ids that were not reclaimed yet, and for how long the first and the last are deleted."""

    count: Counted
    oldest: timedelta | None
    newest: timedelta | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class EventsNow:
    """The newest event's thread and age, None without events, and how many came in the last minute."""

    thread: str | None
    age: timedelta | None
    last_minute: Counted
    as_of: datetime


@dataclass(frozen=True, slots=True)
class Overview:
    """Every part, of one moment where none failed; None stands where a tenant has no index to answer by."""

    threads: ThreadsNow | Failed
    incomplete: IncompleteNow | Failed
    cascades: CascadesNow | Failed
    claims: ClaimsNow | Failed | None
    sweep: SweepNow | Failed | None
    fences: FencesNow | Failed | None
    money: MoneyNow | Failed | None
    queue: QueueNow | Failed | None
    tombstones: TombstonesNow | Failed | None
    events: EventsNow | Failed | None


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed within a span before now: threads by their last commit, claims that ended, ids deleted.

    The last two are None for a tenant. An event alone and a granted claim stand in no index: they are not counted.
    """

    span: timedelta
    threads: Counted
    expired: Counted | None
    deleted: Counted | None
    as_of: datetime


class OverviewGateway(Protocol):
    """The reading calls about the store as a whole. Each may block, and raises `GatewayError` only."""

    def overview(self, tenant: Tenancy) -> Overview:
        """Every part; fails where the store as a whole does, else a part at a time."""
        ...

    def changes(self, span: timedelta, tenant: Tenancy) -> Changes:
        """How much changed within the span, capped."""
        ...
