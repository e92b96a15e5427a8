"""Money through the gateway, on both back ends: every kind in one list, fences, accounts of every meter, days."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from console.gateway import EngineGateway
from console.model import GatewayError
from console.money_model import AccountQuery, Fate, FenceQuery, ReservationQuery
from console.money_words import Address, HoldState, Kind
from engine.spend import Deferred, OperationAdmission
from tests.support import money
from tests.support.builders import T0

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from console.model import Page
    from tests.support.harness import Harness

LEASE = timedelta(seconds=5)
CAP = 60_000_000
MICRO = 300_000


@pytest.fixture
def door(harness: Harness) -> Iterator[EngineGateway]:
    """The gateway under test, with the harness's clock."""
    opened = EngineGateway(harness.url, harness.clock)
    yield opened
    opened.close()


def all_rows(ask: Callable[[str | None, int], Page[Any]], limit: int = 3) -> list[Any]:
    """Every row, page by page; AssertionError when the pages do not end."""
    rows: list[Any] = []
    after: str | None = None
    for _ in range(200):
        page = ask(after, limit)
        assert len(page.rows) <= limit
        rows += page.rows
        after = page.next
        if after is None:
            return rows
    raise AssertionError("the pages do not end")


def reserve(harness: Harness, **options: Any) -> str:
    """Money of today for a chat."""
    given: dict[str, Any] = {
        "kind": "chat",
        "micro": MICRO,
        "at": T0,
        "expires": T0 + LEASE,
        "cap_micro": CAP,
    }
    return harness.store.days.reserve(**(given | options))


def test_all_kinds_stand_in_one_list_and_count_alike(harness: Harness, door: EngineGateway) -> None:
    money.fill_money(harness)
    rows = all_rows(lambda after, limit: door.reservations(ReservationQuery(), after, limit))
    assert {row.address.kind for row in rows} == set(Kind)
    assert {row.state for row in rows} == set(HoldState) - {HoldState.SETTLED}
    assert len({row.address for row in rows}) == len(rows)
    assert [row.due_at for row in rows] == sorted(row.due_at for row in rows)
    for kind in Kind:
        query = ReservationQuery(kind=kind)
        assert door.count_reservations(query).count == sum(row.address.kind is kind for row in rows)
    totals = door.reservation_totals()
    for state in (HoldState.OPEN, HoldState.EXPIRED, HoldState.FENCED, HoldState.DUE):
        counted = getattr(totals.all, state.value).count
        listed = door.reservations(ReservationQuery(state=state), None, 200).rows
        assert counted >= len(listed) > 0
        assert {row.state for row in listed} == {state}
    assert totals.held_micro == sum(row.micro or 0 for row in rows)
    for row in rows:
        story = door.reservation(row.address)
        assert story is not None
        assert story.row == row


def test_filters_reach_the_store(harness: Harness, door: EngineGateway) -> None:
    money.fill_money(harness)

    def found(**parts: Any) -> list[Any]:
        return list(door.reservations(ReservationQuery(**parts), None, 200).rows)

    assert {row.owner for row in found(owner="account-0", meter="agentos_spend")} == {"account-0"}
    assert {row.period for row in found(day="2026-10-08")} == {"2026-10-08"}
    assert {row.thread for row in found(thread="thread-0")} == {"thread-0"}
    (source,) = {row.address.source for row in found(table="spots")}
    assert source.endswith("spots")
    assert found(table=source) == found(table="spots")
    assert [row.lease_run for row in found(leased=True)] == [1]
    settled = found(state=HoldState.SETTLED)
    assert settled
    assert {row.due_in for row in settled} == {None}
    with pytest.raises(GatewayError) as refused:
        found(meter="agentos_spend", day="2026-10-08")
    assert refused.value.code == "validation"


def test_fences_carry_their_evidence(harness: Harness, door: EngineGateway) -> None:
    money.fill_money(harness)
    rows = all_rows(lambda after, limit: door.fences(FenceQuery(), after, limit))
    assert {fence.row.fenced for fence in rows} == {True}
    assert {fence.row.address.kind for fence in rows} == {Kind.DAY, Kind.METER}
    deferred = door.fences(FenceQuery(deferred=True, kind=Kind.DAY), None, 200).rows
    assert {(fence.evidence, fence.size, fence.row.deferrals) for fence in deferred} == {
        ('{"charge":"ch_1"}', 17, 2)
    }
    fresh = door.fences(FenceQuery(deferred=False), None, 200).rows
    assert {fence.evidence for fence in fresh} == {None}
    assert len(deferred) + len(fresh) <= len(rows)


def test_accounts_of_every_meter_stand_behind_each_other(harness: Harness, door: EngineGateway) -> None:
    money.fill_money(harness)
    by_meter = [
        row
        for meter in ("agentos_spend", money.BARE)
        for row in door.accounts(AccountQuery(meter), None, 200).rows
    ]
    assert len({row.meter for row in by_meter}) == 2
    for limit in (1, 2, 3, 200):
        assert all_rows(lambda after, most: door.accounts(AccountQuery(), after, most), limit) == by_meter
    first = by_meter[0]
    story = door.account(first.meter, first.account)
    assert story is not None
    assert first in story.periods
    assert door.account(first.meter, "nobody") is None
    with pytest.raises(GatewayError, match="no meter"):
        door.accounts(AccountQuery("nothing"), None, 10)
    with pytest.raises(GatewayError, match="cursor"):
        door.accounts(AccountQuery(), "{}", 10)


def test_a_store_without_meters_has_no_accounts(door: EngineGateway) -> None:
    assert door.accounts(AccountQuery(), None, 10).rows == ()
    assert door.reservations(ReservationQuery(), None, 10).rows == ()
    assert door.days(None, 10).rows == ()


def test_a_window_has_no_remaining(harness: Harness, door: EngineGateway) -> None:
    meter = harness.store.meter(
        allowance_for=lambda _account, _period: 9,
        window=timedelta(minutes=1),
        lease=LEASE,
        require_shared=False,
    )
    meter.reserve("acme", "op", units=2)
    (row,) = door.accounts(AccountQuery(), None, 10).rows
    assert (row.account, row.window, row.remaining, row.reserved, row.allowance) == ("acme", True, None, 2, 9)


def test_days_come_newest_first_with_their_totals(harness: Harness, door: EngineGateway) -> None:
    kept = reserve(harness)
    reserve(harness, require_fence=True)
    reserve(harness, at=T0 - timedelta(days=1))
    assert harness.store.days.release(kept, 100_000, T0)
    rows = all_rows(door.days, 1)
    assert [row.day for row in rows] == sorted((row.day for row in rows), reverse=True)
    today = door.day(None)
    assert today.row == rows[0]
    assert (today.row.settled, today.row.reserved, today.row.committed) == (100_000, MICRO, 100_000 + MICRO)
    assert (today.open.count, today.fenced.count, today.all.count) == (1, 1, 2)
    assert door.day("2001-01-01").row.committed == 0


def test_an_operation_tells_its_runs_and_its_fate(harness: Harness, door: EngineGateway) -> None:
    begun = harness.store.days.admit_operation(
        OperationAdmission(
            "op", "index", 9 * MICRO, MICRO, T0, T0 + 9 * LEASE, T0 + LEASE, CAP, 5, "thread-1"
        )
    )
    address = Address(Kind.DAY, "", begun.reservation_id)
    story = door.reservation(address)
    assert story is not None
    assert (story.fate, story.row.is_operation, story.row.thread) == (
        Fate.SETTLED_AT_RECORDED,
        True,
        "thread-1",
    )
    assert [(run.run, run.bound, run.settled, run.holds) for run in story.runs] == [(1, MICRO, None, True)]
    assert story.day is not None
    assert story.day.reserved == 9 * MICRO
    (held,) = door.reservations(ReservationQuery(thread="thread-1"), None, 10).rows
    assert held.address == address
    assert (held.lease_run, held.attempt) == (1, 1)
    assert door.reservation(Address(Kind.DAY, "", "nothing")) is None


def test_a_deferred_fence_is_due_when_its_check_comes_and_shows_its_guard(
    harness: Harness, door: EngineGateway
) -> None:
    fenced = reserve(harness, require_fence=True)
    harness.advance(LEASE)
    assert harness.store.days.defer(fenced, T0 + 3 * LEASE, {"charge": "ch_1", "n": 2**70})
    (fence,) = door.fences(FenceQuery(), None, 10).rows
    assert (fence.row.state, fence.row.due_in, fence.row.deferrals) == (HoldState.FENCED, 2 * LEASE, 1)
    harness.advance(2 * LEASE)
    story = door.reservation(fence.row.address)
    assert story is not None
    assert (story.row.state, story.fate) == (HoldState.DUE, Fate.LEFT_FENCED)
    assert story.guard is not None
    assert story.guard.deferrals == 1
    assert story.evidence is not None
    assert str(2**70) in story.evidence
    harness.store.days.sweep(
        harness.now(), lambda asked: Deferred(harness.now() + LEASE, {"still": "unknown"})
    )
    (again,) = door.fences(FenceQuery(deferred=True), None, 10).rows
    assert (again.row.state, again.row.deferrals) == (HoldState.FENCED, 2)


def test_a_meters_unit_has_its_attempt_as_guard(harness: Harness, door: EngineGateway) -> None:
    meter = harness.store.meter(
        allowance_for=lambda _account, _period: 9,
        period_of=lambda _now, _account: "2026-10",
        lease=LEASE,
        require_shared=False,
    )
    meter.reserve("acme", "op", units=3)
    story = door.reservation(Address(Kind.METER, "agentos_spend", "op"))
    assert story is not None
    assert story.guard is not None
    assert (story.guard.attempt, story.guard.expires_at) == (1, T0 + LEASE)
    assert (story.fate, story.row.units, story.row.state) == (Fate.METER_DEFAULT, 3, HoldState.OPEN)
    assert story.account is not None
    assert (story.account.reserved, story.account.remaining) == (3, 6)
