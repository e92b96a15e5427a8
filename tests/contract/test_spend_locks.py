"""Who waits for whom in the day store on PostgreSQL: the reservation, then the day, and days by date (2A.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

from engine.errors import CostCapExceeded
from engine.spend import DaySweep
from engine.spend.day import add_reservation, lock_day, settle_reservation
from tests.support.background import LIMIT, background, until
from tests.support.daybooks import A0, A1, HOUR, NEXT_DAY, D, audited, committed, day_is, reserve
from tests.support.locks import waiting_for_locks

if TYPE_CHECKING:
    from tests.support.harness import Harness

DAY = 24 * HOUR


def test_spend_a_sweep_passes_by_a_row_that_is_being_settled(postgres_harness: Harness) -> None:
    harness = postgres_harness
    first, second = harness.sibling(), harness.sibling()
    taken, _ = reserve(first.days, 100), reserve(first.days, 10)
    with first.engine.begin() as settling:
        settle_reservation(settling, taken, 40, A1)
        # It settles the other row, and waits for the day alone.
        sweep = background(second.days.sweep, A1)
        until(lambda: waiting_for_locks(harness) == 1, "the sweep waits for the day")
    assert sweep.result(LIMIT) == DaySweep(1, 0, 0, 0)
    day_is(first.days, 0, 50)
    audited(first)


def test_spend_a_sweep_takes_its_days_by_date(postgres_harness: Harness) -> None:
    """The later day's row is due first; what waits for the earlier day holds no later one."""
    harness = postgres_harness
    first, second, third = harness.sibling(), harness.sibling(), harness.sibling()
    reserve(first.days, 100, at=A0 + DAY, expires=A1)
    reserve(first.days, 10, expires=A1 + HOUR)
    with first.engine.begin() as admitting:
        lock_day(admitting, D)
        sweep = background(second.days.sweep, A1 + DAY)
        until(lambda: waiting_for_locks(harness) == 1, "the sweep waits for the earlier day")
        with third.engine.begin() as other:
            other.execute(text("SET LOCAL lock_timeout = '2s'"))
            assert lock_day(other, NEXT_DAY) == 100
    assert sweep.result(LIMIT) == DaySweep(2, 0, 0, 0)
    day_is(first.days, 0, 10)
    day_is(first.days, 0, 100, NEXT_DAY)


def test_spend_an_admission_reads_what_the_one_before_it_committed(postgres_harness: Harness) -> None:
    harness = postgres_harness
    first, second = harness.sibling(), harness.sibling()
    reserve(first.days, 1)
    with first.engine.begin() as admitting:
        assert lock_day(admitting, D) == 1
        waiting = background(reserve, second.days, 60, cap_micro=100)
        until(lambda: waiting_for_locks(harness) == 1, "the second admission waits for the day")
        held = background(reserve, second.days, 60, cap_micro=100, at=A0 + DAY)
        assert held.result(LIMIT), "another day is free"
        add_reservation(admitting, "call", 60, A0, A1)
    assert isinstance(waiting.exception(LIMIT), CostCapExceeded)
    assert committed(first.days) == 61


def test_spend_a_release_waits_for_no_admission_of_another_day(postgres_harness: Harness) -> None:
    first, second = postgres_harness.sibling(), postgres_harness.sibling()
    held = reserve(first.days, 100)
    with first.engine.begin() as admitting:
        lock_day(admitting, NEXT_DAY)
        assert background(second.days.release, held, 5, A0 + DAY).result(LIMIT)
    day_is(first.days, 0, 5)
