"""The demo's agents and money: what the screens find at the first frame and later, and what is left alone."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from console.demo import DAILY_CAP, operations
from console.demo.agents import Fleet
from console.demo.bookkeeper import LEFT_EXPIRED, Bookkeeper
from console.demo.opening import Opening
from console.demo.play import known_ids
from console.demo.seats import LEFT_LAPSED
from engine.desk import ReservationKind
from engine.spend.day import utc_day

if TYPE_CHECKING:
    from datetime import datetime

    from engine import Store
    from engine.desk import ReservationTotals
    from tests.support.harness import Harness

MINUTE = timedelta(minutes=1)
TABLES = ("spend_days", "spend_day_reservations", "spend_day_runs", "demo_units_reservations", "demo_seats")


@pytest.fixture
def fleet(harness: Harness) -> Fleet:
    fleet = Fleet(harness.store, threads=6, seed=1)
    Opening(fleet, harness.clock.now()).write()
    return fleet


def _totals(fleet: Fleet) -> ReservationTotals:
    return fleet.store.desk.reservation_totals()


def _add_up(store: Store, day: str) -> bool:
    """Whether the day's totals are the sums of its rows."""
    sums = text(
        "SELECT coalesce(sum(CASE WHEN settled_at IS NULL THEN micro END), 0),"
        " coalesce(sum(settled_micro), 0) FROM spend_day_reservations WHERE day = :day"
    )
    with store.engine.begin() as connection:
        held, settled = connection.execute(sums, {"day": day}).one()
    total = store.days.total(day)
    return (held, settled) == (total.reserved_micro, total.settled_micro)


def test_at_the_opening_every_list_has_rows_of_every_state(fleet: Fleet, harness: Harness) -> None:
    totals = _totals(fleet)
    for counts in (totals.day, totals.meter):
        assert min(counts.open.count, counts.expired.count, counts.fenced.count, counts.due.count) > 0
    assert totals.tentative.open.count
    assert totals.tentative.expired.count

    desk = fleet.store.desk
    fences = desk.fences().rows
    assert {fence.due for fence in fences if fence.evidence} == {True, False}
    assert {fence.row.kind for fence in fences} == {ReservationKind.DAY, ReservationKind.METER}
    days = desk.days().rows
    assert len(days) == 6
    assert all(_add_up(fleet.store, row.day) and row.committed_micro < DAILY_CAP for row in days)
    account = desk.account("demo_units", "acme")
    assert account is not None
    assert len(account.periods) >= 2


def test_at_the_opening_operations_stand_at_three_points(fleet: Fleet) -> None:
    rows = [row for row in fleet.store.desk.reservations().rows if row.is_operation]
    assert sorted((row.attempt, str(row.state)) for row in rows) == [
        (1, "fenced"),
        (2, "expired"),
        (3, "open"),
    ]


def test_an_opening_is_the_same_each_time(harness: Harness) -> None:
    dumps = [_dump_of_an_opening(harness, harness.clock.now()) for _ in range(2)]
    assert dumps[0] == dumps[1]
    assert len(dumps[0]) > 60


def _dump_of_an_opening(harness: Harness, now: datetime) -> list[tuple[object, ...]]:
    store = harness.open()
    fleet = Fleet(store, threads=6, seed=1)
    with known_ids(fleet.dice("ids")):
        Opening(fleet, now).write()
    rows: list[tuple[object, ...]] = []
    with store.engine.begin() as connection:
        for table in TABLES:
            rows += sorted(map(tuple, connection.execute(text(f"SELECT * FROM {table}"))), key=str)
            connection.execute(text(f"DELETE FROM {table}"))
        connection.execute(text("DELETE FROM demo_units_meter"))
    return rows


def test_passes_settle_what_expired_and_leave_some_to_look_at(fleet: Fleet, harness: Harness) -> None:
    keeper, before = Bookkeeper(fleet), _totals(fleet)
    for _ in range(60):
        now = harness.clock.now()
        keeper.tend_days(now)
        keeper.tend_units(now)
        fleet.money.seats.tend(now)
        harness.clock.advance(2 * MINUTE)

    after = _totals(fleet)
    assert after.held_micro < before.held_micro
    assert after.day.expired.count <= LEFT_EXPIRED
    assert after.meter.expired.count <= LEFT_EXPIRED
    assert 0 < after.day.due.count + after.day.fenced.count <= before.day.due.count + before.day.fenced.count
    assert after.tentative.expired.count == LEFT_LAPSED
    assert all(_add_up(fleet.store, row.day) for row in fleet.store.desk.days().rows)


def test_passes_leave_somebody_elses_reservations_alone(fleet: Fleet, harness: Harness) -> None:
    now = harness.clock.now()
    theirs = [
        fleet.store.days.reserve(
            kind="theirs",
            micro=5,
            at=now - 90 * MINUTE,
            expires=now - 80 * MINUTE,
            cap_micro=DAILY_CAP,
            require_fence=fenced,
            thread_id=thread_id,
        )
        for fenced in (False, True)
        for thread_id in (None, "their-thread")
    ]

    Bookkeeper(fleet).tend_days(now)

    left = {item.id for item in fleet.store.days.expired(now) if item.kind == "theirs"}
    assert left == set(theirs)
    assert len([item for item in fleet.store.days.expired(now) if not item.require_fence]) == LEFT_EXPIRED + 2


def test_ruling_46_a_run_that_lost_its_operation_leaves_the_unit_alone(harness: Harness) -> None:
    fleet = Fleet(harness.store, threads=6, seed=1)
    subject, money = fleet.subjects[0], fleet.money
    first = operations.begin(money, "op", subject, random.Random(1))
    assert first is not None
    assert operations.begin(money, "op", subject, random.Random(2)) is None
    harness.clock.advance(operations.LEASE)
    second = operations.begin(money, "op", subject, random.Random(2))
    assert second is not None

    first.close()

    held = {each.operation_id: each.attempt for each in money.units.operator.list().reservations}
    assert held == {"op/1": 1, "op/2": 1}
    row = money.days.open_operation("op")
    assert row is not None
    assert (row.lease_run, row.settled_micro) == (2, None)
    second.close()
    assert [each.operation_id for each in money.units.operator.list().reservations] == ["op/1"]
    row = money.days.open_operation("op")
    assert row is not None
    assert row.settled_micro is not None


def test_a_run_settles_what_it_held_and_a_dead_one_does_not(harness: Harness) -> None:
    fleet = Fleet(harness.store, threads=6, seed=1)
    day = utc_day(harness.clock.now())
    for number, subject in enumerate(fleet.subjects[:2]):
        claim = fleet.claim(subject, f"worker-{number}")
        assert claim is not None
        work = fleet.work(subject, claim, random.Random(number))
        work.begin()
        work.step()
        if number == 0:
            work.close()
            assert fleet.store.days.total(day).reserved_micro == 0
            assert fleet.store.days.total(day).settled_micro > 0

    harness.clock.advance(2 * MINUTE)
    left = fleet.store.days.expired(harness.clock.now())
    assert [item.kind for item in left] == ["call", "session"]
    assert {item.thread_id for item in left} == {fleet.subjects[1].thread_id}


def test_a_day_that_is_full_already_admits_nothing_of_the_demo(harness: Harness) -> None:
    now = harness.clock.now()
    harness.store.days.reserve(
        kind="theirs", micro=DAILY_CAP, at=now, expires=now + MINUTE, cap_micro=DAILY_CAP
    )
    fleet = Fleet(harness.store, threads=6, seed=1)

    Opening(fleet, now).write()

    assert operations.begin(fleet.money, "op", fleet.subjects[0], random.Random(1)) is None
    assert harness.store.days.total(utc_day(now)).committed_micro == DAILY_CAP


def test_tables_of_the_same_names_that_are_somebody_elses_do_no_harm(harness: Harness) -> None:
    with harness.store.engine.begin() as connection:
        for name in ("demo_seats", "demo_units_meter", "demo_units_reservations"):
            connection.execute(text(f"CREATE TABLE {name} (thing text)"))
    fleet = Fleet(harness.store, threads=6, seed=1)
    now = harness.clock.now()

    Opening(fleet, now).write()
    fleet.money.seats.tend(now)

    assert operations.begin(fleet.money, "op", fleet.subjects[0], random.Random(1)) is None
    assert not fleet.money.seats.hold("txn", "guest", random.Random(1), now)
    assert _totals(fleet).day.open.count
