"""The run queue under many workers at once: case 131 of checkpoints-operations.md and ruling 26."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine import open_store
from engine.checkpoints import QueueState, SweepPolicy
from engine.errors import StaleLease
from tests.support.builders import chain, claim, fresh_id
from tests.support.processes import Program, answers
from tests.support.queued import KEEP_ONE, leased
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.checkpoints import QueueEntry, RunQueue
    from engine.store import Store
    from tests.support.harness import Harness

THREADS, EACH, WORKERS = 3, 16, 8
HOUR = timedelta(hours=1)
MOMENT = timedelta(milliseconds=150)
ROUNDS, PRUNERS = 25, 3
PATIENCE = 45.0
"""Seconds for all the work of a test."""


class Floor:
    """Who works on which thread right now; two at once on one thread are noted."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._working: Counter[str] = Counter()
        self.finished: Counter[str] = Counter()
        self.collisions: list[str] = []

    @contextmanager
    def working(self, entry: QueueEntry) -> Iterator[None]:
        """On this entry's thread, until left."""
        with self._lock:
            self._working[entry.thread_id] += 1
            if self._working[entry.thread_id] > 1:
                self.collisions.append(entry.thread_id)
        yield
        with self._lock:
            self._working[entry.thread_id] -= 1

    def finish(self, entry: QueueEntry) -> int:
        """Note an entry as done; how many there are."""
        with self._lock:
            self.finished[entry.id] += 1
            return self.finished.total()


def work(queue: RunQueue, floor: Floor, name: str, total: int) -> int:
    """Lease and complete until everything is done; how many entries were this worker's."""
    deadline, mine = time.monotonic() + PATIENCE, 0
    while floor.finished.total() < total:
        assert time.monotonic() < deadline, f"{floor.finished.total()} of {total} entries are done"
        entry = queue.lease(name, HOUR)
        if entry is None:
            time.sleep(0.002)
            continue
        with floor.working(entry):
            queue.record_run(entry.id, entry.lease_token, f"{name}/{mine}")
            time.sleep(0.002)
        floor.finish(entry)
        queue.complete(entry.id, entry.lease_token)
        mine += 1
    return mine


def fill(queue: RunQueue) -> list[str]:
    """Many entries of few threads, mixed."""
    threads = [fresh_id() for _ in range(THREADS)]
    return [queue.enqueue(t, {"n": n}, max_attempts=99) for n in range(EACH) for t in threads]


def test_ruling_26_never_two_leased_of_one_thread(harness: Harness) -> None:
    ids = fill(harness.store.queue)
    floor = Floor()
    stores = [harness.sibling() for _ in range(WORKERS // 2)]
    workers = [
        lambda n=n: work(stores[n % len(stores)].queue, floor, f"w{n}", len(ids)) for n in range(WORKERS)
    ]
    shares = all_succeeded(together(*workers, within=2 * PATIENCE))
    assert floor.collisions == []
    assert floor.finished == Counter(ids)
    assert sum(shares) == len(ids)
    done = harness.store.queue.entries(QueueState.DONE, limit=1000)
    assert {entry.id for entry in done} == set(ids)
    assert {(entry.attempts, len(entry.run_ids)) for entry in done} == {(1, 1)}


def lapsing(queue: RunQueue, name: str, total: int) -> list[tuple[str, int]]:
    """Lease for a moment, often longer than that at work; the entries completed, with the token each time."""
    deadline, dice, done = time.monotonic() + PATIENCE, random.Random(name), list[tuple[str, int]]()
    while len(queue.entries(QueueState.DONE, limit=1000)) < total:
        assert time.monotonic() < deadline
        entry = queue.lease(name, MOMENT)
        if entry is None:
            time.sleep(0.01)
            continue
        time.sleep(dice.uniform(0.0, 1.3) * MOMENT.total_seconds())
        with suppress(StaleLease):  # Too slow: another has leased it by now.
            queue.complete(entry.id, entry.lease_token)
            done.append((entry.id, entry.lease_token))
    return done


def test_ruling_26_an_entry_is_completed_once_whatever_lapses(harness: Harness) -> None:
    store = harness.open(clock=None)
    ids = fill(store.queue)[: THREADS * 6]
    for surplus in store.queue.entries(limit=1000):
        if surplus.id not in ids:
            store.queue.cancel(surplus.id)
    calls = [lambda n=n: lapsing(store.queue, f"w{n}", len(ids)) for n in range(WORKERS // 2)]
    done = list(itertools.chain(*all_succeeded(together(*calls, within=2 * PATIENCE))))
    assert Counter(entry_id for entry_id, _ in done) == Counter(ids)
    final = {entry.id: entry for entry in store.queue.entries(QueueState.DONE, limit=1000)}
    assert {entry_id: entry.lease_token for entry_id, entry in final.items()} == dict(done)


def lease_everything(url: str, name: str) -> list[tuple[str, str]]:
    """In a process of its own: every lease it gets, never given back; entry and thread."""
    with open_store(url) as store:
        taken = []
        while (entry := store.queue.lease(name, HOUR)) is not None:
            taken.append((entry.id, entry.thread_id))
        return taken


def test_ruling_26_processes_lease_each_thread_once(harness: Harness) -> None:
    store = harness.open(clock=None)
    threads = [fresh_id() for _ in range(30)]
    for t in threads * 3:
        store.queue.enqueue(t, {})
    programs = [Program(lease_everything, harness.url, f"p{n}") for n in range(3)]
    taken = [pair for answer in answers(programs) for pair in answer.value]
    assert Counter(t for _, t in taken) == Counter(threads)
    assert len(store.queue.entries(QueueState.LEASED, limit=1000)) == len(threads)


def attempts(harness: Harness, store: Store, t: str, ready: threading.Event) -> None:
    """Attempts by the book: record, then start; a direct run buries the evidence; look it up; complete."""
    queue, checkpoints = store.queue, store.checkpoints
    for number in range(ROUNDS):
        run = f"run-{number}"
        entry = leased(queue, t)
        assert checkpoints.latest_of_runs(t, [run]) is None
        queue.record_run(entry.id, entry.lease_token, run)
        token = claim(store, t, run).token
        chain(checkpoints, t, token, [f"a{number}", f"b{number}"], run_id=run)
        chain(checkpoints, t, token, [f"c{number}"], run_id="direct")
        checkpoints.release(t, token)
        ready.set()
        for _ in range(5):
            found = checkpoints.latest_of_runs(t, [run])
            assert found is not None, f"the evidence of {run} was pruned under an open entry"
            assert found.id == f"b{number}"
        queue.complete(entry.id, entry.lease_token)


@pytest.mark.parametrize("pruned_by", ["prune", "sweep"])
def test_ops_131_recording_and_pruning_race(harness: Harness, pruned_by: str) -> None:
    store, t = harness.store, fresh_id()
    over, ready = threading.Event(), threading.Event()

    def prune(mine: Store) -> int:
        rounds = 0
        while not over.is_set():
            if pruned_by == "prune":
                mine.checkpoints.prune(t, KEEP_ONE)
            else:
                mine.checkpoints.sweep(SweepPolicy(KEEP_ONE), lambda _: {})
            rounds += 1
        return rounds

    def run() -> None:
        try:
            attempts(harness, store, t, ready)
        finally:
            over.set()

    pruners = [harness.sibling() for _ in range(PRUNERS)]
    calls = [lambda mine=mine: prune(mine) for mine in pruners]
    rounds = all_succeeded(together(run, *calls, within=2 * PATIENCE))[1:]
    assert min(rounds) > 0
    store.checkpoints.prune(t, KEEP_ONE)
    assert [found.id for found in store.checkpoints.history(t)] == [f"c{ROUNDS - 1}"]
