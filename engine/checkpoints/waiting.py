"""Waiting for events (checkpoints.md 2.9, ruling 21). Nothing is held while a waiter sleeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from engine.database.wakeups import Deadline
from engine.errors import WaitCancelled

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable
    from datetime import timedelta

    from engine.database.transaction import Transactions

T = TypeVar("T")

OPERATION: Final = "await_events_after"


def wait_for_hints(
    transactions: Transactions,
    read: Callable[[], list[T]],
    thread_id: str,
    timeout: timedelta,
    cancel: threading.Event | None,
) -> list[T]:
    """What `read` finds, now or after a hint within `timeout`; [] when that has passed.

    The waiter is registered before the first read, so no commit falls between the two. A hint that brought
    nothing leaves what was left of the timeout. Raises WaitCancelled, StoreClosed, and whatever `read`
    raises.
    """
    deadline = Deadline(timeout.total_seconds())
    with transactions.backend.signals.waiting(thread_id, cancel) as waiter:
        while True:
            _check(cancel)
            left = deadline.left
            found = read()
            if found or not left:
                return found
            waiter.wait(deadline.left)


def wait_by_polling(
    transactions: Transactions,
    read: Callable[[], list[T]],
    _thread_id: str,
    timeout: timedelta,
    cancel: threading.Event | None,
) -> list[T]:
    """What `read` finds at once, or [] after the whole timeout: the caller asks again (case 63)."""
    deadline = Deadline(timeout.total_seconds())
    with transactions.backend.signals.sleeping(cancel) as sleeper:
        _check(cancel)
        found = read()
        while not found and deadline.left:
            sleeper.wait(deadline.left)
            _check(cancel)
            transactions.check_open(OPERATION)
        return found


def _check(cancel: threading.Event | None) -> None:
    if cancel is not None and cancel.is_set():
        raise WaitCancelled(OPERATION)
