"""Storing a plan: its header stays, its items are tentative rows that lapse when the plan does (ruling 55)."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, insert

from engine.clock import from_ns, span_ns, to_ns
from engine.database.columns import check_id, dump
from engine.database.statement import Statement
from engine.desk.moment import moment
from engine.desk.plans.model import (
    APPROVAL_LIFETIME,
    LIFETIME,
    MOST_ITEMS,
    Plan,
    PlanState,
    Preview,
    Threshold,
)
from engine.desk.plans.sealed import Header, hash_of, item_text, totals_text
from engine.desk.tables import plan, plan_item
from engine.errors import PlanRefused, ValidationError
from engine.reserved.convention import reserve_values

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.actor import Actor

NEVER: Final = Threshold()
"""Nothing needs a second person."""
_LATER: Final = ("approved_by", "approved_at", "cancelled_at")
_HEADER: Final = tuple(name for name in plan.c.keys() if name not in _LATER)  # noqa: SIM118
_ADD: Final = Statement(insert(plan).values({name: bindparam(name) for name in _HEADER}))
_ADD_ITEM: Final = Statement(
    insert(plan_item).values({name: bindparam(name) for name in plan_item.c.keys()})  # noqa: SIM118
)


def new_plan_id() -> str:
    """An id that no plan has."""
    return f"pln_{uuid.uuid4().hex}"


def store_plan(connection: Connection, preview: Preview, actor: Actor, threshold: Threshold = NEVER) -> Plan:
    """Freeze what a preview found, for five minutes from the moment it looked; for an hour above the threshold.

    Wants a writing transaction. PlanRefused, why "expired", for a preview that is too old already.
    """
    _check(preview)
    approval = threshold.exceeded_by(preview.totals)
    lifetime = APPROVAL_LIFETIME if approval else LIFETIME
    made = to_ns(preview.at)
    until, plan_id = made + span_ns(lifetime), new_plan_id()
    if until <= moment(connection):
        raise PlanRefused(None, "expired", "what it was made from is too old; plan again")
    items = [item_text(item) for item in preview.items]
    header = Header(
        kind=preview.deed.value,
        environment=preview.environment,
        params=dump("params", preview.params),
        totals=totals_text(preview.totals, needs_approval=approval),
        actor=dump("actor", actor.facts()),
        created_at=made,
        expires_at=until,
    )
    seal = hash_of(header, items)
    _ADD.count(connection, plan_id=plan_id, hash=seal, items=len(items), **asdict(header))
    shared = {"plan_id": plan_id, **reserve_values(plan_id, until)}
    names = ("n", "kind", "object_id", "guard", "note")
    _ADD_ITEM.many(connection, (dict(zip(names, item, strict=True)) | shared for item in items))
    return Plan(
        plan_id,
        preview.deed,
        preview.environment,
        preview.params,
        actor,
        seal,
        len(items),
        preview.totals,
        preview.at,
        from_ns(until),
        _state(preview, approval=approval),
        needs_approval=approval,
    )


def _check(preview: Preview) -> None:
    if not check_id("environment", preview.environment):
        raise ValidationError("environment", ("must not be empty",))
    if len(preview.items) > MOST_ITEMS:
        raise PlanRefused(None, "too wide", f"a plan holds at most {MOST_ITEMS:,} items; narrow the filter")


def _state(preview: Preview, *, approval: bool) -> PlanState:
    if not preview.items or preview.totals.blockers:
        return PlanState.BLOCKED
    return PlanState.AWAITING if approval else PlanState.READY
