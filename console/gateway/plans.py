"""The calls of `console.acting.plans` over a store of the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from console.gateway import rows
from console.gateway.acting_base import ActingBase

if TYPE_CHECKING:
    from console.acting.model import Order
    from console.acting.plans import Bounds, DecideWish, PlanItem, PlanView, ReconcileWish, SweepWish, Wish
    from console.gateway.store import OpenedStore
    from console.model import Page
    from console.money_words import Address
    from engine import desk
    from engine.desk.plans import Item, Plan, Preview, ReconcileAsked, SweepAsked


class PlansReading:
    """Reads plans, and previews of plans."""

    _store: OpenedStore

    def preview(self, wish: Wish, environment: str) -> PlanView:
        """What a plan would hold now; nothing of it is stored."""
        with self._store.desk() as door:
            return preview_view(_preview(door, wish, environment))

    def plans(self, after: str | None, limit: int) -> Page[PlanView]:
        """Stored plans, newest first."""
        with self._store.desk() as door:
            found = door.plans(after, limit)
        return rows.page(found, lambda plan: plan_view(plan, found.as_of))

    def plan(self, plan: str) -> PlanView | None:
        """One plan as it stands now."""
        with self._store.desk() as door:
            found = door.plan(plan)
            return None if found is None else plan_view(found, door.now())

    def plan_items(self, plan: str, after: str | None, limit: int) -> Page[PlanItem]:
        """Its items, in the order in which they will be changed."""
        with self._store.desk() as door:
            return rows.page(door.plan_items(plan, after, limit), plan_item)


class PlansChanging(ActingBase):
    """Makes plans, and jobs of them."""

    def make_plan(self, wish: Wish, environment: str, bounds: Bounds) -> PlanView:
        """Freeze what the wish means now."""
        from engine.desk.plans import Threshold

        threshold = Threshold(bounds.micro, bounds.units, bounds.rows)
        with self.door() as door:
            given: dict[str, Any] = {
                "actor": self.actor(),
                "environment": environment,
                "threshold": threshold,
            }
            return plan_view(_plan(door, wish, given), door.now())

    def cancel_plan(self, plan: str, order: Order) -> PlanView:
        """Give it up."""
        with self.door() as door:
            return plan_view(door.cancel_plan(plan, self.mandate(order)), door.now())

    def approve_plan(self, plan: str, order: Order) -> PlanView:
        """Another person's yes."""
        with self.door() as door:
            return plan_view(door.approve_plan(plan, self.mandate(order)), door.now())

    def execute(self, plan: str, order: Order, phrase: str, rate: int) -> str:
        """Make it a job that waits for a runner; the job's id."""
        with self.door() as door:
            return door.execute(plan, self.mandate(order), phrase, rate=rate).job_id


def _preview(door: desk.Desk, wish: Wish, environment: str) -> Preview:
    from console.acting.plans import DecideWish, DeleteWish, ReconcileWish, ReleaseWish, SweepWish

    match wish:
        case DeleteWish(threads, alone):
            return door.preview_delete(threads, environment=environment, reach=_reach(alone))
        case ReleaseWish(threads):
            return door.preview_release(threads, environment=environment)
        case ReconcileWish():
            return door.preview_reconcile(_reconcile(wish), environment=environment)
        case SweepWish():
            return door.preview_sweep(_sweep(wish), environment=environment)
        case DecideWish():
            return door.preview_resolve(**_decided(wish), environment=environment)
        case _:
            assert_never(wish)


def _plan(door: desk.Desk, wish: Wish, given: dict[str, Any]) -> Plan:
    from console.acting.plans import DecideWish, DeleteWish, ReconcileWish, ReleaseWish, SweepWish

    match wish:
        case DeleteWish(threads, alone):
            return door.plan_delete(threads, reach=_reach(alone), **given)
        case ReleaseWish(threads):
            return door.plan_release(threads, **given)
        case ReconcileWish():
            return door.plan_reconcile(_reconcile(wish), **given)
        case SweepWish():
            return door.plan_sweep(_sweep(wish), **given)
        case DecideWish():
            return door.plan_resolve(**_decided(wish), **given)
        case _:
            assert_never(wish)


def _reach(alone: bool) -> Any:
    from engine.desk.plans import Reach

    return Reach.ONE if alone else Reach.TREE


def _reconcile(wish: ReconcileWish) -> ReconcileAsked:
    from engine.desk import ReservationKind
    from engine.desk.plans import AnswerSource, ReconcileAsked
    from engine.spend.meter.model import AfterLease

    after = None if wish.consume is None else AfterLease.CONSUME if wish.consume else AfterLease.RELEASE
    return ReconcileAsked(
        AnswerSource(wish.source.value),
        frozenset(ReservationKind(kind.value) for kind in wish.kinds),
        wish.meters,
        tuple(map(name_of, wish.addresses)),
        wish.resolver,
        after,
    )


def _sweep(wish: SweepWish) -> SweepAsked:
    from engine.checkpoints import RetentionPolicy, SweepPolicy
    from engine.desk.plans import SweepAsked, SweepPart

    keep = RetentionPolicy(wish.max_age, wish.max_checkpoints, wish.max_events)
    return SweepAsked(
        frozenset(SweepPart(part.value) for part in wish.parts),
        SweepPolicy(keep, wish.tombstone_age),
        wish.prefix,
        wish.tables,
        wish.meters,
        wish.before,
        wish.guard,
    )


def _decided(wish: DecideWish) -> dict[str, Any]:
    from console.gateway.decisions import answer_of, evidence_of
    from engine.desk import ReservationKind

    address = wish.shown.story.row.address
    return {
        "kind": ReservationKind(address.kind.value),
        "reservation_id": address.id,
        "source": address.source,
        "guard": wish.shown.guard,
        "answer": answer_of(wish.answer),
        "evidence": tuple(map(evidence_of, wish.evidence)),
        "reason": wish.reason,
        "corrects": wish.corrects,
    }


def name_of(address: Address) -> str:
    """How plans and the audit name a reservation."""
    from engine.desk import ReservationKind
    from engine.desk.object_ids import reservation_name

    return reservation_name(ReservationKind(address.kind.value), address.id, address.source)


def plan_item(item: Item) -> PlanItem:
    """One planned change."""
    from console.acting.plans import PlanItem

    return PlanItem(item.n, item.kind.value, item.object_id, dict(item.guard), dict(item.note))


def preview_view(found: Preview) -> PlanView:
    """A plan that is not stored; its first items are there to be looked at."""
    from console.acting.plans import PlanState, PlanView

    return PlanView(
        id=None,
        state=PlanState.PREVIEW,
        items=len(found.items),
        made_at=found.at,
        as_of=found.at,
        preview_items=tuple(map(plan_item, found.items)),
        **_shared(found),
    )


def plan_view(found: Plan, as_of: Any) -> PlanView:
    """A stored plan."""
    from console.acting.plans import PlanState, PlanView

    approver = found.approved_by
    return PlanView(
        id=found.plan_id,
        state=PlanState(found.state.value),
        items=found.items,
        made_at=found.created_at,
        as_of=as_of,
        expires_at=found.expires_at,
        actor=found.actor.name,
        needs_approval=found.needs_approval,
        approved_by=None if approver is None else approver.name,
        job=found.job_id,
        hash=found.hash,
        **_shared(found),
    )


def _shared(found: Plan | Preview) -> dict[str, Any]:
    from console.acting.deeds import Deed
    from console.acting.plans import Apart, PlanLine

    totals = found.totals
    return {
        "deed": Deed(found.deed.value),
        "environment": found.environment,
        "phrase": found.phrase,
        "rows": totals.rows,
        "bytes": totals.bytes,
        "lines": tuple(PlanLine(line.kind, line.rows, line.bytes, line.note) for line in totals.lines),
        "blockers": totals.blockers,
        "warnings": totals.warnings,
        "kept": totals.kept,
        "apart": tuple(Apart(each.object_id, each.reason) for each in totals.not_applicable),
        "apart_count": totals.not_applicable_count,
        "seconds": totals.seconds,
        "micro": totals.micro,
        "units": totals.units,
        "params": dict(found.params),
    }
