"""What an operator sees of money: frozen rows, each page of one moment by the store's clock (spend.md 2C).

Amounts are whole micro-dollars (`micro`) or whole units of a meter (`units`); spans are computed in the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from engine.desk.pages import together

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from engine.desk.views import Capped


class ReservationKind(StrEnum):
    """Where a reservation is kept: money of a day, units of a meter, rows of a table with the convention."""

    DAY = "day"
    METER = "meter"
    TENTATIVE = "tentative"


class ReservationState(StrEnum):
    """What stands of a reservation; each row has exactly one of these.

    OPEN: unfenced, not due. EXPIRED: unfenced, and its time is over: a default pass settles it. FENCED: no
    default may settle it, and its next check (or first expiry) is still ahead. DUE: fenced, and that check has
    come: a resolver or a person must answer. SETTLED: over.
    """

    OPEN = "open"
    EXPIRED = "expired"
    FENCED = "fenced"
    DUE = "due"
    SETTLED = "settled"


class DefaultFate(StrEnum):
    """What a pass without a resolver does with a row, once `due_in` is zero or below.

    METER_DEFAULT: released or consumed, as the meter that reconciles it is told (`unknown_after_lease`); the
    store does not know which.
    """

    SETTLED_WHOLE = "settled_whole"
    SETTLED_AT_RECORDED = "settled_at_recorded"
    LEFT_FENCED = "left_fenced"
    METER_DEFAULT = "meter_default"
    DELETED = "deleted"
    ALREADY_SETTLED = "already_settled"


@dataclass(frozen=True, slots=True)
class ReservationRow:
    """One reservation of any kind. Its address is (kind, source, reservation_id).

    | part | DAY | METER | TENTATIVE |
    |---|---|---|---|
    | source | "" | the prefix of its tables | the table's name, as the catalogue spells it |
    | reservation_id | the store's id | the operation's id | the primary key, as text |
    | owner | the kind word | the account | the txn_id |
    | micro / units | micro / None | None / units | None / None |
    | period | the UTC day | the period | None |
    | operation_id | of an operation, else None | as reservation_id | None |
    | attempt | runs begun of an operation, else None | attempts | None |
    | expires_at | expiry | end of the lease, or next check | deadline |
    | deferrals | how often | None: not kept | None |
    | created_at, age | admitted | this attempt reserved | None |

    `due_at` is when a pass looks at the row; `due_in` is zero or below from then on. `next_check_at` is set
    once it was deferred. `recorded_micro`, `lease_run` and `lease_until` belong to operations; the two of the
    lease are None while no run holds it. `outcome` is a meter's word, "settled" of a day row, "confirmed" of a
    tentative one; `settled_micro` is what a day row was settled at.
    """

    kind: ReservationKind
    source: str
    reservation_id: str
    state: ReservationState
    owner: str | None
    micro: int | None
    units: int | None
    period: str | None
    operation_id: str | None
    attempt: int | None
    recorded_micro: int | None
    lease_run: int | None
    lease_until: datetime | None
    created_at: datetime | None
    age: timedelta | None
    expires_at: datetime | None
    due_at: datetime | None
    due_in: timedelta | None
    fenced: bool
    next_check_at: datetime | None
    deferrals: int | None
    thread_id: str | None
    settled_at: datetime | None = None
    settled_micro: int | None = None
    outcome: str | None = None

    @property
    def is_operation(self) -> bool:
        """Whether it is a day reservation that pays for the runs of an operation."""
        return self.kind is ReservationKind.DAY and self.operation_id is not None

    @property
    def settled_late(self) -> bool:
        """Whether it was settled once its time was over: by a default, perhaps before its owner could."""
        if self.settled_at is None or self.expires_at is None:
            return False
        return self.settled_at >= self.expires_at


@dataclass(frozen=True, slots=True)
class FenceRow:
    """A fenced reservation that is open, with why it waits.

    `evidence` is JSON text cut to `PREVIEW`, `size` the whole's bytes; None and 0 before the first deferral.
    How often it was deferred is `row.deferrals`, which a meter does not keep.
    """

    row: ReservationRow
    evidence: str | None
    size: int

    @property
    def due(self) -> bool:
        """Whether its next check has come."""
        return self.row.state is ReservationState.DUE


@dataclass(frozen=True, slots=True)
class DayGuard:
    """What a day reservation was when it was shown (ruling 40)."""

    deferrals: int


@dataclass(frozen=True, slots=True)
class MeterGuard:
    """What a meter's reservation was when it was shown (ruling 40): an answer is written under both."""

    attempt: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of an operation. `ended_at` and `settled_micro` are None until it ended; `holds` its lease."""

    run: int
    bound_micro: int
    began_at: datetime
    ended_at: datetime | None
    settled_micro: int | None
    holds: bool


@dataclass(frozen=True, slots=True)
class DayRow:
    """The totals of a UTC day, `YYYY-MM-DD`."""

    day: str
    reserved_micro: int
    settled_micro: int

    @property
    def committed_micro(self) -> int:
        """What an admission compares with its cap."""
        return self.reserved_micro + self.settled_micro


@dataclass(frozen=True, slots=True)
class DayDetail:
    """A day's totals, and how many of its reservations are open and fenced, of as many as were looked at.

    At most 10,000 are looked at. A day that has admitted nothing has no row: its totals are zero.
    """

    row: DayRow
    open: Capped
    fenced: Capped
    reservations: Capped
    as_of: datetime


@dataclass(frozen=True, slots=True)
class AccountRow:
    """One period of an account. `allowance` is the last one written: by a reserve, or by hand.

    `window`: the account is of a rolling window, whose length the store does not know; nothing ages out of
    `used`, so it is not what is enforced and `remaining` is None (ruling 45).
    """

    prefix: str
    account_id: str
    period: str
    allowance: int
    used: int
    reserved: int
    remaining: int | None
    window: bool
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class AccountDetail:
    """An account's periods, last label first (at most 200), and its newest reservations, at most 10,000.

    `open` counts those of them that are, `open_units` what these hold.
    """

    prefix: str
    account_id: str
    periods: tuple[AccountRow, ...]
    more_periods: bool
    open: Capped
    open_units: int
    reservations: Capped
    as_of: datetime


@dataclass(frozen=True, slots=True)
class StateCounts:
    """How many reservations are in each state, each counted up to 10,000."""

    open: Capped
    expired: Capped
    fenced: Capped
    due: Capped

    @classmethod
    def together(cls, *parts: StateCounts) -> StateCounts:
        """The sums of several, each stopping at 10,000 again."""
        return cls(
            open=together(*(part.open for part in parts)),
            expired=together(*(part.expired for part in parts)),
            fenced=together(*(part.fenced for part in parts)),
            due=together(*(part.due for part in parts)),
        )


@dataclass(frozen=True, slots=True)
class MeterRow:
    """A meter found by its two tables. `fences` is False for tables without the two fence columns (ruling 35).

    `account_periods` counts its rows of accounts, one for each period. `held_units` is the sum over the open
    reservations that are due first, 10,000 of them; `more` where there are others.
    """

    prefix: str
    counts: StateCounts
    account_periods: Capped
    held_units: Capped
    fences: bool


@dataclass(frozen=True, slots=True)
class AdopterRow:
    """A table with the reserved-commit convention. Without a primary key its rows cannot be listed (ruling 34)."""

    table: str
    counts: StateCounts
    listed: bool


@dataclass(frozen=True, slots=True)
class AdopterTotals:
    """The adopting tables by name, at most a hundred; `more`: the catalogue has others."""

    rows: tuple[AdopterRow, ...]
    more: bool
    as_of: datetime


@dataclass(frozen=True, slots=True)
class ReservationTotals:
    """The store's open reservations by kind, and the money they hold over all days.

    `more_sources`: there are more meters or tables than one look takes; those left out are not counted.
    """

    day: StateCounts
    meter: StateCounts
    tentative: StateCounts
    held_micro: int
    more_sources: bool
    as_of: datetime

    @property
    def all(self) -> StateCounts:
        """The three kinds together."""
        return StateCounts.together(self.day, self.meter, self.tentative)


@dataclass(frozen=True, slots=True)
class ReservationDetail:
    """The whole story of one reservation, at one moment.

    `guard` is what an answer must be written under; None for a tentative row. `fate` is what a default pass
    does with it once `row.due_in` is zero or below. `evidence` and `usage` are JSON texts, whole. `runs` are
    an operation's newest 200, in order. Beside a day row stands its `day`, beside a meter's its `account`; None
    where that row is missing. `txn_rows`: how many rows the tentative row's transaction still has reserved in
    the same table.
    """

    row: ReservationRow
    guard: DayGuard | MeterGuard | None
    fate: DefaultFate
    evidence: str | None
    usage: str | None
    runs: tuple[RunRow, ...]
    more_runs: bool
    day: DayRow | None
    account: AccountRow | None
    txn_rows: Capped | None
    as_of: datetime
