"""From the engine's records of money to the console's rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.gateway.rows import counted
from console.money_model import (
    AccountRow,
    AccountStory,
    DayRow,
    DayStory,
    Fate,
    FenceRow,
    Guard,
    ReservationRow,
    ReservationStory,
    ReservationTotals,
    RunRow,
    StateCounts,
)
from console.money_words import Address, HoldState, Kind

if TYPE_CHECKING:
    from engine import desk


def reservation_row(row: desk.ReservationRow) -> ReservationRow:
    """A reservation of any kind."""
    return ReservationRow(
        address=Address(Kind[row.kind.name], row.source, row.reservation_id),
        state=HoldState[row.state.name],
        owner=row.owner,
        micro=row.micro,
        units=row.units,
        period=row.period,
        operation=row.operation_id,
        attempt=row.attempt,
        recorded=row.recorded_micro,
        lease_run=row.lease_run,
        lease_until=row.lease_until,
        created_at=row.created_at,
        age=row.age,
        expires_at=row.expires_at,
        due_at=row.due_at,
        due_in=row.due_in,
        fenced=row.fenced,
        next_check_at=row.next_check_at,
        deferrals=row.deferrals,
        thread=row.thread_id,
        settled_at=row.settled_at,
        settled_micro=row.settled_micro,
        outcome=row.outcome,
        late=row.settled_late,
    )


def fence_row(fence: desk.FenceRow) -> FenceRow:
    """A fence with the beginning of its evidence."""
    return FenceRow(reservation_row(fence.row), fence.evidence, fence.size)


def totals(found: desk.ReservationTotals) -> ReservationTotals:
    """What is open, by kind and by state."""
    return ReservationTotals(
        all=_counts(found.all),
        day=_counts(found.day),
        meter=_counts(found.meter),
        tentative=_counts(found.tentative),
        held_micro=found.held_micro,
        more_sources=found.more_sources,
    )


def _counts(found: desk.StateCounts) -> StateCounts:
    return StateCounts(counted(found.open), counted(found.expired), counted(found.fenced), counted(found.due))


def story(found: desk.ReservationDetail) -> ReservationStory:
    """All that is stored of one reservation."""
    return ReservationStory(
        row=reservation_row(found.row),
        guard=None if found.guard is None else _guard(found.guard),
        fate=Fate[found.fate.name],
        evidence=found.evidence,
        usage=found.usage,
        runs=tuple(map(_run, found.runs)),
        more_runs=found.more_runs,
        day=None if found.day is None else day_row(found.day),
        account=None if found.account is None else account_row(found.account),
        peers=None if found.txn_rows is None else counted(found.txn_rows),
        as_of=found.as_of,
    )


def _guard(found: desk.DayGuard | desk.MeterGuard) -> Guard:
    from engine import desk

    if isinstance(found, desk.DayGuard):
        return Guard(deferrals=found.deferrals)
    return Guard(attempt=found.attempt, expires_at=found.expires_at)


def _run(run: desk.RunRow) -> RunRow:
    return RunRow(run.run, run.bound_micro, run.began_at, run.ended_at, run.settled_micro, run.holds)


def day_row(row: desk.DayRow) -> DayRow:
    """A day's totals."""
    return DayRow(row.day, row.reserved_micro, row.settled_micro)


def day_story(found: desk.DayDetail) -> DayStory:
    """A day with what it has open."""
    return DayStory(
        day_row(found.row), counted(found.open), counted(found.fenced), counted(found.reservations)
    )


def account_row(row: desk.AccountRow) -> AccountRow:
    """One period of an account."""
    return AccountRow(
        meter=row.prefix,
        account=row.account_id,
        period=row.period,
        allowance=row.allowance,
        used=row.used,
        reserved=row.reserved,
        remaining=row.remaining,
        window=row.window,
        updated_at=row.updated_at,
    )


def account_story(found: desk.AccountDetail) -> AccountStory:
    """An account with its periods."""
    return AccountStory(
        tuple(map(account_row, found.periods)),
        found.more_periods,
        counted(found.open),
        found.open_units,
        counted(found.reservations),
    )
