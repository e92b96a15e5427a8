"""The calls of `console.acting.resolving` over a store of the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.gateway.acting_base import ActingBase
from console.gateway.plans import name_of
from console.gateway.records import audit_row

if TYPE_CHECKING:
    from console.acting.model import Order
    from console.acting.resolving import Answer, Check, Evidence, Resolution, Resolvable
    from console.gateway.store import OpenedStore
    from console.money_words import Address


class ResolvingReading:
    """Reads what is to be decided."""

    _store: OpenedStore

    def resolvable(self, address: Address) -> Resolvable | None:
        """A reservation to be decided, with its guard of the same moment."""
        from console.acting.resolving import Resolvable
        from console.gateway import money_rows
        from engine.desk.resolve.guards import guard_of

        name = name_of(address)
        with self._store.desk() as door:
            found = door.reservation(address.kind.value, address.id, address.source or None)
            return None if found is None else Resolvable(money_rows.story(found), guard_of(found), name)

    def weigh(
        self,
        address: Address,
        answer: Answer | None,
        evidence: tuple[Evidence, ...],
        corrects: str | None = None,
    ) -> tuple[Check, ...]:
        """What the operator should know of his evidence before he decides, and of the decision that he corrects."""
        from console.acting.resolving import Check
        from console.gateway.decisions import answer_of, evidence_of
        from engine.desk.resolve.checks import weigh
        from engine.desk.resolve.corrects import weigh_corrects

        with self._store.desk() as door:
            found = door.reservation(address.kind.value, address.id, address.source or None)
            if found is None:
                return (Check("need", "it is gone"),)
            given = None if answer is None else answer_of(answer)
            checks = weigh(found, given, tuple(map(evidence_of, evidence)))
            if corrects is not None:
                checks += (weigh_corrects(name_of(address), corrects, door.outcome_of(corrects)),)
        return tuple(Check(check.weight.value, check.text) for check in checks)


class ResolvingChanging(ActingBase):
    """Decides."""

    def resolve(
        self,
        shown: Resolvable,
        answer: Answer,
        evidence: tuple[Evidence, ...],
        order: Order,
        corrects: str | None = None,
    ) -> Resolution:
        """Decide it, if it still is as it was shown; `corrects` is the operation of a decision that it puts right."""
        from console.acting.resolving import Came, Resolution
        from console.gateway.decisions import answer_of, evidence_of
        from engine.desk import ReservationKind
        from engine.desk.resolve.model import Approval

        approved = order.approved
        address = shown.story.row.address
        with self.door() as door:
            made = door.resolve(
                ReservationKind(address.kind.value),
                address.id,
                guard=shown.guard,
                answer=answer_of(answer),
                evidence=tuple(map(evidence_of, evidence)),
                mandate=self.mandate(order),
                source=address.source,
                corrects=corrects,
                approval=None if approved is None else Approval(approved.plan, approved.by),
            )
        first = None if made.first is None else audit_row(made.first)
        return Resolution(
            Came(made.status.value), made.operation_id, dict(made.before), dict(made.after), made.now, first
        )
