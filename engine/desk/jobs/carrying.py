"""Which executor carries out a job: found by its plan's deed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.desk.jobs.executors.factory import executor_for
from engine.desk.plans.read import plan_detail
from engine.errors import JobRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.database.transaction import Transactions
    from engine.desk.jobs.executor import Executor
    from engine.desk.jobs.model import Job


def executors_for(
    transactions: Transactions, resolvers: Mapping[str, Callable[[Any], Any]]
) -> Callable[[Job], Executor]:
    """What a `Runner` asks for: `resolvers` are named `day` and `meter:PREFIX`.

    Asked for a job whose plan is not in the store it raises JobRefused.
    """

    def of(job: Job) -> Executor:
        plan = transactions.read("jobs.plan", plan_detail, job.plan_id)
        if plan is None:
            text = f"the plan {job.plan_id!r} of job {job.job_id!r} is gone; cancel the job and plan again"
            raise JobRefused(job.job_id, "no plan", text)
        return executor_for(transactions, job.job_id, plan, resolvers)

    return of
