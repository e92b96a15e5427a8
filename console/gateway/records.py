"""The calls of `console.acting.records` over a store of the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.gateway import rows
from console.gateway.acting_base import ActingBase, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.acting.model import Order, Outcome
    from console.acting.records import AuditQuery, AuditRow, Verified
    from console.gateway.store import OpenedStore
    from console.model import Page
    from engine.desk.audit.model import AuditEntry


class RecordsReading:
    """Reads what operators did."""

    _store: OpenedStore

    def audit(self, query: AuditQuery, after: str | None, limit: int) -> Page[AuditRow]:
        """Entries, newest first."""
        from engine.desk.audit.pages import AuditFilter

        with self._store.desk() as door:
            if query.unfinished:
                return rows.page(door.open_intents(query.actor, after, limit), audit_row)
            wanted = AuditFilter(
                query.object_kind, query.object_id, query.actor, query.operation, query.other_kind
            )
            return rows.page(door.audit(wanted, after, limit), audit_row)

    def audit_entry(self, seq: int) -> AuditRow | None:
        """One entry by its number."""
        with self._store.desk() as door:
            found = door.audit_entry(seq)
        return None if found is None else audit_row(found)

    def audit_of(self, operation: str) -> tuple[AuditRow, ...]:
        """Intent and result of one operation."""
        with self._store.desk() as door:
            return tuple(map(audit_row, door.audit_of(operation)))

    def verify_audit(self, told: Callable[[int], object]) -> Verified:
        """Read the whole chain."""
        from console.acting.records import Verified

        with self._store.desk() as door:
            found = door.verify_audit(told)
        return Verified(found.entries, found.head, found.broken_at, found.problem)

    def outcome(self, operation: str) -> Outcome | None:
        """What became of a change; None: it has no effect in the store."""
        with self._store.desk() as door:
            found = door.outcome_of(operation)
        return None if found is None else outcome_of(found)


class RecordsChanging(ActingBase):
    """Writes down what nobody told."""

    def close_intent(self, operation: str, order: Order) -> Outcome:
        """The end that an open intent lacks."""
        with self.door() as door:
            return outcome_of(door.close_intent(operation, self.mandate(order)))


def audit_row(found: AuditEntry) -> AuditRow:
    """One entry."""
    from console.acting.records import AuditRow

    body = dict(found.body)
    reason = body.get("reason")
    return AuditRow(
        seq=found.seq,
        phase=found.phase.value,
        at=found.at,
        actor=found.actor,
        route=found.route,
        deed=str(body.get("deed", "")),
        object_kind=found.object_kind,
        object_id=found.object_id,
        reason=None if reason is None else str(reason),
        operation=found.operation_id,
        hash=found.hash,
        prev_hash=found.prev_hash,
        body=body,
    )
