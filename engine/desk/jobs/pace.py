"""Not more than so many items a second: a token bucket with a clock and a sleep that a test can replace."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

BURST: Final = 0.1
"""How many seconds' worth of items may go at once after a rest."""

REST: Final = 1.0
"""Seconds of one rest: the lease is renewed between two of them, and a pause or cancel is seen."""


class Pace:
    """`rate` items a second, 0 for no limit. `sleep` may end early (a stop): the next call then waits the rest."""

    def __init__(
        self,
        rate: int,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rate = rate
        self._sleep = sleep
        self._clock = clock
        self._most = max(1.0, rate * BURST)
        self._tokens = self._most
        self._at = clock()

    def wait(self) -> None:
        """Until the next item may go."""
        if not self._rate:
            return
        self._fill()
        if self._tokens < 1:
            self._sleep((1 - self._tokens) / self._rate)
            self._fill()
        self._tokens -= 1

    def owe(self, rows: int) -> None:
        """What was done in one go counts as so many items: the time for them is still to pass."""
        if self._rate:
            self._fill()
            self._tokens -= rows

    def rest(self, most: float = REST) -> bool:
        """Let at most `most` seconds of what is owed pass; whether anything was still owed before."""
        if not self._rate:
            return False
        self._fill()
        if self._tokens >= 0:
            return False
        self._sleep(min(most, -self._tokens / self._rate))
        return True

    def _fill(self) -> None:
        now = self._clock()
        self._tokens = min(self._most, self._tokens + (now - self._at) * self._rate)
        self._at = now
