"""Looking at jobs costs the same however many there are and however long they ran (console.md F6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.clock import to_ns
from engine.desk.jobs import (
    ItemOutcome,
    JobState,
    close_forsaken,
    job_detail,
    job_items,
    jobs,
    progress,
    take_next,
)
from engine.desk.tables import job, job_item, plan, plan_item
from engine.paging import encode_cursor
from tests.support.builders import T0
from tests.support.jobs import ANN, tx
from tests.support.statements import plans, recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from tests.support.harness import Harness

JOBS, ITEMS, PAGE, LOOKED_AT = 6_000, 6_000, 20, 1_000
STATES = ("done", "done", "cancelled", "done", "stopped")
START = to_ns(T0)
LONG = f"job-{JOBS - 1:06}"
"""The job with all the items; it runs."""


def header(n: int) -> dict[str, Any]:
    """A plan, a microsecond after the one before."""
    facts = {"params": "{}", "actor": "{}", "environment": "prod", "hash": "h", "totals": "{}"}
    when = START + n * 1000
    return {
        "plan_id": f"p{n:06}",
        "kind": "release",
        "items": ITEMS,
        "created_at": when,
        "expires_at": when,
        **facts,
    }


def row(n: int, state: str) -> dict[str, Any]:
    """Its job."""
    counts = {"total": ITEMS, "applied": ITEMS, "skipped": 0, "failed": 0, "rate": 0}
    running = state == JobState.RUNNING.value
    return {
        "job_id": f"job-{n:06}",
        "plan_id": f"p{n:06}",
        "state": state,
        "lease_owner": "w" if running else None,
        "lease_token": 1,
        "lease_until": START if running else None,
        "next_n": ITEMS + 1,
        "created_at": START + n * 1000,
        **counts,
    }


@pytest.fixture
def busy(harness: Harness) -> Harness:
    """Thousands of finished jobs, two that may be run, and one with thousands of results."""
    states = [STATES[n % len(STATES)] for n in range(JOBS - 2)] + ["ready", "running"]
    last = f"p{JOBS - 1:06}"
    items = [
        {"plan_id": last, "n": n, "kind": "claim", "object_id": f"t{n}", "guard": "{}", "note": "{}"}
        for n in range(1, ITEMS + 1)
    ]
    came = [
        {
            "job_id": LONG,
            "n": n,
            "outcome": "failed" if n % 9 == 0 else "applied",
            "operation_id": f"{LONG}:{n}",
        }
        | {"detail": "{}", "at": START}
        for n in range(1, ITEMS + 1)
    ]
    with harness.raw() as connection:
        connection.execute(insert(plan), [header(n) for n in range(JOBS)])
        connection.execute(insert(job), [row(n, state) for n, state in enumerate(states)])
        connection.execute(insert(plan_item), items)
        connection.execute(insert(job_item), came)
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
    return harness


# What is called, and how many rows of a table one of its statements may touch.
CALLS: dict[str, tuple[Callable[[Connection], Any], int]] = {
    "jobs": (lambda c: jobs(c, None, None, PAGE), PAGE + 1),
    "jobs, deep": (lambda c: jobs(c, None, encode_cursor(START + 3_000_000, "job-003000"), PAGE), PAGE + 1),
    "one job": (lambda c: job_detail(c, LONG), 1),
    "items, deep": (lambda c: job_items(c, LONG, None, encode_cursor(5_000), PAGE), PAGE + 1),
    "failed items": (lambda c: job_items(c, LONG, ItemOutcome.FAILED, None, PAGE), 10 * PAGE),
    "progress": (lambda c: progress(c, LONG), LOOKED_AT),
    "the next to run": (lambda c: take_next(c, ANN.name), 4),
    "cancelled and forsaken": (close_forsaken, LOOKED_AT),
}


@pytest.mark.parametrize("name", CALLS)
def test_F6_a_look_at_jobs_touches_few_rows(
    busy: Harness, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, most = CALLS[name]
    with recording(monkeypatch) as ran:
        tx(busy.store).write("test.look", call)
    selects = [each for each in ran if each.text.startswith("SELECT")]
    assert selects
    for each in selects:
        for step in (step for steps in plans(busy, each) for step in steps if "job" in step.text):
            assert "Seq Scan" not in step.text, (step, each.text)
            assert not step.text.startswith("SCAN job") or "INDEX" in step.text, (step, each.text)
            assert step.rows is None or step.rows <= most, (step, each.text)
