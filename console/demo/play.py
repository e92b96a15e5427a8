"""Two hours of the fleet's work under a clock that stands where it is put: what the screenshots show.

Everything is played by the demo's own agents through the engine's public API, the same each time.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console.demo import operations, wishes
from console.demo.agents import Fleet
from console.demo.opening import Opening
from console.demo.operator import Operator
from console.demo.run import LEASE
from console.demo.stage import ending
from engine.checkpoints import CheckpointStatus
from engine.errors import StaleClaim

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from datetime import datetime

    from console.demo.run import Run
    from console.demo.stage import Subject
    from console.demo.wishes import Wish
    from engine import Store
    from engine.clock import ManualClock

SEED: Final = 7
THREADS: Final = 40
CHILDREN: Final = 14
"""How often the last run hands a part of its work to one of its children."""
SERVED: Final = 3
"""Runs under way that the queue asked for."""
WISHES: Final = 7
"""Runs that are wanted and not leased yet."""


class Play:
    """The fleet, its clock, and the moment at which an operator looks."""

    def __init__(self, store: Store, clock: ManualClock, now: datetime) -> None:
        self._fleet = Fleet(store, threads=THREADS, seed=SEED)
        self._store = store
        self._clock = clock
        self._now = now
        self._dice = self._fleet.dice("shots")

    def run(self) -> None:
        """From two hours ago until the moment itself."""
        stuck, lost, *busy = self._fleet.subjects[:10]
        with known_ids(self._fleet.dice("ids")):
            self._past()
            self._until(timedelta(minutes=4))
            self._abandon(stuck, "worker-17/41")
            self._until(timedelta(seconds=190))
            late = self._abandon(lost, "worker-03/12")
            self._until(timedelta(seconds=72))
            served = [self._lease(subject, f"worker-{n + 4:02}") for n, subject in enumerate(busy[:SERVED])]
            self._give_up(self._fleet.subjects[-1])
            self._lose(lost, late)
            self._until(timedelta(seconds=25))
            for _ in range(WISHES):
                self._fleet.wish(self._dice)
            self._until(timedelta(seconds=7))
            self._present(busy, served)
            Opening(self._fleet, self._now).write()
            Operator(self._store).act(self._fleet.subjects)
        self._clock.advance(self._now - self._clock.now())

    def _until(self, before: timedelta) -> None:
        self._clock.advance(self._now - before - self._clock.now())

    def _past(self) -> None:
        for subject in self._fleet.subjects[10:]:
            self._clock.advance(timedelta(seconds=self._dice.randint(20, 300)))
            self._work(subject, f"worker-{self._dice.randint(1, 9):02}/{self._dice.randint(1, 99)}")

    def _work(self, subject: Subject, run_id: str) -> None:
        """A run from its beginning to its end; now and then it is left half-way."""
        run = self._begin(subject, run_id)
        for _ in range(self._dice.randint(1, 5)):
            self._clock.advance(timedelta(milliseconds=self._dice.randint(80, 900)))
            run.step()
        if self._dice.random() < 0.9:
            run.end(ending(self._dice))
        run.close()

    def _begin(self, subject: Subject, run_id: str) -> Run:
        claim = self._fleet.claim(subject, run_id)
        assert claim is not None
        run = self._fleet.work(subject, claim, self._dice)
        run.begin()
        return run

    def _abandon(self, subject: Subject, run_id: str) -> Run:
        """A run that is still under way, or died so: nobody gave its claim back."""
        run = self._begin(subject, run_id)
        for _ in range(self._dice.randint(1, 4)):
            self._clock.advance(timedelta(milliseconds=self._dice.randint(40, 240)))
            run.step()
        self._fleet.checkpoints.renew(subject.thread_id, run.token, LEASE)
        return run

    def _lease(self, subject: Subject, worker: str) -> Wish:
        """A wish for this thread, leased at once."""
        self._store.queue.enqueue(subject.thread_id, {"goal": "answer the customer"}, tenant=subject.tenant)
        wish = wishes.lease(self._store, worker, self._dice)
        assert wish is not None
        return wish

    def _operate(self, wish: Wish) -> None:
        """The attempt at a wish holds its operation and a unit, while it is under way."""
        dice = self._fleet.dice(f"operation {wish.operation_id}")
        operations.begin(self._fleet.money, wish.operation_id, wish.subject, dice)

    def _give_up(self, subject: Subject) -> None:
        """A wish whose attempts have all failed."""
        self._store.queue.enqueue(subject.thread_id, {"goal": "label the records"}, max_attempts=1)
        wish = wishes.lease(self._store, "worker-02", self._dice)
        assert wish is not None
        wish.record("worker-02/8")
        wish.end(CheckpointStatus.FAILED)

    def _lose(self, subject: Subject, late: Run) -> None:
        """A worker takes a thread over and dies as well; the one before comes back and is turned away."""
        self._lease(subject, "worker-08").record("worker-08/77")
        self._abandon(subject, "worker-08/77")
        try:
            late.step()
        except StaleClaim:
            return  # the very thing to be shown: the fence held
        raise AssertionError("the late writer was let through")

    def _present(self, busy: list[Subject], served: list[Wish]) -> None:
        """Seven seconds ago: runs the queue asked for, others, and one with many children."""
        for number, subject in enumerate(busy):
            run_id = f"worker-{number + 4:02}/{self._dice.randint(1, 99)}"
            if number < len(served):
                served[number].extend()
                served[number].record(run_id)
                self._operate(served[number])
            run = self._abandon(subject, run_id)
        for _ in range(CHILDREN):
            self._clock.advance(timedelta(milliseconds=self._dice.randint(10, 90)))
            run.delegate()


@contextmanager
def known_ids(dice: random.Random) -> Iterator[None]:
    """Let the engine draw its ids from these dice: pictures must be the same each time."""
    drawn = uuid.uuid4
    uuid.uuid4 = lambda: uuid.UUID(int=dice.getrandbits(128), version=4)
    try:
        yield
    finally:
        uuid.uuid4 = drawn
