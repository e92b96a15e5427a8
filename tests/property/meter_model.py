"""The spend meter as its rules say, in whole numbers and plain dictionaries (spend.md 2B and 3.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from engine.spend import (
    DenialReason,
    Denied,
    MeterSnapshot,
    Outcome,
    PurgeReport,
    ReservationState,
    Reserved,
    Settlement,
    SettlementStatus,
)

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
LEASE: Final = 1000
WINDOW: Final = 4000
PERIOD: Final = 5000
ATTEMPTS: Final = 3
RESERVED, CONSUMED, RELEASED = (
    ReservationState.RESERVED,
    ReservationState.CONSUMED,
    ReservationState.RELEASED,
)
ENDS: Final = {Outcome.CONSUMED: CONSUMED, Outcome.RELEASED: RELEASED, Outcome.REPLACED: RELEASED}


def instant(at: int) -> datetime:
    """The instant of these milliseconds."""
    return EPOCH + timedelta(milliseconds=at)


def label_of(at: int) -> str:
    """The product's period: every five seconds a new one."""
    return f"p{at // PERIOD}"


@dataclass(slots=True)
class Row:
    """A reservation."""

    account: str
    period: str
    units: int
    state: ReservationState
    attempts: int
    reserved_at: int
    expires_at: int
    fenced: bool
    outcome: str | None = None
    settled_at: int | None = None
    evidence: str | None = None


@dataclass(slots=True)
class Account:
    """An account's row in one period."""

    allowance: int
    used: int
    reserved: int
    updated_at: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What a resolver is made to say: an outcome, or another time to ask at."""

    outcome: Outcome | None = None
    until: int = 0
    evidence: str = "{}"


class Meter:
    """The whole state, and each verb with the answer it must give."""

    def __init__(self, now: int, *, windowed: bool) -> None:
        self.now, self.windowed = now, windowed
        self.product: dict[str, int] = {}
        self.rows: dict[str, Row] = {}
        self.accounts: dict[tuple[str, str], Account] = {}

    @property
    def period(self) -> str:
        """The label of now."""
        return "window" if self.windowed else label_of(self.now)

    def reserve(self, account: str, operation: str, units: int, *, fenced: bool) -> Reserved | Denied:
        """2B.3."""
        old = self.rows.get(operation)
        replay = self._replay(old)
        if replay is not None:
            return Denied(replay, operation, account, self.period, self.snapshot(account).remaining)
        limit = self.product[account]
        used, reserved = self._held(account)
        room = limit - used - reserved
        if units > room:
            reason = DenialReason.ALLOWANCE_EXHAUSTED
            return Denied(reason, operation, account, self.period, max(0, room))
        attempt = 1 if old is None else old.attempts + 1
        until = self.now + LEASE
        self.rows[operation] = Row(account, self.period, units, RESERVED, attempt, self.now, until, fenced)
        row = self.accounts.setdefault((account, self.period), Account(limit, 0, 0, self.now))
        row.allowance, row.reserved, row.updated_at = limit, row.reserved + units, self.now
        return Reserved(operation, account, self.period, units, attempt, room - units, instant(until))

    def _replay(self, row: Row | None) -> DenialReason | None:
        if row is None or (row.state is RELEASED and row.attempts < ATTEMPTS):
            return None
        if row.state is RESERVED:
            return DenialReason.IN_FLIGHT
        return DenialReason.ALREADY_CONSUMED if row.state is CONSUMED else DenialReason.RETRIES_EXHAUSTED

    def _held(self, account: str) -> tuple[int, int]:
        if not self.windowed:
            row = self.accounts.get((account, self.period))
            return (0, 0) if row is None else (row.used, row.reserved)
        own = [row for row in self.rows.values() if row.account == account]
        since = self.now - WINDOW
        used = sum(row.units for row in own if row.state is CONSUMED and row.reserved_at >= since)
        return used, sum(row.units for row in own if row.state is RESERVED)

    def settle(self, operation: str, outcome: Outcome, attempt: int | None) -> Settlement:
        """2B.5."""
        row = self.rows.get(operation)
        if row is None:
            return Settlement(SettlementStatus.NOT_FOUND)
        if attempt is not None and attempt != row.attempts:
            return Settlement(SettlementStatus.STALE_ATTEMPT, row.state)
        if row.state is not RESERVED and (row.state, outcome) != (CONSUMED, Outcome.REPLACED):
            return Settlement(SettlementStatus.ALREADY_SETTLED, row.state)
        self._end(row, outcome)
        return Settlement(SettlementStatus.SETTLED, row.state)

    def _end(self, row: Row, outcome: Outcome) -> None:
        account = self.accounts.get((row.account, row.period))
        if account is not None:
            if row.state is RESERVED:
                account.reserved -= row.units
                account.used += row.units if outcome is Outcome.CONSUMED else 0
            else:
                account.used -= row.units
            account.updated_at = self.now
        row.state, row.outcome, row.settled_at = ENDS[outcome], outcome.value, self.now

    def heartbeat(self, operation: str, attempt: int | None) -> None:
        """2B.4."""
        row = self.rows.get(operation)
        if row is not None and row.state is RESERVED and attempt in (None, row.attempts):
            row.expires_at = max(row.expires_at, self.now + LEASE)

    def due(self, limit: int, *, fenced_too: bool) -> list[str]:
        """The page of a pass (4)."""
        found = [
            (row.expires_at, operation)
            for operation, row in self.rows.items()
            if row.state is RESERVED and row.expires_at <= self.now and (fenced_too or not row.fenced)
        ]
        return [operation for _, operation in sorted(found)[:limit]]

    def default(self, limit: int, outcome: Outcome) -> int:
        """A pass that asks nobody."""
        page = self.due(limit, fenced_too=False)
        for operation in page:
            self._end(self.rows[operation], outcome)
        return len(page)

    def write(self, operation: str, attempt: int, answer: Answer, *, fenced_too: bool) -> str:
        """An answer, under what it was asked of: what it counts as, "" for an owner who was first."""
        row = self.rows[operation]
        if row.state is not RESERVED:
            return ""
        if row.attempts != attempt or row.expires_at > self.now or (row.fenced and not fenced_too):
            return "pending"
        if answer.outcome is not None:
            self._end(row, answer.outcome)
            return row.state.value
        row.fenced, row.expires_at, row.evidence = True, answer.until, answer.evidence
        return "deferred"

    def defer(self, operation: str, attempt: int, shown: int, answer: Answer) -> bool:
        """A person's deferral."""
        row = self.rows.get(operation)
        if row is None or row.state is not RESERVED or (row.attempts, row.expires_at) != (attempt, shown):
            return False
        row.fenced, row.expires_at, row.evidence = True, answer.until, answer.evidence
        return True

    def snapshot(self, account: str) -> MeterSnapshot:
        """2B.7."""
        row = self.accounts.get((account, self.period))
        limit = self.product[account] if row is None else row.allowance
        used, reserved = self._held(account)
        return MeterSnapshot(account, self.period, limit, used, reserved, max(0, limit - used - reserved))

    def set_allowance(self, account: str, limit: int) -> None:
        """2B.8."""
        row = self.accounts.setdefault((account, self.period), Account(limit, 0, 0, self.now))
        row.allowance, row.updated_at = limit, self.now

    def purge(self, before: int, limit: int) -> PurgeReport:
        """2B.9."""
        old = [
            (row.settled_at, operation)
            for operation, row in self.rows.items()
            if row.settled_at is not None and row.settled_at < before and row.state is not RESERVED
        ]
        for _, operation in sorted(old)[:limit]:
            del self.rows[operation]
        idle = [
            key
            for key, row in sorted(self.accounts.items())
            if self.windowed and row.reserved == 0 and row.updated_at < before
        ][:limit]
        for key in idle:
            del self.accounts[key]
        return PurgeReport(min(limit, len(old)), len(idle))

    def copy_of(self, operation: str) -> Row:
        """The row as it is now."""
        return replace(self.rows[operation])
