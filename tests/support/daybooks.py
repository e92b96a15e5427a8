"""The day store's cases (spend.md 5): their constants, short forms of its calls, and the audit of its books."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from engine.spend.day import DayTotal, ExpiredReservation, OperationAdmission

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.answers import Answer
    from engine.spend.day import DaySpend
    from engine.store import Store

A0 = datetime(2026, 10, 12, 10, tzinfo=UTC)
A1 = datetime(2026, 10, 12, 11, tzinfo=UTC)
D, NEXT_DAY = "2026-10-12", "2026-10-13"
CAP = 60_000_000
HOUR = timedelta(hours=1)
MIDNIGHT = datetime(2026, 10, 13, tzinfo=UTC)


def ms(start: datetime, count: int) -> datetime:
    """So many milliseconds after `start`."""
    return start + timedelta(milliseconds=count)


def reserve(days: DaySpend, micro: Any, **more: Any) -> str:
    """A session of `micro` from A0 to A1 under CAP, unless said otherwise."""
    fields: dict[str, Any] = {"kind": "session", "at": A0, "expires": A1, "cap_micro": CAP}
    return days.reserve(micro=micro, **(fields | more))


def operation(operation_id: str = "op", **more: Any) -> OperationAdmission:
    """The operation of cases O: 1000 in all, 300 a run, three runs, leased for a second."""
    fields: dict[str, Any] = {
        "kind": "call",
        "micro": 1000,
        "run_micro": 300,
        "at": A0,
        "expires": A1,
        "lease_until": ms(A0, 1000),
        "cap_micro": CAP,
        "max_runs": 3,
    }
    return OperationAdmission(operation_id, **(fields | more))


def committed(days: DaySpend, day: str = D) -> int:
    """What counts against a cap that day."""
    return days.total(day).committed_micro


def day_is(days: DaySpend, reserved: int, settled: int, day: str = D) -> None:
    """The day's totals are these."""
    assert days.total(day) == DayTotal(day, reserved, settled)


class Oracle:
    """A resolver that gives each reservation the answer laid down for it, and notes what it was asked."""

    def __init__(self, answers: dict[str, Answer | Exception] | Answer | Exception) -> None:
        self.asked: list[ExpiredReservation] = []
        self._answers = answers

    def __call__(self, item: ExpiredReservation) -> Answer:
        """The answer, or the exception raised."""
        self.asked.append(item)
        answer = self._answers[item.id] if isinstance(self._answers, dict) else self._answers
        if isinstance(answer, Exception):
            raise answer
        return answer


_TOTALS = text(
    "SELECT d.day, d.reserved_micro, d.settled_micro,"
    " coalesce(sum(CASE WHEN r.settled_at IS NULL THEN r.micro END), 0) AS open_micro,"
    " coalesce(sum(r.settled_micro), 0) AS closed_micro"
    " FROM spend_days d LEFT JOIN spend_day_reservations r ON r.day = d.day"
    " GROUP BY d.day, d.reserved_micro, d.settled_micro"
)
_ROWS = text("SELECT * FROM spend_day_reservations")
_RUNS = text("SELECT * FROM spend_day_runs ORDER BY reservation_id, run")


def audit(connection: Connection) -> None:
    """Every total is the sum of its rows, every due time the latest of its three, every record the runs' sum.

    The last holds while no run was taken over: a run that ends late corrects nothing.
    """
    for total in connection.execute(_TOTALS):
        assert (total.reserved_micro, total.settled_micro) == (total.open_micro, total.closed_micro), total
    runs = connection.execute(_RUNS).all()
    for row in connection.execute(_ROWS):
        times = (row.expires_at, row.next_check_at, row.lease_until)
        assert row.due_at == max(time for time in times if time is not None), row
        mine = [run for run in runs if run.reservation_id == row.id]
        assert [run.run for run in mine] == list(range(1, (row.runs or 0) + 1)), row
        if row.operation_id is not None:
            least = sum(run.bound_micro if run.ended_at is None else run.settled_micro for run in mine)
            assert least <= row.recorded_micro <= row.micro, row


def audited(store: Store) -> None:
    """`audit` of what a store holds."""
    with store.engine.begin() as connection:
        audit(connection)
