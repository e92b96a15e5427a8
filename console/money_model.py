"""What the screens show of money: frozen rows, the questions asked about them, and the calls that answer.

Amounts are whole micro-dollars (`micro`) of the day store, or whole units of a meter; a tentative row has neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from console.money_words import Kind

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from console.model import Counted, Page
    from console.money_words import Address, HoldState


class Fate(StrEnum):
    """What a pass without a resolver does with a reservation whose time is over."""

    SETTLED_WHOLE = "settled_whole"
    SETTLED_AT_RECORDED = "settled_at_recorded"
    LEFT_FENCED = "left_fenced"
    METER_DEFAULT = "meter_default"
    DELETED = "deleted"
    ALREADY_SETTLED = "already_settled"


@dataclass(frozen=True, slots=True)
class ReservationQuery:
    """Which reservations to list; without a state, all that are open, fenced or not."""

    kind: Kind | None = None
    state: HoldState | None = None
    owner: str | None = None
    day: str | None = None
    thread: str | None = None
    meter: str | None = None
    table: str | None = None
    leased: bool = False


@dataclass(frozen=True, slots=True)
class FenceQuery:
    """Which fences to list; `deferred`: with evidence, or never deferred."""

    kind: Kind | None = None
    state: HoldState | None = None
    owner: str | None = None
    thread: str | None = None
    meter: str | None = None
    deferred: bool | None = None


@dataclass(frozen=True, slots=True)
class AccountQuery:
    """Which accounts to list: of one meter, or of every meter that is found."""

    meter: str | None = None


@dataclass(frozen=True, slots=True)
class DayQuery:
    """The day store's days, newest first."""


@dataclass(frozen=True, slots=True)
class ReservationRow:
    """One reservation of any kind.

    `owner` is a day row's kind word, a meter's account, a tentative row's transaction; `period` the UTC day or
    the meter's period. `due_in` is zero or below once a pass may look at it, None when it is over. `next_check_at`
    is set once it was deferred; `deferrals` is None for a meter, which keeps no count. `attempt` is a meter's
    attempt or how many runs an operation began; `recorded` and the lease belong to operations.
    """

    address: Address
    state: HoldState
    owner: str | None
    micro: int | None
    units: int | None
    period: str | None
    operation: str | None
    attempt: int | None
    recorded: int | None
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
    thread: str | None
    settled_at: datetime | None = None
    settled_micro: int | None = None
    outcome: str | None = None
    late: bool = False

    @property
    def is_operation(self) -> bool:
        """Whether it pays for the runs of an operation."""
        return self.address.kind is Kind.DAY and self.operation is not None


@dataclass(frozen=True, slots=True)
class FenceRow:
    """A fenced reservation with the beginning of its evidence: `size` bytes, None before the first deferral."""

    row: ReservationRow
    evidence: str | None
    size: int


@dataclass(frozen=True, slots=True)
class Guard:
    """What an answer is written under: a day row's deferrals, or a meter's attempt and the expiry shown."""

    deferrals: int | None = None
    attempt: int | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of an operation; `settled` and `ended_at` are None until it ended, `holds` says it has the lease."""

    run: int
    bound: int
    began_at: datetime
    ended_at: datetime | None
    settled: int | None
    holds: bool


@dataclass(frozen=True, slots=True)
class DayRow:
    """The totals of a UTC day, in micro-dollars."""

    day: str
    reserved: int
    settled: int

    @property
    def committed(self) -> int:
        """What an admission compares with its cap."""
        return self.reserved + self.settled


@dataclass(frozen=True, slots=True)
class DayStory:
    """A day, and how many reservations it has: `fenced` of the `open` of `all`."""

    row: DayRow
    open: Counted
    fenced: Counted
    all: Counted


@dataclass(frozen=True, slots=True)
class AccountRow:
    """One period of an account, in units. `remaining` is None for a rolling window, of which `used` is no measure."""

    meter: str
    account: str
    period: str
    allowance: int
    used: int
    reserved: int
    remaining: int | None
    window: bool
    updated_at: datetime

    @property
    def committed(self) -> int:
        """Used and reserved together."""
        return self.used + self.reserved


@dataclass(frozen=True, slots=True)
class AccountStory:
    """An account's periods, last label first, and its reservations: `open` of `all`, which hold `open_units`."""

    periods: tuple[AccountRow, ...]
    more_periods: bool
    open: Counted
    open_units: int
    all: Counted


@dataclass(frozen=True, slots=True)
class StateCounts:
    """How many reservations are in each state."""

    open: Counted
    expired: Counted
    fenced: Counted
    due: Counted


@dataclass(frozen=True, slots=True)
class ReservationTotals:
    """The open reservations, together and by kind, and the money they hold over all days.

    `more_sources`: there are meters or tables that were not counted.
    """

    all: StateCounts
    day: StateCounts
    meter: StateCounts
    tentative: StateCounts
    held_micro: int
    more_sources: bool


@dataclass(frozen=True, slots=True)
class ReservationStory:
    """All that is stored of one reservation; `day` stands beside a day row, `account` beside a meter's.

    `guard` is None for a tentative row; `peers` counts what its transaction still has reserved in the same table.
    `evidence` and `usage` are whole JSON texts.
    """

    row: ReservationRow
    guard: Guard | None
    fate: Fate
    evidence: str | None
    usage: str | None
    runs: tuple[RunRow, ...]
    more_runs: bool
    day: DayRow | None
    account: AccountRow | None
    peers: Counted | None
    as_of: datetime


class MoneyGateway(Protocol):
    """The reading calls about money. Each is a bounded read, may block, and raises `GatewayError` only."""

    def reservations(self, query: ReservationQuery, after: str | None, limit: int) -> Page[ReservationRow]:
        """Reservations, first due first; settled ones newest first."""
        ...

    def count_reservations(self, query: ReservationQuery) -> Counted:
        """How many match, capped."""
        ...

    def reservation_totals(self) -> ReservationTotals:
        """How many are open, in which states, capped, and what they hold."""
        ...

    def reservation(self, address: Address) -> ReservationStory | None:
        """One reservation, whole; None when there is none at this address."""
        ...

    def fences(self, query: FenceQuery, after: str | None, limit: int) -> Page[FenceRow]:
        """Fenced open reservations, first check first."""
        ...

    def accounts(self, query: AccountQuery, after: str | None, limit: int) -> Page[AccountRow]:
        """Accounts and their periods, meter by meter."""
        ...

    def account(self, meter: str, account: str) -> AccountStory | None:
        """One account; None when its meter has no row of it."""
        ...

    def days(self, after: str | None, limit: int) -> Page[DayRow]:
        """Totals of days, newest first."""
        ...

    def day(self, day: str | None) -> DayStory:
        """One day; None stands for today, by the store's clock."""
        ...
