"""A reservation of the day store as a plan or a form showed it: deferrals, expiry, next check (ruling 40)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.clock import from_ns
from engine.database.statement import Statement
from engine.desk.audit.model import ObjectKind
from engine.desk.jobs.executors.outcomes import CHANGED, GONE, SETTLED, Words
from engine.desk.money_views import ReservationKind
from engine.spend.answers import Consumed, Deferred, Released
from engine.spend.day import days
from engine.spend.day.model import expired_of
from engine.spend.day.reservations import defer_reservation, settle_reservation
from engine.spend.day.tables import reservation

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.desk.jobs.executor import Done
    from engine.spend.answers import Answer
    from engine.spend.day.model import ExpiredReservation

_SAY: Final = Words(ObjectKind.RESERVATION)
_ROW: Final = select(reservation).where(reservation.c.id == bindparam("which"))
READ: Final = Statement(_ROW)
LOCK: Final = Statement(_ROW.with_for_update())
_GUARD: Final = ("deferrals", "expires_at", "next_check_at")


class ShownDay:
    """An open reservation that is as it was shown, to the end of the transaction where its row is locked."""

    kind: Final = ReservationKind.DAY

    def __init__(self, row: Any) -> None:
        self._row = row
        self.fenced = bool(row.require_fence)
        self.due_at: int = row.due_at

    @property
    def question(self) -> ExpiredReservation:
        """As a resolver is asked about it."""
        row = self._row
        return expired_of(row)

    @property
    def held(self) -> int:
        """What is freed of the day's limit once it is settled, however little of it was spent; micro-dollars."""
        return int(self._row.micro)

    @property
    def most(self) -> int:
        """What it is settled at whole: an operation at what its runs may have cost so far."""
        recorded: int | None = self._row.recorded_micro
        return self.held if recorded is None else recorded

    def write(self, connection: Connection, answer: Answer, now: datetime) -> Done:
        """Settle or defer it; a figure is held to `most` (ruling 67)."""
        match answer:
            case Consumed(figure):
                return self._settle(connection, self.most if figure is None else min(figure, self.most), now)
            case Released():
                return self._settle(connection, 0, now)
            case Deferred(later, evidence):
                return self._defer(connection, later, evidence)

    def _settle(self, connection: Connection, micro: int, now: datetime) -> Done:
        row = self._row
        if not settle_reservation(connection, row.id, micro, now, expected_deferrals=row.deferrals):
            return _SAY.skipped(CHANGED)
        total = days.total(connection, row.day)
        settled = max(0, min(micro, row.micro))
        reserved_before = total.reserved_micro + row.micro
        before = {"day": _day(row.day, reserved_before, total.settled_micro - settled)}
        after = {"day": _day(row.day, total.reserved_micro, total.settled_micro)}
        return _SAY.applied(_facts(row) | before, {"state": "settled", "settled_micro": settled} | after)

    def _defer(self, connection: Connection, later: datetime, evidence: Mapping[str, Any]) -> Done:
        row = self._row
        if not defer_reservation(connection, row.id, later, evidence, expected_deferrals=row.deferrals):
            return _SAY.skipped(CHANGED)
        after: Any = READ.one(connection, which=row.id)
        return _SAY.applied(_facts(row), _facts(after) | {"evidence": dict(evidence)})


def shown_day(
    connection: Connection, statement: Statement, which: str, guard: Mapping[str, Any]
) -> ShownDay | Done:
    """The row by READ or LOCK, if it is open and its guard still holds."""
    row: Any = statement.one(connection, which=which)
    if row is None:
        return _SAY.skipped(GONE)
    if row.settled_at is not None:
        at = from_ns(row.settled_at).isoformat()
        return _SAY.skipped(SETTLED, now={"settled_micro": row.settled_micro, "settled_at": at})
    if any(getattr(row, name) != guard[name] for name in _GUARD):
        return _SAY.skipped(CHANGED, now=_facts(row))
    return ShownDay(row)


def _facts(row: Any) -> dict[str, Any]:
    held = {"micro": row.micro, "recorded_micro": row.recorded_micro, "fenced": bool(row.require_fence)}
    return {"state": "open", **held, **{name: getattr(row, name) for name in _GUARD}}


def _day(day: str, reserved: int, settled: int) -> dict[str, Any]:
    return {"day": day, "reserved_micro": reserved, "settled_micro": settled}
