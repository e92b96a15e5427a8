"""One run of an agent on a thread: what a graph runtime would write through the engine's public API."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from console.demo.stage import ANSWERS, MODELS, TOOLS, Subject
from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    EffectDraft,
    EventDraft,
    Origin,
    PendingWrite,
    delete_thread_cascade,
)
from engine.errors import ThreadBusy

if TYPE_CHECKING:
    import random

    from engine import Store
    from engine.checkpoints import RunClaim

LEASE: Final = timedelta(seconds=8)
CHILD_CHANCE: Final = 0.08
CHILDREN: Final = 9
"""Children that a thread has at most."""
ENDED: Final = {
    CheckpointStatus.COMPLETED: "run.completed",
    CheckpointStatus.SUSPENDED: "run.suspended",
    CheckpointStatus.FAILED: "run.failed",
}


class Run:
    """The writes of one run, each under its claim."""

    def __init__(
        self,
        store: Store,
        subject: Subject,
        claim: RunClaim,
        dice: random.Random,
        origin: Origin | None = None,
    ) -> None:
        self._store = store
        self._checkpoints = store.checkpoints
        self.subject = subject
        self.thread_id = subject.thread_id
        self.token = claim.token
        self._claim = claim
        self._dice = dice
        self._began = time.monotonic()
        self._superstep = 0
        self._origin = origin
        self._parent: str | None = None

    @property
    def age(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    def begin(self) -> None:
        """Read what is there and say who carries on."""
        stored = self._checkpoints.latest(self.thread_id)
        if stored is not None:
            self._parent = stored.checkpoint.id
            self._origin = self._origin or stored.checkpoint.origin
        if stored is not None and stored.checkpoint.status is CheckpointStatus.RUNNING:
            event = self._event("run.recovered", {"from": self._parent, "after": self._claim.taken_over_from})
        else:
            event = self._event("run.started", {"input": self._dice.choice(ANSWERS)})
        self._commit(CheckpointStatus.RUNNING, [event], metadata={"model": self._dice.choice(MODELS)})

    def step(self) -> None:
        """A superstep: a tool is called, its answer kept as a pending write, then as a checkpoint."""
        tool, answer = self._dice.choice(TOOLS), self._dice.choice(ANSWERS)
        call = self._event("tool.called", {"tool": tool, "attempt": 1})
        write = PendingWrite(str(self._parent), f"{self._superstep}.0", tool, {"result": answer})
        self._checkpoints.commit(self.thread_id, Commit(self.token, writes=[write], events=[call]))
        done = self._event(
            "tool.returned", {"tool": tool, "answer": answer, "ms": self._dice.randint(8, 2400)}
        )
        effects = [EffectDraft(f"{tool}/{self._parent}", {"sent": answer})] if tool == "post_comment" else []
        self._commit(CheckpointStatus.RUNNING, [done], effects=effects)
        if self._origin is None and self._dice.random() < CHILD_CHANCE:
            self.delegate()

    def end(self, status: CheckpointStatus) -> None:
        """The closing checkpoint."""
        self._commit(status, [self._event(ENDED[status], {"supersteps": self._superstep})])

    def close(self) -> None:
        """Give the claim back."""
        self._checkpoints.release(self.thread_id, self.token)

    def delete(self) -> None:
        """The tenant asked for erasure: the thread goes with its children, its number stays."""
        self._checkpoints.release(self.thread_id, self.token)
        self._store.queue.cancel_thread(self.thread_id)
        delete_thread_cascade(
            self._checkpoints,
            self.thread_id,
            run_id=f"{self._claim.holder}/erase",
            tenant=self.subject.tenant,
            ttl=LEASE,
        )

    def delegate(self) -> None:
        """Hand a part of the work to a child thread."""
        child = Subject(f"{self.thread_id}.{self._dice.randint(1, CHILDREN)}", self.subject.tenant)
        request = ClaimRequest(f"{self._claim.holder}/child", LEASE, child.tenant)
        try:
            claim = self._checkpoints.claim(child.thread_id, request)
        except ThreadBusy:
            return  # Another run is at the child: this one does without it.
        work = Run(self._store, child, claim, self._dice, Origin(self.thread_id))
        work.begin()
        work.step()
        work.end(CheckpointStatus.COMPLETED)
        work.close()

    def _commit(self, status: CheckpointStatus, events: list[EventDraft], **more: Any) -> None:
        self._superstep += 1
        new = Checkpoint(
            id=f"{self._claim.holder}/{self._superstep}/{self.token}",
            thread_id=self.thread_id,
            run_id=self._claim.holder,
            status=status,
            snapshot=self._snapshot(),
            parent=self._parent,
            created_at=self._store.clock.now(),
            tenant=self.subject.tenant,
            fencing_token=self.token,
            origin=self._origin,
        )
        self._checkpoints.commit(self.thread_id, Commit(self.token, new, events=events, **more))
        self._parent = new.id

    def _snapshot(self) -> dict[str, Any]:
        notes = [self._dice.choice(ANSWERS) for _ in range(self._dice.randint(1, 5))]
        return {
            "graph": "agent",
            "superstep": self._superstep,
            "state": {"messages": notes, "budget": {"tokens": self._dice.randint(500, 128_000)}},
            "frontier": [{"task": f"{self._superstep}.0", "node": self._dice.choice(TOOLS)}],
        }

    def _event(self, kind: str, payload: dict[str, Any]) -> EventDraft:
        return EventDraft(kind, payload, self._claim.holder, self._parent, timestamp=self._store.clock.now())
