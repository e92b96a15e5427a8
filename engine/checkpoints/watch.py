"""Following one thread (checkpoints.md 2.9): a plain iterator over `await_events_after`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from engine.arguments import of_kind
from engine.errors import ValidationError, WaitCancelled

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from engine.checkpoints.checkpointer import Checkpointer
    from engine.checkpoints.model import EventRecord

POLL_INTERVAL: Final = timedelta(milliseconds=250)
SHORTEST_POLL: Final = timedelta(milliseconds=1)
PAGE: Final = 500
"""Events that one read brings at most."""


def watch(
    checkpointer: Checkpointer,
    thread_id: str,
    *,
    after_seq: int = 0,
    poll_interval: timedelta = POLL_INTERVAL,
    cancel: threading.Event | None = None,
) -> Iterator[EventRecord]:
    """The thread's events numbered above `after_seq`, in order, for ever.

    Setting `cancel` ends the iteration, also in the middle of a page. The store's errors pass through:
    ThreadDeleted, ReplayUnavailable, StoreFailure; what had been read by then is delivered first. To go on
    after one, watch again after the last number seen.
    """
    check_poll_interval(poll_interval)
    return _follow(checkpointer, thread_id, after_seq, poll_interval, cancel)


def _follow(
    checkpointer: Checkpointer,
    thread_id: str,
    seen: int,
    poll_interval: timedelta,
    cancel: threading.Event | None,
) -> Iterator[EventRecord]:
    while not is_set(cancel):
        try:
            page = checkpointer.await_events_after(thread_id, seen, PAGE, poll_interval, cancel)
        except WaitCancelled:
            if is_set(cancel):
                return
            raise
        for record in page:
            if is_set(cancel):
                return
            yield record
            seen = record.seq


def is_set(cancel: threading.Event | None) -> bool:
    """Whether there is an event and it is set."""
    return cancel is not None and cancel.is_set()


def check_poll_interval(poll_interval: timedelta) -> None:
    """ValidationError below one millisecond (A-19)."""
    if of_kind("poll_interval", poll_interval, timedelta) < SHORTEST_POLL:
        raise ValidationError("poll_interval", ("must be at least 1 ms",))
