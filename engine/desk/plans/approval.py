"""Whether somebody else approved a plan: what its header says of it must stand in the audit as well (ruling 55)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.database.statement import Statement
from engine.desk.audit.model import Deed, ObjectKind, Phase
from engine.desk.tables import audit
from engine.errors import PlanRefused

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.actor import Actor
    from engine.desk.plans.model import Plan

_LOOKED_AT: Final = 50
"""Entries of a plan's own, newest first, among which the approval is looked for."""
_RESULTS: Final = Statement(
    select(audit.c.actor, audit.c.body)
    .where(
        audit.c.object_kind == ObjectKind.PLAN.value,
        audit.c.object_id == bindparam("wanted"),
        audit.c.phase == Phase.RESULT.value,
    )
    .order_by(audit.c.seq.desc())
    .limit(_LOOKED_AT)
)


def check_other(found: Plan, actor: Actor) -> None:
    """PlanRefused unless the actor is another person than who made the plan, and acts as another role."""
    if actor.user.casefold() == found.actor.user.casefold():
        raise PlanRefused(
            found.plan_id, "same person", f"{actor.user!r} made this plan; another user must approve it"
        )
    if actor.role is not None and actor.role == found.actor.role:
        raise PlanRefused(
            found.plan_id,
            "same role",
            f"the plan was made as database role {actor.role!r}; approve as another",
        )


def check_approved(connection: Connection, found: Plan) -> None:
    """PlanRefused, why "unapproved", where a plan that needs it bears an approval that nobody gave."""
    if not found.needs_approval:
        return
    if found.approved_by is not None:
        check_other(found, found.approved_by)
        for row in _RESULTS.all(connection, wanted=found.plan_id):
            if row.actor == found.approved_by.name and _approves(json.loads(row.body), found):
                return
    text = f"the audit holds no approval of plan {found.plan_id!r}; verify the audit, then plan again"
    raise PlanRefused(found.plan_id, "unapproved", text)


def _approves(body: dict[str, Any], found: Plan) -> bool:
    approved = body["deed"] == Deed.APPROVE.value and "refused" not in body
    return approved and body.get("hash") == found.hash
