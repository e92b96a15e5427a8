"""A made-up store at a glance, in agreement with the fake's other lists; any part may be told to fail."""

from __future__ import annotations

from abc import abstractmethod
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from console.held_model import Failed, Held
from console.model import ANY, Counted, GatewayError, ThreadQuery, ThreadState, Unset
from console.money_model import DayRow
from console.money_words import Kind
from console.overview_model import (
    CascadesNow,
    Changes,
    ClaimsNow,
    EventsNow,
    FencesNow,
    IncompleteNow,
    MoneyNow,
    Oldest,
    Overview,
    QueueNow,
    SweepLease,
    SweepNow,
    ThreadsNow,
    TombstonesNow,
)
from tests.console.fake_claims import FakeClaims
from tests.console.fake_money import TODAY, FakeMoney
from tests.console.fake_queue import FakeQueue

if TYPE_CHECKING:
    from console.model import Tenancy, ThreadRow

OF_TENANTS = ("threads", "incomplete", "cascades")
LOST = "canceling statement due to statement timeout; the store is busy: ask again"


def exactly(number: int) -> Counted:
    """A count that is the whole truth."""
    return Counted(number, more=False)


def held_of(number: int) -> Held:
    """The money of a thread by its number: every third holds some."""
    if number % 3:
        return Held(0, 0, 0)
    return Held(300_000 + number * 1_250_001, 1 + number % 4, number % 2)


class FakeOverview(FakeClaims, FakeQueue, FakeMoney):
    """The calls about the store as a whole."""

    broken: frozenset[str] = frozenset()
    """Parts that cannot be read."""
    at_work: bool = True
    """Whether maintenance is under way."""

    @abstractmethod
    def _asked(self, what: str) -> None:
        """Note a call; fail if the fake is down."""

    @abstractmethod
    def _matching(self, query: ThreadQuery) -> list[ThreadRow]:
        """The rows that a query lists."""

    def overview(self, tenant: Tenancy) -> Overview:
        """Every part, but those that are broken, and none that a tenant has not."""
        self._asked("overview")
        whole = isinstance(tenant, Unset)
        parts: dict[str, Any] = {
            name: part if whole or name in OF_TENANTS else None for name, part in self._parts(tenant).items()
        }
        failed = {name: Failed(LOST) for name in self.broken if parts.get(name) is not None}
        return Overview(**{**parts, **failed})

    def _parts(self, tenant: Tenancy) -> dict[str, Any]:
        return {
            "threads": self._threads(tenant),
            "incomplete": self._incomplete(tenant),
            "cascades": CascadesNow(
                exactly(self._number(tenant, ThreadState.DELETED)), exactly(0), None, self.as_of
            ),
            "claims": self._claims_now(),
            "sweep": self._sweep_now(),
            "fences": self._fences_now(),
            "money": self._money_now(),
            "queue": self._queue_now(),
            "tombstones": self._tombstones_now(),
            "events": self._events_now(),
        }

    def _number(self, tenant: Tenancy, state: ThreadState) -> int:
        return len(self._matching(ThreadQuery(tenant=tenant, states=frozenset({state}))))

    def _threads(self, tenant: Tenancy) -> ThreadsNow:
        by_state = {state: exactly(self._number(tenant, state)) for state in ThreadState}
        return ThreadsNow(by_state, exactly(sum(each.count for each in by_state.values())), self.as_of)

    def _incomplete(self, tenant: Tenancy) -> IncompleteNow:
        idle = self._matching(ThreadQuery(tenant=tenant, states=frozenset({ThreadState.IDLE})))
        last = idle[-1] if idle else None
        oldest = None if last is None or last.age is None else Oldest(last.id, last.age)
        return IncompleteNow(exactly(len(idle)), oldest, self.as_of)

    def _claims_now(self) -> ClaimsNow:
        rows = self._all()
        over = [row for row in rows if not row.live]
        oldest = Oldest(over[0].thread, -over[0].left, over[0].holder) if over else None
        return ClaimsNow(exactly(len(rows) - len(over)), exactly(len(over)), oldest, self.as_of)

    def _sweep_now(self) -> SweepNow:
        lease = SweepLease(
            "maintain@bastion-2", timedelta(seconds=12), timedelta(seconds=3), timedelta(seconds=27)
        )
        return SweepNow(lease if self.at_work and self.rows else None, self.as_of)

    def _fences_now(self) -> FencesNow:
        counts = self.totals().all
        late = self.rows and counts.due.count
        return FencesNow(
            waiting=counts.fenced,
            due=counts.due,
            overdue=exactly(0),
            oldest_due=timedelta(seconds=169) if late else None,
            more_sources=False,
            as_of=self.as_of,
        )

    def _money_now(self) -> MoneyNow:
        totals = self.totals()
        spans = {Kind.DAY: timedelta(seconds=200), Kind.METER: timedelta(seconds=193)}
        today = DayRow(TODAY, 12_300_000, 41_250_001) if self.rows else DayRow(TODAY, 0, 0)
        return MoneyNow(totals, today, spans if totals.all.expired.count else {}, self.as_of)

    def _queue_now(self) -> QueueNow:
        return QueueNow(self.depth(), exactly(2 if self.rows else 0), self.as_of)

    def _tombstones_now(self) -> TombstonesNow:
        gone = [row.age for row in self.rows if row.state is ThreadState.DELETED and row.age is not None]
        return TombstonesNow(exactly(len(gone)), max(gone, default=None), min(gone, default=None), self.as_of)

    def _events_now(self) -> EventsNow:
        if not self.rows:
            return EventsNow(None, None, exactly(0), self.as_of)
        return EventsNow(self.rows[2].id, timedelta(seconds=2), Counted(1_204, more=False), self.as_of)

    def changes(self, span: timedelta, tenant: Tenancy) -> Changes:
        """What changed within the span."""
        self._asked("changes")
        if "changed" in self.broken:
            raise GatewayError(LOST, code="store_failure", retryable=True)
        rows = [
            row
            for row in self._matching(ThreadQuery(tenant=tenant))
            if row.age is not None and row.age <= span
        ]
        whole = tenant is ANY
        return Changes(
            span,
            exactly(len(rows)),
            exactly(len([row for row in self._all() if not row.live and -row.left <= span]))
            if whole
            else None,
            exactly(1) if whole else None,
            self.as_of,
        )
