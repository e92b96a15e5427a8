"""The operator's door to the overview: the whole of it, or one part that is refreshed by itself (console.md 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.checkpoints.model import ANY, Tenancy, Unset
from engine.database.columns import check_optional_id
from engine.desk import changes, held, overview
from engine.desk.money_desk import MoneyDesk
from engine.desk.overview_views import (
    CascadesNow,
    ClaimsNow,
    EventsNow,
    Failed,
    FencesNow,
    IncompleteNow,
    MoneyNow,
    Overview,
    QueueNow,
    SweepNow,
    ThreadTotals,
    TombstonesNow,
)
from engine.errors import StoreClosed, StoreFailure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from datetime import datetime

    from engine.desk.changes import Changes
    from engine.desk.held import HeldMoney
    from engine.desk.views import Page, ThreadRow


class OverviewDesk(MoneyDesk):
    """The part of the desk that shows a store at a glance; each call is one bounded snapshot."""

    def overview(self, tenant: Tenancy = ANY) -> Overview:
        """Every part at one moment; where one cannot be read, each by itself, with `Failed` in place of those.

        A tenant has threads, incomplete and cascades, of its root threads; its other parts are None. Raises what
        keeps the store as a whole from being read, as any call does.
        """
        _check(tenant)
        try:
            return self._whole("desk.overview", overview.overview, tenant)
        except StoreClosed:
            raise
        except StoreFailure:
            self._tx.single("desk.overview", overview.probe)
            return self._piecemeal(tenant)

    def overview_threads(self, tenant: Tenancy = ANY) -> ThreadTotals:
        """Threads by status."""
        made: ThreadTotals = self._part("threads", tenant)
        return made

    def overview_incomplete(self, tenant: Tenancy = ANY) -> IncompleteNow:
        """Threads that stopped half-way, and the one that was left alone for longest."""
        made: IncompleteNow = self._part("incomplete", tenant)
        return made

    def overview_cascades(self, tenant: Tenancy = ANY) -> CascadesNow:
        """Deletes that have begun, and which of them were interrupted."""
        made: CascadesNow = self._part("cascades", tenant)
        return made

    def overview_claims(self) -> ClaimsNow:
        """Claims live and over, and the one that has been over for longest."""
        made: ClaimsNow = self._part("claims")
        return made

    def overview_sweep(self) -> SweepNow:
        """Who does the maintenance right now."""
        made: SweepNow = self._part("sweep")
        return made

    def overview_queue(self) -> QueueNow:
        """How full the run queue is, and for how long the first due entry has waited."""
        made: QueueNow = self._part("queue")
        return made

    def overview_tombstones(self) -> TombstonesNow:
        """How many deleted ids are left to be reclaimed."""
        made: TombstonesNow = self._part("tombstones")
        return made

    def overview_events(self) -> EventsNow:
        """The newest event, and how many came in the last minute."""
        made: EventsNow = self._part("events")
        return made

    def overview_fences(self) -> FencesNow:
        """Fences that wait, are due, are overdue."""
        return self._whole("desk.overview_fences", overview.fences)

    def overview_money(self) -> MoneyNow:
        """What is held, today's totals, and what has expired without being settled."""
        return self._whole("desk.overview_money", overview.money)

    def held(self, thread_ids: Collection[str]) -> Mapping[str, HeldMoney]:
        """What the day store's open reservations hold of each of these threads, at most 200 of them."""
        return self._one("desk.held", held.held, thread_ids)

    def changed_since(
        self, since: datetime, tenant: Tenancy = ANY, after: str | None = None, limit: int = 100
    ) -> Page[ThreadRow]:
        """Threads that got a checkpoint or metadata at or after `since`, newest first; events alone move nothing.

        The same as `threads` with `updated_since`. The time is taken before a commit lands: callers who poll ask
        from a little earlier than they have seen (ruling 28).
        """
        return self._one("desk.changed_since", changes.changed_since, since, tenant, after, limit)

    def changes(self, since: datetime, tenant: Tenancy = ANY) -> Changes:
        """How much changed at or after `since`; see `Changes`."""
        return self._whole("desk.changes", changes.changes, since, tenant)

    def _part(self, name: str, tenant: Tenancy = ANY) -> Any:
        return self._whole(f"desk.overview_{name}", overview.part_of, name, _check(tenant))

    def _piecemeal(self, tenant: Tenancy) -> Overview:
        found: dict[str, Any] = {
            name: self._tried(lambda name=name: self._part(name, tenant))  # type: ignore[misc]
            for name in overview.OF_THREADS
        }
        if not isinstance(tenant, Unset):
            return Overview(**found, **overview.NOT_OF_TENANTS)
        for name in overview.OF_STORE:
            found[name] = self._tried(lambda name=name: self._part(name))  # type: ignore[misc]
        return Overview(
            **found, fences=self._tried(self.overview_fences), money=self._tried(self.overview_money)
        )

    def _tried(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except StoreClosed:
            raise
        except StoreFailure as error:
            return Failed(error)


def _check(tenant: Tenancy) -> Tenancy:
    if not isinstance(tenant, Unset):
        check_optional_id("tenant", tenant)
    return tenant
