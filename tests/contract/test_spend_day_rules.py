"""The day store: rules of spend.md 2A that no numbered case stands for, and ruling 37's small stores."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest

from engine.errors import CostCapExceeded, UnsupportedStore, ValidationError
from engine.spend import Begun, Consumed, DaySweep, Deferred, ExpiredReservation, Gone, InFlight, Released
from engine.spend.day import (
    DayStore,
    admit_operation,
    begin_run,
    lock_day,
    release_expired_spend,
    release_spend,
    reserve_spend,
    total,
)
from tests.support.background import LIMIT, background, until
from tests.support.daybooks import A0, A1, CAP, HOUR, D, Oracle, audited, day_is, ms, operation, reserve
from tests.support.locks import waiting_for_locks

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from tests.support.harness import Harness

CHARGE = {"charge": "ch_1"}


class Untouchable:
    """A day store that says what it can do, and must not be asked for anything else."""

    def __init__(self, *, fences: bool, operations: bool = True) -> None:
        self.fenced_reservations, self.operation_reservations = fences, operations

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was touched")


def admit(store: object, **more: Any) -> str:
    """A fenced session of 1 micro under CAP."""
    fields: dict[str, Any] = {
        "kind": "session",
        "micro": 1,
        "at": A0,
        "expires": A1,
        "cap_micro": CAP,
        "require_fence": True,
    }
    return reserve_spend(cast("DayStore", store), **(fields | more))


IN_TURN: list[tuple[dict[str, Any], type[Exception]]] = [
    ({"micro": 1.5, "at": None, "cap_micro": -1}, ValidationError),
    ({"at": None, "cap_micro": -1}, ValidationError),
    ({"expires": A1.replace(tzinfo=None), "cap_micro": -1}, ValidationError),
    ({"cap_micro": -1}, UnsupportedStore),
]


@pytest.mark.parametrize(("wrong", "kind"), IN_TURN)
def test_spend_an_admission_is_checked_in_order(wrong: dict[str, Any], kind: type[Exception]) -> None:
    """2A.2: the amount, the times, the fence; only then is the store touched, and the cap looked at."""
    with pytest.raises(kind) as caught:
        admit(Untouchable(fences=False), **wrong)
    assert not isinstance(caught.value, ValidationError) or caught.value.field != "cap_micro"
    with pytest.raises(AssertionError, match="lock_day was touched"):
        admit(Untouchable(fences=True), cap_micro=-1)


def test_spend_an_operation_needs_its_store_before_anything_else() -> None:
    """2A.9 step 1."""
    nobody = cast("DayStore", Untouchable(fences=True, operations=False))
    with pytest.raises(UnsupportedStore):
        admit_operation(nobody, operation(micro=-1))
    with pytest.raises(ValidationError):
        admit_operation(cast("DayStore", Untouchable(fences=True)), operation(run_micro=1001))


def test_spend_a_run_is_refused_in_order(harness: Harness) -> None:
    """2A.10: gone by its end, then in flight, then gone by its bounds."""
    days = harness.store.days
    begun = days.admit_operation(operation())
    held = begun.reservation_id

    def begin(at: datetime, bound: int, most: int) -> object:
        return days.begin_run(held, at, ms(at, 1000), bound, most)

    live, lapsed = ms(A0, 999), ms(A0, 1000)
    assert begin(live, 9999, 1) == InFlight(held)
    assert begin(lapsed, 9999, 3) == Gone(held)
    assert begin(lapsed, 1, 1) == Gone(held)
    assert begin(A1, 1, 3) == Gone(held)
    assert begin(lapsed, 700, 2) == Begun(held, 2)
    assert begin(ms(A0, 1999), 1, 2) == InFlight(held)
    assert days.release(held, 5, A0)
    assert begin(ms(A0, 1999), 1, 3) == Gone(held)
    day_is(days, 0, 5)


@pytest.mark.parametrize(("early_ms", "settled"), [(1, None), (0, 90), (-1, 90)])
def test_spend_the_end_of_a_run_at_the_expiry_settles(
    harness: Harness, early_ms: int, settled: int | None
) -> None:
    """2A.11 step 2: from the operation's expiry on, whether it was told to close or not."""
    days = harness.store.days
    held = days.admit_operation(operation()).reservation_id
    assert days.end_run(held, 1, 90, ms(A1, -early_ms))
    row = days.open_operation("op")
    assert row is not None
    assert (row.recorded_micro, row.lease_run, row.settled_micro) == (90, None, settled)
    day_is(days, 1000 if settled is None else 0, settled or 0)


def test_spend_a_replay_of_an_admission_needs_no_room(harness: Harness) -> None:
    """2A.9 step 2: without the day's lock or its cap."""
    days = harness.store.days
    begun = days.admit_operation(operation(lease_until=A0))
    reserve(days, CAP - 1000)
    with pytest.raises(CostCapExceeded):
        days.admit_operation(operation("other"))
    again = operation(at=ms(A0, 1), cap_micro=0)
    assert days.admit_operation(again) == Begun(begun.reservation_id, 2)
    day_is(days, CAP, 0)


def test_spend_a_replay_waits_for_no_day(postgres_harness: Harness) -> None:
    first, second = postgres_harness.sibling(), postgres_harness.sibling()
    begun = first.days.admit_operation(operation(lease_until=A0))
    with first.engine.begin() as admitting:
        lock_day(admitting, D)
        again = background(second.days.admit_operation, operation(at=ms(A0, 1)))
        assert again.result(LIMIT) == Begun(begun.reservation_id, 2)


def test_spend_two_runs_wait_for_one_row(postgres_harness: Harness) -> None:
    """2A.10 is row-locked: who comes second sees the first one's lease."""
    first, second = postgres_harness.sibling(), postgres_harness.sibling()
    held = first.days.admit_operation(operation(lease_until=A0)).reservation_id
    with first.engine.begin() as beginning:
        assert begin_run(beginning, held, ms(A0, 1), ms(A0, 1000), 300, 3) == Begun(held, 2)
        other = background(second.days.begin_run, held, ms(A0, 1), ms(A0, 1000), 300, 3)
        until(lambda: waiting_for_locks(postgres_harness) == 1, "the second run waits")
    assert other.result(LIMIT) == InFlight(held)


def test_spend_a_known_figure_settles_whatever_is_fenced(harness: Harness) -> None:
    """2A.4: a fence bars defaults, not owners; the figure is held to the amount, on the row's own day."""
    days = harness.store.days
    plain, fenced, deferred = (reserve(days, 100, require_fence=n == 1) for n in range(3))
    days.defer(deferred, A1 + HOUR, CHARGE)
    late = A1 + timedelta(days=3)
    assert [days.release(held, 300, late) for held in (plain, fenced, deferred)] == [True] * 3
    day_is(days, 0, 300)
    with harness.store.engine.begin() as connection:
        assert total(connection, "2026-10-15").committed_micro == 0
    audited(harness.store)


def test_spend_a_deferral_changes_no_total_and_no_amount(harness: Harness) -> None:
    """2A.7: it stays counted, at its amount and with its expiry."""
    days = harness.store.days
    held = reserve(days, 100)
    before = days.expired(A1)
    assert days.defer(held, A1, CHARGE)
    (after,) = days.expired(A1)
    assert [(item.micro, item.expires_at) for item in (*before, after)] == [(100, A1)] * 2
    day_is(days, 100, 0)


def test_spend_a_sweep_asks_nothing_of_an_empty_store(harness: Harness) -> None:
    oracle = Oracle(Released())
    assert harness.store.days.sweep(A1, oracle) == DaySweep(0, 0, 0, 0)
    assert harness.store.days.sweep(A1) == DaySweep(0, 0, 0, 0)
    assert oracle.asked == []


@dataclass
class Row:
    """A reservation of the small store below."""

    item: ExpiredReservation
    settled: int | None = None
    deferrals: int = 0


@dataclass
class Small:
    """A day store of somebody else's: only the verbs that a sweep needs, over a list (ruling 37)."""

    rows: list[Row]
    meanwhile: Callable[[], object] = lambda: None
    fenced_reservations: bool = True
    operation_reservations: bool = True
    asked_after: list[str | None] = field(default_factory=list)

    def expired_reservations(self, at: datetime, *, after: str | None = None) -> list[ExpiredReservation]:
        """Everything, in one page; something may happen behind it."""
        self.asked_after.append(after)
        found = [row.item for row in self.rows if row.settled is None]
        self.meanwhile()
        return found

    def settle_reservation(
        self, reservation_id: str, micro: int, at: datetime, *, expected_deferrals: int | None = None
    ) -> bool:
        """One write, conditional on the row as it was shown."""
        (row,) = (row for row in self.rows if row.item.id == reservation_id)
        if row.settled is not None or row.deferrals != expected_deferrals:
            return False
        row.settled = micro
        return True

    def defer_reservation(
        self,
        reservation_id: str,
        next_check: datetime,
        evidence: Any,
        *,
        expected_deferrals: int | None = None,
    ) -> bool:
        """The same."""
        (row,) = (row for row in self.rows if row.item.id == reservation_id)
        row.deferrals += 1
        return True


def listed(name: str, micro: int, *, fence: bool = False, operation_id: str | None = None) -> Row:
    """A row that is due."""
    return Row(ExpiredReservation(name, "call", micro, A0, A1, fence, None, 0, operation_id, None))


def small(*rows: Row, **more: Any) -> tuple[Small, DayStore]:
    """The store, as what it is and as what the verbs take."""
    store = Small(list(rows), **more)
    return store, cast("DayStore", store)


def test_ruling_37_a_sweep_over_a_store_of_somebody_elses() -> None:
    store, given = small(listed("a", 5), listed("b", 7, fence=True), listed("c", 3, operation_id="op"))
    assert release_expired_spend(given, A1) == DaySweep(2, 0, 0, 1)
    assert [row.settled for row in store.rows] == [5, None, 3]

    rows = [listed(name, 10, fence=name > "w") for name in "wxyz"]
    store, given = small(*rows, listed("op", 3, operation_id="op"))
    answers: dict[str, Any] = {
        "w": Consumed(4),
        "x": Consumed(),
        "y": Released(),
        "z": Deferred(A1 + HOUR, {}),
    }
    oracle = Oracle(answers)
    assert release_expired_spend(given, A1, oracle) == DaySweep(3, 1, 1, 0)
    assert [item.id for item in oracle.asked] == ["w", "x", "y", "z"]
    assert [row.settled for row in store.rows] == [4, 10, 0, None, 3]
    assert store.asked_after == [None]


def test_ruling_37_a_default_is_written_under_what_was_listed() -> None:
    row = listed("a", 5)

    def deferred() -> None:
        row.deferrals = 1

    store, given = small(row, meanwhile=deferred)
    assert release_expired_spend(given, A1) == DaySweep(0, 0, 0, 0)
    assert store.rows[0].settled is None


def test_ruling_37_a_release_over_a_store_of_somebody_elses() -> None:
    settled: list[int] = []

    class Ledger:
        def settle_reservation(self, reservation_id: str, micro: int, at: datetime) -> bool:
            """The figure is checked by whoever calls; the amount is the store's to hold it to."""
            settled.append(micro)
            return True

    store = cast("DayStore", Ledger())
    for figure in (7.9, 0, -1, float("nan")):
        assert release_spend(store, "a", figure, A0)
    assert settled[:2] == [7, 0]
    assert min(settled[2:]) >= 2**53 - 1
