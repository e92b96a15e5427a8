"""One reservation's story, accounts, meters, days, adopting tables and the store's totals."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import MetaData, insert, text, update

from engine.clock import from_ns
from engine.desk import (
    AccountRow,
    Capped,
    DayGuard,
    DayRow,
    DefaultFate,
    MeterGuard,
    ReservationKind,
    ReservationState,
    StateCounts,
)
from engine.errors import ValidationError
from engine.spend import OperationAdmission
from engine.spend.day.model import Begun
from engine.spend.day.tables import reservation, run, spend_day
from engine.spend.meter.prefix import DEFAULT_PREFIX
from engine.spend.meter.tables import meter_tables
from tests.support import money
from tests.support.builders import T0
from tests.support.money import BARE, fill_money
from tests.support.operator import whole

if TYPE_CHECKING:
    from tests.support.harness import Harness

K, S, Fate = ReservationKind, ReservationState, DefaultFate
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
CAP = 60_000_000


def exact(number: int) -> Capped:
    return Capped(number, more=False)


def counts(opened: int, expired: int, fenced: int = 0, due: int = 0) -> StateCounts:
    return StateCounts(exact(opened), exact(expired), exact(fenced), exact(due))


def test_the_story_of_a_day_reservation(harness: Harness) -> None:
    desk, days = harness.store.desk, harness.store.days
    held = days.reserve(
        kind="call", micro=500, at=T0, expires=T0 + HOUR, cap_micro=CAP, require_fence=True, thread_id="t"
    )
    assert days.defer(held, T0 + 2 * HOUR, {"charge": "ch_1"})
    harness.advance(2 * HOUR)
    detail = desk.reservation(K.DAY, held)
    assert detail is not None
    row = detail.row
    assert (row.state, row.owner, row.micro, row.thread_id) == (S.DUE, "call", 500, "t")
    assert (row.due_in, row.age, row.deferrals) == (timedelta(0), 2 * HOUR, 1)
    assert (row.expires_at, row.next_check_at, row.due_at) == (T0 + HOUR, T0 + 2 * HOUR, T0 + 2 * HOUR)
    assert (detail.guard, detail.fate) == (DayGuard(1), Fate.LEFT_FENCED)
    assert (detail.evidence, detail.usage, detail.account) == ('{"charge":"ch_1"}', None, None)
    assert (detail.day, detail.runs, detail.as_of) == (DayRow("2026-10-09", 500, 0), (), harness.now())
    assert days.release(held, 120, harness.now())
    over = desk.reservation("day", held)
    assert over is not None
    assert (over.row.state, over.row.due_in, over.row.settled_micro) == (S.SETTLED, None, 120)
    assert (over.row.settled_at, over.row.outcome, over.row.settled_late) == (harness.now(), "settled", True)
    assert (over.fate, over.day) == (Fate.ALREADY_SETTLED, DayRow("2026-10-09", 0, 120))
    assert desk.reservation(K.DAY, "nobody") is None


def test_the_story_of_an_operation(harness: Harness) -> None:
    desk, days = harness.store.desk, harness.store.days
    lease = T0 + 10 * SECOND
    admission = OperationAdmission("op", "session", 1000, 300, T0, T0 + SECOND, lease, CAP, 3)
    begun = days.admit_operation(admission)
    assert isinstance(begun, Begun)
    harness.advance(5 * SECOND)
    held = desk.reservation(K.DAY, begun.reservation_id)
    assert held is not None
    row = held.row
    # Past its expiry, yet no pass looks at it while a run holds the lease.
    assert (row.state, row.due_in, row.is_operation, row.operation_id) == (S.OPEN, 5 * SECOND, True, "op")
    assert (row.micro, row.recorded_micro, row.attempt) == (1000, 300, 1)
    assert (row.lease_run, row.lease_until, held.fate) == (1, lease, Fate.SETTLED_AT_RECORDED)
    (only,) = held.runs
    assert (only.run, only.bound_micro, only.began_at, only.holds) == (1, 300, T0, True)
    assert (only.ended_at, only.settled_micro, held.more_runs) == (None, None, False)
    assert days.end_run(begun.reservation_id, 1, 120, harness.now())
    over = desk.reservation(K.DAY, begun.reservation_id)
    assert over is not None
    assert (over.row.state, over.row.settled_micro, over.row.lease_run) == (S.SETTLED, 120, None)
    (only,) = over.runs
    assert (only.ended_at, only.settled_micro, only.holds) == (harness.now(), 120, False)


def test_an_operation_shows_its_newest_runs(harness: Harness) -> None:
    with harness.raw() as connection:
        connection.execute(insert(reservation), [money.operation_values(5, runs=230)])
        blank = {"bound_micro": 1, "began_at": money.NOW, "settled_micro": None, "ended_at": None}
        rows = [{"reservation_id": "ops-00005", "run": n} | blank for n in range(1, 231)]
        connection.execute(insert(run), rows)
    detail = harness.store.desk.reservation(K.DAY, "ops-00005")
    assert detail is not None
    assert [each.run for each in detail.runs] == list(range(31, 231))
    assert (detail.more_runs, detail.day) == (True, None)


@pytest.mark.parametrize(
    ("number", "state", "fate"),
    [
        ("unit-0-0", S.EXPIRED, Fate.METER_DEFAULT),
        ("unit-9-0", S.OPEN, Fate.METER_DEFAULT),
        ("unit-0-1", S.DUE, Fate.LEFT_FENCED),
        ("unit-9-2", S.FENCED, Fate.LEFT_FENCED),
        ("unit-0-3", S.SETTLED, Fate.ALREADY_SETTLED),
    ],
)
def test_the_story_of_a_unit(
    harness: Harness, number: str, state: ReservationState, fate: DefaultFate
) -> None:
    fill_money(harness)
    tables = meter_tables(DEFAULT_PREFIX)
    usage = update(tables.reservations).where(tables.reservations.c.operation_id == number)
    with harness.raw() as connection:
        connection.execute(usage.values(attempts=3, usage_json='{"total_tokens":12}'))
    detail = harness.store.desk.reservation(K.METER, number)
    assert detail is not None
    assert detail == harness.store.desk.reservation(K.METER, number, DEFAULT_PREFIX)
    row = detail.row
    assert (row.state, detail.fate, row.attempt) == (state, fate, 3)
    assert detail.guard == MeterGuard(3, T0 + timedelta(seconds=int(number[5])))
    assert detail.evidence == ('{"ticket":7}' if number.endswith("2") else None)
    assert detail.usage == '{"total_tokens":12}'
    account = AccountRow(DEFAULT_PREFIX, "account-0", "2026-10", 9, 1, 3, 5, False, from_ns(5_000_000))
    assert (detail.account, detail.day, detail.runs) == (account, None, ())


def test_a_unit_of_tables_without_fences(harness: Harness) -> None:
    fill_money(harness)
    detail = harness.store.desk.reservation(K.METER, "unit-0-2", BARE)
    assert detail is not None
    assert (detail.row.source, detail.row.fenced, detail.evidence) == (BARE, False, None)
    assert (detail.row.state, detail.fate) == (S.EXPIRED, Fate.METER_DEFAULT)
    assert harness.store.desk.reservation(K.METER, "nobody", BARE) is None


def test_the_story_of_a_tentative_row(harness: Harness) -> None:
    fill_money(harness)
    desk = harness.store.desk
    (wanted,) = [row for row in desk.reservations(limit=200).rows if row.reservation_id == "s1"]
    detail = desk.reservation(K.TENTATIVE, "s1", "spots")
    assert detail is not None
    assert (detail.row, detail.guard, detail.fate) == (wanted, None, Fate.DELETED)
    assert (detail.txn_rows, detail.evidence) == (exact(1), None)
    assert detail == desk.reservation(K.TENTATIVE, "s1", wanted.source)
    pair = desk.reservation(K.TENTATIVE, '["9", "s0"]', "pairs")
    assert pair is not None
    assert (pair.row.state, pair.row.owner, pair.txn_rows) == (S.EXPIRED, "txn-0", exact(1))
    confirmed = desk.reservation(K.TENTATIVE, "confirmed", "spots")
    assert confirmed is not None
    assert (confirmed.row.state, confirmed.row.outcome) == (S.SETTLED, "confirmed")
    assert (confirmed.row.due_at, confirmed.fate) == (None, Fate.ALREADY_SETTLED)
    assert desk.reservation(K.TENTATIVE, "plain", "spots") is None  # never was tentative
    assert desk.reservation(K.TENTATIVE, '["1", "s0"]', "pairs") is None


def test_addresses_that_lead_nowhere(harness: Harness) -> None:
    fill_money(harness)
    desk = harness.store.desk
    for kind, key, source, field in (
        ("hour", "a", None, "kind"),
        (K.METER, "a", "nowhere", "prefix"),
        (K.TENTATIVE, "a", None, "source"),
        (K.TENTATIVE, "a", "nowhere", "table"),
        (K.TENTATIVE, "a", "loose", "source"),
        (K.TENTATIVE, "a", "pairs", "key"),
        (K.TENTATIVE, '["a"]', "pairs", "key"),
    ):
        with pytest.raises(ValidationError) as caught:
            desk.reservation(kind, key, source)
        assert caught.value.field == field


def test_a_key_that_is_no_number_of_its_column(harness: Harness) -> None:
    fill_money(harness)
    desk = harness.store.desk
    if harness.kind == "sqlite":
        assert desk.reservation(K.TENTATIVE, '["x", "s0"]', "pairs") is None
        return
    with pytest.raises(ValidationError, match=r"is no key of public\.pairs"):
        desk.reservation(K.TENTATIVE, '["x", "s0"]', "pairs")
    assert desk.reservation(K.TENTATIVE, '["9", "s0"]', "pairs") is not None


def test_two_tables_of_one_name_are_told_apart_by_their_schema(harness: Harness) -> None:
    with harness.raw() as connection:
        money.make_tables(connection)
    if harness.kind == "sqlite":
        assert [row.table for row in harness.store.desk.adopters().rows] == ["loose", "pairs", "spots"]
        return
    with harness.raw() as connection:
        connection.execute(text("CREATE SCHEMA elsewhere"))
        connection.execute(text("CREATE TABLE elsewhere.spots (LIKE spots INCLUDING ALL)"))
        row = {"spot": "s"} | money.tentative_values(1)
        connection.execute(insert(money.SPOTS), [row])
        connection.execute(insert(money.SPOTS.to_metadata(MetaData(), schema="elsewhere")), [row])
    desk = harness.store.desk
    assert [row.source for row in desk.reservations().rows] == ["elsewhere.spots", "public.spots"]
    assert desk.reservation(K.TENTATIVE, "s", "elsewhere.spots") is not None
    with pytest.raises(ValidationError, match="not one table"):
        desk.reservation(K.TENTATIVE, "s", "spots")


def test_accounts_page_by_account_and_period(harness: Harness) -> None:
    fill_money(harness)
    desk = harness.store.desk
    keys = [(f"account-{n}", period) for n in range(3) for period in ("2026-09", "2026-10", "window")]
    for limit in (1, 4, 200):
        listed = whole(lambda after, n=limit: desk.accounts(DEFAULT_PREFIX, after, n))  # type: ignore[misc]
        assert [(row.account_id, row.period) for row in listed] == keys
    (month, *_, window) = listed[:3]
    assert month == AccountRow(DEFAULT_PREFIX, "account-0", "2026-09", 9, 1, 3, 5, False, from_ns(5_000_000))
    assert (window.window, window.remaining) == (True, None)
    with pytest.raises(ValidationError, match="nowhere"):
        desk.accounts("nowhere")
    with pytest.raises(ValidationError):
        desk.accounts(DEFAULT_PREFIX, limit=201)


def test_an_account_with_its_periods_and_what_it_holds(harness: Harness) -> None:
    fill_money(harness)
    desk = harness.store.desk
    found = desk.account(DEFAULT_PREFIX, "account-0")
    assert found is not None
    assert [row.period for row in found.periods] == ["window", "2026-10", "2026-09"]
    assert (found.open, found.reservations, found.more_periods) == (exact(12), exact(16), False)
    assert (found.open_units, found.as_of) == (6 * 1 + 6 * 2, harness.now())
    other = desk.account(DEFAULT_PREFIX, "account-1")
    assert other is not None
    assert (other.open, other.reservations, other.open_units) == (exact(0), exact(0), 0)
    assert desk.account(DEFAULT_PREFIX, "nobody") is None
    assert desk.account(BARE, "account-0") is not None


def test_overspent_accounts_have_nothing_left(harness: Harness) -> None:
    with harness.raw() as connection:
        tables = money.make_meter(connection, BARE, fences=False)
        row = {"account_id": "a", "period": "p", "allowance": 3, "used": 2, "reserved": 2, "updated_at": 0}
        connection.execute(insert(tables.meter), [row])
    (found,) = harness.store.desk.accounts(BARE).rows
    assert found.remaining == 0


def test_meters_with_their_counts(harness: Harness) -> None:
    fill_money(harness)
    default, bare = harness.store.desk.meters().rows
    assert (default.prefix, default.fences, bare.prefix, bare.fences) == (DEFAULT_PREFIX, True, BARE, False)
    assert default.counts == counts(2, 2, 4, 4)
    assert bare.counts == counts(6, 6)
    assert default.held_units == bare.held_units == exact(6 * 1 + 6 * 2)
    assert default.account_periods == exact(9)
    with pytest.raises(ValidationError):
        harness.store.desk.meters(limit=65)


def test_adopting_tables_with_their_counts(harness: Harness) -> None:
    fill_money(harness)
    found = harness.store.desk.adopters()
    assert [row.table.removeprefix("public.") for row in found.rows] == ["loose", "pairs", "spots"]
    assert [row.listed for row in found.rows] == [False, True, True]
    assert {row.counts for row in found.rows} == {counts(2, 2)}
    assert (found.more, found.as_of) == (False, harness.now())


def test_the_totals_of_a_store(harness: Harness) -> None:
    empty = harness.store.desk.reservation_totals()
    assert (empty.all, empty.held_micro, empty.more_sources) == (counts(0, 0), 0, False)
    fill_money(harness)
    found = harness.store.desk.reservation_totals()
    assert found.day == counts(5, 4, 6, 6)
    assert found.meter == counts(8, 8, 4, 4)
    assert found.tentative == counts(6, 6)  # a table without a key is counted too
    assert found.all == counts(19, 18, 10, 10)
    with harness.raw() as connection:
        totals = connection.execute(spend_day.select()).all()
    assert found.held_micro == sum(row.reserved_micro for row in totals) > 0


def test_days_newest_first(harness: Harness) -> None:
    names = [f"2026-{month:02}-15" for month in range(1, 13)]
    with harness.raw() as connection:
        rows = [{"day": name, "reserved_micro": n, "settled_micro": 2 * n} for n, name in enumerate(names)]
        connection.execute(insert(spend_day), rows)
    desk = harness.store.desk
    newest = [DayRow(name, n, 2 * n) for n, name in reversed(list(enumerate(names)))]
    for limit in (1, 5, 200):
        assert whole(lambda after, n=limit: desk.days(after=after, limit=n)) == newest  # type: ignore[misc]
    part = whole(lambda after: desk.days("2026-03-15", "2026-06-14", after, 2))
    assert [row.day for row in part] == ["2026-05-15", "2026-04-15", "2026-03-15"]
    assert part[0].committed_micro == 4 + 8
    for bad in ("2026-3-15", "2026-02-30", "today", 20260315):
        with pytest.raises(ValidationError):
            desk.days(since=bad)  # type: ignore[arg-type]
        with pytest.raises(ValidationError):
            desk.day(bad)  # type: ignore[arg-type]


def test_a_day_and_what_it_has_open(harness: Harness) -> None:
    desk = harness.store.desk
    nothing = desk.day()
    assert (nothing.row, nothing.reservations) == (DayRow("2026-10-09", 0, 0), exact(0))
    fill_money(harness)
    today = desk.day()
    assert today == desk.day("2026-10-09")
    assert (today.open, today.fenced, today.reservations) == (exact(20), exact(12), exact(26))
    assert today.row.settled_micro == 6 * 5
    assert desk.day("2026-10-08").open == exact(1)
    harness.advance(timedelta(days=1))
    assert desk.day().row == DayRow("2026-10-10", 0, 0)


def test_counts_stop_at_their_cap(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    import engine.desk.accounts
    import engine.desk.days
    import engine.desk.money_counts

    fill_money(harness)
    for module in (engine.desk.pages, engine.desk.accounts, engine.desk.money_counts):
        monkeypatch.setattr(module, "MAX_COUNT", 3)
    desk = harness.store.desk
    assert desk.count_reservations() == Capped(3, more=True)
    totals = desk.reservation_totals()
    assert totals.day.fenced == totals.meter.due == Capped(3, more=True)
    account = desk.account(DEFAULT_PREFIX, "account-0")
    assert account is not None
    assert account.reservations == Capped(3, more=True)
    default, _ = desk.meters().rows
    assert (default.account_periods, default.held_units.more) == (Capped(3, more=True), True)
