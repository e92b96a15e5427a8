"""Made-up money: reservations of every kind in every state, two meters, and a week of days."""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from console.model import Counted, Page
from console.money_model import (
    AccountQuery,
    AccountRow,
    AccountStory,
    DayRow,
    DayStory,
    Fate,
    FenceQuery,
    FenceRow,
    Guard,
    ReservationQuery,
    ReservationRow,
    ReservationStory,
    ReservationTotals,
    RunRow,
    StateCounts,
)
from console.money_words import Address, HoldState, Kind
from tests.console.fake_moment import T0, cut

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from console.model import ThreadRow

TODAY = "2026-05-04"
BIG = 9_007_199_254_740_993
EVIDENCE = json.dumps(
    {
        "provider": "reachable",
        "call": "k_55aa",
        "record": None,
        "asked": [1, 2],
        "micro": BIG,
        "note": "\x1b[2J",
    }
)
FIRST = timedelta(seconds=-200)
STEP = timedelta(seconds=31)


def day_reservation(number: int, thread: str | None) -> ReservationRow:
    """Every fifth is an operation, every third is fenced."""
    due_in = FIRST + STEP * number
    fenced, operation = number % 3 == 1, number % 5 == 2
    leased = operation and due_in > timedelta(0)
    return ReservationRow(
        address=Address(Kind.DAY, "", f"8c1f{number:04x}-77aa-4d20-b0c3-2f60aa{number:06d}"),
        state=state_of(due_in, fenced=fenced),
        owner=("llm.chat", "transcribe", "tool.search")[number % 3],
        micro=300_000 + number * 1_250_001,
        units=None,
        period=TODAY,
        operation=f"op-{number:04d}/index" if operation else None,
        attempt=3 if operation else None,
        recorded=120_000 if operation else None,
        lease_run=3 if leased else None,
        lease_until=T0 + due_in if leased else None,
        created_at=T0 - timedelta(minutes=4 + number),
        age=timedelta(minutes=4 + number),
        expires_at=T0 + due_in - timedelta(minutes=2 if fenced else 0),
        due_at=T0 + due_in,
        due_in=due_in,
        fenced=fenced,
        next_check_at=T0 + due_in if fenced else None,
        deferrals=number % 4 if fenced else 0,
        thread=thread,
    )


def meter_reservation(number: int) -> ReservationRow:
    """Units of the default meter's accounts."""
    due_in = FIRST + STEP * number + timedelta(seconds=7)
    fenced = number % 4 == 1
    return ReservationRow(
        address=Address(Kind.METER, "agentos_spend", f"run-{number:04d}/call"),
        state=state_of(due_in, fenced=fenced),
        owner=("acme", "globex", "initech")[number % 3],
        micro=None,
        units=1 + number * 7,
        period="2026-05",
        operation=f"run-{number:04d}/call",
        attempt=1 + number % 3,
        recorded=None,
        lease_run=None,
        lease_until=None,
        created_at=T0 - timedelta(seconds=45 + number),
        age=timedelta(seconds=45 + number),
        expires_at=T0 + due_in,
        due_at=T0 + due_in,
        due_in=due_in,
        fenced=fenced,
        next_check_at=T0 + due_in if fenced else None,
        deferrals=None,
        thread=None,
    )


def tentative_row(number: int) -> ReservationRow:
    """A row of a table with the reserved-commit convention."""
    due_in = FIRST + STEP * number + timedelta(seconds=13)
    return ReservationRow(
        address=Address(Kind.TENTATIVE, "outbox_mail", f'["{number}","mail"]'),
        state=state_of(due_in, fenced=False),
        owner=f"txn-{number:04d}",
        micro=None,
        units=None,
        period=None,
        operation=None,
        attempt=None,
        recorded=None,
        lease_run=None,
        lease_until=None,
        created_at=None,
        age=None,
        expires_at=T0 + due_in,
        due_at=T0 + due_in,
        due_in=due_in,
        fenced=False,
        next_check_at=None,
        deferrals=None,
        thread=None,
    )


def settled_reservation() -> ReservationRow:
    """One that a meter has settled."""
    return replace(
        meter_reservation(1),
        address=Address(Kind.METER, "agentos_spend", "run-0900/call"),
        state=HoldState.SETTLED,
        due_in=None,
        settled_at=T0 - timedelta(minutes=1),
        outcome="consumed",
        late=True,
    )


def older(row: ReservationRow, passed: timedelta) -> ReservationRow:
    """The same row some time later."""
    assert row.due_in is not None
    due_in = row.due_in - passed
    age = None if row.age is None else row.age + passed
    return replace(row, due_in=due_in, age=age, state=state_of(due_in, fenced=row.fenced))


def state_of(due_in: timedelta, *, fenced: bool) -> HoldState:
    """The word that the store would give."""
    over = due_in <= timedelta(0)
    if fenced:
        return HoldState.DUE if over else HoldState.FENCED
    return HoldState.EXPIRED if over else HoldState.OPEN


def fate_of(row: ReservationRow) -> Fate:
    """What the store says a default does."""
    if row.state is HoldState.SETTLED:
        return Fate.ALREADY_SETTLED
    if row.fenced:
        return Fate.LEFT_FENCED
    if row.address.kind is Kind.DAY:
        return Fate.SETTLED_AT_RECORDED if row.is_operation else Fate.SETTLED_WHOLE
    return Fate.METER_DEFAULT if row.address.kind is Kind.METER else Fate.DELETED


def runs_of(row: ReservationRow) -> tuple[RunRow, ...]:
    """Three runs: one settled, one that never ended, one that may hold the lease."""
    if not row.is_operation:
        return ()
    began = T0 - timedelta(minutes=3)
    ended = RunRow(1, 100_000, began, began + timedelta(seconds=20), 80_000, holds=False)
    lost = RunRow(2, 100_000, began + timedelta(seconds=40), None, None, holds=False)
    last = RunRow(3, 100_000, began + timedelta(seconds=80), None, None, holds=row.lease_run == 3)
    return ended, lost, last


def accounts() -> list[AccountRow]:
    """One nearly full, one full, one new, and one over a rolling window."""
    changed = T0 - timedelta(seconds=8)

    def account(
        name: str, used: int, reserved: int, allowance: int, meter: str = "agentos_spend"
    ) -> AccountRow:
        left = max(0, allowance - used - reserved)
        return AccountRow(meter, name, "2026-05", allowance, used, reserved, left, False, changed)

    return [
        account("acme", 780, 64, 1_000),
        account("globex", 450, 70, 500),
        account("initech", 3, 1, 2_000),
        account("nobody", 0, 0, 0),
        replace(account("acme", 41_000, 12, 600, "burst"), period="window", remaining=None, window=True),
    ]


def days() -> list[DayRow]:
    """A week, newest first."""
    return [
        DayRow(
            f"2026-05-{4 - n:02d}" if n < 4 else f"2026-04-{34 - n}",
            12_300_000 * (n == 0),
            41_250_001 - n * 5_000_000,
        )
        for n in range(7)
    ]


class FakeMoney:
    """The calls about money."""

    rows: list[ThreadRow]
    as_of: datetime

    @abstractmethod
    def _asked(self, what: str) -> None:
        """Note a call; fail if the fake is down."""

    def holds(self) -> Sequence[ReservationRow]:
        """All of them, first due first."""
        if not self.rows:
            return []
        thread = self.rows[0].id
        found = [day_reservation(number, thread if number % 2 == 0 else None) for number in range(12)]
        found += [meter_reservation(number) for number in range(9)]
        found += [tentative_row(number) for number in range(4)]
        passed = self.as_of - T0
        return [older(row, passed) for row in sorted(found, key=lambda row: (row.due_in, row.address.id))]

    def reservations(self, query: ReservationQuery, after: str | None, limit: int) -> Page[ReservationRow]:
        """Those that match."""
        self._asked("reservations")
        rows = [settled_reservation()] if query.state is HoldState.SETTLED else self.holds()
        return cut([row for row in rows if wanted(row, query)], after, limit, self.as_of)

    def count_reservations(self, query: ReservationQuery) -> Counted:
        """How many match."""
        self._asked("count reservations")
        return Counted(len(self.reservations(query, None, 1_000).rows), more=False)

    def reservation_totals(self) -> ReservationTotals:
        """How many of each kind, in which state."""
        self._asked("reservation totals")
        return self.totals()

    def totals(self) -> ReservationTotals:
        """The same, without being asked by the console."""
        day, meter, tentative = ([row for row in self.holds() if row.address.kind is kind] for kind in Kind)
        return ReservationTotals(
            all=counts(self.holds()),
            day=counts(day),
            meter=counts(meter),
            tentative=counts(tentative),
            held_micro=sum(row.micro or 0 for row in day),
            more_sources=False,
        )

    def reservation(self, address: Address) -> ReservationStory | None:
        """One of them, whole."""
        self._asked("reservation")
        found = [row for row in (*self.holds(), settled_reservation()) if row.address == address]
        return story_of(found[0]) if found else None

    def fences(self, query: FenceQuery, after: str | None, limit: int) -> Page[FenceRow]:
        """The fenced ones that match."""
        self._asked("fences")
        alike = ReservationQuery(query.kind, query.state, query.owner, None, query.thread, query.meter)
        rows = [row for row in self.holds() if row.fenced and wanted(row, alike)]
        found = [fence_of(row) for row in rows]
        if query.deferred is not None:
            found = [fence for fence in found if (fence.evidence is not None) is query.deferred]
        return cut(found, after, limit, self.as_of)

    def accounts(self, query: AccountQuery, after: str | None, limit: int) -> Page[AccountRow]:
        """Meter by meter."""
        self._asked("accounts")
        found = [row for row in accounts() if self.rows and query.meter in {None, row.meter}]
        return cut(found, after, limit, self.as_of)

    def account(self, meter: str, account: str) -> AccountStory | None:
        """One of them, with a period before."""
        self._asked("account")
        found = [row for row in accounts() if (row.meter, row.account) == (meter, account)]
        if not found:
            return None
        periods = (found[0], replace(found[0], period="2026-04"))
        return AccountStory(periods, False, Counted(3, more=False), 64, Counted(214, more=False))

    def days(self, after: str | None, limit: int) -> Page[DayRow]:
        """Newest first."""
        self._asked("days")
        return cut(days() if self.rows else [], after, limit, self.as_of)

    def day(self, day: str | None) -> DayStory:
        """One of them, or today."""
        self._asked("day")
        found = next((row for row in days() if row.day == (day or TODAY)), DayRow(day or TODAY, 0, 0))
        return DayStory(found, Counted(12, more=False), Counted(4, more=False), Counted(1_204, more=False))


def story_of(row: ReservationRow) -> ReservationStory:
    """The same with what its list leaves out."""
    day, meter = row.address.kind is Kind.DAY, row.address.kind is Kind.METER
    guard = Guard(deferrals=row.deferrals) if day else Guard(attempt=row.attempt, expires_at=row.expires_at)
    return ReservationStory(
        row=row,
        guard=guard if day or meter else None,
        fate=fate_of(row),
        evidence=fence_of(row).evidence if row.fenced else None,
        usage='{"tokens": 9007199254740993}' if row.state is HoldState.SETTLED else None,
        runs=runs_of(row),
        more_runs=False,
        day=days()[0] if day else None,
        account=next((each for each in accounts() if meter and each.account == row.owner), None),
        peers=Counted(2, more=False) if not day and not meter else None,
        as_of=T0,
    )


def fence_of(row: ReservationRow) -> FenceRow:
    """With evidence, once it was deferred."""
    was = row.deferrals is None or row.deferrals > 0
    return FenceRow(row, EVIDENCE if was else None, len(EVIDENCE) if was else 0)


def counts(rows: Sequence[ReservationRow]) -> StateCounts:
    """How many are in each state."""
    states = (HoldState.OPEN, HoldState.EXPIRED, HoldState.FENCED, HoldState.DUE)
    return StateCounts(*(Counted(sum(row.state is state for row in rows), more=False) for state in states))


def wanted(row: ReservationRow, query: ReservationQuery) -> bool:
    """What the store would answer."""
    return (
        (query.kind is None or row.address.kind is query.kind)
        and (query.state is None or row.state is query.state)
        and (query.owner is None or row.owner == query.owner)
        and (query.day is None or row.period == query.day)
        and (query.thread is None or row.thread == query.thread)
        and (query.meter is None or row.address.source == query.meter)
        and (query.table is None or row.address.source == query.table)
        and (not query.leased or row.lease_run is not None)
    )
