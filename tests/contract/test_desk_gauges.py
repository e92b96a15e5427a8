"""A store in figures: what each of them counts, and that they cost the same however much is stored."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.checkpoints import CheckpointStatus, ThreadStatus
from engine.checkpoints.tables import queue_entry
from engine.clock import to_ns
from engine.desk import MAX_COUNT, Capped
from tests.support import crowd
from tests.support.builders import T0, TTL, claim, emit
from tests.support.cascades import grow
from tests.support.plans import plan, statements
from tests.support.queued import LEASE, leased
from tests.support.statements import plans, recording
from tests.support.threads import SECOND, put

if TYPE_CHECKING:
    from tests.support.harness import Harness
    from tests.support.plans import Step

S = ThreadStatus
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
CROWD = 12_000
"""More than any count goes to."""
LIVE = CROWD // 10


def figures(**counts: int) -> dict[ThreadStatus, Capped]:
    """Counts by status, 0 where none is given."""
    return {status: Capped(counts.get(status.value, 0), more=False) for status in S}


def test_an_empty_store(harness: Harness) -> None:
    found = harness.store.desk.gauges()
    assert found.threads == figures()
    none = Capped(0, more=False)
    assert {found.claims.live, found.claims.expired, found.tombstones, found.dead} == {none}
    assert found.oldest_incomplete is found.oldest_tombstone is None
    assert found.queue.oldest_due is found.queue.oldest_lapsed is None
    assert found.money == harness.store.desk.reservation_totals()
    assert (found.money.held_micro, found.money.all.open) == (0, none)
    assert found.as_of == harness.now()


def test_threads_by_status_whoever_owns_them(harness: Harness) -> None:
    store = harness.checkpoints
    for number, status in enumerate(CheckpointStatus):
        for tenant in (None, "x")[: 1 + number % 2]:
            t = f"{status.value}-{tenant}"
            store.release(t, put(store, t, tenant=tenant, status=status))
    put(store, "running")
    put(store, "child", origin="running")
    claim(store, "claimed only")
    found = harness.store.desk.gauges()
    assert found.threads == figures(running=2, idle=1, suspended=2, completed=1, failed=2, deleted=1)
    assert found.claims.live == Capped(3, more=False)


def test_claims_that_are_over(harness: Harness) -> None:
    store = harness.checkpoints
    put(store, "a")
    harness.advance(TTL / 2)
    put(store, "b")
    harness.advance(TTL / 2)
    claims = harness.store.desk.gauges().claims
    assert (claims.live.count, claims.expired.count) == (1, 1)


def test_the_oldest_incomplete_thread(harness: Harness) -> None:
    store, desk = harness.checkpoints, harness.store.desk
    held = put(store, "held for long")
    harness.advance(MINUTE)
    store.renew("held for long", held, HOUR)
    assert desk.gauges().oldest_incomplete is None
    store.release("settled", put(store, "settled", status=CheckpointStatus.COMPLETED))
    harness.advance(MINUTE)
    store.release("stuck", put(store, "stuck"))
    harness.advance(MINUTE)
    store.release("younger", put(store, "younger"))
    assert desk.gauges().oldest_incomplete == MINUTE
    store.release("held for long", held)
    assert desk.gauges().oldest_incomplete == 3 * MINUTE


def test_tombstones(harness: Harness) -> None:
    store = harness.checkpoints
    for t in ("a", "b"):
        grow(store, {t: None})
        store.delete_thread(t, claim(store, t).token)
        harness.advance(MINUTE)
    store.release("no event", put(store, "no event"))
    store.delete_thread("no event", claim(store, "no event").token)
    found = harness.store.desk.gauges()
    assert found.tombstones == Capped(2, more=False)
    assert found.oldest_tombstone == 2 * MINUTE
    emit(store, "a", claim(store, "a").token, "lives again")
    assert harness.store.desk.gauges().tombstones == Capped(2, more=False)


def test_the_run_queue(harness: Harness) -> None:
    queue, now = harness.store.queue, harness.now()
    lapsing = leased(queue, "lapses")
    killed = leased(queue, "killed")
    queue.kill(killed.id, killed.lease_token, "no model")
    done = leased(queue, "done")
    queue.complete(done.id, done.lease_token)
    for number in range(3):
        queue.enqueue(f"t{number}", {}, available_at=now + number * HOUR)
    harness.advance(LEASE + SECOND)
    found = harness.store.desk.gauges()
    depth = found.queue
    counts = [each.count for each in (depth.queued, depth.due, depth.leased, depth.lapsed, found.dead)]
    assert counts == [3, 1, 1, 1, 1]
    assert depth.oldest_due == LEASE + SECOND
    assert depth.oldest_lapsed == SECOND
    assert lapsing.lease_until is not None


def entries(state: str) -> list[dict[str, Any]]:
    """As many entries of the state as threads."""
    base = {"tenant": None, "input": "{}", "state": state, "available_at": to_ns(T0), "lease_token": 1}
    more = {"lease_owner": None, "lease_until": to_ns(T0) if state == "leased" else None}
    return [
        {"id": f"{state}-{n:05}", "thread_id": f"{state}-{n:05}", "attempts": 1, "max_attempts": 3}
        | base
        | more
        for n in range(CROWD)
    ]


@pytest.fixture
def crowded(harness: Harness) -> Harness:
    """More of everything than is counted."""
    with harness.raw() as connection:
        for status in CheckpointStatus:
            claimed = "i % 10 = 0" if status is CheckpointStatus.RUNNING else "i % 2 = 0"
            over = crowd.NOBODY if status is CheckpointStatus.RUNNING else crowd.EVERYBODY
            crowd.threads(
                connection, f"{status.value}-", CROWD, status=f"'{status.value}'", claimed=claimed, over=over
            )
        crowd.tombs(connection, "gone-", CROWD)
        for state in ("queued", "leased", "dead", "done"):
            connection.execute(insert(queue_entry), entries(state))
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
    harness.advance(MINUTE)
    return harness


def test_counts_stop_at_their_cap(crowded: Harness) -> None:
    found = crowded.store.desk.gauges()
    capped = Capped(MAX_COUNT, more=True)
    assert found.threads == dict.fromkeys(S, capped) | {S.RUNNING: Capped(LIVE, more=False)}
    assert found.claims.live == Capped(LIVE, more=False)
    assert {found.claims.expired, found.tombstones, found.dead} == {capped}
    assert {found.queue.queued, found.queue.due, found.queue.leased, found.queue.lapsed} == {capped}
    assert found.oldest_incomplete is not None
    assert found.oldest_incomplete >= MINUTE - SECOND


def test_reading_them_costs_no_more_than_their_caps(
    crowded: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowded.store.desk.gauges()
    with recording(monkeypatch) as ran, statements(crowded.store) as executed:
        crowded.store.desk.gauges()
    found = [step for each in ran for steps in plans(crowded, each) for step in steps]
    with crowded.raw() as connection:
        if crowded.kind == "postgresql":
            connection.execute(text("SET LOCAL random_page_cost = 1.1"))  # what solid state costs
        found += [step for each in executed if "SELECT" in each[0] for step in plan(connection, *each)]
    assert len(ran) + len(executed) >= 8
    reads = [step for step in found if "thread" in step.text or "queue" in step.text]
    assert len(reads) >= 8
    for step in reads:
        check_bounded(step)


def check_bounded(step: Step) -> None:
    """By an index, and no further than a count's cap or the live claims it skips."""
    assert "index" in step.text.lower() or step.text.startswith("Bitmap"), step
    assert step.rows is None or step.rows <= MAX_COUNT + 1 + LIVE, step
