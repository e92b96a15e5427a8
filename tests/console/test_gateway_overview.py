"""The store at a glance through the gateway, on both back ends: parts, what changed, money held, and their cost."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from console.claims_model import ClaimQuery, ClaimState
from console.gateway import EngineGateway, held
from console.gateway.held import HeldMoney
from console.held_model import Failed, Held
from console.model import ANY, GatewayError, IncompleteQuery, ThreadQuery, ThreadState, TombstoneQuery
from console.money_model import ReservationQuery
from console.money_words import HoldState
from console.overview_model import Overview
from console.refresh import BASE_SECONDS
from console.screens.listed import TALLY_SECONDS
from console.screens.overview import CHANGES_SECONDS, OVERVIEW_SECONDS
from engine.desk import overview_money
from engine.errors import StoreFailure
from tests.console.test_gateway_lists import OVER, begin
from tests.console.test_gateway_money import reserve
from tests.support.money import fill_money
from tests.support.operator import fill_claims
from tests.support.plans import statements
from tests.support.statements import recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.harness import Harness

CONSOLES = 20
MOST_A_SECOND = 20.0
MINUTE = timedelta(minutes=1)
OF_TENANTS = ("threads", "incomplete", "cascades")


@pytest.fixture
def door(harness: Harness) -> Iterator[EngineGateway]:
    """The gateway under test, with the harness's clock."""
    opened = EngineGateway(harness.url, harness.clock)
    yield opened
    opened.close()


def test_each_figure_is_that_of_its_list(harness: Harness, door: EngineGateway) -> None:
    fill_claims(harness)
    fill_money(harness)
    found = door.overview(ANY)
    assert not any(isinstance(getattr(found, each.name), Failed) for each in fields(Overview))
    part: Any = found
    for state in ThreadState:
        assert part.threads.by_state[state] == door.count_threads(ThreadQuery(states=frozenset({state})))
    stuck = door.incomplete(IncompleteQuery(), None, 200).rows
    assert (part.incomplete.count.count, part.incomplete.oldest.thread) == (len(stuck), stuck[0].id)
    for claimed, count in ((ClaimState.LIVE, part.claims.live), (ClaimState.EXPIRED, part.claims.expired)):
        assert count == door.count_claims(ClaimQuery(state=claimed))
    first = door.claims(ClaimQuery(state=ClaimState.EXPIRED), None, 1).rows[0]
    assert (part.claims.oldest.thread, part.claims.oldest.holder) == (first.thread, first.holder)
    assert part.claims.oldest.age == -first.left
    assert part.money.totals == door.reservation_totals()
    assert set(part.money.expired_for) == {
        row.address.kind
        for row in door.reservations(ReservationQuery(state=HoldState.EXPIRED), None, 200).rows
    }
    assert part.queue.depth == door.queue_depth()
    assert part.fences.due == door.reservation_totals().all.due
    assert part.tombstones.count.count == len(door.tombstones(TombstoneQuery(), None, 200).rows)
    assert {getattr(found, each.name).as_of for each in fields(Overview)} == {part.threads.as_of}


def test_a_tenant_has_what_an_index_knows_of_it(harness: Harness, door: EngineGateway) -> None:
    fill_claims(harness)
    found: Any = door.overview("acme")
    assert {each.name for each in fields(Overview) if getattr(found, each.name) is not None} == set(
        OF_TENANTS
    )
    idle = frozenset({ThreadState.IDLE})
    assert found.threads.by_state[ThreadState.IDLE] == door.count_threads(
        ThreadQuery(tenant="acme", states=idle)
    )


def test_report_49_a_part_that_cannot_be_read_is_told_and_the_others_are_as_they_should_be(
    harness: Harness, door: EngineGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_money(harness)
    whole: Any = door.overview(ANY)

    def lost(*_given: Any) -> Any:
        raise StoreFailure("desk.overview", "statement timeout")

    monkeypatch.setattr("engine.desk.overview.survey", lost)
    found: Any = door.overview(ANY)
    assert isinstance(found.money, Failed)
    assert "statement timeout" in found.money.message
    assert found.claims == whole.claims
    assert found.fences.due == whole.fences.due
    assert overview_money.survey is not lost


def test_a_store_that_is_gone_fails_as_a_whole(tmp_path: Any) -> None:
    door = EngineGateway(f"sqlite:///{tmp_path}/none.db")
    with pytest.raises(GatewayError):
        door.overview(ANY)


def test_what_changed_counts_what_its_lists_show(harness: Harness, door: EngineGateway) -> None:
    store = harness.store
    begin(store, "before", tenant="acme")
    begin(store, "old claim", ttl=OVER)
    harness.clock.advance(10 * MINUTE)
    begin(store, "now", tenant="acme")
    begin(store, "lapsed", ttl=OVER)
    token = begin(store, "gone")
    store.checkpoints.delete_thread("gone", token)
    harness.clock.advance(timedelta(seconds=30))
    found = door.changes(5 * MINUTE, ANY)
    assert found.threads == door.count_threads(ThreadQuery(since=5 * MINUTE))
    assert found.expired == door.count_claims(ClaimQuery(since=5 * MINUTE))
    assert {row.id for row in door.threads(ThreadQuery(since=5 * MINUTE), None, 10).rows} == {"lapsed", "now"}
    listed = door.claims(ClaimQuery(since=5 * MINUTE), None, 10).rows
    assert [row.thread for row in listed] == ["lapsed"]
    gone = door.tombstones(TombstoneQuery(5 * MINUTE), None, 10).rows
    assert [row.thread for row in gone] == ["gone"]
    assert found.deleted is not None
    assert found.deleted.count == 1
    assert door.tombstones(TombstoneQuery(timedelta(seconds=5)), None, 10).rows == ()
    of_tenant = door.changes(5 * MINUTE, "acme")
    assert (of_tenant.threads.count, of_tenant.expired, of_tenant.deleted) == (1, None, None)


def test_a_page_comes_with_the_money_of_its_threads(harness: Harness, door: EngineGateway) -> None:
    for thread in ("a", "b"):
        begin(harness.store, thread, ttl=OVER)
    harness.clock.advance(OVER)
    reserve(harness, thread_id="a", micro=12_004_100)
    reserve(harness, thread_id="a", micro=300_000, require_fence=True)
    rows = {row.id: row.held for row in door.threads(ThreadQuery(), None, 10).rows}
    assert rows == {"a": Held(12_304_100, 2, 1), "b": Held(0, 0, 0)}
    assert {row.id: row.held for row in door.incomplete(IncompleteQuery(), None, 10).rows} == rows
    story = door.story("a")
    assert story is not None
    assert story.held == rows["a"]


def test_money_that_cannot_be_read_takes_no_thread_with_it(
    harness: Harness, door: EngineGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(harness.store, "a")

    def lost(*_given: Any) -> Any:
        raise StoreFailure("desk.held", "statement timeout")

    monkeypatch.setattr("engine.desk.held.held", lost)
    (row,) = door.threads(ThreadQuery(), None, 10).rows
    assert isinstance(row.held, Failed)
    assert "statement timeout" in row.held.message
    story = door.story("a")
    assert story is not None
    assert story.held == row.held


def test_money_is_asked_for_with_every_second_page_or_with_threads_that_are_new(harness: Harness) -> None:
    clock, asked = [100.0], []

    class Door:
        def held(self, threads: tuple[str, ...]) -> dict[str, Any]:
            asked.append(threads)
            return harness.store.desk.held(threads)  # type: ignore[return-value]

    money, page = HeldMoney(lambda: clock[0]), EngineGateway(harness.url, harness.clock)
    begin(harness.store, "a")
    rows = page.threads(ThreadQuery(), None, 10)
    for _ in range(4):
        money.beside(Door(), rows)  # type: ignore[arg-type]
        clock[0] += BASE_SECONDS
    assert asked == [("a",), ("a",)]
    begin(harness.store, "b")
    money.beside(Door(), page.threads(ThreadQuery(), None, 10))  # type: ignore[arg-type]
    assert sorted(asked[-1]) == ["a", "b"]
    page.close()


def cost(door: EngineGateway, call: Callable[[], object]) -> int:
    """How many statements a call runs."""
    with (
        pytest.MonkeyPatch.context() as patch,
        statements(door._store._opened()) as executed,
        recording(patch) as compiled,
    ):
        call()
    return len(executed) + len(compiled)


def test_report_45_twenty_consoles_ask_less_than_twenty_times_a_second(
    harness: Harness, door: EngineGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_claims(harness)
    fill_money(harness)
    door.overview(ANY)
    monkeypatch.setattr(held, "KEPT_SECONDS", 0.0)
    overview = cost(door, lambda: door.overview(ANY)) / OVERVIEW_SECONDS
    changes = cost(door, lambda: door.changes(5 * MINUTE, ANY)) / CHANGES_SECONDS
    assert 0 < CONSOLES * (overview + changes) < MOST_A_SECOND
    with_money = cost(door, lambda: door.threads(ThreadQuery(), None, 100))
    monkeypatch.setattr(held, "KEPT_SECONDS", 3.0)
    door.threads(ThreadQuery(), None, 100)
    without = cost(door, lambda: door.threads(ThreadQuery(), None, 100))
    assert with_money > without
    count = cost(door, lambda: door.count_threads(ThreadQuery())) / TALLY_SECONDS
    threads = (with_money + without) / (2 * BASE_SECONDS) + count
    assert 0 < CONSOLES * threads < MOST_A_SECOND
