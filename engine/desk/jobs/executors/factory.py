"""Which executor carries out a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.arguments import member
from engine.desk.audit.model import Deed
from engine.desk.guard_spec import load_guard
from engine.desk.jobs.executors.decided import DecidedExecutor
from engine.desk.jobs.executors.delete import DeleteExecutor
from engine.desk.jobs.executors.reconcile import AskExecutor, DefaultExecutor, ResolverExecutor
from engine.desk.jobs.executors.release import ReleaseExecutor
from engine.desk.jobs.executors.sweep import SweepExecutor
from engine.desk.plans.model import AnswerSource
from engine.errors import ValidationError
from engine.spend.meter.model import AfterLease

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.checkpoints.retention import SweepGuard
    from engine.database.transaction import Transactions
    from engine.desk.jobs.executor import Executor
    from engine.desk.plans.model import Plan
    from engine.spend.answers import Answer


def executor_for(
    transactions: Transactions,
    job_id: str,
    plan: Plan,
    resolvers: Mapping[str, Callable[[Any], Answer]],
) -> Executor:
    """The executor of one job; `resolvers` are named `day` and `meter:PREFIX`.

    Of the plan's `params` it reads `source`, an `AnswerSource`; `after_lease`, what a reconcile pass by default makes
    of a meter's units; `guard`, `module:function`, which a sweep asks: none protects nothing beyond open queue entries.
    ValidationError for a plan that is none of these, or whose guard cannot be loaded.
    """
    match plan.deed:
        case Deed.RELEASE:
            return ReleaseExecutor()
        case Deed.DELETE:
            return DeleteExecutor(transactions, job_id, plan.plan_id, plan.created_at)
        case Deed.SWEEP:
            return SweepExecutor(transactions, job_id, _guard_of(plan), plan.created_at)
        case Deed.RECONCILE:
            return _reconcile(transactions, plan, resolvers)
        case Deed.RESOLVE:
            return DecidedExecutor(plan.params)
        case _:
            raise ValidationError("deed", (f"{plan.deed.value!r} is not carried out by a job",))


def _guard_of(plan: Plan) -> SweepGuard | None:
    name = plan.params.get("guard")
    return None if name is None else load_guard(name)


def _reconcile(
    transactions: Transactions, plan: Plan, resolvers: Mapping[str, Callable[[Any], Answer]]
) -> Executor:
    match member("source", AnswerSource, plan.params["source"]):
        case AnswerSource.DEFAULT:
            given = plan.params.get("after_lease")
            return DefaultExecutor(None if given is None else member("after_lease", AfterLease, given))
        case AnswerSource.RESOLVER:
            return ResolverExecutor(transactions, resolvers)
        case AnswerSource.ASK:
            return AskExecutor()
