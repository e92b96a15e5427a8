"""From the console's questions to the engine's filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from console.gateway.store import STATEMENT_TIMEOUT
from console.model import Unset

if TYPE_CHECKING:
    from datetime import timedelta

    from console.claims_model import ClaimQuery
    from console.model import EventQuery, Tenancy, ThreadQuery
    from console.money_model import FenceQuery, ReservationQuery
    from console.queue_model import QueueState
    from engine import desk

OVERLAP: Final = STATEMENT_TIMEOUT
"""How far a `since` reaches back further: a commit's time is taken before it lands (ruling 28)."""


def tenant_of(tenant: Tenancy) -> Any:
    """A tenant, None, or the engine's own word for all of them."""
    from engine import desk

    return desk.ANY if isinstance(tenant, Unset) else tenant


def since_of(door: desk.Desk, span: timedelta | None) -> Any:
    """The beginning of a span that ends now, by the store's clock."""
    return None if span is None else door.now() - span - OVERLAP


def thread_filter(door: desk.Desk, query: ThreadQuery) -> desk.ThreadFilter:
    """Which threads; `since` counts back from the store's clock."""
    from engine import desk

    states = query.states
    return desk.ThreadFilter(
        tenant=tenant_of(query.tenant),
        statuses=None if states is None else frozenset(desk.ThreadStatus[state.name] for state in states),
        prefix=query.prefix,
        updated_since=since_of(door, query.since),
        holder=query.holder,
        metadata=None if query.metadata is None else dict([query.metadata]),
    )


def claim_filter(door: desk.Desk, query: ClaimQuery) -> desk.ClaimFilter:
    """Which claims; `since` counts back from the store's clock."""
    from engine import desk

    return desk.ClaimFilter(
        tenant=tenant_of(query.tenant),
        state=None if query.state is None else desk.ClaimState[query.state.name],
        holder=query.holder,
        stored=None if query.stored is None else desk.Stored[query.stored.name],
        expired_since=since_of(door, query.since),
    )


def queue_state(state: QueueState) -> desk.QueueState:
    """A state of the run queue."""
    from engine import desk

    return desk.QueueState[state.name]


def reservation_filter(query: ReservationQuery) -> desk.ReservationFilter:
    """Which reservations."""
    from engine import desk

    return desk.ReservationFilter(
        kind=None if query.kind is None else desk.ReservationKind[query.kind.name],
        state=None if query.state is None else desk.ReservationState[query.state.name],
        owner=query.owner,
        day=query.day,
        thread_id=query.thread,
        leased=query.leased,
        prefix=query.meter,
        table=query.table,
    )


def fence_filter(query: FenceQuery) -> desk.FenceFilter:
    """Which fences."""
    from engine import desk

    return desk.FenceFilter(
        kind=None if query.kind is None else desk.ReservationKind[query.kind.name],
        state=None if query.state is None else desk.ReservationState[query.state.name],
        owner=query.owner,
        thread_id=query.thread,
        deferred=query.deferred,
        prefix=query.meter,
    )


def event_filter(query: EventQuery) -> dict[str, Any]:
    """Which events, as keyword arguments."""
    return {"thread_id": query.thread, "tenant": tenant_of(query.tenant), "kinds": query.kinds}
