"""A small agent worker over the public API, for sections 4.8 and 4.9 of checkpoints.md.

It fans its items out to one task each; a task's answer is stored as a pending write; once all are there, the
answers are appended to the thread's results and the turn is closed. Nothing of it is needed to use the store:
it does what any worker does that wants to survive its own death.
"""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    EventDraft,
    PendingWrite,
    RunClaim,
)
from engine.errors import CheckpointNotFound, StaleClaim, StoreFailure, TenantMismatch
from tests.support.background import LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from engine.checkpoints import Checkpointer

RUNNING, COMPLETED, FAILED = CheckpointStatus.RUNNING, CheckpointStatus.COMPLETED, CheckpointStatus.FAILED


class IncompleteRun(Exception):
    """The thread's last turn is not settled: recover it first."""


class Blocked(Exception):
    """A task that ends its turn as FAILED."""


@dataclass(frozen=True, slots=True)
class ClaimPolicy:
    """How long a claim lives, and how often it is renewed; None: never."""

    ttl: timedelta = timedelta(seconds=30)
    renew_every: timedelta | None = timedelta(seconds=10)


NEVER_RENEWED = ClaimPolicy(ttl=timedelta(hours=2), renew_every=None)
"""The policy of section 4.8: the claim lapses only when the test lets two hours pass."""


class Gate:
    """The body of every task: counts how often each item was worked on, and holds the items it is told to."""

    def __init__(self, *held: str) -> None:
        self.runs: Counter[str] = Counter()
        self._entered = {item: threading.Event() for item in held}
        self._open = {item: threading.Event() for item in held}

    def __call__(self, item: str) -> str:
        """The answer: the item in upper case."""
        self.runs[item] += 1
        if item in self._open:
            self._entered[item].set()
            assert self._open[item].wait(LIMIT), f"the gate of {item!r} was never opened"
        return item.upper()

    def wait_entered(self, item: str) -> None:
        """Until a task is held at the item; AssertionError after LIMIT seconds."""
        assert self._entered[item].wait(LIMIT), f"no task came to {item!r}"

    def open(self, item: str) -> None:
        """Let the tasks of the item go on."""
        self._open[item].set()


class Renewer:
    """Renews one claim in a thread of its own until stopped, or until it learns that the claim is gone."""

    def __init__(self, checkpoints: Checkpointer, claim: RunClaim, policy: ClaimPolicy) -> None:
        self._checkpoints, self._claim, self._policy = checkpoints, claim, policy
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.renewals = 0
        self.failures = 0
        self.lost: StaleClaim | None = None

    def start(self) -> None:
        """Begin, unless the policy renews nothing."""
        if self._policy.renew_every is not None:
            self._thread.start()

    def stop(self) -> None:
        """End, and wait for the last renewal."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(LIMIT)

    def check(self) -> None:
        """Raise the StaleClaim that a renewal met."""
        if self.lost is not None:
            raise self.lost

    def _run(self) -> None:
        assert self._policy.renew_every is not None
        while not self._stop.wait(self._policy.renew_every.total_seconds()):
            self._renew()

    def _renew(self) -> None:
        try:
            self._checkpoints.renew(self._claim.thread_id, self._claim.token, self._policy.ttl)
            self.renewals += 1
        except StaleClaim as error:
            self.lost = error
            self._stop.set()
        except (StoreFailure, RuntimeError):
            self.failures += 1  # A store that fails now may answer at the next renewal.


@dataclass(frozen=True, slots=True)
class Run:
    """One admitted turn: its claim, whose it is, and what keeps the claim alive."""

    claim: RunClaim
    tenant: str | None
    renewer: Renewer

    @property
    def id(self) -> str:
        """The run's id, which is the claim's holder."""
        return self.claim.holder

    def over(
        self, parent: Checkpoint | None, status: CheckpointStatus, snapshot: dict[str, Any]
    ) -> Checkpoint:
        """The checkpoint that follows `parent`."""
        number = int(parent.id.rpartition("/")[2]) + 1 if parent is not None else 1
        return Checkpoint(
            id=f"{self.id}/{number}",
            thread_id=self.claim.thread_id,
            run_id=self.id,
            status=status,
            snapshot=snapshot,
            parent=parent.id if parent is not None else None,
            tenant=self.tenant,
            fencing_token=self.claim.token,
        )

    def event(self, kind: str, checkpoint: Checkpoint, **more: Any) -> EventDraft:
        """A draft that names the run and the checkpoint it is about."""
        return EventDraft(kind=kind, payload={}, run_id=self.id, checkpoint_id=checkpoint.id, **more)


class Worker:
    """Runs turns on threads, one at a time. `work` is the body of a task; `run` is the turn last admitted."""

    def __init__(
        self,
        checkpoints: Checkpointer,
        work: Callable[[str], str] = str.upper,
        policy: ClaimPolicy = NEVER_RENEWED,
    ) -> None:
        self._checkpoints, self._work, self._policy = checkpoints, work, policy
        self.run: Run | None = None

    def start(self, t: str, items: Sequence[str], run_id: str, tenant: str | None = None) -> Checkpoint:
        """A new turn over the items, IncompleteRun when the last one is open; the closing checkpoint."""
        seen = self._latest(t)
        with self._admitted(t, run_id, tenant) as run:
            if seen is not None and seen.status not in (COMPLETED, FAILED):
                raise IncompleteRun(t)
            opening = run.over(seen, RUNNING, {"results": _results(seen), "frontier": list(items)})
            self._commit(run, checkpoint=opening, events=[run.event("run_started", opening)])
            return self._turn(run, opening, done={})

    def recover(self, t: str, run_id: str, tenant: str | None = None) -> Checkpoint:
        """Go on with the open turn, reusing the answers that are stored. Returns the closing checkpoint."""
        with self._admitted(t, run_id, tenant) as run:
            # Read under the claim: the last holder may have written up to the moment it was replaced.
            stored = self._checkpoints.latest(t)
            assert stored is not None, f"{t} has nothing to recover"
            opening = stored.checkpoint
            self._commit(run, events=[run.event("run_recovered", opening)])
            return self._turn(run, opening, {write.task_id: write.body["answer"] for write in stored.writes})

    def update_state(
        self, t: str, results: Sequence[str], run_id: str, tenant: str | None = None
    ) -> Checkpoint:
        """Replace the thread's results by hand."""
        with self._admitted(t, run_id, tenant) as run:
            state = run.over(self._latest(t), COMPLETED, {"results": list(results), "frontier": []})
            self._commit(run, checkpoint=state, events=[run.event("state_updated", state)])
            return state

    def fork(self, source: str, checkpoint_id: str, target: str, run_id: str) -> Checkpoint:
        """Begin `target` with the state that `source` had at one checkpoint, which is only read."""
        origin = self._checkpoints.checkpoint(source, checkpoint_id)
        if origin is None:
            raise CheckpointNotFound(source, checkpoint_id)
        with self._admitted(target, run_id, None) as run:
            state = run.over(None, COMPLETED, {"results": _results(origin), "frontier": []})
            self._commit(run, checkpoint=state, events=[run.event("thread_forked", state)])
            return state

    def delete(self, t: str, run_id: str, tenant: str | None = None) -> None:
        """Delete the thread of this tenant; the claim is given back when the store did not delete."""
        self._check_tenant(t, tenant)
        claim = self._checkpoints.claim(t, ClaimRequest(run_id, self._policy.ttl, tenant))
        try:
            self._check_tenant(t, tenant)
            self._checkpoints.delete_thread(t, claim.token)
        except BaseException:
            self._checkpoints.release(t, claim.token)
            raise

    def _turn(self, run: Run, opening: Checkpoint, done: dict[str, str]) -> Checkpoint:
        answers = dict(done)
        try:
            for task, item in _tasks(opening):
                if task not in answers:
                    answers[task] = self._task(run, opening, task, item)
        except Blocked:
            return self._close(run, opening, FAILED, _results(opening))
        ordered = [answers[task] for task, _ in _tasks(opening)]
        return self._close(run, opening, COMPLETED, _results(opening) + ordered)

    def _task(self, run: Run, opening: Checkpoint, task: str, item: str) -> str:
        run.renewer.check()
        answer = self._work(item)
        write = PendingWrite(opening.id, task, "worker", {"answer": answer})
        self._commit(run, writes=[write], events=[run.event("task_completed", opening, task_id=task)])
        return answer

    def _close(
        self, run: Run, opening: Checkpoint, status: CheckpointStatus, results: list[str]
    ) -> Checkpoint:
        last = run.over(opening, status, {"results": results, "frontier": []})
        ended = run.event(f"run_{status.value}", last)
        self._commit(run, checkpoint=last, events=[ended], retract_turn=status is FAILED)
        return last

    @contextmanager
    def _admitted(self, t: str, run_id: str, tenant: str | None) -> Iterator[Run]:
        claim = self._checkpoints.claim(t, ClaimRequest(run_id, self._policy.ttl, tenant))
        run = self.run = Run(claim, tenant, Renewer(self._checkpoints, claim, self._policy))
        run.renewer.start()
        try:
            yield run
        finally:
            run.renewer.stop()
            self._checkpoints.release(t, claim.token)

    def _commit(self, run: Run, **parts: Any) -> None:
        self._checkpoints.commit(run.claim.thread_id, Commit(run.claim.token, **parts))

    def _latest(self, t: str) -> Checkpoint | None:
        stored = self._checkpoints.latest(t)
        return stored.checkpoint if stored is not None else None

    def _check_tenant(self, t: str, tenant: str | None) -> None:
        latest = self._latest(t)
        if latest is not None and latest.tenant != tenant:
            raise TenantMismatch(t, tenant)


def _results(checkpoint: Checkpoint | None) -> list[str]:
    return list(checkpoint.snapshot["results"]) if checkpoint is not None else []


def _tasks(opening: Checkpoint) -> list[tuple[str, str]]:
    return [(f"{number}.0", item) for number, item in enumerate(opening.snapshot["frontier"])]
