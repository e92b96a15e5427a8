"""Following every thread of a store (ruling 23)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from engine.checkpoints.model import ANY
from engine.checkpoints.watch import POLL_INTERVAL, check_poll_interval, is_set
from engine.errors import WaitCancelled

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Iterator
    from datetime import timedelta

    from engine.checkpoints.checkpointer import Checkpointer
    from engine.checkpoints.model import EventRecord, Tenancy
    from engine.checkpoints.tail import EventTail
    from engine.store import Store

    Delivered = tuple[str, EventRecord]

HELD_POLL: Final = 0.005
"""Seconds before the second look at a gap, doubled up to the poll interval: a rollback sends no hint."""


def watch_all(
    store: Store,
    *,
    after: str | None = None,
    tenant: Tenancy = ANY,
    kinds: Iterable[str] | None = None,
    poll_interval: timedelta = POLL_INTERVAL,
    cancel: threading.Event | None = None,
) -> Iterator[Delivered]:
    """(position, event) for every event committed from this call on, or after the position `after`, for ever.

    Each event comes exactly once, in order per thread. A position resumes the tail in any process; with a
    filter, resume with the same one. Events that are compacted or deleted before they were read do not
    come. Setting `cancel` ends the iteration; the store's errors pass through, and the last position goes
    on from there.
    """
    check_poll_interval(poll_interval)
    checkpoints = store.checkpoints
    tail = checkpoints.tail(after=after, tenant=tenant, kinds=kinds)
    return _follow(checkpoints, tail, poll_interval.total_seconds(), cancel)


def _follow(
    checkpoints: Checkpointer, tail: EventTail, poll: float, cancel: threading.Event | None
) -> Iterator[Delivered]:
    while not is_set(cancel):
        try:
            page = _next_page(checkpoints, tail, poll, cancel)
        except WaitCancelled:
            if is_set(cancel):
                return
            raise
        for delivered in page:
            if is_set(cancel):
                return
            yield delivered


def _next_page(
    checkpoints: Checkpointer, tail: EventTail, poll: float, cancel: threading.Event | None
) -> list[Delivered]:
    """Events as soon as there are some; [] when cancelled. The waiter is registered before every read."""
    pause = HELD_POLL
    with checkpoints.changes(cancel) as waiter:
        while not is_set(cancel):
            page = tail.read(cancel=cancel)
            if page:
                return page
            if tail.more:
                continue
            waiter.wait(min(pause, poll) if tail.held else poll)
            pause = min(pause * 2, poll)
    return []
