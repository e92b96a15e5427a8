"""Cancelling a plan, and a second person's approval of one (ruling 55): each between its intent and its result."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, update

from engine.clock import from_ns
from engine.database.columns import dump
from engine.database.statement import Statement
from engine.desk.audit.model import Deed, ObjectKind, Told
from engine.desk.moment import moment
from engine.desk.plans.approval import check_other
from engine.desk.plans.model import PlanState
from engine.desk.plans.read import locked, refused_by_state
from engine.desk.recorded import Change, recorded
from engine.desk.tables import plan, plan_item
from engine.errors import PlanRefused
from engine.reserved.transitions import release

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.database.transaction import Transactions
    from engine.desk.actor import Actor, Mandate
    from engine.desk.plans.model import Plan

_OPEN: Final = (PlanState.READY, PlanState.AWAITING, PlanState.BLOCKED)
_THIS: Final = plan.c.plan_id == bindparam("id")
_CANCEL: Final = Statement(update(plan).where(_THIS).values(cancelled_at=bindparam("at")))
_APPROVE: Final = Statement(
    update(plan)
    .where(_THIS, plan.c.approved_by.is_(None))
    .values(approved_by=bindparam("who"), approved_at=bindparam("at"))
)


def cancel_plan(transactions: Transactions, plan_id: str, mandate: Mandate) -> Plan:
    """Release the plan's items; its header stays, CANCELLED.

    PlanRefused, why: unknown, executed, cancelled, expired.
    """
    told = Told(Deed.CANCEL_PLAN, ObjectKind.PLAN, plan_id)
    return recorded(transactions, mandate, told, lambda connection: _change(cancelled(connection, plan_id)))


def approve_plan(transactions: Transactions, plan_id: str, mandate: Mandate) -> Plan:
    """Let a plan that waits for it be executed, within the time that it has left: nothing is extended.

    PlanRefused, why: unknown, executed, cancelled, expired, empty, blocked, approved (or none is needed), same
    person, same role (where both are known).
    """
    told = Told(Deed.APPROVE, ObjectKind.PLAN, plan_id)
    actor = mandate.actor
    return recorded(
        transactions, mandate, told, lambda connection: _change(approved(connection, plan_id, actor))
    )


def cancelled(connection: Connection, plan_id: str) -> Plan:
    """The verb of `cancel_plan`."""
    found = locked(connection, plan_id)
    if found.state not in _OPEN:
        raise refused_by_state(found)
    release(connection, plan_item, plan_id)
    _CANCEL.count(connection, id=plan_id, at=moment(connection))
    return replace(found, state=PlanState.CANCELLED)


def approved(connection: Connection, plan_id: str, actor: Actor) -> Plan:
    """The verb of `approve_plan`."""
    found = locked(connection, plan_id)
    if found.state is PlanState.READY:
        raise PlanRefused(plan_id, "approved", f"plan {plan_id!r} needs no further approval; execute it")
    if found.state is not PlanState.AWAITING:
        raise refused_by_state(found)
    check_other(found, actor)
    at = moment(connection)
    _APPROVE.count(connection, id=plan_id, who=dump("actor", actor.facts()), at=at)
    return replace(found, state=PlanState.READY, approved_by=actor, approved_at=from_ns(at))


def _change(after: Plan) -> Change[Plan]:
    facts: dict[str, Any] = {"hash": after.hash, "planned": after.deed.value, "items": after.items}
    return Change(after, {"plan": after.plan_id, "state": after.state.value}, facts)
