"""A plan becomes a job: confirmed under the project's own reserved-commit convention (console.md F1, ruling 55)."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, insert, select

from engine.clock import from_ns
from engine.database.columns import check_id, check_number
from engine.database.constructs import Now
from engine.database.statement import Statement
from engine.desk.actor import Route
from engine.desk.audit import chain
from engine.desk.audit.model import Deed, ObjectKind, Phase, Told
from engine.desk.jobs.model import JobState
from engine.desk.jobs.rows import job_known
from engine.desk.moment import moment
from engine.desk.plans.read import checked_for_execution, plan_detail
from engine.desk.recorded import Change, recorded
from engine.desk.tables import audit, job, plan, plan_item
from engine.errors import PlanRefused, ReservationInvalidated, ValidationError
from engine.reserved import Outcome, confirm

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.actor import Mandate
    from engine.desk.jobs.model import Job
    from engine.desk.plans.model import Plan

MOST_RATE: Final = 100_000
"""Items a second."""
_DEED: Final = Statement(select(plan.c.kind).where(plan.c.plan_id == bindparam("wanted")))
_EXECUTED: Final = Statement(
    select(audit.c.actor, audit.c.at).where(
        audit.c.operation_id == bindparam("op"), audit.c.phase == Phase.INTENT.value
    )
)
_ADD: Final = Statement(
    insert(job).values(
        job_id=bindparam("new"),
        plan_id=bindparam("of_plan"),
        state=JobState.READY.value,
        lease_token=0,
        next_n=1,
        total=bindparam("items"),
        applied=0,
        skipped=0,
        failed=0,
        rate=bindparam("a_second"),
        created_at=Now(),
    )
)


def execute(
    transactions: Transactions, plan_id: str, mandate: Mandate, confirmation: str, *, rate: int = 0
) -> Job:
    """The plan's job, READY to be run; `confirmation` is the phrase that had to be typed, `rate` items a second.

    PlanRefused where the plan is unknown, executed already, too old, waits for approval, holds nothing that can be
    done, or the phrase is another; ValidationError without a reason.
    """
    if not 0 <= check_number("rate", rate) <= MOST_RATE:
        raise ValidationError("rate", (f"must lie between 0 and {MOST_RATE} items a second",))
    mandate = mandate.reasoned()
    deed = transactions.read("desk.plan_deed", _deed, plan_id)

    def change(connection: Connection) -> Change[Job]:
        return _made(connection, plan_id, mandate, confirmation, rate)

    return recorded(transactions, mandate, Told(deed, ObjectKind.PLAN, plan_id), change)


def _deed(connection: Connection, plan_id: str) -> Deed:
    row: Any = _DEED.one(connection, wanted=check_id("plan_id", plan_id))
    if row is None:
        raise PlanRefused(plan_id, "unknown", f"there is no plan {plan_id!r}; make one")
    return Deed(row.kind)


def _made(
    connection: Connection, plan_id: str, mandate: Mandate, confirmation: str, rate: int
) -> Change[Job]:
    try:
        checked = checked_for_execution(connection, plan_id, confirmation)
    except PlanRefused as refusal:
        raise _told_by_whom(connection, plan_id, refusal) from None
    _confirmed(connection, checked, moment(connection))
    job_id = f"job_{uuid.uuid4().hex}"
    _ADD.count(connection, new=job_id, of_plan=plan_id, items=checked.items, a_second=rate)
    facts = {"hash": checked.hash, "items": checked.items, "job": job_id, "confirmation": confirmation}
    own = replace(mandate, operation_id=job_id, route=Route.JOB)
    told = Told(checked.deed, ObjectKind.JOB, job_id, {"plan": plan_id, **facts, "by": mandate.operation_id})
    chain.append(connection, Phase.INTENT, own, told)
    return Change(
        job_known(connection, job_id), {"job": job_id, "plan": plan_id, "items": checked.items}, facts
    )


def _confirmed(connection: Connection, checked: Plan, now: int) -> None:
    """Every item becomes a committed row, or PlanRefused: some were swept, or are not what the header says."""
    try:
        answer = confirm(connection, plan_item, checked.plan_id, from_ns(now))
    except ReservationInvalidated as error:
        raise _not_whole(checked, error.explain()) from error
    if answer.outcome is not Outcome.CONFIRMED:
        raise _not_whole(checked, f"its items are {answer.outcome.value}")
    if answer.rows != checked.items:
        raise _not_whole(checked, f"{answer.rows} of its {checked.items} items are left")


def _told_by_whom(connection: Connection, plan_id: str, refusal: PlanRefused) -> PlanRefused:
    """Of a plan that was executed: by which job, on whose word and when (report 29); any other refusal as it is."""
    found = plan_detail(connection, plan_id) if refusal.why == "executed" else None
    if found is None or found.job_id is None:
        return refusal
    row: Any = _EXECUTED.one(connection, op=found.job_id)
    by = "" if row is None else f", by {row.actor} at {from_ns(row.at):%Y-%m-%d %H:%M:%S}Z"
    text = f"plan {plan_id!r} was executed already as job {found.job_id!r}{by}; look at that job"
    return PlanRefused(plan_id, refusal.why, text)


def _not_whole(checked: Plan, found: str) -> PlanRefused:
    text = f"plan {checked.plan_id!r} cannot be executed: {found}; plan again"
    return PlanRefused(checked.plan_id, "not whole", text)
