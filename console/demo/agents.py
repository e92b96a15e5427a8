"""The simulated agents: each claims a thread, works through a run, and at times dies holding its claim."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Final

from console.demo import operations, wishes
from console.demo.money import Money, Purse
from console.demo.paid import PaidRun
from console.demo.run import LEASE, Run
from console.demo.stage import Subject, ending, subjects
from engine.checkpoints import CheckpointStatus, ClaimRequest
from engine.errors import (
    CheckpointConflict,
    EngineError,
    StaleClaim,
    StaleLease,
    ThreadBusy,
    ThreadDeleted,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.demo.operations import Operation
    from console.demo.wishes import Wish
    from engine import Store
    from engine.checkpoints import RunClaim

RENEW_EVERY: Final = 2.5
"""Seconds between renewals: well inside the lease."""
PAUSE: Final = (0.15, 1.1)
"""Seconds between two steps, at least and at most."""
SERVING: Final = 0.6
"""How often an agent looks into the queue before it takes a thread of its own choice."""
WISHING: Final = 0.7
"""How often an agent, before its turn, wishes for a run of some thread."""
TROUBLE: Final = 2.0
"""Seconds an agent waits after its store failed."""
FURNISHED: Final = 150
"""Threads made before the first frame; the agents make the others as they come to them."""
WISHES: Final = 12
"""Runs that are wanted from the first frame on."""


class Fleet:
    """What the agents share: the store, the threads, who was left behind, and when to stop."""

    def __init__(self, store: Store, *, threads: int, seed: int) -> None:
        self.store = store
        self.checkpoints = store.checkpoints
        self.money = Money(store)
        self.subjects = subjects(threads, seed)
        self.seed = seed
        self.stop = threading.Event()
        self.orphans: deque[tuple[float, Subject]] = deque(maxlen=threads)

    def dice(self, role: str) -> random.Random:
        """A source of chance of one's own."""
        return random.Random(f"{self.seed}/{role}")  # noqa: S311 - a play, not a secret

    def claim(self, subject: Subject, run: str) -> RunClaim | None:
        """The claim, or None while somebody else is at it."""
        try:
            return self.checkpoints.claim(subject.thread_id, ClaimRequest(run, LEASE, subject.tenant))
        except ThreadBusy:
            return None

    def work(self, subject: Subject, claim: RunClaim, dice: random.Random) -> Run:
        """A run that pays for what it does."""
        txn = f"{claim.holder}/{claim.token}"
        purse = Purse(self.money, subject.thread_id, txn, self.dice(f"purse of {txn}"))
        return PaidRun(self.store, subject, claim, dice, purse)

    def wish(self, dice: random.Random) -> None:
        """Ask the queue for a run of some thread."""
        wishes.wish(self.store, dice.choice(self.subjects), dice)

    def orphan(self) -> Subject | None:
        """A thread whose holder died, once its lease must have ended."""
        if self.orphans and self.orphans[0][0] < time.monotonic():
            return self.orphans.popleft()[1]
        return None

    def past(self, subject: Subject, dice: random.Random) -> None:
        """A whole run at once, and for nothing: how the threads of the first frame came to be."""
        claim = self.claim(subject, f"run-{dice.randrange(16**6):06x}")
        if claim is None:
            return
        run = Run(self.store, subject, claim, dice)
        run.begin()
        for _ in range(dice.randint(1, 4)):
            run.step()
        if dice.random() < 0.85:
            run.end(ending(dice))
        run.close()


class Agent(threading.Thread):
    """One worker: claim, work, renew, release; at times it crashes, comes back too late, or cleans up."""

    def __init__(self, fleet: Fleet, number: int) -> None:
        super().__init__(name=f"worker-{number:02}", daemon=True)
        self._fleet = fleet
        self._dice = fleet.dice(self.name)
        self._late: Run | None = None
        self._late_operation: Operation | None = None
        self._runs = 0

    def run(self) -> None:
        """Until told to stop."""
        while not self._fleet.stop.wait(self._dice.uniform(*PAUSE)):
            try:
                self._come_back_late()
                self._turn()
            except (StaleClaim, StaleLease, CheckpointConflict, ThreadBusy, ThreadDeleted):
                continue  # another agent has the thread now: there is always another one to work on
            except EngineError:
                self._fleet.stop.wait(TROUBLE)  # the store is away; it may come back

    def _turn(self) -> None:
        """A run that the queue asks for, or one of a thread of the agent's own choice."""
        if self._dice.random() < WISHING:
            self._fleet.wish(self._dice)
        served = self._dice.random() < SERVING and self._serve()
        if not served:
            self._choose(self._fleet.orphan() or self._dice.choice(self._fleet.subjects))

    def _serve(self) -> bool:
        """A run from the queue; False if none is due."""
        wish = wishes.lease(self._fleet.store, self.name, self._dice)
        if wish is None:
            return False
        run_id = self._next_run()
        wish.record(run_id)
        claim = self._fleet.claim(wish.subject, run_id)
        if claim is None:
            wish.postpone()
            return True
        work = self._fleet.work(wish.subject, claim, self._dice)
        operation = operations.begin(self._fleet.money, wish.operation_id, wish.subject, self._dice)
        if operation is None:
            work.close()
            wish.postpone()
        else:
            self._fulfil(wish, work, operation)
        return True

    def _fulfil(self, wish: Wish, work: Run, operation: Operation) -> None:
        work.begin()
        if not self._steps(work, wish.extend, operation.extend):
            self._late_operation = operation
            return
        status = self._leave(work)
        if status is None or wish.to_be_tried_again(status):
            operation.pause()
            wish.postpone()
        else:
            operation.close()
            wish.end(status)

    def _choose(self, subject: Subject) -> None:
        claim = self._fleet.claim(subject, self._next_run())
        if claim is None:
            return
        work = self._fleet.work(subject, claim, self._dice)
        work.begin()
        if self._dice.random() < 0.06:
            work.delete()
        elif self._steps(work):
            self._leave(work)

    def _next_run(self) -> str:
        self._runs += 1
        return f"{self.name}/{self._runs}"

    def _steps(self, work: Run, *extend: Callable[[], None]) -> bool:
        """The steps of a run, renewing its claim and what else is to be kept; False if the agent died."""
        renewed = time.monotonic()
        for _ in range(self._dice.randint(3, 12)):
            if self._fleet.stop.wait(self._dice.uniform(*PAUSE)):
                return True
            if self._dice.random() < 0.02:
                self._die(work)
                return False
            if time.monotonic() - renewed > RENEW_EVERY:
                self._fleet.checkpoints.renew(work.thread_id, work.token, LEASE)
                for each in extend:
                    each()
                renewed = time.monotonic()
            work.step()
        return True

    def _leave(self, work: Run) -> CheckpointStatus | None:
        """End the run, or leave it half-way; how it ended."""
        status = None
        if not self._fleet.stop.is_set() and self._dice.random() < 0.85:
            status = ending(self._dice)
            work.end(status)
        work.close()
        return status

    def _die(self, work: Run) -> None:
        """Stop without a word, as a killed process does; a colleague takes over when the lease has ended."""
        self._late = work
        self._fleet.orphans.append((time.monotonic() + LEASE.total_seconds(), work.subject))

    def _come_back_late(self) -> None:
        """Writes that were under way when the agent died arrive at last: the fences refuse them."""
        if self._late is None or self._late.age < LEASE.total_seconds() * 1.5:
            return
        late, self._late = self._late, None
        operation, self._late_operation = self._late_operation, None
        if operation is not None:
            operation.pause()
        late.step()
        late.end(CheckpointStatus.COMPLETED)
        late.close()


def furnish(fleet: Fleet) -> None:
    """Give most threads a past: a run that ended, or one that was left behind; and wish for some runs."""
    dice = fleet.dice("stage")
    for subject in fleet.subjects[:FURNISHED]:
        if dice.random() < 0.85:
            fleet.past(subject, dice)
    for _ in range(WISHES):
        fleet.wish(dice)
