"""What an operator sees first: the state of a whole store, or of one tenant in it (console.md 5.1, ruling 51).

Each part is frozen, says by the store's clock when it was read (`as_of`), and counts no further than its cap;
spans are computed in the database. A part about which a tenant's indexes say nothing is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.desk.pages import together

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from engine.checkpoints.model import ThreadStatus
    from engine.desk.money_views import DayRow, ReservationKind, ReservationTotals
    from engine.desk.queue_views import QueueDepth
    from engine.desk.views import Capped
    from engine.errors import EngineError


@dataclass(frozen=True, slots=True)
class Failed:
    """Stands in the place of a part that could not be read; the others are as they should be."""

    error: EngineError


@dataclass(frozen=True, slots=True)
class OldestThread:
    """The thread of a status that was left alone for longest: `age` since its last checkpoint or metadata."""

    thread_id: str
    updated_at: datetime
    age: timedelta


@dataclass(frozen=True, slots=True)
class OldestClaim:
    """The claim that has been over for longest, and for how long."""

    thread_id: str
    holder: str
    expired_at: datetime
    over_for: timedelta


@dataclass(frozen=True, slots=True)
class ThreadTotals:
    """Threads with a checkpoint by status: children included in the whole store's, a tenant's roots in its own."""

    by_status: Mapping[ThreadStatus, Capped]
    as_of: datetime

    @property
    def all(self) -> Capped:
        """All of them together."""
        return together(*self.by_status.values())


@dataclass(frozen=True, slots=True)
class ClaimsNow:
    """Claims that are live, and those that are over and were not released."""

    live: Capped
    expired: Capped
    oldest_expired: OldestClaim | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class IncompleteNow:
    """IDLE threads: stopped half-way, and nobody is on them.

    Where more than 10,000 claims are live they are looked for among the 10,000 unfinished ones longest untouched:
    `count.more` is then set if there are others, and `oldest` may be None although one lies behind.
    """

    count: Capped
    oldest: OldestThread | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class CascadesNow:
    """Deletes that have begun (status DELETED); `interrupted` are those whose thread nobody holds any more.

    `oldest` is of the interrupted ones. Both are found as those of `IncompleteNow` are.
    """

    begun: Capped
    interrupted: Capped
    oldest: OldestThread | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class SweepLease:
    """The claim of the maintenance at work. `left` zero or below: it stopped without giving the lease back."""

    holder: str
    running_for: timedelta
    renewed_ago: timedelta
    left: timedelta

    @property
    def live(self) -> bool:
        """Whether the lease runs on."""
        return bool(self.left.total_seconds() > 0)


@dataclass(frozen=True, slots=True)
class SweepNow:
    """The maintenance's lease; None between two passes: a store does not keep when the last one ended.

    How far behind the sweeps are shows in what they should have collected: `MoneyNow.expired_for`.
    """

    lease: SweepLease | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class QueueNow:
    """How full the run queue is; `dead` entries were given up and wait for a person."""

    depth: QueueDepth
    dead: Capped

    @property
    def as_of(self) -> datetime:
        """When it was read."""
        return self.depth.as_of


@dataclass(frozen=True, slots=True)
class TombstonesNow:
    """Deleted ids that were not reclaimed yet, and since when the first and the last of them are deleted."""

    count: Capped
    oldest: timedelta | None
    newest: timedelta | None
    as_of: datetime


@dataclass(frozen=True, slots=True)
class EventsNow:
    """The newest event of the log, by position, and how many were committed in the minute before `as_of`.

    `last_minute` is looked for among the newest 5,000 positions and stops there. `position` is the newest
    event's, as `Desk.events` and `Desk.events_before` take it. All but the count is None without events.
    """

    position: str | None
    thread_id: str | None
    committed_at: datetime | None
    age: timedelta | None
    last_minute: Capped
    as_of: datetime


@dataclass(frozen=True, slots=True)
class FencesNow:
    """Fenced reservations of days and meters that are open.

    `waiting`: the next check is ahead. `due`: it has come, and a resolver or a person must answer. `overdue`:
    those of `due` whose check came more than five minutes ago. `oldest_due` is how long the first has waited.
    """

    waiting: Capped
    due: Capped
    overdue: Capped
    oldest_due: timedelta | None
    more_sources: bool
    as_of: datetime


@dataclass(frozen=True, slots=True)
class MoneyNow:
    """What open reservations hold (`totals.held_micro`, over all days), and `today` by the store's clock, UTC.

    `expired_for` says of each kind that has expired reservations for how long the first of them has been so:
    what a default pass or a sweep has not got to. They are looked for among the 10,000 first due.
    """

    totals: ReservationTotals
    today: DayRow
    expired_for: Mapping[ReservationKind, timedelta]

    @property
    def as_of(self) -> datetime:
        """When it was read."""
        return self.totals.as_of


@dataclass(frozen=True, slots=True)
class Overview:
    """Every part, of one moment where none failed; None stands where a tenant has no index to answer by."""

    threads: ThreadTotals | Failed
    incomplete: IncompleteNow | Failed
    cascades: CascadesNow | Failed
    claims: ClaimsNow | Failed | None
    sweep: SweepNow | Failed | None
    fences: FencesNow | Failed | None
    money: MoneyNow | Failed | None
    queue: QueueNow | Failed | None
    tombstones: TombstonesNow | Failed | None
    events: EventsNow | Failed | None
