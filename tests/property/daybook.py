"""The day store in plain integers and dicts: what `DaySpend` must do, without a database (spend.md 2A, 3.1, 3.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.errors import CostCapExceeded
from engine.spend import Begun, Consumed, DaySweep, Deferred, Gone, InFlight, Released
from engine.spend.day import utc_day

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from engine.spend.day import OperationAdmission


@dataclass
class Run:
    """A run of an operation."""

    bound: int
    settled: int | None = None


@dataclass
class Row:
    """A reservation; `runs` is empty but for an operation's."""

    id: str
    day: str
    micro: int
    expires: datetime
    fenced: bool = False
    next_check: datetime | None = None
    evidence: dict[str, Any] | None = None
    deferrals: int = 0
    settled: int | None = None
    recorded: int | None = None
    runs: list[Run] = field(default_factory=list)
    holder: int | None = None
    lease: datetime | None = None
    by_default: bool = False
    """Settled by a sweep that asked nobody."""

    @property
    def figure(self) -> int:
        """What it settles at when nobody says otherwise."""
        return self.micro if self.recorded is None else self.recorded

    def due(self, at: datetime) -> bool:
        """Whether it is open and listed at `at`."""
        times = (self.expires, self.next_check, self.lease)
        return self.settled is None and all(time is None or time <= at for time in times)

    def settle(self, figure: int) -> bool:
        """Once."""
        if self.settled is not None:
            return False
        self.settled = max(0, min(figure, self.micro))
        self.holder = self.lease = None
        return True


class Daybook:
    """Every row there ever was, by id, and operations by their own ids."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.operations: dict[str, Row] = {}

    def total(self, day: str) -> tuple[int, int]:
        """Reserved and settled."""
        mine = [row for row in self.rows.values() if row.day == day]
        return (
            sum(row.micro for row in mine if row.settled is None),
            sum(row.settled for row in mine if row.settled is not None),
        )

    def fits(self, kind: str, micro: int, at: datetime, cap: int) -> None:
        """CostCapExceeded unless it does."""
        committed = sum(self.total(utc_day(at)))
        if committed + micro > cap:
            raise CostCapExceeded(kind, "daily", committed / 1e6, cap / 1e6)

    def add(self, row: Row) -> None:
        """A row that was admitted."""
        self.rows[row.id] = row

    def release(self, row: Row, figure: int) -> bool:
        """The owner's figure, of which a negative one is none."""
        return row.settle(row.micro if figure < 0 else figure)

    def defer(self, row: Row, check: datetime, evidence: dict[str, Any], shown: int | None) -> bool:
        """Fence for good."""
        if row.settled is not None or shown not in (None, row.deferrals):
            return False
        row.fenced, row.next_check, row.evidence = True, check, evidence
        row.deferrals += 1
        return True

    def due(self, at: datetime) -> list[Row]:
        """What is due, in the order of being due."""
        rows = [row for row in self.rows.values() if row.due(at)]
        return sorted(
            rows, key=lambda row: (max(t for t in (row.expires, row.next_check, row.lease) if t), row.id)
        )

    def sweep(self, at: datetime, answers: dict[str, Any] | None, retry_after: timedelta) -> DaySweep:
        """A sweep whose resolver, if any, answers each row by its id; an exception for no answer."""
        settled = released = deferred = left = 0
        for row in self.due(at):
            if not row.fenced and (answers is None or row.runs):
                row.by_default = True
                settled += row.settle(row.figure)
            elif answers is None:
                left += 1
            else:
                match answers[row.id]:
                    case Consumed(figure):
                        settled += row.settle(row.figure if figure is None else min(figure, row.figure))
                    case Released():
                        released += row.settle(0)
                    case Deferred(later, evidence):
                        deferred += self.defer(row, later, dict(evidence), None)
                    case error:
                        evidence = {"error": f"{type(error).__name__}: {error}"}
                        deferred += self.defer(row, at + retry_after, evidence, None)
        return DaySweep(settled, released, deferred, left)

    def begin(
        self, row: Row, at: datetime, lease: datetime, bound: int, most: int
    ) -> Begun | InFlight | Gone:
        """2A.10, in its order."""
        if not row.runs or row.settled is not None or row.expires <= at:
            return Gone(row.id)
        if row.lease is not None and at < row.lease:
            return InFlight(row.id)
        assert row.recorded is not None
        if len(row.runs) >= most or row.recorded + bound > row.micro:
            return Gone(row.id)
        row.recorded += bound
        row.runs.append(Run(bound))
        row.holder, row.lease = len(row.runs), lease
        return Begun(row.id, len(row.runs))

    def admit(self, wish: OperationAdmission, row_id: str | None) -> Begun | InFlight | Gone:
        """2A.9; `row_id` is what the store called a new row."""
        row = self.operations.get(wish.operation_id)
        if row is not None:
            return self.begin(row, wish.at, wish.lease_until, wish.run_micro, wish.max_runs)
        self.fits(wish.kind, wish.micro, wish.at, wish.cap_micro)
        assert row_id is not None, "the store refused what fits"
        row = Row(row_id, utc_day(wish.at), wish.micro, wish.expires, recorded=wish.run_micro)
        row.runs, row.holder, row.lease = [Run(wish.run_micro)], 1, wish.lease_until
        self.operations[wish.operation_id] = row
        self.add(row)
        return Begun(row_id, 1)

    def end(self, row: Row, number: int, figure: int, at: datetime, close: bool) -> bool:
        """2A.11."""
        if not 1 <= number <= len(row.runs) or row.runs[number - 1].settled is not None:
            return False
        run = row.runs[number - 1]
        run.settled = run.bound if figure < 0 else min(figure, run.bound)
        if row.settled is None and row.holder == number:
            assert row.recorded is not None
            row.recorded += run.settled - run.bound
            row.holder = row.lease = None
            if close or row.expires <= at:
                row.settle(row.recorded)
        return True

    def renew(self, row: Row, number: int, at: datetime, lease: datetime) -> bool:
        """2A.12."""
        if row.settled is not None or row.holder != number or row.lease is None or row.lease <= at:
            return False
        row.lease = lease
        return True
