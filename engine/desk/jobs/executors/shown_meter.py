"""A meter's reservation as a plan or a form showed it: attempt and expiry (rulings 40 and 66)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.database.statement import Statement
from engine.desk.audit.model import ObjectKind
from engine.desk.jobs.executors.meter_tables import tables_of
from engine.desk.jobs.executors.outcomes import CHANGED, GONE, SETTLED, Words
from engine.desk.money_views import ReservationKind
from engine.spend.answers import Consumed, Deferred, Released, evidence_text
from engine.spend.meter.instants import from_ms, to_ms
from engine.spend.meter.model import Outcome, ReservationState, SettlementStatus
from engine.spend.meter.operator import defer_shown
from engine.spend.meter.rows import reservation_of
from engine.spend.meter.settle import Settling, settle
from engine.spend.meter.tables import MOST_PREFIXES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.desk.jobs.executor import Done
    from engine.spend.answers import Answer
    from engine.spend.meter.model import MeterReservation
    from engine.spend.meter.tables import MeterTables

NS_A_MS: Final = 1_000_000
_SAY: Final = Words(ObjectKind.RESERVATION)
_NO_FENCES: Final = "these tables know no fences, so it can be settled but not deferred"


class _Statements:
    def __init__(self, tables: MeterTables) -> None:
        row, meter = tables.reservations, tables.meter
        one = select(row).where(row.c.operation_id == bindparam("op"))
        self.read = Statement(one)
        self.lock = Statement(one.with_for_update())
        self.account = Statement(
            select(meter.c.used, meter.c.reserved).where(
                meter.c.account_id == bindparam("account"), meter.c.period == bindparam("span")
            )
        )


@lru_cache(maxsize=2 * MOST_PREFIXES)
def _statements(tables: MeterTables) -> _Statements:
    return _Statements(tables)


class ShownMeter:
    """A reserved row that is as it was shown, to the end of the transaction where it is locked."""

    kind: Final = ReservationKind.METER

    def __init__(self, tables: MeterTables, row: Any) -> None:
        self._tables = tables
        self._row = row
        self.fenced = tables.has_fences and bool(row.fenced)
        self.due_at: int = row.expires_at * NS_A_MS

    @property
    def held(self) -> int:
        """What is freed once it is settled: its units."""
        return int(self._row.units)

    @property
    def most(self) -> int:
        """What it is settled at, always whole: its units."""
        return self.held

    @property
    def question(self) -> MeterReservation:
        """As a resolver is asked about it."""
        row = self._row
        return reservation_of(row)

    def write(self, connection: Connection, answer: Answer, now: datetime) -> Done:
        """Settle it, always whole, or defer it."""
        match answer:
            case Consumed():
                return self._settle(connection, Outcome.CONSUMED, now)
            case Released():
                return self._settle(connection, Outcome.RELEASED, now)
            case Deferred(later, evidence):
                return self._defer(connection, later, evidence)

    def _settle(self, connection: Connection, outcome: Outcome, now: datetime) -> Done:
        row = self._row
        asked = Settling(row.operation_id, outcome, to_ms(now), None, row.attempts, row.expires_at)
        if settle(connection, self._tables, asked).status is not SettlementStatus.SETTLED:
            return _SAY.skipped(CHANGED)
        used = row.units if outcome is Outcome.CONSUMED else 0
        counted: Any = _statements(self._tables).account.one(
            connection, account=row.account_id, span=row.period
        )
        before = self._account(counted.used - used, counted.reserved + row.units)
        after = self._account(counted.used, counted.reserved)
        return _SAY.applied(
            self._facts(row) | {"account": before},
            {
                "state": asked.state.value,
                "outcome": outcome.value,
                "attempt": row.attempts,
                "account": after,
            },
        )

    def _defer(self, connection: Connection, later: datetime, evidence: Mapping[str, Any]) -> Done:
        if not self._tables.has_fences:
            return _SAY.impossible(_NO_FENCES)
        row = self._row
        values = {
            "op": row.operation_id,
            "attempt": row.attempts,
            "shown": row.expires_at,
            "until": to_ms(later),
            "evidence": evidence_text(evidence),
        }
        if not defer_shown(connection, self._tables, values):
            return _SAY.skipped(CHANGED)
        after: Any = _statements(self._tables).read.one(connection, op=row.operation_id)
        return _SAY.applied(self._facts(row), self._facts(after) | {"evidence": dict(evidence)})

    def _account(self, used: int, reserved: int) -> dict[str, Any]:
        row = self._row
        return {"account": row.account_id, "period": row.period, "used": used, "reserved": reserved}

    def _facts(self, row: Any) -> dict[str, Any]:
        return _facts(self._tables, row)


def read_meter(
    connection: Connection, prefix: str, operation: str, guard: Mapping[str, Any]
) -> ShownMeter | Done:
    """The row, if it is reserved and its guard still holds; by an ordinary look."""
    tables = tables_of(connection, prefix)
    return _shown(
        tables, None if tables is None else _statements(tables).read.one(connection, op=operation), guard
    )


def lock_meter(
    connection: Connection, prefix: str, operation: str, guard: Mapping[str, Any]
) -> ShownMeter | Done:
    """The same, and its row stays as it is to the transaction's end."""
    tables = tables_of(connection, prefix)
    return _shown(
        tables, None if tables is None else _statements(tables).lock.one(connection, op=operation), guard
    )


def _shown(tables: MeterTables | None, row: Any, guard: Mapping[str, Any]) -> ShownMeter | Done:
    if tables is None or row is None:
        return _SAY.skipped(GONE)
    if row.state != ReservationState.RESERVED.value:
        at = None if row.settled_at is None else from_ms(row.settled_at).isoformat()
        now = {"outcome": row.outcome, "attempt": row.attempts, "settled_at": at}
        return _SAY.skipped(SETTLED, now=now)
    if (row.attempts, row.expires_at) != (guard["attempt"], guard["expires_at"] // NS_A_MS):
        return _SAY.skipped(CHANGED, now=_facts(tables, row))
    return ShownMeter(tables, row)


def _facts(tables: MeterTables, row: Any) -> dict[str, Any]:
    fenced = tables.has_fences and bool(row.fenced)
    guard = {"attempt": row.attempts, "expires_at": row.expires_at * NS_A_MS}
    return {"state": row.state, "units": row.units, "fenced": fenced, **guard}
