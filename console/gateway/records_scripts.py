"""The audit for the commands: entries as documents, and whether their chain holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.acting.records import Verified
from console.read.documents import page_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.acting.records import AuditQuery
    from console.gateway.store import OpenedStore
    from console.read.documents import Document


class RecordsReads:
    """Reads what operators did."""

    _store: OpenedStore

    def audit(self, query: AuditQuery, after: str | None, limit: int) -> Document:
        """Entries, newest first."""
        from engine.desk.audit.pages import AuditFilter

        with self._store.desk() as door:
            if query.unfinished:
                return page_of(door.open_intents(query.actor, after, limit))
            wanted = AuditFilter(
                query.object_kind, query.object_id, query.actor, query.operation, query.other_kind
            )
            return page_of(door.audit(wanted, after, limit))

    def verify_audit(self, told: Callable[[int], object]) -> Verified:
        """Read the whole chain; `told` hears how many entries were read so far."""
        with self._store.desk() as door:
            found = door.verify_audit(told)
        return Verified(found.entries, found.head, found.broken_at, found.problem)
