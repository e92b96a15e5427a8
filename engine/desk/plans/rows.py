"""From a plan's row to a `Plan`: its state is read from what became of its items, and from the time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, false, select, true

from engine.checkpoints.records import Undecodable, instant_of
from engine.clock import from_ns, span_ns
from engine.database.constructs import page_now
from engine.desk.actor import Actor
from engine.desk.audit.model import Deed
from engine.desk.plans.model import LIFETIME, Plan, PlanState
from engine.desk.plans.sealed import totals_of
from engine.desk.tables import job, plan, plan_item

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select


def _there(n: ColumnElement[int] | int) -> ColumnElement[Any]:
    found = select(plan_item.c.n).where(plan_item.c.plan_id == plan.c.plan_id, plan_item.c.n == n)
    return found.correlate(plan).scalar_subquery()


def headers() -> Select[Any]:
    """A select of plans with all that their state is read from: look-ups by key for each."""
    job_id = select(job.c.job_id).where(job.c.plan_id == plan.c.plan_id).correlate(plan).scalar_subquery()
    # The first and the last item: a release takes all of them, and a sweep only what has lapsed anyway.
    released = (plan.c["items"] > 0) & (_there(1).is_(None) | _there(plan.c["items"]).is_(None))
    return select(
        *plan.c,
        job_id.label("job_id"),
        case((released, true()), else_=false()).label("released"),
        page_now().label("now"),
    )


def plan_of(row: Any) -> Plan:
    """A row of `headers`, as of the moment that it was read at. Undecodable for another's row."""
    try:
        return _read(row)
    except (ValueError, TypeError, KeyError) as error:
        raise Undecodable(f"plan {row.plan_id!r}: {error}") from error


def _read(row: Any) -> Plan:
    totals, approval = totals_of(row.totals)
    approver = None if row.approved_by is None else Actor.of(json.loads(row.approved_by))
    return Plan(
        plan_id=row.plan_id,
        deed=Deed(row.kind),
        environment=row.environment,
        params=json.loads(row.params),
        actor=Actor.of(json.loads(row.actor)),
        hash=row.hash,
        items=row.items,
        totals=totals,
        created_at=from_ns(row.created_at),
        expires_at=from_ns(row.expires_at),
        state=_state(row, blocked=bool(totals.blockers), approval=approval),
        approved_by=approver,
        approved_at=instant_of(row.approved_at),
        job_id=row.job_id,
        needs_approval=approval,
    )


def _state(row: Any, *, blocked: bool, approval: bool) -> PlanState:
    if row.job_id is not None:
        return PlanState.EXECUTED
    if row.cancelled_at is not None:
        return PlanState.CANCELLED
    # Made later than now: the clock was set back, and how old it is cannot be told.
    if row.expires_at <= row.now or row.created_at - span_ns(LIFETIME) > row.now:
        return PlanState.EXPIRED
    if row.released:
        return PlanState.CANCELLED
    if blocked or not row.items:
        return PlanState.BLOCKED
    return PlanState.AWAITING if approval and row.approved_by is None else PlanState.READY
