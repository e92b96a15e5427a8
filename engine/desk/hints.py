"""Hearing of commits at the desk: a hint says "read again", nothing more (rulings 21, 57)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.database.wakeups import EVERY_THREAD

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from engine.database.transaction import Transactions
    from engine.database.wakeups import Waiter


class Hints:
    """What one listener hears. A hint may be lost: whoever listens still reads again by a clock of his own."""

    def __init__(self, transactions: Transactions, waiter: Waiter) -> None:
        self._tx = transactions
        self._waiter = waiter

    def wait(self, seconds: float) -> bool:
        """Sleep until a commit, at most `seconds`; True where something may be new. Raises StoreClosed."""
        self._tx.check_open("desk.hints")
        woken = self._waiter.wait(seconds)
        self._tx.check_open("desk.hints")
        return woken


@contextmanager
def hints(transactions: Transactions, cancel: threading.Event | None) -> Iterator[Hints]:
    """Listen for the commits of every thread; setting `cancel` ends a wait, leaving gives the connection back."""
    transactions.check_open("desk.hints")
    signals = transactions.backend.signals
    try:
        with signals.waiting(EVERY_THREAD, cancel) as waiter:
            yield Hints(transactions, waiter)
    finally:
        signals.rest()
