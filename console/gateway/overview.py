"""The reading calls of `console.overview_model.OverviewGateway` over a store of the engine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.gateway import questions

if TYPE_CHECKING:
    from datetime import timedelta

    from console.gateway.store import OpenedStore
    from console.model import Tenancy
    from console.overview_model import Changes, Overview


class OverviewReading:
    """Reads the store at a glance, through `engine.desk`."""

    _store: OpenedStore

    def overview(self, tenant: Tenancy) -> Overview:
        """Every part; fails where the store as a whole does, else a part at a time."""
        from console.gateway import overview_rows

        with self._store.desk() as door:
            return overview_rows.overview(door.overview(questions.tenant_of(tenant)))

    def changes(self, span: timedelta, tenant: Tenancy) -> Changes:
        """How much changed within the span, by the same beginning as the lists' own `since:`."""
        from console.gateway import overview_rows

        with self._store.desk() as door:
            since = questions.since_of(door, span)
            return overview_rows.changes(door.changes(since, questions.tenant_of(tenant)), span)
