"""A call of the run queue costs the same however many entries there are (invariant 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.checkpoints import QueueState
from engine.checkpoints.tables import queue_entry, queue_run
from engine.clock import to_ns
from tests.support.builders import T0
from tests.support.queued import LEASE
from tests.support.statements import plans, recording
from tests.support.threads import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import QueueEntry, RunQueue
    from tests.support.harness import Harness

STATES = ("queued", "done", "dead", "queued", "cancelled", "queued")
COUNT = 12_000
LEASED, LAPSED, OF_ONE, PAGE = 300, 20, 30, 20
HOUR = 3_600 * 10**9


def row(n: int, state: str, thread_id: str, *, until: int | None = None) -> dict[str, Any]:
    """An entry, a microsecond after the one before."""
    return {
        "id": f"{state}-{n:06}",
        "thread_id": thread_id,
        "tenant": None,
        "input": "{}",
        "state": state,
        "available_at": to_ns(T0) + n * 1000,
        "lease_owner": None if until is None else "w",
        "lease_token": 1,
        "lease_until": until,
        "attempts": 1,
        "max_attempts": 9,
        "last_error": None,
    }


@pytest.fixture
def busy(harness: Harness) -> Harness:
    """Thousands of entries in every state, each with a run, some leases over and one thread with many entries."""
    rows = [row(n, STATES[n % len(STATES)], f"t{n:06}") for n in range(COUNT)]
    rows += [row(n, "leased", f"l{n:06}", until=to_ns(T0) + HOUR) for n in range(LEASED - LAPSED)]
    rows += [row(n, "leased", f"o{n:06}", until=to_ns(T0)) for n in range(LEASED, LEASED + LAPSED)]
    rows += [row(COUNT + n, "queued", "one") for n in range(OF_ONE)]
    runs = [{"thread_id": each["thread_id"], "entry_id": each["id"], "run_id": "r", "n": 1} for each in rows]
    with harness.raw() as connection:
        connection.execute(insert(queue_entry), rows)
        connection.execute(insert(queue_run), runs)
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
    harness.advance(SECOND)
    return harness


def leased_one(queue: RunQueue) -> QueueEntry:
    """Some entry, leased."""
    entry = queue.lease("w", LEASE)
    assert entry is not None
    return entry


def lapse_all(queue: RunQueue) -> None:
    """Take over every lease that is over."""
    for _ in range(LAPSED):
        leased_one(queue)


# What is called, and how many rows of a table one of its statements may touch. Looking for leases that are over
# may touch every lease: there are no more of them than workers.
CALLS: dict[str, tuple[Callable[[RunQueue], Any], int]] = {
    "lease": (leased_one, LEASED + LAPSED + 1),
    "enqueue": (lambda queue: queue.enqueue("new", {}), 1),
    "record_run": (
        lambda queue: queue.record_run("leased-000001", 1, "r2"),
        2,
    ),
    "complete": (lambda queue: queue.complete("leased-000001", 1), 1),
    "retry": (lambda queue: queue.retry("leased-000001", 1, SECOND), 1),
    "cancel": (lambda queue: queue.cancel("queued-000003"), 1),
    "cancel_thread": (lambda queue: queue.cancel_thread("one"), OF_ONE),
    "entries": (lambda queue: queue.entries(after="e", limit=PAGE), PAGE),
    "entries of a state": (lambda queue: queue.entries(QueueState.DEAD, "dead-006002", PAGE), PAGE),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_touches_few_rows(busy: Harness, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, most = CALLS[name]
    queue = busy.store.queue
    if name == "lease":
        lapse_all(queue)
    with recording(monkeypatch) as ran:
        call(queue)
    selects = [each for each in ran if each.text.startswith("SELECT")]
    assert selects or name == "enqueue"
    for each in selects:
        for step in (step for steps in plans(busy, each) for step in steps if "queue" in step.text):
            assert "Seq Scan" not in step.text, (step, each.text)
            assert not step.text.startswith("SCAN queue"), (step, each.text)
            assert step.rows is None or step.rows <= max(most, 1), (step, each.text)
