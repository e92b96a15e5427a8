"""Reservations and fences of all kinds in one list: every filter and page size against the stored rows."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text, update

import engine.desk.money_counts
import engine.desk.money_pages
from engine.clock import from_ns
from engine.desk import (
    PREVIEW,
    Capped,
    FenceFilter,
    ReservationFilter,
    ReservationKind,
    ReservationState,
)
from engine.errors import StoreFailure, ValidationError
from engine.paging import encode_cursor
from engine.spend.day.tables import reservation
from engine.spend.meter.prefix import DEFAULT_PREFIX
from tests.support import money
from tests.support.money import BARE, NOW, expected, fences_expected, fill_money, kept
from tests.support.operator import whole

if TYPE_CHECKING:
    from tests.support.harness import Harness

K, S = ReservationKind, ReservationState
F = ReservationFilter
FILTERS = [
    *(F(kind, state) for kind in (None, *K) for state in (None, S.OPEN, S.EXPIRED, S.FENCED, S.DUE)),
    *(F(state=state, owner=owner) for state in (None, *S) for owner in ("account-0", "call", "txn-1", "no")),
    *(F(state=state, thread_id="thread-1") for state in (None, S.OPEN, S.EXPIRED, S.FENCED, S.DUE)),
    *(F(state=state, prefix=prefix) for state in (None, *S) for prefix in (DEFAULT_PREFIX, BARE)),
    *(
        F(state=state, table=table)
        for state in (None, S.OPEN, S.EXPIRED, S.DUE)
        for table in ("spots", "pairs")
    ),
    F(day="2026-10-08"),
    F(day="2026-10-09", state=S.EXPIRED, owner="session"),
    F(leased=True),
    F(leased=True, day="2026-10-08"),
    F(state=S.SETTLED),
]
FENCES = [
    *(FenceFilter(kind, state) for kind in (None, K.DAY, K.METER) for state in (None, S.FENCED, S.DUE)),
    *(FenceFilter(deferred=deferred, state=state) for deferred in (True, False) for state in (None, S.DUE)),
    *(FenceFilter(prefix=prefix) for prefix in (DEFAULT_PREFIX, BARE)),
    *(FenceFilter(owner=owner) for owner in ("call", "account-0")),
    FenceFilter(thread_id="thread-1"),
]


def address(row: Any) -> tuple[str, str, str]:
    return (row.kind.value, row.source, row.reservation_id)


@pytest.mark.parametrize("limit", [1, 3, 200])
def test_every_filter_lists_what_the_rows_say(harness: Harness, limit: int) -> None:
    fill_money(harness)
    desk, found, now = harness.store.desk, kept(harness), harness.now()
    seen = 0
    for wanted in FILTERS if limit == 200 else FILTERS[:: 3 + 2 * limit]:
        listed = whole(lambda after, w=wanted: desk.reservations(w, after, limit))  # type: ignore[misc]
        assert [address(row) for row in listed] == expected(found, wanted, now), wanted
        assert desk.count_reservations(wanted) == Capped(len(listed), more=False), wanted
        assert wanted.state is None or {row.state for row in listed} <= {wanted.state}
        seen += bool(listed)
    assert seen >= 4


@pytest.mark.parametrize("limit", [1, 2, 200])
def test_every_fence_filter_lists_what_the_rows_say(harness: Harness, limit: int) -> None:
    fill_money(harness)
    desk, found = harness.store.desk, kept(harness)
    for wanted in FENCES if limit == 200 else FENCES[::limit]:
        listed = whole(lambda after, w=wanted: desk.fences(w, after, limit))  # type: ignore[misc]
        assert [address(fence.row) for fence in listed] == fences_expected(found, wanted), wanted
        assert all(fence.row.fenced for fence in listed)
        assert all(fence.due == (fence.row.due_at <= harness.now()) for fence in listed)


def test_a_row_says_what_is_stored(harness: Harness) -> None:
    fill_money(harness)
    desk, now = harness.store.desk, harness.now()
    stored = {each.address: each for each in kept(harness)}
    for row in desk.reservations(limit=200).rows:
        each = stored[address(row)]
        assert (row.state, row.owner, row.fenced) == (each.state, each.owner, each.fenced)
        assert (row.due_at, row.expires_at is None) == (from_ns(each.at), False)
        assert row.due_in == from_ns(each.at) - now
        assert (row.settled_at, row.outcome, row.settled_late) == (None, None, False)
        getattr(TestWord, row.kind.value)(row, each.row, now)


class TestWord:
    """What only one kind has."""

    @staticmethod
    def day(row: Any, kept: Any, now: Any) -> None:
        assert (row.micro, row.units, row.period, row.operation_id) == (
            kept.micro,
            None,
            kept.day,
            kept.operation_id,
        )
        assert (row.attempt, row.recorded_micro, row.lease_run) == (
            kept.runs,
            kept.recorded_micro,
            kept.lease_run,
        )
        assert (row.deferrals, row.thread_id) == (kept.deferrals, kept.thread_id)
        assert row.is_operation == row.reservation_id.startswith("ops")
        assert (row.next_check_at is None) == (kept.next_check_at is None)
        assert (row.lease_until is None) == (kept.lease_until is None)
        assert row.age == now - row.created_at == money.LATER

    @staticmethod
    def meter(row: Any, kept: Any, now: Any) -> None:
        assert (row.micro, row.units, row.period) == (None, kept.units, kept.period)
        assert (row.operation_id, row.attempt) == (kept.operation_id, kept.attempts)
        assert (row.deferrals, row.thread_id, row.is_operation) == (None, None, False)
        deferred = getattr(kept, "evidence_json", None) is not None
        assert row.next_check_at == (row.expires_at if deferred else None)
        assert row.age == now - row.created_at == money.LATER

    @staticmethod
    def tentative(row: Any, _kept: Any, _now: Any) -> None:
        assert {row.micro, row.units, row.period, row.attempt, row.created_at, row.age} == {None}


def test_settled_units_tell_whether_a_default_may_have_done_it(harness: Harness) -> None:
    fill_money(harness)
    rows = harness.store.desk.reservations(F(state=S.SETTLED, prefix=DEFAULT_PREFIX)).rows
    assert [row.reservation_id for row in rows] == ["unit-9-3", "unit-6-3", "unit-3-3", "unit-0-3"]
    assert [row.settled_late for row in rows] == [False, False, False, True]
    assert {row.outcome for row in rows} == {"released"}
    assert {row.due_in for row in rows} == {None}


def test_a_fence_shows_the_beginning_of_its_evidence(harness: Harness) -> None:
    fill_money(harness)
    long = '{"said":"' + "x" * PREVIEW + '"}'
    with harness.raw() as connection:
        connection.execute(update(reservation).where(reservation.c.id == "day-4-2").values(evidence=long))
    fences = {fence.row.reservation_id: fence for fence in harness.store.desk.fences().rows}
    assert (fences["day-4-2"].evidence, fences["day-4-2"].size) == (long[:PREVIEW], len(long))
    assert (fences["day-4-1"].evidence, fences["day-4-1"].size) == (None, 0)
    assert fences["day-4-2"].row.deferrals == 2
    assert (fences["unit-3-2"].evidence, fences["unit-3-2"].size) == ('{"ticket":7}', 12)
    assert fences["unit-3-2"].row.deferrals is None


def test_a_due_fence_is_due_and_not_expired(harness: Harness) -> None:
    with harness.raw() as connection:
        rows = [money.day_values(5, require_fence=True), money.day_values(5) | {"id": "plain"}]
        connection.execute(insert(reservation), rows)
    desk = harness.store.desk

    def words() -> dict[str, ReservationState]:
        return {row.reservation_id: row.state for row in desk.reservations().rows}

    harness.advance(timedelta(seconds=5) - timedelta(microseconds=1))
    assert words() == {"day-00005": S.FENCED, "plain": S.OPEN}
    harness.advance(timedelta(microseconds=1))
    assert words() == {"day-00005": S.DUE, "plain": S.EXPIRED}


def test_a_unit_is_due_at_its_millisecond(harness: Harness) -> None:
    with harness.raw() as connection:
        tables = money.make_meter(connection, BARE, fences=False)
        connection.execute(insert(tables.reservations), [money.meter_values(5)])
    desk = harness.store.desk
    harness.advance(timedelta(seconds=5) - timedelta(microseconds=1))
    assert desk.reservations().rows[0].state is S.OPEN
    assert desk.count_reservations(F(state=S.EXPIRED)).count == 0
    harness.advance(timedelta(microseconds=1))
    (row,) = desk.reservations().rows
    assert (row.state, row.due_in) == (S.EXPIRED, timedelta(0))
    assert desk.count_reservations(F(state=S.EXPIRED)).count == 1


def test_a_cursor_holds_its_place_when_rows_and_sources_come_and_go(harness: Harness) -> None:
    fill_money(harness)
    desk = harness.store.desk
    page = desk.reservations(limit=5)
    before = expected(kept(harness), F(), harness.now())
    with harness.raw() as connection:
        last = address(page.rows[-1])
        connection.execute(reservation.delete().where(reservation.c.id == last[2]))
        connection.execute(text("DROP TABLE spots"))
        first = money.make_meter(connection, "aaa")
        connection.execute(insert(first.reservations), [money.meter_values(0), money.meter_values(11)])
    rest = whole(lambda after: desk.reservations(after=after or page.next, limit=5))
    gone = {each for each in before if each[1].endswith("spots")}
    listed = [address(row) for row in rest]
    assert [each for each in listed if each[1] != "aaa"] == [each for each in before[5:] if each not in gone]
    # What is due before the page's last row is behind the reader.
    assert [each for each in listed if each[1] == "aaa"] == [("meter", "aaa", "unit-00011")]


def test_only_bounded_searches(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_money(harness)
    desk = harness.store.desk
    monkeypatch.setattr(engine.desk.money_pages, "MAX_DRIVEN", 4)
    monkeypatch.setattr(engine.desk.money_pages, "page", narrowed(4))
    for wanted, field in (
        (F(owner="nobody", kind=K.DAY), "owner"),
        (F(state=S.OPEN, kind=K.DAY), "state"),
        (F(day="2026-10-08"), "day"),
        (F(leased=True), "leased"),
    ):
        with pytest.raises(ValidationError) as caught:
            desk.reservations(wanted)
        assert caught.value.field == field
        assert "of the next 4 rows of day match" in caught.value.problems[0]
    with pytest.raises(ValidationError, match="deferred"):
        desk.fences(FenceFilter(kind=K.DAY, deferred=False))
    assert len(desk.reservations(F(owner="call", kind=K.DAY), limit=1).rows) == 1


def narrowed(most: int) -> Any:
    """`page` with another bound of its searches."""
    import engine.desk.money_stretch as module

    def page(*args: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "MAX_DRIVEN", most)
            return module.page(*args)

    return page


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: F(state="late"), "state"),  # type: ignore[arg-type]
        (lambda: F(kind="hour"), "kind"),  # type: ignore[arg-type]
        (lambda: F(owner=5), "owner"),  # type: ignore[arg-type]
        (lambda: F(prefix="A"), "table_prefix"),
        (lambda: F(K.METER, day="2026-10-09"), "day"),
        (lambda: F(prefix="a", thread_id="t"), "prefix"),
        (lambda: F(K.DAY, S.SETTLED), "state"),
        (lambda: FenceFilter(K.TENTATIVE), "kind"),
        (lambda: FenceFilter(state=S.OPEN), "state"),
    ],
)
def test_filters_refuse_what_nothing_can_match(build: Any, field: str) -> None:
    with pytest.raises(ValidationError) as caught:
        build()
    assert caught.value.field == field


def test_what_is_not_there_is_named(harness: Harness) -> None:
    desk = harness.store.desk
    assert (desk.reservations().rows, desk.fences().rows) == ((), ())
    with harness.raw() as connection:
        money.make_tables(connection)
    for wanted in (F(prefix="nowhere"), F(table="nowhere"), F(table="loose")):
        with pytest.raises(ValidationError) as caught:
            desk.reservations(wanted)
        assert (wanted.prefix or wanted.table or "?") in caught.value.problems[0]
    for limit in (0, 201):
        with pytest.raises(ValidationError):
            desk.reservations(limit=limit)
        with pytest.raises(ValidationError):
            desk.fences(limit=limit)
    for cursor in ("?", encode_cursor(1, "day", "", 5), encode_cursor("day", 1, "", "")):
        with pytest.raises(ValidationError, match="cursor"):
            desk.reservations(after=cursor)
    with pytest.raises(ValidationError):
        desk.reservations(F(table="pairs"), after=encode_cursor(NOW, "tentative", _label(harness), "{"))


def _label(harness: Harness) -> str:
    return "public.pairs" if harness.kind == "postgresql" else "pairs"


def test_an_instant_of_no_calendar_is_named(harness: Harness) -> None:
    with harness.raw() as connection:
        tables = money.make_meter(connection, BARE, fences=False)
        connection.execute(insert(tables.reservations), [money.meter_values(1, expires_at=2**62)])
    with pytest.raises(StoreFailure, match="unit-00001"):
        harness.store.desk.reservations()


def test_tables_that_are_only_named_like_a_meters_are_none(harness: Harness) -> None:
    with harness.raw() as connection:
        connection.execute(text("CREATE TABLE gas_meter (account_id TEXT, allowance BIGINT)"))
        connection.execute(text("CREATE TABLE gas_reservations (operation_id TEXT)"))
        connection.execute(text("CREATE TABLE lone_reservations (operation_id TEXT)"))
        money.make_meter(connection, "a" * 38)
        money.make_meter(connection, "b_1")
        money.make_meter(connection, "bx1", fences=False)
    page = harness.store.desk.meters()
    assert [(row.prefix, row.fences) for row in page.rows] == [
        ("a" * 38, True),
        ("b_1", True),
        ("bx1", False),
    ]
    listed = whole(lambda after: harness.store.desk.meters(after, 1))
    assert [row.prefix for row in listed] == ["a" * 38, "b_1", "bx1"]


def test_more_meters_than_one_look_takes(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    import engine.desk.meters
    import engine.desk.money_sources

    with harness.raw() as connection:
        for prefix in ("a", "b", "c"):
            tables = money.make_meter(connection, prefix, fences=False)
            connection.execute(insert(tables.reservations), [money.meter_values(1)])
    desk = harness.store.desk
    find = engine.desk.meters.find_meters
    monkeypatch.setattr(engine.desk.money_sources, "find_meters", lambda connection: find(connection, "", 2))
    with pytest.raises(ValidationError, match="name one"):
        desk.reservations()
    assert [row.source for row in desk.reservations(F(prefix="c")).rows] == ["c"]
    totals = desk.reservation_totals()
    assert (totals.more_sources, totals.meter.open.count) == (True, 2)


def test_a_page_is_of_one_moment(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_money(harness)
    desk = harness.store.desk
    before = desk.reservations(limit=200)
    real = engine.desk.money_pages._of_source

    def meanwhile(*args: Any) -> Any:
        found = real(*args)
        if args[1].kind is K.DAY:
            with harness.raw() as connection:
                connection.execute(insert(money.SPOTS), [{"spot": "late"} | money.tentative_values(0)])
                connection.execute(reservation.delete())
        return found

    monkeypatch.setattr(engine.desk.money_pages, "_of_source", meanwhile)
    assert desk.reservations(limit=200) == before
    monkeypatch.undo()
    kinds = {row.kind for row in desk.reservations(limit=200).rows}
    assert kinds == {K.METER, K.TENTATIVE}
    assert before.as_of == harness.now()
