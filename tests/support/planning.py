"""Plans made through their verbs, each bound to one transaction of a store as the desk binds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.desk.actor import Actor, Mandate
from engine.desk.plans import (
    Reach,
    Threshold,
    approve_plan,
    cancel_plan,
    checked_for_execution,
    items_of,
    plan_detail,
    plans,
    preview_delete,
    preview_release,
    store_plan,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from engine.desk import Page
    from engine.desk.plans import Item, Plan, Preview
    from engine.store import Store

ENVIRONMENT = "prod"
MAKER = Actor("mk", "bastion-2", role="ops_rw")
OTHER = Actor("jo", "bastion-1", role="ops_approve")


class Planner:
    """The verbs of plans over one store, for one actor and environment."""

    def __init__(self, store: Store, actor: Actor = MAKER) -> None:
        self.store = store
        self.actor = actor
        self._tx = store._transactions

    def look(self, verb: Callable[..., Preview], *args: Any, **options: Any) -> Preview:
        """A preview of any kind."""
        return self._tx.snapshot("test", verb, ENVIRONMENT, *args, **options)

    def delete(self, ids: Iterable[str], reach: Reach = Reach.TREE) -> Preview:
        """What a delete would take."""
        return self.look(preview_delete, ids, reach)

    def release(self, ids: Iterable[str]) -> Preview:
        """What a release would take."""
        return self.look(preview_release, ids)

    def store_it(self, preview: Preview, threshold: Threshold | None = None) -> Plan:
        """Freeze it."""
        return self._tx.write("test", store_plan, preview, self.actor, threshold or Threshold())

    def plan(self, plan_id: str) -> Plan:
        """The plan as it stands."""
        found = self._tx.single("test", plan_detail, plan_id)
        assert found is not None
        return found

    def plans(self, after: str | None = None, limit: int = 100) -> Page[Plan]:
        """A page of plans."""
        return self._tx.single("test", plans, after, limit)

    def items(self, plan_id: str) -> list[Item]:
        """All of a plan's items, as far as a test makes them."""
        return self._tx.single("test", items_of, plan_id, 0, 1_000)

    def cancel(self, plan_id: str) -> Plan:
        """Cancel it."""
        return cancel_plan(self._tx, plan_id, Mandate(self.actor, "not needed"))

    def approve(self, plan_id: str, actor: Actor = OTHER) -> Plan:
        """Approve it as another."""
        return approve_plan(self._tx, plan_id, Mandate(actor, "looked at it"))

    def checked(self, plan_id: str, confirmation: str) -> Plan:
        """What execution begins with."""
        return self._tx.write("test", checked_for_execution, plan_id, confirmation)
