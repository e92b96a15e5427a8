"""Runners that die without a word, wherever they are: the next one repeats no item and leaves none out (F10)."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from sqlalchemy import event

from engine import open_store
from engine.clock import ManualClock
from engine.desk.audit.verify import verify
from engine.desk.jobs import LEASE, JobState, execute, executors_for, runner, states
from engine.desk.plans import preview_delete, store_plan
from tests.support.builders import T0
from tests.support.cascades import check_only_tombstones, grow
from tests.support.jobs import (
    ANN,
    Counting,
    effects,
    made,
    open_intents,
    outcomes,
    state_of,
    table,
    tx,
    word,
)
from tests.support.jobs import runner as runner_of
from tests.support.processes import Program

if TYPE_CHECKING:
    from engine.store import Store
    from tests.support.harness import Harness

TOTAL = 3
SMALL = 2
"""Items to a chunk, so that few items have every kind of boundary."""
MOST_LIVES = 20
FAMILY_OF_THREE = {"root": None, "left": "root", "leaf": "left"}


def die(*_: object) -> None:
    """As kill -9 does it."""
    os.kill(os.getpid(), signal.SIGKILL)


def opened(url: str, life: int) -> Store:
    """The store as a process sees it whose clock is past the lease of the life before."""
    return open_store(url, clock=ManualClock(T0 + life * LEASE))


def doomed(url: str, job_id: str, life: int, point: str, n: int) -> str:
    """Run the job until item `n`: killed before it, or in the middle of its transaction; or at the very end."""
    if point == "end":
        states.hand_over = die  # type: ignore[assignment]
    with opened(url, life) as store:
        executor = Counting(job_id)
        if point in ("before", "during"):
            setattr(executor, point, lambda item: die() if item.n == n else None)
        return runner_of(store, executor, f"life-{life}", chunk=SMALL).run(job_id).state.value


def test_F10_a_job_killed_at_every_boundary_repeats_nothing(harness: Harness) -> None:
    table(harness)
    job_id = made(harness.store, TOTAL).job_id
    points = [(point, n) for n in range(1, TOTAL + 1) for point in ("before", "during")] + [("end", 0)]
    for life, (point, n) in enumerate(points):
        Program(doomed, harness.url, job_id, life, point, n).wait_killed()
        done = n - 1 if n else TOTAL
        found = state_of(harness.store, job_id)
        assert (found.state, found.next_n, found.token) == (JobState.RUNNING, done + 1, life + 1)
        assert effects(harness) == [number for number, _ in outcomes(harness.store, job_id)]
        assert effects(harness) == list(range(1, done + 1))
    assert open_intents(harness) == [job_id]

    last = Program(doomed, harness.url, job_id, len(points), "never", 0).answer().value
    assert last == JobState.DONE
    assert effects(harness) == list(range(1, TOTAL + 1))
    assert open_intents(harness) == []
    assert verify(tx(harness.store)).problem is None


def fallible(url: str, job_id: str, life: int, transactions: int) -> str:
    """Run a delete; killed at the end of so many transactions of this process, each time of more."""
    with opened(url, life) as store:
        left = [transactions]

        def count(*_: object) -> None:
            left[0] -= 1
            if not left[0]:
                die()

        event.listen(store.engine.pool, "checkin", count, insert=True)
        carry = executors_for(tx(store), {})
        return runner.Runner(tx(store), carry, f"life-{life}").run(job_id).state.value


def test_report_38_a_cascade_that_crashes_at_any_step_is_taken_up_again(harness: Harness) -> None:
    store = harness.store
    grow(store.checkpoints, FAMILY_OF_THREE)
    preview = tx(store).snapshot("test.preview", preview_delete, "prod", ["root"])
    plan = tx(store).write("test.plan", store_plan, preview, ANN)
    job_id = execute(tx(store), plan.plan_id, word(), plan.phrase).job_id

    lives = 0
    while state_of(store, job_id).state is not JobState.DONE:
        lives += 1
        assert lives < MOST_LIVES, "the job never ended"
        Program(fallible, harness.url, job_id, lives, 6 + 5 * lives).ended()
    assert lives > 1
    assert [outcome for _, outcome in outcomes(store, job_id)] == ["applied"] * 3
    check_only_tombstones(harness, FAMILY_OF_THREE)
    assert open_intents(harness) == []
