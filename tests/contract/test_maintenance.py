"""Housekeeping under one lease (ruling 49, checkpoints-operations.md 5)."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import RetentionPolicy, SweepPolicy
from engine.desk import Maintenance, Pass, chores
from engine.desk import maintenance as module
from engine.desk.maintenance import LEASE, MAINTENANCE_THREAD, MAX_BACKOFF
from engine.errors import StaleClaim, StoreFailure, ThreadBusy, ValidationError
from engine.reserved import sweeper
from engine.reserved.lapsed import delete_lapsed
from tests.support.background import LIMIT, background, until
from tests.support.builders import chain, claim, fresh_id
from tests.support.cascades import grow
from tests.support.queued import history, leased
from tests.support.refusals import refused
from tests.support.rows import rows_of
from tests.support.slots import MINUTE, Slots
from tests.support.threads import SECOND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from engine.checkpoints import Checkpointer, SweepGuard
    from tests.support.harness import Harness

POLICY = SweepPolicy(RetentionPolicy(max_checkpoints=1), tombstone_age=timedelta(hours=1), batch_size=2)
INTERVAL = timedelta(minutes=10)
SOON = timedelta(milliseconds=10)


def maintenance(
    harness: Harness, *, guard: SweepGuard | None = None, interval: timedelta = INTERVAL
) -> Maintenance:
    """A maintainer of the test's store."""
    return Maintenance(harness.store, interval=interval, policy=POLICY, guard=guard)


def fill(store: Checkpointer, *threads: str) -> None:
    """Threads of two checkpoints each."""
    for t in threads:
        token = claim(store, t).token
        chain(store, t, token, ["c1"], run_id="r1")
        chain(store, t, token, ["c2"], run_id="r2")
        store.release(t, token)


def histories(store: Checkpointer, *threads: str) -> list[list[str]]:
    """The threads' histories."""
    return [history(store, t) for t in threads]


def test_ruling_49_a_pass_sweeps_every_page(harness: Harness) -> None:
    store = harness.checkpoints
    fill(store, "a", "b", "c", "d", "e")
    grow(store, {"old": None})
    store.delete_thread("old", claim(store, "old").token)
    harness.advance(2 * timedelta(hours=1))
    done = maintenance(harness).run_once()
    # The lease is an id under which something is held, so it counts as visited.
    assert done == Pass(
        pages=4, visited=7, checkpoints_removed=5, events_removed=5, tombstones_reclaimed=1, next=None
    )
    assert histories(store, "a", "e") == [["c2"], ["c2"]]
    assert maintenance(harness).run_once() == Pass(pages=3, visited=6)


def test_ruling_49_the_lease_leaves_no_trace(harness: Harness) -> None:
    maintenance(harness).run_once()
    with harness.raw() as connection:
        assert rows_of(connection, MAINTENANCE_THREAD) == {}


def test_ruling_49_one_process_maintains_a_store(harness: Harness) -> None:
    store = harness.checkpoints
    fill(store, "a")
    held = claim(store, MAINTENANCE_THREAD, "another process", ttl=LEASE)
    assert maintenance(harness).run_once() is None
    assert histories(store, "a") == [["c2", "c1"]]
    harness.advance(LEASE)
    assert maintenance(harness).run_once() is not None
    assert histories(store, "a") == [["c2"]]
    with pytest.raises(StaleClaim):
        store.renew(MAINTENANCE_THREAD, held.token, LEASE)


def test_ruling_49_the_holder_is_told(harness: Harness) -> None:
    fill(harness.checkpoints, "a")
    holders: list[str | None] = []

    def guard(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
        with pytest.raises(ThreadBusy) as caught:
            claim(harness.checkpoints, MAINTENANCE_THREAD)
        holders.append(caught.value.holder.run_id)
        return {}

    first = maintenance(harness, guard=guard)
    first.run_once()
    first.run_once()
    maintenance(harness, guard=guard).run_once()
    assert None not in holders
    assert all(str(holder).startswith("maintenance/") for holder in holders)
    assert len(set(holders)) == 2
    assert holders[0] == holders[1]


def test_ruling_49_the_lease_is_renewed_between_pages(harness: Harness) -> None:
    fill(harness.checkpoints, "a", "b", "c", "d", "e")

    def guard(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
        harness.advance(LEASE * 0.6)
        return {}

    done = maintenance(harness, guard=guard).run_once()
    assert done is not None
    assert done.next is None
    assert done.pages == 3


def test_ruling_49_a_lost_lease_ends_the_pass(harness: Harness) -> None:
    store = harness.checkpoints
    fill(store, "a", "b", "c", "d")
    taken: list[int] = []

    def guard(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
        harness.advance(LEASE)
        taken.append(claim(store, MAINTENANCE_THREAD, "another process", ttl=LEASE).token)
        return {}

    keeper = maintenance(harness, guard=guard)
    with pytest.raises(StaleClaim):
        keeper.run_once()
    assert len(taken) == 1
    store.renew(MAINTENANCE_THREAD, taken[0], LEASE)
    assert histories(store, "a", "d") == [["c2"], ["c2", "c1"]]


def test_ruling_49_a_failing_guard_leaves_its_page_and_is_asked_again(harness: Harness) -> None:
    store = harness.checkpoints
    fill(store, "a", "b", "c", "d", "e")
    asked: list[list[str]] = []
    error = LookupError("the owners' service is away")

    def guard(ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
        asked.append(list(ids))
        if len(asked) == 2:
            raise error
        return {}

    keeper = maintenance(harness, guard=guard)
    with pytest.raises(LookupError) as caught:
        keeper.run_once()
    assert caught.value is error
    assert histories(store, *"abcde") == [["c2"]] * 2 + [["c2", "c1"]] * 3
    claim(store, MAINTENANCE_THREAD, "the lease is free", ttl=SECOND)
    harness.advance(SECOND)

    done = keeper.run_once()
    assert asked == [["a", "b"], ["c", "d"], ["c", "d"], ["e", MAINTENANCE_THREAD]]
    assert done is not None
    assert (done.visited, done.checkpoints_removed) == (4, 3)
    keeper.run_once()
    assert asked[4] == ["a", "b"]


def test_ruling_49_the_guard_and_open_entries_protect(harness: Harness) -> None:
    store = harness.store
    fill(store.checkpoints, "a", "b", "c")
    leased(store.queue, "b", "r1")

    def guard(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
        return {"a": frozenset({"r1"})}

    maintenance(harness, guard=guard).run_once()
    assert histories(store.checkpoints, *"abc") == [["c2", "c1"], ["c2", "c1"], ["c2"]]
    maintenance(harness).run_once()
    assert histories(store.checkpoints, *"abc") == [["c2"], ["c2", "c1"], ["c2"]]


def test_ruling_49_a_stop_ends_a_pass_between_pages(harness: Harness) -> None:
    store = harness.checkpoints
    fill(store, "a", "b", "c", "d", "e")
    stop = threading.Event()

    def guard(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
        stop.set()
        return {}

    keeper = maintenance(harness, guard=guard)
    assert keeper.run_once(stop) == Pass(
        pages=1, visited=2, checkpoints_removed=2, events_removed=2, next="b"
    )
    stop.clear()
    assert keeper.run_once() is not None
    assert histories(store, *"abcde") == [["c2"]] * 5


def test_ruling_49_passes_go_on_until_stopped(harness: Harness) -> None:
    store = harness.checkpoints
    fill(store, "a")
    stop, passes = threading.Event(), list[Pass]()
    keeper = maintenance(harness, interval=SOON)
    running = background(keeper.run, stop, report=passes.append)
    until(lambda: len(passes) >= 2, "two passes")
    fill(store, "b")
    until(lambda: history(store, "b") == ["c2"], "the next pass finds the new thread")
    stop.set()
    running.result(LIMIT)
    assert sum(each.checkpoints_removed for each in passes) == 2
    many = len(passes)
    time.sleep(5 * SOON.total_seconds())
    assert len(passes) == many


def test_ruling_49_failures_are_logged_and_passes_go_on(
    harness: Harness, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_BACKOFF", SOON)
    fill(harness.checkpoints, "a")
    stop, asked, passes = threading.Event(), list[int](), list[Pass]()

    def guard(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
        asked.append(1)
        if len(asked) < 4:
            raise LookupError("away")
        return {}

    keeper = maintenance(harness, guard=guard, interval=SOON)
    with caplog.at_level(logging.WARNING):
        running = background(keeper.run, stop, report=passes.append)
        until(lambda: passes, "a pass after three that failed")
        stop.set()
        running.result(LIMIT)
    records = [record for record in caplog.records if record.name == module.__name__]
    assert len(records) == 3
    assert all("away" in record.getMessage() for record in records)
    assert histories(harness.checkpoints, "a") == [["c2"]]


def test_ruling_49_intervals_vary_a_little_and_double_with_failures(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = maintenance(harness, interval=timedelta(minutes=1))
    pauses = {keeper._pause() for _ in range(50)}
    assert len(pauses) > 10
    assert all(timedelta(seconds=54) <= pause <= timedelta(seconds=66) for pause in pauses)
    monkeypatch.setattr(keeper, "run_once", partial(_fail, LookupError("away")))
    longest = []
    for _ in range(20):
        assert keeper._guarded_pass(threading.Event()) is None
        longest.append(keeper._pause())
    assert timedelta(seconds=108) <= longest[0] <= timedelta(seconds=132)
    assert longest[-1] == MAX_BACKOFF
    monkeypatch.setattr(keeper, "run_once", lambda _: Pass())
    assert keeper._guarded_pass(threading.Event()) == Pass()
    assert keeper._pause() <= timedelta(seconds=66)


def test_ruling_49_a_pass_sweeps_reserved_rows_of_every_table(harness: Harness) -> None:
    slots, seats = (Slots(harness, harness.store.engine, name=name) for name in ("slots", "seats"))
    slots.lapsed("room-101", "txn-A")
    for each in (slots, seats):
        each.live("room-102", "txn-B")
    done = maintenance(harness).run_once()
    assert done is not None
    assert (done.reserved_examined, done.reserved_collected, done.reserved_errors) == (3, 1, 0)
    assert done.pages == 1
    harness.advance(MINUTE)
    assert maintenance(harness).run_once() == replace(done, reserved_examined=2, reserved_collected=2)
    assert maintenance(harness).run_once() == replace(done, reserved_examined=0, reserved_collected=0)


def test_ruling_49_a_guard_that_fails_keeps_no_reserved_row(harness: Harness) -> None:
    slots = Slots(harness, harness.store.engine)
    slots.lapsed("room-101", "txn-A")

    def guard(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
        raise LookupError("away")

    with pytest.raises(LookupError):
        maintenance(harness, guard=guard).run_once()
    assert slots.rows() == []


def test_ruling_49_tables_that_cannot_be_swept_are_logged(
    harness: Harness, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(harness.checkpoints, "a")
    Slots(harness, harness.store.engine).lapsed("room-101", "txn-A")
    error = StoreFailure("sweep", "permission denied for table slots")
    monkeypatch.setattr(sweeper, "delete_lapsed", lambda *_: _raise(error))
    with caplog.at_level(logging.WARNING):
        done = maintenance(harness).run_once()
    assert done is not None
    assert (done.reserved_examined, done.reserved_collected, done.reserved_errors) == (1, 0, 1)
    assert done.checkpoints_removed == 1
    (record,) = caplog.records
    assert "slots" in record.getMessage()
    assert error.message in record.getMessage()


def test_ruling_49_a_lost_lease_ends_a_reserved_sweep(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two batches, and before anything else of the pass."""
    store = harness.checkpoints
    fill(store, "a")
    slots = Slots(harness, harness.store.engine)
    for n in range(5):
        slots.lapsed(f"room-{n}", "txn-A")
    monkeypatch.setattr(chores, "RESERVED_BATCH", 2)

    tables = ["plan_item"]  # the store's own comes before, and nothing of it has lapsed

    def renew(*_: Any) -> None:
        if not tables:
            raise StaleClaim(MAINTENANCE_THREAD, 1, 2)
        tables.pop()

    monkeypatch.setattr(store, "renew", renew)
    with pytest.raises(StaleClaim):
        maintenance(harness).run_once()
    assert len(slots.rows()) == 3
    assert histories(store, "a") == [["c2", "c1"]]


def test_ruling_49_a_stop_ends_a_reserved_sweep_between_batches(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots = Slots(harness, harness.store.engine)
    for n in range(5):
        slots.lapsed(f"room-{n}", "txn-A")
    monkeypatch.setattr(chores, "RESERVED_BATCH", 2)
    stop = threading.Event()

    def stopping(connection: Connection, *args: Any) -> Any:
        stop.set()
        return delete_lapsed(connection, *args)

    monkeypatch.setattr(sweeper, "delete_lapsed", stopping)
    keeper = maintenance(harness)
    assert keeper.run_once(stop) == Pass(reserved_examined=5, reserved_collected=2)
    done = keeper.run_once()
    assert done is not None
    assert (done.reserved_collected, done.pages) == (3, 1)


def _raise(error: Exception) -> None:
    raise error


def _fail(error: Exception, _stop: threading.Event) -> None:
    raise error


@pytest.mark.parametrize("interval", [timedelta(0), timedelta(seconds=-1)])
def test_ruling_49_an_interval_is_above_zero(harness: Harness, interval: timedelta) -> None:
    refused(ValidationError("interval", ("must be above zero",)), maintenance, harness, interval=interval)


def test_ruling_49_two_maintainers_at_once_do_everything_once(harness: Harness) -> None:
    store = harness.checkpoints
    names = [fresh_id() for _ in range(20)]
    fill(store, *names)
    stop, passes = threading.Event(), list[Pass]()
    others = [
        Maintenance(each, interval=SOON, policy=POLICY) for each in (harness.sibling(), harness.sibling())
    ]
    running = [background(keeper.run, stop, report=passes.append) for keeper in others]
    until(lambda: all(history(store, t) == ["c2"] for t in names), "all threads are swept")
    stop.set()
    for each in running:
        each.result(LIMIT)
    assert sum(done.checkpoints_removed for done in passes) == len(names)
