"""The overview: each part against the stored rows, all of them at one moment, and one that fails alone."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.checkpoints import CheckpointStatus
from engine.clock import from_ns, to_ns
from engine.desk import (
    ANY,
    Capped,
    ClaimFilter,
    ClaimState,
    Failed,
    ReservationKind,
    ReservationState,
    SweepLease,
    ThreadFilter,
    ThreadStatus,
    overview_store,
)
from engine.desk import overview as module
from engine.desk.maintenance import LEASE, MAINTENANCE_THREAD
from engine.desk.overview_money import OVERDUE
from engine.errors import StoreClosed, StoreFailure, ValidationError
from engine.spend.day.tables import spend_day
from tests.support.builders import T0, TTL, claim, emit
from tests.support.cascades import grow
from tests.support.desk import expected, stored
from tests.support.money import fill_money, kept
from tests.support.operator import claims_expected, fill_claims, rows_of
from tests.support.queued import LEASE as QUEUE_LEASE
from tests.support.queued import leased
from tests.support.threads import SECOND, put

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

S = ThreadStatus
MINUTE = timedelta(minutes=1)
PARTS = (
    "threads",
    "incomplete",
    "cascades",
    "claims",
    "sweep",
    "queue",
    "tombstones",
    "events",
    "fences",
    "money",
)
OWNED = PARTS[:3]
"""Those that a tenant has."""


def exactly(number: int) -> Capped:
    """A count that is the whole truth."""
    return Capped(number, more=False)


def idle(store: Checkpointer, t: str, **more: Any) -> None:
    """A thread of one checkpoint that nobody holds."""
    store.release(t, put(store, t, **more))


def part(harness: Harness, name: str, *tenant: Any) -> Any:
    """One part by itself."""
    return getattr(harness.store.desk, f"overview_{name}")(*tenant)


def all_parts(harness: Harness, tenant: Any = ANY) -> Any:
    """The whole overview."""
    return harness.store.desk.overview(tenant)


def test_an_empty_store(harness: Harness) -> None:
    found = all_parts(harness)
    assert found.threads == part(harness, "threads")
    assert set(found.threads.by_status.values()) == {exactly(0)}
    assert found.incomplete.oldest is found.cascades.oldest is found.claims.oldest_expired is None
    assert found.sweep.lease is found.events.position is found.events.age is found.fences.oldest_due is None
    assert found.tombstones.oldest is found.tombstones.newest is None
    assert (found.money.totals.held_micro, found.money.expired_for) == (0, {})
    assert found.events.last_minute == found.fences.due == found.queue.dead == exactly(0)


@pytest.mark.parametrize("tenant", [ANY, None, "", "acme", "nobody"])
def test_threads_by_status(harness: Harness, tenant: Any) -> None:
    fill_claims(harness)
    rows, now = stored(harness), harness.now()
    found = part(harness, "threads", tenant)
    for status in S:
        wanted = ThreadFilter(tenant, statuses=frozenset({status}))
        assert found.by_status[status] == exactly(len(expected(rows, wanted, now))), status
    assert found.all == exactly(len(expected(rows, ThreadFilter(tenant), now)))
    assert found.as_of == now


@pytest.mark.parametrize("tenant", [ANY, "acme", "nobody"])
def test_what_is_incomplete(harness: Harness, tenant: Any) -> None:
    fill_claims(harness)
    found = part(harness, "incomplete", tenant)
    page = harness.store.desk.incomplete(tenant, None, 200)
    assert found.count == exactly(len(page.rows))
    if tenant == "nobody":
        assert found.oldest is None
        return
    oldest, first = found.oldest, page.rows[0]
    assert (oldest.thread_id, oldest.updated_at, oldest.age) == (first.thread_id, first.updated_at, first.age)


def test_the_oldest_incomplete_is_not_one_that_somebody_holds(harness: Harness) -> None:
    store = harness.checkpoints
    put(store, "held for long")
    harness.advance(TTL / 3)
    idle(store, "left alone")
    harness.advance(TTL / 3)
    idle(store, "left later")
    found = part(harness, "incomplete")
    assert (found.count, found.oldest.thread_id, found.oldest.age) == (exactly(2), "left alone", TTL / 3)
    harness.advance(TTL / 3)
    assert part(harness, "incomplete").oldest.thread_id == "held for long"


def test_cascades_under_way_and_interrupted(harness: Harness) -> None:
    store = harness.checkpoints
    held = put(store, "under way", status=CheckpointStatus.DELETING)
    harness.advance(SECOND)
    for t in ("stopped", "stopped later"):
        idle(store, t, status=CheckpointStatus.DELETING)
        harness.advance(SECOND)
    found = part(harness, "cascades")
    assert (found.begun, found.interrupted) == (exactly(3), exactly(2))
    assert (found.oldest.thread_id, found.oldest.age) == ("stopped", 2 * SECOND)
    store.release("under way", held)
    found = part(harness, "cascades")
    assert (found.interrupted, found.oldest.thread_id) == (exactly(3), "under way")


def test_claims_and_the_oldest_that_is_over(harness: Harness) -> None:
    fill_claims(harness)
    rows, now = stored(harness), harness.now()
    found = part(harness, "claims")
    over = [row for row in rows if row.claim_token is not None and from_ns(row.claim_expires_at) <= now]
    first = min(over, key=lambda row: (row.claim_expires_at, row.thread_id))
    assert found.expired == exactly(len(over))
    assert found.live == exactly(len([row for row in rows if row.claim_token is not None]) - len(over))
    oldest = found.oldest_expired
    assert (oldest.thread_id, oldest.holder) == (first.thread_id, first.claim_holder)
    assert oldest.over_for == now - oldest.expired_at == now - from_ns(first.claim_expires_at)


def test_the_lease_of_the_maintenance(harness: Harness) -> None:
    store = harness.checkpoints
    token = claim(store, MAINTENANCE_THREAD, "maintenance/here", ttl=LEASE).token
    harness.advance(LEASE / 2)
    store.renew(MAINTENANCE_THREAD, token, LEASE)
    harness.advance(SECOND)
    lease = part(harness, "sweep").lease
    assert lease == SweepLease("maintenance/here", LEASE / 2 + SECOND, SECOND, LEASE - SECOND)
    assert lease.live
    harness.advance(LEASE)
    lease = part(harness, "sweep").lease
    assert (lease.left, lease.live) == (-SECOND, False)
    store.release(MAINTENANCE_THREAD, token)
    assert part(harness, "sweep").lease is None


def test_the_queue(harness: Harness) -> None:
    queue = harness.store.queue
    leased(queue, "lapses")
    killed = leased(queue, "killed")
    queue.kill(killed.id, killed.lease_token, "no model")
    queue.enqueue("later", {}, available_at=harness.now() + QUEUE_LEASE)
    queue.enqueue("due", {})
    harness.advance(QUEUE_LEASE - SECOND)
    found = part(harness, "queue")
    assert found.depth == harness.store.desk.queue_depth()
    assert (found.depth.due, found.depth.oldest_due) == (exactly(1), QUEUE_LEASE - SECOND)
    assert found.dead == exactly(1)


def test_tombstones(harness: Harness) -> None:
    store = harness.checkpoints
    for t in ("a", "b"):
        grow(store, {t: None})
        store.delete_thread(t, claim(store, t).token)
        harness.advance(MINUTE)
    found = part(harness, "tombstones")
    assert (found.count, found.oldest, found.newest) == (exactly(2), 2 * MINUTE, MINUTE)


def test_events_of_the_last_minute(harness: Harness) -> None:
    store = harness.checkpoints
    emit(store, "a", claim(store, "a").token, "one", "two")
    harness.advance(MINUTE)
    emit(store, "b", claim(store, "b").token, "three")
    found = part(harness, "events")
    assert (found.thread_id, found.age, found.last_minute) == ("b", timedelta(0), exactly(1))
    desk = harness.store.desk
    (row,) = desk.events_before(None, limit=1).rows
    assert (found.position, found.committed_at) == (row.position, row.committed_at)
    assert [each.kind for each in desk.events(found.position).rows] == []
    assert [each.thread_id for each in desk.events_before(found.position).rows] == ["a", "a"]
    harness.advance(MINUTE - timedelta(microseconds=1))
    assert part(harness, "events").last_minute == exactly(1)
    harness.advance(timedelta(microseconds=1))
    found = part(harness, "events")
    assert (found.age, found.last_minute) == (MINUTE, exactly(0))


def test_events_stop_being_counted(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    store = harness.checkpoints
    token = claim(store, "a").token
    emit(store, "a", token, "one", "two", "three")
    monkeypatch.setattr(overview_store, "MAX_SEARCHED", 2)
    module._parts.cache_clear()
    try:
        assert part(harness, "events").last_minute == Capped(2, more=True)
    finally:
        module._parts.cache_clear()


def test_fences_and_money_of_all_kinds(harness: Harness) -> None:
    fill_money(harness)
    # What was due a second after T0 has been so for longer than five minutes, what was due later has not.
    harness.advance(OVERDUE - 3 * SECOND)
    now, found = harness.now(), all_parts(harness)
    rows = kept(harness)
    due = [each for each in rows if each.state is ReservationState.DUE]
    longest = min(each.at for each in due)
    overdue = [each for each in due if each.at <= to_ns(now - OVERDUE)]
    assert 0 < len(overdue) < len(due)
    assert (found.fences.due, found.fences.overdue) == (exactly(len(due)), exactly(len(overdue)))
    waiting = [each for each in rows if each.state is ReservationState.FENCED]
    assert found.fences.waiting == exactly(len(waiting))
    assert found.fences.oldest_due == now - from_ns(longest)
    assert found.money.totals == harness.store.desk.reservation_totals()
    assert found.fences == part(harness, "fences")
    assert found.money == part(harness, "money")


def test_what_has_expired_longest_of_each_kind(harness: Harness) -> None:
    fill_money(harness)
    now, found = harness.now(), part(harness, "money")
    for kind in ReservationKind:
        over = [
            each.at for each in kept(harness) if each.kind is kind and each.state is ReservationState.EXPIRED
        ]
        assert found.expired_for[kind] == now - from_ns(min(over)), kind


def test_today_is_the_stores_day(harness: Harness) -> None:
    fill_money(harness)
    with harness.raw() as connection:
        rows = {row.day: row for row in connection.execute(spend_day.select())}
    held = sum(row.reserved_micro for row in rows.values())
    for _ in range(2):
        today = harness.now().date().isoformat()
        found, row = part(harness, "money"), rows.get(today)
        assert found.today.day == today
        assert found.today.reserved_micro == (0 if row is None else row.reserved_micro)
        assert found.today.settled_micro == (0 if row is None else row.settled_micro)
        assert found.totals.held_micro == held
        harness.advance(timedelta(days=1))
    assert {T0.date().isoformat()} <= set(rows)


def test_all_parts_are_of_one_moment_and_as_they_are_alone(harness: Harness) -> None:
    fill_claims(harness)
    found = all_parts(harness)
    for name in PARTS:
        together = getattr(found, name)
        assert together == part(harness, name)
        assert together.as_of == harness.now()


def test_a_tenant_has_what_its_indexes_answer(harness: Harness) -> None:
    fill_claims(harness)
    found = all_parts(harness, "acme")
    for name in PARTS:
        assert getattr(found, name) == (part(harness, name, "acme") if name in OWNED else None)
    with pytest.raises(ValidationError):
        harness.store.desk.overview("a\0b")


# A table that is not there any more, and the parts that cannot be read without it.
BROKEN = {
    "event": {"events"},
    "queue_entry": {"queue"},
    "spend_days": {"money"},
    "spend_day_reservations": {"money", "fences"},
}


@pytest.mark.parametrize("table", BROKEN)
def test_one_part_fails_and_the_others_live(harness: Harness, table: str) -> None:
    fill_claims(harness)
    whole = all_parts(harness)
    with harness.raw() as connection:
        connection.execute(text(f"ALTER TABLE {table} RENAME TO away"))
    found = all_parts(harness)
    for name in PARTS:
        shown = getattr(found, name)
        if name not in BROKEN[table]:
            assert shown == getattr(whole, name), name
            continue
        assert isinstance(shown, Failed), name
        assert isinstance(shown.error, StoreFailure)
        assert table in shown.error.message
        assert shown.error.operation == f"desk.overview_{name}"


def test_a_tenants_part_fails_alone(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    put(harness.checkpoints, "a", tenant="acme")
    reads = module.part_of

    def failing(connection: Any, name: str, tenant: Any) -> Any:
        if name == "cascades":
            raise StoreFailure("desk.overview_cascades", "took too long")
        return reads(connection, name, tenant)

    def whole(*_given: Any) -> Any:
        raise StoreFailure("desk.overview", "took too long")

    monkeypatch.setattr(module, "overview", whole)
    monkeypatch.setattr(module, "part_of", failing)
    found = all_parts(harness, "acme")
    assert found.cascades == Failed(StoreFailure("desk.overview_cascades", "took too long"))
    assert found.threads == part(harness, "threads", "acme")
    assert found.money is None


def test_a_store_that_cannot_be_read_at_all_says_so_once(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def lost(*_given: Any) -> Any:
        asked.append(1)
        raise StoreFailure("desk.overview", "the database cannot be reached")

    monkeypatch.setattr(module, "overview", lost)
    monkeypatch.setattr(module, "probe", lost)
    with pytest.raises(StoreFailure, match="cannot be reached"):
        harness.store.desk.overview()
    assert len(asked) == 2
    store = harness.store
    monkeypatch.undo()
    store.close()
    with pytest.raises(StoreClosed):
        store.desk.overview()


def test_the_claims_filter_agrees(harness: Harness) -> None:
    fill_claims(harness)
    rows = claims_expected(rows_of(harness, "thread"), ClaimFilter(state=ClaimState.EXPIRED), harness.now())
    assert part(harness, "claims").oldest_expired.thread_id == rows[0]
