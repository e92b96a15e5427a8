"""The operator's door to what operators did: the audit, and what became of a change (console.md F8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.desk import operations, rights
from engine.desk.audit import pages, verify
from engine.desk.bound import Bound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from engine.desk.actor import Mandate
    from engine.desk.audit.model import AuditEntry, Deed, Told, Verified
    from engine.desk.audit.pages import AuditFilter
    from engine.desk.operations import KnownOutcome
    from engine.desk.views import Page


class AuditDesk(Bound):
    """The part of the desk that shows and keeps the record of changes."""

    def audit(
        self, wanted: AuditFilter = pages.EVERYTHING, after: str | None = None, limit: int = 100
    ) -> Page[AuditEntry]:
        """One keyset page of at most 200 entries, newest first."""
        return self._whole("desk.audit", pages.entries, wanted, after, limit)

    def audit_entry(self, seq: int) -> AuditEntry | None:
        """One entry by its number."""
        return self._whole("desk.audit_entry", pages.entry, seq)

    def audit_of(self, operation_id: str) -> tuple[AuditEntry, ...]:
        """Intent and result of one operation, as many of the two as there are."""
        return self._whole("desk.audit_of", pages.together, operation_id)

    def open_intents(
        self, actor: str | None = None, after: str | None = None, limit: int = 100
    ) -> Page[AuditEntry]:
        """Changes that were begun and whose end nobody wrote down, newest first; of one actor where one is named."""
        return self._whole("desk.open_intents", pages.open_intents, actor, after, limit)

    def verify_audit(self, told: Callable[[int], object] = lambda _entries: None) -> Verified:
        """Read the whole chain, page by page; `told` hears how many entries were read so far."""
        return verify.verify(self._tx, told)

    def outcome_of(self, operation_id: str) -> KnownOutcome | None:
        """What a change came to; None: it has no effect in the store."""
        return self._one("desk.outcome_of", operations.outcome_of, operation_id)

    def close_intent(self, operation_id: str, mandate: Mandate) -> KnownOutcome:
        """Write down the end that an open intent lacks; ValidationError where it may still be under way."""
        from engine.desk.closing import close_intent

        return close_intent(self._tx, operation_id, mandate)

    def missing_rights(self) -> Mapping[Deed, tuple[str, ...]]:
        """The deeds that this role may not do, each with what it lacks."""
        return self._tx.read("desk.missing_rights", rights.missing_rights)

    def record(self, mandate: Mandate, told: Told) -> None:
        """An intent and nothing more: for what is done outside the store, such as a read-write window or a command."""
        self._tx.write("desk.record", operations.intend, mandate, told)

    def recorded(self, mandate: Mandate, told: Told) -> None:
        """How that ended."""
        self._tx.write("desk.record", operations.conclude, mandate, told, dict(told.facts))
