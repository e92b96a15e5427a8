"""The reading calls of the commands about the store as a whole: the engine's records as documents."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from console.gateway import questions
from console.read.documents import document

if TYPE_CHECKING:
    from datetime import timedelta

    from console.gateway.store import OpenedStore
    from console.model import Tenancy
    from console.read.documents import Document


class OverviewReads:
    """Each call is a few bounded reads of one moment; raises GatewayError."""

    _store: OpenedStore

    def overview(self, tenant: Tenancy) -> Document:
        """Every part under its name; None where a tenant has none, `{"failed": ...}` where one could not be read."""
        with self._store.desk() as door:
            found = door.overview(questions.tenant_of(tenant))
        return {field.name: _part(getattr(found, field.name)) for field in fields(found)}

    def changes(self, span: timedelta, tenant: Tenancy) -> Document:
        """How much changed within a span before now."""
        with self._store.desk() as door:
            return document(door.changes(questions.since_of(door, span), questions.tenant_of(tenant)))


def _part(found: Any) -> Document | None:
    from engine import desk

    if isinstance(found, desk.Failed):
        error = found.error
        return {"failed": {"code": error.code, "message": error.explain(), "retryable": error.retryable}}
    return None if found is None else document(found)
