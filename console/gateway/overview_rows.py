"""From the engine's records of the store at a glance to the console's parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from console.gateway.money_rows import day_row, totals
from console.gateway.queue_rows import queue_depth
from console.gateway.rows import counted
from console.held_model import Failed
from console.model import ThreadState
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

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from engine import desk


def overview(found: desk.Overview) -> Overview:
    """All parts, those that failed among them."""
    return Overview(**{name: _part(getattr(found, name), read) for name, read in _PARTS.items()})


def _part(found: Any, read: Callable[[Any], Any]) -> Any:
    from engine import desk

    if isinstance(found, desk.Failed):
        return Failed(found.error.explain())
    return None if found is None else read(found)


def changes(found: desk.Changes, span: timedelta) -> Changes:
    """What changed within the span."""
    return Changes(
        span,
        counted(found.threads),
        None if found.claims_expired is None else counted(found.claims_expired),
        None if found.deleted is None else counted(found.deleted),
        found.as_of,
    )


def _threads(found: desk.ThreadTotals) -> ThreadsNow:
    by_state = {ThreadState[status.name]: counted(count) for status, count in found.by_status.items()}
    return ThreadsNow(by_state, counted(found.all), found.as_of)


def _oldest(found: desk.OldestThread | None) -> Oldest | None:
    return None if found is None else Oldest(found.thread_id, found.age)


def _incomplete(found: desk.IncompleteNow) -> IncompleteNow:
    return IncompleteNow(counted(found.count), _oldest(found.oldest), found.as_of)


def _cascades(found: desk.CascadesNow) -> CascadesNow:
    return CascadesNow(counted(found.begun), counted(found.interrupted), _oldest(found.oldest), found.as_of)


def _claims(found: desk.ClaimsNow) -> ClaimsNow:
    first = found.oldest_expired
    oldest = None if first is None else Oldest(first.thread_id, first.over_for, first.holder)
    return ClaimsNow(counted(found.live), counted(found.expired), oldest, found.as_of)


def _sweep(found: desk.SweepNow) -> SweepNow:
    lease = found.lease
    if lease is None:
        return SweepNow(None, found.as_of)
    return SweepNow(SweepLease(lease.holder, lease.running_for, lease.renewed_ago, lease.left), found.as_of)


def _fences(found: desk.FencesNow) -> FencesNow:
    return FencesNow(
        waiting=counted(found.waiting),
        due=counted(found.due),
        overdue=counted(found.overdue),
        oldest_due=found.oldest_due,
        more_sources=found.more_sources,
        as_of=found.as_of,
    )


def _money(found: desk.MoneyNow) -> MoneyNow:
    expired = {Kind[kind.name]: span for kind, span in found.expired_for.items()}
    return MoneyNow(totals(found.totals), day_row(found.today), expired, found.as_of)


def _queue(found: desk.QueueNow) -> QueueNow:
    return QueueNow(queue_depth(found.depth), counted(found.dead), found.as_of)


def _tombstones(found: desk.TombstonesNow) -> TombstonesNow:
    return TombstonesNow(counted(found.count), found.oldest, found.newest, found.as_of)


def _events(found: desk.EventsNow) -> EventsNow:
    return EventsNow(found.thread_id, found.age, counted(found.last_minute), found.as_of)


_PARTS: Final[dict[str, Callable[[Any], Any]]] = {
    "threads": _threads,
    "incomplete": _incomplete,
    "cascades": _cascades,
    "claims": _claims,
    "sweep": _sweep,
    "fences": _fences,
    "money": _money,
    "queue": _queue,
    "tombstones": _tombstones,
    "events": _events,
}
