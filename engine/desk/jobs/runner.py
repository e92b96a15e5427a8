"""Running jobs: one item, one transaction, its result stored with its effect (console.md F8 and F10).

A runner that is killed anywhere leaves its job RUNNING; once the lease is over another takes it and goes on with
`next_n`, the first item without a result. A lost lease ends a run with JobRefused (`lease.LOST`), a lost connection
with its StoreFailure: in neither case was anything stored after it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from engine.database.backend import Fault
from engine.desk.jobs import lease, results, states
from engine.desk.jobs.lease import HALTED, LOST, Held, held
from engine.desk.jobs.model import CHUNK, JobState
from engine.desk.jobs.pace import Pace
from engine.desk.jobs.rows import job_known
from engine.desk.jobs.whole import is_sealed, mandate_of
from engine.desk.plans.read import items_of
from engine.errors import (
    CommitUnknown,
    EngineError,
    JobRefused,
    ReadOnlyStore,
    StoreClosed,
    StoreFailure,
    WaitCancelled,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.actor import Mandate
    from engine.desk.jobs.executor import Done, Executor
    from engine.desk.jobs.model import Job
    from engine.desk.plans.model import Item

MOST_ATTEMPTS: Final = 3
"""How often an item is done whose commit was lost and turned out not to have landed."""
MOST_PASSED: Final = 50
"""Jobs that `run_next` passes over at most, because they cannot be carried out here."""
_CHANGED: Final = "what is stored of the plan is not what was confirmed; plan again"
_MISSING: Final = "the plan no longer holds all of its items; plan again"


@dataclass(frozen=True, slots=True)
class Passed:
    """A job that was left to others, and what is missing here to carry it out."""

    job_id: str
    error: EngineError


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of one job."""

    job: Job
    mine: Held
    mandate: Mandate
    executor: Executor
    pace: Pace


class Runner:
    """Runs jobs of one store, one at a time, from one thread. `owner` is who is told to hold their leases.

    `executors` makes what carries out a job; `stop`, once set, ends a run after the item at hand. `pace`
    makes what keeps to a job's rate; `chunk` items are read together.
    """

    def __init__(
        self,
        transactions: Transactions,
        executors: Callable[[Job], Executor],
        owner: str,
        *,
        stop: threading.Event | None = None,
        pace: Callable[[int], Pace] | None = None,
        chunk: int = CHUNK,
    ) -> None:
        self._tx = transactions
        self._executors = executors
        self._owner = owner
        self._stop = threading.Event() if stop is None else stop
        self._chunk_size = chunk
        self._pace = partial(Pace, sleep=self._stop.wait) if pace is None else pace
        self.passed: list[Passed] = []
        """Whom the last `run_next` passed over, oldest first."""

    def run(self, job_id: str) -> Job:
        """Take this job and go on with it until its end, a stop, a pause or a cancel; how it stands then."""
        taken = self._tx.write("jobs.take", lease.take, job_id, self._owner)
        return self._stopped(taken) or self._carried_out(taken, *self._equipped(taken))

    def run_next(self) -> Job | None:
        """The same with the oldest job that can be run here; None where none waits.

        A job for which something is missing here, such as a resolver, is passed over, at most `MOST_PASSED` of them:
        `passed` says whom and why. Where nobody else waits behind them, the first one's error is raised.
        """
        self._tx.write("jobs.close_forsaken", states.close_forsaken)
        self.passed = []
        for _ in range(MOST_PASSED):
            behind = self.passed[-1].job_id if self.passed else ""
            taken = self._tx.write("jobs.take_next", lease.take_next, self._owner, behind)
            if taken is None:
                break
            stopped = self._stopped(taken)
            if stopped is not None:
                return stopped
            try:
                equipped = self._equipped(taken)
            except StoreFailure:
                raise
            except EngineError as error:
                self.passed.append(Passed(taken.job_id, error))
            else:
                return self._carried_out(taken, *equipped)
        if self.passed:
            raise self.passed[0].error
        return None

    def _stopped(self, taken: Job) -> Job | None:
        """The job, STOPPED, where its plan is no longer what a person confirmed: nothing of it is done."""
        if self._tx.snapshot("jobs.sealed", is_sealed, taken):
            return None
        self._tx.write("jobs.stop", states.stop, held(taken), _CHANGED)
        return self._tx.read("jobs.job", job_known, taken.job_id)

    def _carried_out(self, taken: Job, mandate: Mandate, executor: Executor) -> Job:
        try:
            self._all(_Run(taken, held(taken), mandate, executor, self._pace(taken.rate)))
        finally:
            executor.close()
        return self._tx.read("jobs.job", job_known, taken.job_id)

    def _equipped(self, taken: Job) -> tuple[Mandate, Executor]:
        """What a run needs; where it cannot be had here (a guard, a resolver), the job is left to others."""
        try:
            return self._tx.read("jobs.mandate", mandate_of, taken.job_id), self._executors(taken)
        except EngineError:
            self._tx.write("jobs.hand_over", states.hand_over, held(taken))
            raise

    def _all(self, run: _Run) -> None:
        """Chunk after chunk, of which there are at most `total`."""
        after, total = run.job.next_n - 1, run.job.total
        state = JobState.RUNNING
        while after < total and state is JobState.RUNNING and not self._stop.is_set():
            chunk = self._tx.read("jobs.items", items_of, run.job.plan_id, after, self._chunk_size)
            if not chunk or chunk[0].n != after + 1:
                self._tx.write("jobs.stop", states.stop, run.mine, _MISSING)
                return
            state = self._chunk(run, chunk)
            after = chunk[-1].n
        if state is not JobState.STOPPED:
            self._tx.write("jobs.hand_over", states.hand_over, run.mine)

    def _chunk(self, run: _Run, chunk: list[Item]) -> JobState:
        state = self._tx.write("jobs.renew", lease.renew, run.mine)
        for item in chunk:
            if state is not JobState.RUNNING:
                break
            run.pace.wait()
            if self._stop.is_set():
                break
            state = self._item(run, item)
        return state

    def _item(self, run: _Run, item: Item) -> JobState:
        try:
            done = run.executor.prepare(item, partial(self._between, run))
            return self._surely(run, item, partial(_settled, run, item, done))
        except EngineError as error:
            if isinstance(error, JobRefused) and error.why == HALTED:
                return JobState.PAUSED  # or whatever has come since: who hands the job over looks
            if self._ends_the_run(run, error):
                raise
            return self._surely(run, item, partial(_settled, run, item, results.failure(item, error)))

    def _between(self, run: _Run, rows: int = 0, meanwhile: Callable[[], object] = lambda: None) -> bool:
        """An executor's `Between`; the rests are bounded by the rows of one transaction."""
        run.pace.owe(rows)
        while True:
            state = self._tx.write("jobs.renew", lease.renew, run.mine)
            if rows and state is JobState.CANCELLED:
                return True
            if rows and (state is not JobState.RUNNING or self._stop.is_set()):
                raise run.mine.halted()
            meanwhile()
            if self._stop.is_set() or not run.pace.rest():
                return False

    def _surely(self, run: _Run, item: Item, verb: Callable[[Connection], JobState]) -> JobState:
        """Run an item's transaction; where its outcome is unknown, ask by the operation's id before a repeat."""
        for attempt in range(1, MOST_ATTEMPTS + 1):
            try:
                return self._tx.write("jobs.item", verb)
            except CommitUnknown:
                state = self._tx.write("jobs.landed", results.stored, run.mine, item.n)
                if state is not None:
                    return state
                if attempt == MOST_ATTEMPTS:
                    raise
        raise AssertionError("unreachable: every attempt returns or raises")

    def _ends_the_run(self, run: _Run, error: EngineError) -> bool:
        """Whether it says something of the job or of the link, not of the item."""
        if isinstance(error, JobRefused):
            return error.job_id == run.job.job_id and error.why == LOST
        if isinstance(error, (CommitUnknown, StoreClosed, ReadOnlyStore, WaitCancelled)):
            return True
        return isinstance(error, StoreFailure) and self._is_lost(error)

    def _is_lost(self, error: StoreFailure) -> bool:
        cause = getattr(error.__cause__, "orig", None) or error.__cause__
        backend = self._tx.backend
        if cause is None or not isinstance(cause, backend.driver_error):
            return False
        return backend.classify(cause) in (Fault.LOST, Fault.ENDED_IDLE)


def _settled(run: _Run, item: Item, done: Done | None, connection: Connection) -> JobState:
    """The item's one transaction: its effect, where that is still to come, and its result."""
    came = run.executor.finish(connection, item) if done is None else done
    return results.store(connection, run.mine, run.job.deed, run.mandate, item, came)
