"""The day store's fences: deferral, evidence, resolvers (spend.md 2A.6 to 2A.8, cases N; rulings 39 to 42, 65, 67)."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlalchemy import text

from engine.errors import CostCapExceeded, StoreFailure, UnsupportedStore, ValidationError
from engine.spend import Consumed, DaySweep, Deferred, ExpiredReservation, Released
from engine.spend.day import DayStore, SqlDayStore, day_spend, release_expired_spend, sweep
from tests.contract.test_spend_day import Totals, admit
from tests.support.background import LIMIT, background
from tests.support.daybooks import A0, A1, CAP, HOUR, Oracle, audited, day_is, ms, operation, reserve
from tests.support.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from engine.spend import DaySpend
    from engine.spend.answers import Answer
    from tests.support.harness import Harness

MINUTE = timedelta(minutes=1)
NOTHING = DaySweep(0, 0, 0, 0)
CHARGE = {"charge": "ch_1"}
RELEASED = Released()


def fenced(days: DaySpend, micro: int, **more: Any) -> str:
    """A reservation that no default may settle."""
    return reserve(days, micro, require_fence=True, **more)


def ids(days: DaySpend, at: datetime, **more: Any) -> list[str]:
    """What is due, by id."""
    return [item.id for item in days.expired(at, **more)]


def test_spend_N1_a_default_leaves_the_fenced_row(harness: Harness) -> None:
    days = harness.store.days
    held, _ = fenced(days, 400), reserve(days, 100)
    assert days.sweep(A1) == DaySweep(settled=1, released=0, deferred=0, left=1)
    day_is(days, 400, 100)
    assert ids(days, A1) == [held]


def test_spend_N2_a_resolver_defers_and_then_releases(harness: Harness) -> None:
    days = harness.store.days
    held, _ = fenced(days, 400), reserve(days, 100)
    days.sweep(A1)
    oracle = Oracle(Deferred(ms(A1, 60_000), CHARGE))
    assert days.sweep(A1, oracle) == DaySweep(0, 0, 1, 0)
    shown = ExpiredReservation(held, "session", 400, A0, A1, True, None, 0, None, None)
    assert oracle.asked == [shown]
    day_is(days, 400, 100)

    assert days.expired(ms(A1, 59_999)) == []
    due = ms(A1, 60_000)
    again = ExpiredReservation(held, "session", 400, A0, A1, True, CHARGE, 1, None, None)
    assert days.expired(due) == [again]
    assert days.sweep(due) == DaySweep(0, 0, 0, 1)
    oracle = Oracle(RELEASED)
    assert days.sweep(due, oracle) == DaySweep(0, 1, 0, 0)
    assert oracle.asked == [again]
    day_is(days, 0, 100)
    for unknown in (held, "unknown"):
        assert not days.defer(unknown, due, CHARGE)
    audited(harness.store)


def test_spend_N3_a_deferral_fences_for_good_and_the_last_one_counts(harness: Harness) -> None:
    days = harness.store.days
    held = reserve(days, 100)
    assert days.defer(held, ms(A1, 1000), {"n": 1})
    assert days.sweep(ms(A1, 1000)) == DaySweep(0, 0, 0, 1)
    assert days.defer(held, ms(A1, 5000), {"n": 2})
    assert days.expired(ms(A1, 4999)) == []
    (item,) = days.expired(ms(A1, 5000))
    assert (item.require_fence, item.evidence, item.deferrals) == (True, {"n": 2}, 2)
    assert days.release(held, 40, A1)
    day_is(days, 0, 40)
    assert not days.defer(held, A1, {})


def test_spend_N3_a_next_check_before_the_expiry_does_not_hasten_it(harness: Harness) -> None:
    days = harness.store.days
    held = reserve(days, 100)
    assert days.defer(held, A0, {})
    assert ids(days, ms(A1, -1)) == []
    assert ids(days, A1) == [held]
    audited(harness.store)


NO_ANSWERS: list[Any] = [
    RuntimeError("no route to the provider \ud800"),
    None,
    "released",
    Released,
    Consumed(-1),
    Consumed(cast("int", 1.5)),
    Consumed(cast("int", True)),
    Deferred(A1, {}),
    Deferred(A1 - HOUR, {}),
    Deferred(A1.replace(tzinfo=None) + HOUR, {}),
    Deferred(cast("Any", None), {}),
    Deferred(A1 + HOUR, cast("Any", ["no object"])),
    Deferred(A1 + HOUR, {"long": "x" * 16_384}),
    Deferred(A1 + HOUR, {"not JSON": float("nan")}),
]


def test_spend_N4_no_proper_answer_is_a_deferral(harness: Harness) -> None:
    days = harness.store.days
    answers = {reserve(days, 10, require_fence=n % 2 == 0): no for n, no in enumerate(NO_ANSWERS)}
    assert days.sweep(A1, Oracle(answers), retry_after=MINUTE) == DaySweep(0, 0, len(answers), 0)
    day_is(days, 10 * len(answers), 0)
    assert days.expired(A1 + MINUTE - timedelta(microseconds=1)) == []
    due = days.expired(A1 + MINUTE)
    assert {item.id for item in due} == set(answers)
    for item in due:
        assert item.require_fence
        assert item.evidence is not None
        assert set(item.evidence) == {"error"}
    assert days.sweep(A1 + MINUTE) == DaySweep(0, 0, 0, len(answers))


def test_spend_N4_asks_again_after_45_seconds(harness: Harness) -> None:
    days = harness.store.days
    fenced(days, 400)
    days.sweep(A1, Oracle(ValueError("who knows")))
    assert days.expired(ms(A1, 44_999)) == []
    assert [item.evidence for item in days.expired(ms(A1, 45_000))] == [{"error": "ValueError: who knows"}]


def test_spend_N4_the_interval_is_checked_before_anything_is_touched(harness: Harness) -> None:
    days, oracle = harness.store.days, Oracle(RELEASED)
    reserve(days, 100)
    for retry_after in (timedelta(0), -MINUTE, 45, None, timedelta(days=365_000), timedelta.max):
        for resolver in (oracle, None):
            with pytest.raises(ValidationError):
                days.sweep(A1, resolver, retry_after=cast("timedelta", retry_after))
    assert oracle.asked == []
    day_is(days, 100, 0)


def test_spend_N5_what_is_fenced_stays_counted(harness: Harness) -> None:
    days = harness.store.days
    fenced(days, 900, cap_micro=1000)
    with pytest.raises(CostCapExceeded):
        reserve(days, 101, cap_micro=1000)
    assert reserve(days, 100, cap_micro=1000)


def test_spend_N6_a_store_without_fences_takes_neither_fence_nor_resolver(harness: Harness) -> None:
    class Unfenced(SqlDayStore):
        fenced_reservations = False

    days = harness.store.days
    reserve(days, 100)
    with harness.store.engine.begin() as connection:
        store = Unfenced(connection)
        with pytest.raises(UnsupportedStore):
            admit(store, require_fence=True)
        with pytest.raises(UnsupportedStore):
            release_expired_spend(store, A1, Oracle(RELEASED))
    day_is(days, 100, 0)

    class Bare(Totals):
        def __getattribute__(self, name: str) -> Any:
            if name in ("fenced_reservations", "operation_reservations"):
                raise AttributeError(name)
            raise AssertionError(f"{name} was touched")

    for call in (
        lambda: admit(Bare(0), require_fence=True),
        lambda: release_expired_spend(cast("DayStore", Bare(0)), A1, Oracle(RELEASED)),
    ):
        with pytest.raises(UnsupportedStore):
            call()


ANSWERS: list[tuple[Answer, DaySweep, int]] = [
    (Consumed(), DaySweep(1, 0, 0, 0), 100),
    (Consumed(30), DaySweep(1, 0, 0, 0), 30),
    (Consumed(700), DaySweep(1, 0, 0, 0), 100),
    (Consumed(0), DaySweep(1, 0, 0, 0), 0),
    (Released(), DaySweep(0, 1, 0, 0), 0),
]


@pytest.mark.parametrize(("answer", "swept", "settled"), ANSWERS)
def test_spend_N7_answers_settle(harness: Harness, answer: Answer, swept: DaySweep, settled: int) -> None:
    """2A.8: a resolver is asked about plain rows too, and its answer is the figure."""
    days = harness.store.days
    reserve(days, 100, thread_id="t1")
    oracle = Oracle(answer)
    assert days.sweep(A1, oracle) == swept
    assert [(item.require_fence, item.thread_id) for item in oracle.asked] == [(False, "t1")]
    day_is(days, 0, settled)
    assert days.sweep(A1, oracle) == NOTHING


def test_spend_O13_ruling_39_a_deferred_operation_is_never_settled_by_a_default(harness: Harness) -> None:
    days = harness.store.days
    begun = days.admit_operation(operation())
    assert days.defer(begun.reservation_id, A1, CHARGE)
    late = A1 + HOUR
    assert days.sweep(late) == DaySweep(0, 0, 0, 1)
    day_is(days, 1000, 0)
    oracle = Oracle(Consumed(999))
    assert days.sweep(late, oracle) == DaySweep(1, 0, 0, 0)
    assert [(item.micro, item.operation_id, item.evidence) for item in oracle.asked] == [(300, "op", CHARGE)]
    day_is(days, 0, 300)


def test_ruling_39_an_operation_is_not_asked_about_unless_fenced(harness: Harness) -> None:
    days = harness.store.days
    days.admit_operation(operation())
    oracle = Oracle(RELEASED)
    assert days.sweep(A1, oracle) == DaySweep(1, 0, 0, 0)
    assert oracle.asked == []
    day_is(days, 0, 300)


MEDDLED: list[tuple[Callable[[DaySpend, str], Any], int, int]] = [
    (lambda days, held: days.release(held, 7, A1), 0, 7),
    (lambda days, held: days.defer(held, A1 + HOUR, {"by": "another"}), 100, 0),
    (lambda days, held: days.defer(held, A1, {"by": "another"}), 100, 0),
]


@pytest.mark.parametrize(("meddle", "reserved", "settled"), MEDDLED)
def test_ruling_40_an_answer_to_what_has_changed_is_not_written(
    harness: Harness, meddle: Any, reserved: int, settled: int
) -> None:
    days, other = harness.store.days, harness.sibling().days
    answers: list[Any] = [Released(), Consumed(), Deferred(A1 + MINUTE, {}), OSError("down")]
    oracle = Oracle({reserve(days, 100): answer for answer in answers})

    def resolver(item: ExpiredReservation) -> Answer:
        # In another thread: nothing that the sweep holds keeps the owner from its row.
        assert background(meddle, other, item.id).result(LIMIT)
        return oracle(item)

    assert days.sweep(A1, resolver) == NOTHING
    assert len(oracle.asked) == len(answers)
    day_is(days, reserved * len(answers), settled * len(answers))
    found = {(str(item.evidence), item.deferrals) for item in days.expired(A1 + HOUR)}
    assert found == ({("{'by': 'another'}", 1)} if reserved else set())
    audited(harness.store)


def test_ruling_40_the_guard_of_a_person(harness: Harness) -> None:
    days = harness.store.days
    held = reserve(days, 100)
    for shown in (1, 2**31 - 1):
        assert not days.defer(held, A1, {}, expected_deferrals=shown)
        assert not days.release(held, 5, A1, expected_deferrals=shown)
    assert days.defer(held, A1, {}, expected_deferrals=0)
    assert not days.release(held, 5, A1, expected_deferrals=0)
    day_is(days, 100, 0)
    assert days.release(held, 5, A1, expected_deferrals=1)
    day_is(days, 0, 5)
    wrong: tuple[Any, ...] = (True, "1", 2**40)
    for shown in wrong:
        with pytest.raises(ValidationError):
            days.release(held, 5, A1, expected_deferrals=shown)


def test_ruling_41_due_at_is_kept_by_every_verb(harness: Harness) -> None:
    days = harness.store.days
    begun = days.admit_operation(operation(lease_until=A1 + HOUR))
    held = begun.reservation_id
    assert ids(days, ms(A1 + HOUR, -1)) == []
    assert ids(days, A1 + HOUR) == [held]
    assert days.defer(held, A1, {}), "a check before the lease's end does not hasten it"
    assert ids(days, ms(A1 + HOUR, -1)) == []
    assert ids(days, A1 + HOUR) == [held]
    assert days.defer(held, A1 + 2 * HOUR, {})
    assert ids(days, ms(A1 + 2 * HOUR, -1)) == []
    assert days.renew_run(held, 1, A1, A1 + 3 * HOUR)
    assert ids(days, ms(A1 + 3 * HOUR, -1)) == []
    assert ids(days, A1 + 3 * HOUR) == [held]
    audited(harness.store)
    assert days.end_run(held, 1, 10, A0)
    assert ids(days, ms(A1 + 2 * HOUR, -1)) == []
    assert ids(days, A1 + 2 * HOUR) == [held]
    audited(harness.store)


def test_ruling_42_a_thread_is_kept_and_never_interpreted(harness: Harness) -> None:
    days = harness.store.days
    reserve(days, 1, thread_id="t1")
    days.admit_operation(operation(thread_id="no such thread"))
    assert {item.thread_id for item in days.expired(A1)} == {"t1", "no such thread"}
    with pytest.raises(ValidationError):
        reserve(days, 1, thread_id="\0")


def test_ruling_65_pages_in_the_order_of_being_due(harness: Harness) -> None:
    days = harness.store.days
    rows = [reserve(days, n, expires=ms(A1, n % 3)) for n in range(1, 8)]
    whole = ids(days, A1 + HOUR)
    assert sorted(whole) == sorted(rows)
    order = [(item.expires_at, item.id) for item in days.expired(A1 + HOUR)]
    assert order == sorted(order)
    pages, after = [], None
    while page := ids(days, A1 + HOUR, after=after, limit=3):
        pages.append(page)
        after = page[-1]
    assert [len(page) for page in pages] == [3, 3, 1]
    assert list(itertools.chain(*pages)) == whole
    for limit in (0, -1, 1001, True):
        with pytest.raises(ValidationError):
            days.expired(A1, limit=limit)
    with pytest.raises(ValidationError):
        days.expired(A1, after="unknown")


def test_ruling_65_a_settled_row_keeps_its_place_and_one_put_off_loses_none(harness: Harness) -> None:
    days = harness.store.days
    for n in range(1, 6):
        reserve(days, n, expires=ms(A1, n))
    late = A1 + HOUR
    whole = ids(days, late)
    days.release(whole[1], 0, late)
    assert ids(days, late, after=whole[1]) == whole[2:]
    days.defer(whole[3], late + HOUR, {})
    assert ids(days, late, after=whole[3]) == [whole[0], whole[2], whole[4]]


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps of three rows a page."""
    monkeypatch.setattr(day_spend, "PAGE", 3)
    monkeypatch.setattr(sweep, "PAGE", 3)
    listing = SqlDayStore.expired_reservations

    def three(self: Any, at: Any, *, after: str | None = None, limit: int = 3) -> Any:
        return listing(self, at, after=after, limit=limit)

    monkeypatch.setattr(SqlDayStore, "expired_reservations", three)
    whole = day_spend._EachAlone.expired_reservations
    monkeypatch.setattr(
        day_spend._EachAlone,
        "expired_reservations",
        lambda self, at, after=None: whole(self, at, after=after, limit=3),
    )


@pytest.mark.parametrize("asking", [False, True])
def test_ruling_41_a_sweep_goes_through_every_page(harness: Harness, small_pages: None, asking: bool) -> None:
    days = harness.store.days
    rows = [reserve(days, 1, expires=ms(A1, n), require_fence=n % 3 == 2) for n in range(11)]
    put_off = Deferred(A1 + 2 * HOUR, {})
    answers: dict[str, Any] = {row: put_off if n % 3 == 2 else Consumed() for n, row in enumerate(rows)}
    oracle = Oracle(answers)
    swept = days.sweep(A1 + HOUR, oracle if asking else None)
    assert swept == (DaySweep(8, 0, 3, 0) if asking else DaySweep(8, 0, 0, 3))
    assert [item.id for item in oracle.asked] == (rows if asking else [])
    day_is(days, 3, 8)
    audited(harness.store)


def test_ruling_41_a_sweep_settles_days_of_several_dates_in_one_page(harness: Harness) -> None:
    days = harness.store.days
    for n in range(6):
        at = A0 + n % 3 * 24 * HOUR
        reserve(days, 10 + n, at=at, expires=at + HOUR)
    days.admit_operation(operation())
    assert days.sweep(A0 + 90 * HOUR) == DaySweep(7, 0, 0, 0)
    assert [days.total(f"2026-10-1{n}").settled_micro for n in (2, 3, 4)] == [323, 25, 27]
    audited(harness.store)


def test_spend_evidence_is_an_object_of_at_most_16_kib(harness: Harness) -> None:
    days = harness.store.days
    held = reserve(days, 1)
    wrong: tuple[Any, ...] = ([], "text", None, {"long": "x" * 16_384}, {"n": float("nan")}, {"b": b""})
    for evidence in wrong:
        with pytest.raises(ValidationError):
            days.defer(held, A1, evidence)
    largest = {"long": "x" * (16_384 - len('{"long":""}'))}
    assert days.defer(held, A1, largest)
    assert [item.evidence for item in days.expired(A1)] == [largest]


def test_spend_evidence_that_does_not_decode_is_named(harness: Harness) -> None:
    days = harness.store.days
    held = fenced(days, CAP)
    with harness.raw() as connection:
        connection.execute(text("UPDATE spend_day_reservations SET evidence = '{'"))
    with pytest.raises(StoreFailure, match=held):
        days.expired(A1)
    assert days.sweep(A1) == DaySweep(0, 0, 0, 1)


def test_spend_a_default_that_came_too_late_changes_nothing(harness: Harness) -> None:
    """A sweep over a caller's own transaction decides each row where it stands, not as it was listed."""
    days = harness.store.days
    held = reserve(days, 100)

    class Stale(SqlDayStore):
        def expired_reservations(self, *args: Any, **more: Any) -> list[ExpiredReservation]:
            """The listing, after which the row is deferred."""
            listed = super().expired_reservations(*args, **more)
            self.defer_reservation(held, A1, {})
            return listed

    with harness.store.engine.begin() as connection:
        assert release_expired_spend(Stale(connection), A1) == NOTHING
    day_is(days, 100, 0)
    refused(CostCapExceeded("session", "daily", 0.0001, 0.0001), reserve, days, 1, cap_micro=100)
