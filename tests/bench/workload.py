"""The unit of work, the same for everybody: a 4 KB checkpoint, two pending writes and five events, on a chain."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.checkpoints import Checkpoint, CheckpointStatus, ClaimRequest, Commit, EventDraft, PendingWrite

BODY_BYTES = 4096
EVENTS = 5
THREADS_EACH = 8
"""How many thread ids one worker walks through in turn."""
LEASE = ClaimRequest("bench-run", timedelta(hours=1))
_AT = datetime(2026, 10, 9, 12, 0, tzinfo=UTC)
_SENTENCE = "The tool answered with three candidates; the second one matches the order and is kept. "


def _snapshot() -> dict[str, Any]:
    """A graph's state whose JSON text is `BODY_BYTES` long, give or take one message."""
    messages: list[dict[str, Any]] = []
    state = {
        "graph_id": "bench",
        "superstep": 7,
        "state": {"messages": messages, "budget": 12.5, "open": True},
    }
    while len(json.dumps(state)) < BODY_BYTES:
        messages.append(
            {"role": "tool", "id": f"message-{len(messages)}", "tokens": 21, "content": _SENTENCE * 2}
        )
    return state


SNAPSHOT = _snapshot()
WRITE_BODIES = tuple(
    {"operations": [{"channel": "messages", "value": _SENTENCE}], "routes": [n]} for n in range(2)
)
PAYLOADS = tuple({"name": f"step-{n}", "version": 1, "detail": _SENTENCE} for n in range(EVENTS))


@dataclass(frozen=True, slots=True)
class Step:
    """The n-th step of a chain on one thread, in nobody's format yet."""

    thread_id: str
    n: int

    @property
    def id(self) -> str:
        """The checkpoint's id; ids of a chain sort by age, which LangGraph relies on."""
        return f"c{self.n:011d}"

    @property
    def parent(self) -> str | None:
        """The id of the step before."""
        return f"c{self.n - 1:011d}" if self.n else None


class Chains:
    """Successive steps on a worker's own thread ids, in turn."""

    def __init__(self, worker: str) -> None:
        self.threads = [f"{worker}-thread-{n}" for n in range(THREADS_EACH)]
        self._done = 0

    def steps(self, count: int) -> list[Step]:
        """The next `count` steps."""
        first, self._done = self._done, self._done + count
        return [Step(self.threads[k % THREADS_EACH], k // THREADS_EACH) for k in range(first, self._done)]


def commit_of(step: Step, token: int) -> Commit:
    """The step as a commit of the engine."""
    kept = Checkpoint(
        step.id, step.thread_id, "bench-run", CheckpointStatus.RUNNING, SNAPSHOT, step.parent, created_at=_AT
    )
    writes = [PendingWrite(step.id, f"task-{n}", "node", body) for n, body in enumerate(WRITE_BODIES)]
    events = [
        EventDraft("custom", payload, "bench-run", step.id, f"task-{n}", "node", _AT)
        for n, payload in enumerate(PAYLOADS)
    ]
    return Commit(token, kept, writes, events)
