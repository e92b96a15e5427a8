"""A job that cannot be carried out here does not keep the younger ones waiting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.desk.jobs import JobState, Runner
from engine.desk.jobs.runner import MOST_PASSED
from engine.errors import ValidationError
from tests.support.jobs import Counting, effects, made, state_of, table, tx

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.desk.jobs import Executor, Job
    from engine.store import Store
    from tests.support.harness import Harness


def unequipped(store: Store, refused: Collection[str]) -> Runner:
    """A runner that lacks what these jobs need."""

    def executor(job: Job) -> Executor:
        if job.job_id in refused:
            raise ValidationError("guard", (f"no module for {job.job_id}",))
        return Counting(job.job_id)

    return Runner(tx(store), executor, "console-a")


def test_the_next_job_is_run_and_the_ones_before_it_are_told(harness: Harness) -> None:
    store = harness.store
    table(harness)
    first, second, third = (made(store, 2).job_id for _ in range(3))
    order = sorted((first, second, third), key=lambda job: (state_of(store, job).created_at, job))
    runner = unequipped(store, order[:2])
    ran = runner.run_next()
    assert ran is not None
    assert (ran.job_id, ran.state) == (order[2], JobState.DONE)
    assert [passed.job_id for passed in runner.passed] == order[:2]
    assert all(passed.job_id in str(passed.error) for passed in runner.passed)
    assert [state_of(store, job).state for job in order[:2]] == [JobState.READY] * 2
    assert effects(harness) == [1, 2]


def test_where_none_can_be_run_here_the_first_one_says_why(harness: Harness) -> None:
    store = harness.store
    jobs = [made(store, 1).job_id for _ in range(2)]
    oldest = min(jobs, key=lambda job: (state_of(store, job).created_at, job))
    runner = unequipped(store, jobs)
    with pytest.raises(ValidationError, match=oldest):
        runner.run_next()
    assert len(runner.passed) == 2 <= MOST_PASSED
    assert unequipped(store, ()).run_next() is not None, "they wait for somebody who can"
