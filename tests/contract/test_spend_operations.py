"""The day store's operations and their runs (spend.md 2A.9 to 2A.13, cases O; rulings 38, 67, 68)."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlalchemy import text

from engine.clock import from_ns
from engine.errors import CostCapExceeded, UnsupportedStore, ValidationError
from engine.spend import Begun, DaySweep, Gone, InFlight, OperationRow
from engine.spend.day import (
    DayStore,
    SqlDayStore,
    add_operation_reservation,
    admit_operation,
    lock_day,
    open_operation_reservation,
)
from tests.contract.test_spend_day import Totals
from tests.support.background import LIMIT, background, until
from tests.support.daybooks import (
    A0,
    A1,
    CAP,
    HOUR,
    MIDNIGHT,
    NEXT_DAY,
    D,
    audited,
    day_is,
    ms,
    operation,
    reserve,
)
from tests.support.locks import waiting_for_locks
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from engine.spend import DaySpend
    from engine.spend.day.model import Admitted
    from tests.support.harness import Harness

NAN = float("nan")


class Operation:
    """Run 1 of the operation of cases O, begun at A0."""

    def __init__(self, days: DaySpend, **more: Any) -> None:
        self.days = days
        begun = days.admit_operation(operation(**more))
        assert begun == Begun(begun.reservation_id, 1)
        self.id = begun.reservation_id

    def begin(self, at: datetime, *, bound: int = 300, lease: datetime | None = None) -> Admitted:
        """Another run, leased for a second unless said otherwise."""
        until = ms(at, 1000) if lease is None else lease
        return self.days.begin_run(self.id, at, until, bound, 3)

    def end(self, run: int, figure: Any, at: datetime, *, close: bool = False) -> bool:
        """End a run at a figure."""
        return self.days.end_run(self.id, run, figure, at, close)

    def renew(self, run: int, at: datetime, lease: datetime) -> bool:
        """Move a run's lease."""
        return self.days.renew_run(self.id, run, at, lease)

    @property
    def row(self) -> OperationRow:
        """The row as it stands."""
        row = self.days.open_operation("op")
        assert row is not None
        return row

    def is_at(self, recorded: int, holder: int | None) -> None:
        """The recorded figure, and the run that holds the lease."""
        assert (self.row.recorded_micro, self.row.lease_run) == (recorded, holder)


def runs(harness: Harness) -> list[tuple[int, int, int | None, datetime | None]]:
    """Every run's number, bound, figure and end."""
    with harness.raw() as connection:
        rows = connection.execute(
            text("SELECT run, bound_micro, settled_micro, ended_at FROM spend_day_runs ORDER BY 1")
        )
        return [(*row[:3], None if row[3] is None else from_ns(row[3])) for row in rows]


def test_spend_O1_an_operation_has_one_row(harness: Harness) -> None:
    days = harness.store.days
    with harness.store.engine.begin() as connection:
        lock_day(connection, D)
        held = add_operation_reservation(connection, operation())
        assert held is not None
        assert add_operation_reservation(connection, operation(micro=5, run_micro=5)) is None
        assert open_operation_reservation(connection, "unknown") is None
    day_is(days, 1000, 0)
    assert days.open_operation("op") == OperationRow(
        held, "op", "call", 1000, 300, 1, 1, ms(A0, 1000), A1, None
    )
    assert days.open_operation("unknown") is None
    assert runs(harness) == [(1, 300, None, None)]
    audited(harness.store)


def test_spend_O2_runs_follow_each_other(harness: Harness) -> None:
    op = Operation(harness.store.days)
    assert op.begin(ms(A0, 999)) == InFlight(op.id)
    assert op.end(1, 120, ms(A0, 500))
    op.is_at(120, None)
    assert not op.end(1, 50, ms(A0, 500))
    op.is_at(120, None)
    assert op.begin(ms(A0, 600)) == Begun(op.id, 2)
    op.is_at(420, 2)
    assert op.end(2, 500, ms(A0, 700))
    op.is_at(420, None)
    assert op.begin(ms(A0, 800)) == Begun(op.id, 3)
    op.is_at(720, 3)
    assert op.row.lease_until == ms(A0, 1800)
    day_is(op.days, 1000, 0)
    audited(harness.store)


def three_runs(days: DaySpend) -> Operation:
    """Case O2's three runs, of which the last never ended."""
    op = Operation(days)
    op.end(1, 120, ms(A0, 500))
    op.begin(ms(A0, 600))
    op.end(2, 500, ms(A0, 700))
    op.begin(ms(A0, 800))
    return op


def test_spend_O3_swept_at_what_is_recorded(harness: Harness) -> None:
    op = three_runs(harness.store.days)
    assert op.begin(ms(A0, 1800)) == Gone(op.id)
    op.is_at(720, 3)
    assert op.days.expired(ms(A1, -1)) == []
    assert [(item.id, item.micro) for item in op.days.expired(A1)] == [(op.id, 720)]
    assert op.days.sweep(A1) == DaySweep(1, 0, 0, 0)
    day_is(op.days, 0, 720)
    assert op.end(3, 10, A1)
    assert runs(harness)[2] == (3, 300, 10, A1)
    day_is(op.days, 0, 720)
    assert op.begin(A1) == Gone(op.id)
    audited(harness.store)


def test_spend_O4_a_run_must_fit_in_what_is_left(harness: Harness) -> None:
    op = Operation(harness.store.days, micro=500)
    op.end(1, 250, ms(A0, 1))
    assert op.begin(ms(A0, 2), bound=251) == Gone(op.id)
    assert op.begin(ms(A0, 2), bound=250) == Begun(op.id, 2)


def test_spend_O5_a_run_that_was_taken_over_writes_only_its_own_row(harness: Harness) -> None:
    op = Operation(harness.store.days)
    assert op.begin(ms(A0, 1000), bound=200) == Begun(op.id, 2)
    op.is_at(500, 2)
    assert not op.renew(1, ms(A0, 1001), ms(A0, 9000))
    assert op.end(1, 10, ms(A0, 1002))
    assert runs(harness)[0] == (1, 300, 10, ms(A0, 1002))
    op.is_at(500, 2)
    assert op.end(2, 50, ms(A0, 1500), close=True)
    day_is(op.days, 0, 350)
    assert (op.row.recorded_micro, op.row.settled_micro) == (350, 350)
    audited(harness.store)


def test_spend_O6_a_lapsed_lease_that_nobody_took_is_still_held(harness: Harness) -> None:
    op = Operation(harness.store.days)
    assert op.end(1, 80, ms(A0, 5000))
    op.is_at(80, None)


def test_spend_O7_renewing_a_live_lease(harness: Harness) -> None:
    op = Operation(harness.store.days)
    assert op.renew(1, ms(A0, 999), ms(A0, 3000))
    assert op.begin(ms(A0, 2999)) == InFlight(op.id)
    assert not op.renew(1, ms(A0, 3000), ms(A0, 9000))
    assert op.begin(ms(A0, 3000)) == Begun(op.id, 2)


def test_spend_O8_a_lease_holds_a_sweep_off_past_the_expiry(harness: Harness) -> None:
    op = Operation(harness.store.days, lease_until=ms(A1, 1000))
    assert op.days.expired(A1) == []
    assert op.begin(A1) == Gone(op.id)
    assert op.renew(1, ms(A1, 999), ms(A1, 2000))
    assert op.end(1, 90, ms(A1, 1500))
    day_is(op.days, 0, 90)
    assert op.days.sweep(A1 + HOUR) == DaySweep(0, 0, 0, 0)
    audited(harness.store)


def test_spend_O9_closed_at_nothing(harness: Harness) -> None:
    op = Operation(harness.store.days)
    assert op.end(1, 0, ms(A0, 1), close=True)
    day_is(op.days, 0, 0)
    assert op.begin(ms(A0, 2)) == Gone(op.id)


def test_spend_O10_later_runs_charge_the_day_of_the_first(harness: Harness) -> None:
    start = datetime(2026, 10, 12, 23, 59, tzinfo=UTC)
    op = Operation(harness.store.days, at=start, expires=start + 2 * HOUR, lease_until=ms(start, 1000))
    late = MIDNIGHT + timedelta(minutes=10)
    again = op.days.admit_operation(operation(at=late, expires=late + HOUR, lease_until=ms(late, 1000)))
    assert again == Begun(op.id, 2)
    assert op.end(2, 100, ms(late, 500), close=True)
    day_is(op.days, 0, 400)
    day_is(op.days, 0, 0, NEXT_DAY)


def test_spend_O11_two_admissions_of_a_new_operation(harness: Harness) -> None:
    stores = [harness.sibling() for _ in range(4)]
    for n in range(8):
        wish = operation(f"op-{n}")
        outcomes = all_succeeded(together(*(partial(store.days.admit_operation, wish) for store in stores)))
        (begun,) = (outcome for outcome in outcomes if isinstance(outcome, Begun))
        assert begun.run == 1
        assert outcomes.count(InFlight(begun.reservation_id)) == len(stores) - 1
    day_is(stores[0].days, 8000, 0)
    audited(harness.store)


def test_spend_O12_a_store_without_operations(harness: Harness) -> None:
    class NoOperations(Totals):
        operation_reservations = False

    with pytest.raises(UnsupportedStore):
        admit_operation(cast("DayStore", NoOperations(0)), operation())
    with pytest.raises(UnsupportedStore):
        admit_operation(cast("DayStore", object()), operation())


def test_spend_O_a_first_admission_is_under_the_cap_and_a_later_one_is_not(harness: Harness) -> None:
    days = harness.store.days
    reserve(days, CAP - 999)
    with pytest.raises(CostCapExceeded) as caught:
        days.admit_operation(operation())
    assert caught.value == CostCapExceeded("call", "daily", 59.999001, 60.0)
    assert days.open_operation("op") is None
    op = Operation(days, cap_micro=CAP + 1)
    op.end(1, 300, ms(A0, 1))
    # What the second says of kind, amount, cap and expiry is not looked at.
    other = operation(
        kind="other", micro=9999, cap_micro=0, expires=A0, at=ms(A0, 2), lease_until=ms(A0, 1000)
    )
    assert days.admit_operation(other) == Begun(op.id, 2)
    assert (op.row.kind, op.row.micro, op.row.expires_at) == ("call", 1000, A1)


WRONG: list[dict[str, Any]] = [
    {"run_micro": 1001},
    {"run_micro": -1},
    {"micro": 1.5},
    {"micro": NAN},
    {"max_runs": 0},
    {"max_runs": True},
    {"max_runs": 2**31},
    {"at": None},
    {"expires": A1.replace(tzinfo=None)},
    {"lease_until": "soon"},
    {"operation_id": 5},
    {"kind": None},
    {"thread_id": b""},
]


def test_spend_O_an_admission_is_checked_before_the_store_is_touched(harness: Harness) -> None:
    days = harness.store.days
    for wrong in WRONG:
        admission = dataclasses.replace(operation(), **wrong)
        with pytest.raises(ValidationError):
            days.admit_operation(admission)
        with harness.store.engine.begin() as connection, pytest.raises(ValidationError):
            add_operation_reservation(connection, admission)
    day_is(days, 0, 0)


def test_spend_O_a_run_without_a_figure_costs_its_bound(harness: Harness) -> None:
    op = Operation(harness.store.days)
    for run, figure in enumerate([NAN, float("inf"), -1, 10**400], 1):
        if run > 1:
            assert op.days.begin_run(op.id, ms(A0, 1), ms(A0, 2), 200, 9) == Begun(op.id, run)
        assert op.end(run, figure, ms(A0, 1))
        op.is_at(100 + 200 * run, None)


def test_spend_O_a_reservation_without_operation_has_no_runs(harness: Harness) -> None:
    days = harness.store.days
    for held in (reserve(days, 1000), "unknown"):
        assert days.begin_run(held, A0, A1, 1, 3) == Gone(held)
        assert not days.renew_run(held, 1, A0, A1)
        assert not days.end_run(held, 1, 5, A0, close=True)
    day_is(days, 1000, 0)


def test_spend_O_an_owner_may_settle_an_operation_at_any_figure(harness: Harness) -> None:
    """2A.4: the figure is held to the row's amount, not to what is recorded."""
    op = Operation(harness.store.days)
    assert op.days.release(op.id, 900, A0)
    day_is(op.days, 0, 900)
    assert not op.renew(1, A0, A1)
    assert op.begin(A0) == Gone(op.id)
    assert op.row.lease_run is None
    audited(harness.store)


def test_ruling_68_the_first_end_of_a_run_that_lost_its_lease(harness: Harness) -> None:
    op = Operation(harness.store.days)
    op.begin(ms(A0, 1000))
    op.end(2, 7, ms(A0, 1001), close=True)
    assert op.end(1, 5, ms(A0, 1002))
    assert not op.end(1, 5, ms(A0, 1003))
    assert not op.end(4, 5, ms(A0, 1003))
    day_is(op.days, 0, 307)


def test_ruling_38_no_reservation_is_locked_while_a_day_is_held(postgres_harness: Harness) -> None:
    """An admission that met somebody else's row, while an end of that row waits for the day it holds."""
    harness = postgres_harness
    first, second = harness.sibling(), harness.sibling()
    with first.engine.begin() as making:
        lock_day(making, D)
        held = add_operation_reservation(making, operation())
        assert held is not None
        # It waits for the day; when that is free, the operation has a row.
        admission = background(
            second.days.admit_operation, operation(at=ms(A0, 2000), lease_until=ms(A0, 3000))
        )
        until(lambda: waiting_for_locks(harness) == 1, "the second admission waits")
    assert admission.result(LIMIT) == Begun(held, 2)

    with first.engine.begin() as admitting:
        lock_day(admitting, D)
        ending = background(second.days.end_run, held, 2, 10, ms(A0, 2500), True)
        until(lambda: waiting_for_locks(harness) == 1, "the end, which holds its row, waits for the day")
        answer = admit_operation(Met(admitting), operation(at=ms(A0, 9000)))
        assert answer == InFlight(held)
    assert ending.result(LIMIT)
    day_is(first.days, 0, 310)


class Met(SqlDayStore):
    """The store of an admission whose first look came before the row was committed."""

    _looked = False

    def open_operation_reservation(self, operation_id: str) -> OperationRow | None:
        """Nothing the first time."""
        if self._looked:
            return super().open_operation_reservation(operation_id)
        self._looked = True
        return None


@pytest.mark.parametrize(
    ("at", "settle", "expected"), [(A1, False, Gone), (A0, True, Gone), (A0, False, InFlight)]
)
def test_ruling_38_what_an_admission_met_is_read(
    harness: Harness, at: datetime, settle: bool, expected: Any
) -> None:
    op = Operation(harness.store.days)
    if settle:
        op.days.release(op.id, 5, A0)
    with harness.store.engine.begin() as connection:
        answer = admit_operation(Met(connection), operation(at=at))
    assert answer == expected(op.id)
    audited(harness.store)
