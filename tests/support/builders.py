"""The plain data of the contract cases (checkpoints.md 4): small, fixed, and the same in every test."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    EventDraft,
    EventRecord,
    PendingWrite,
    RunClaim,
)
from engine.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.checkpoints import Checkpointer

T0 = datetime(2026, 10, 9, 12, 0, tzinfo=UTC)
"""Where every injected clock starts."""
TTL = timedelta(seconds=30)
STEP = timedelta(microseconds=1)
"""The smallest step of a public instant."""
RUNNING = CheckpointStatus.RUNNING
MANY = 1000
"""More events than any case reads in one go."""


def fresh_id() -> str:
    """A thread id nobody has used."""
    return f"thread-{uuid.uuid4()}"


def claim(
    store: Store | Checkpointer,
    t: str,
    holder: str = "first",
    *,
    ttl: timedelta = TTL,
    tenant: str | None = None,
) -> RunClaim:
    """Claim `t` for `holder`; takes a store or its checkpointer."""
    checkpointer = store.checkpoints if isinstance(store, Store) else store
    return checkpointer.claim(t, ClaimRequest(holder=holder, ttl=ttl, tenant=tenant))


def empty_graph(**more: Any) -> dict[str, Any]:
    """The snapshot of a graph that has done nothing yet."""
    blank: dict[str, Any] = {
        "graph_id": "g",
        "graph_version": "v1",
        "fingerprint": "f",
        "superstep": 0,
        "state": {},
        "frontier": [],
        "static_joins": [],
        "dynamic_joins": [],
        "parked": [],
        "paused": False,
    }
    return blank | more


def ck(
    id: str,  # noqa: A002 - the record's own name for it
    parent: str | None = None,
    *,
    t: str,
    run_id: str = "run",
    status: CheckpointStatus = RUNNING,
    **more: Any,
) -> Checkpoint:
    """A checkpoint of thread `t` over `parent`, made at T0."""
    fields: dict[str, Any] = {"snapshot": empty_graph(), "created_at": T0} | more
    return Checkpoint(id=id, thread_id=t, run_id=run_id, status=status, parent=parent, **fields)


def wr(c: str, k: str) -> PendingWrite:
    """A pending write of task `k` for checkpoint `c` that changes nothing."""
    return PendingWrite(checkpoint_id=c, task_id=k, node_id="n", body={"operations": [], "routes": []})


def ev(name: str, **more: Any) -> EventDraft:
    """A custom event called `name`, with no place in the graph."""
    blank: dict[str, Any] = {
        "kind": "custom",
        "payload": {"name": name, "version": 1},
        "run_id": "run",
        "timestamp": T0,
    }
    return EventDraft(**(blank | more))


def chain(
    checkpointer: Checkpointer,
    t: str,
    token: int,
    ids: Iterable[str],
    *,
    run_id: str = "run",
    status: CheckpointStatus = RUNNING,
) -> list[EventRecord]:
    """Commit each id over the latest before it, each with one event that names it; the records in order."""
    stored = checkpointer.latest(t)
    parent = stored.checkpoint.id if stored is not None else None
    records: list[EventRecord] = []
    for each in ids:
        made = ck(each, parent, t=t, run_id=run_id, status=status)
        event = ev(each, checkpoint_id=each, run_id=run_id)
        records += checkpointer.commit(t, Commit(token, checkpoint=made, events=[event]))
        parent = each
    return records


def emit(checkpointer: Checkpointer, t: str, token: int, *names: str) -> list[int]:
    """Commit one event for each name, all together; the numbers they got."""
    records = checkpointer.commit(t, Commit(token, events=[ev(name) for name in names]))
    return [record.seq for record in records]


def seqs(checkpointer: Checkpointer, t: str) -> list[int]:
    """The numbers of the thread's events, from its start."""
    return [record.seq for record in checkpointer.events_after(t, 0, MANY)]


def task_ids(checkpointer: Checkpointer, t: str) -> list[str]:
    """The task ids of the latest checkpoint's pending writes; AssertionError when there is no checkpoint."""
    stored = checkpointer.latest(t)
    assert stored is not None, f"{t} has no checkpoint"
    return [write.task_id for write in stored.writes]


def latest_id(checkpointer: Checkpointer, t: str) -> str | None:
    """The id of the thread's latest checkpoint, if it has one."""
    stored = checkpointer.latest(t)
    return stored.checkpoint.id if stored is not None else None
