"""Positions that are missing before a visible one: to be waited for, or never to come (ruling 23).

A gap is a commit still in flight, a rollback, or events removed since. Only time tells the first from the
others: once every transaction has ended that could have drawn a position at the moment the gap was seen,
and the rows were read again.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Final

PATIENCE: Final = 2.0
"""Seconds after which a gap that holds the tail back is reported."""
REPORT_EVERY: Final = 30.0
"""Seconds between two reports of one tail."""


class Gaps:
    """Up to where everything is settled, by the snapshots of the reads so far."""

    def __init__(self) -> None:
        self.settled = 0
        self._horizons: deque[tuple[int, int]] = deque()

    @property
    def pending(self) -> int:
        """How many horizons are not settled yet."""
        return len(self._horizons)

    def saw(self, oldest: int) -> None:
        """`oldest` ran in a read's snapshot, nothing older: what it showed of earlier horizons is final."""
        while self._horizons and oldest >= self._horizons[0][1]:
            self.settled = max(self.settled, self._horizons.popleft()[0])

    def remember(self, upto: int, boundary: int) -> None:
        """Whatever was drawn up to the position `upto` was drawn by transactions below `boundary`.

        `upto` rises within the page that is held back, so there are never more entries than rows in a page.
        """
        if not self._horizons or upto > self._horizons[-1][0]:
            self._horizons.append((upto, boundary))


@dataclass(frozen=True, slots=True)
class Held:
    """A tail that has waited `seconds` for `position`, whose transaction the server process `pid` may end."""

    position: int
    seconds: float
    pid: int | None


class Hold:
    """How long a tail has been waiting for which position, and when to say so."""

    def __init__(self) -> None:
        self._position: int | None = None
        self._since = 0.0
        self._next_report = 0.0
        self._pid: int | None = None

    def at(self, position: int | None) -> None:
        """The position that now holds the tail back, or None."""
        if position != self._position:
            self._position, self._since, self._pid = position, time.monotonic(), None

    @property
    def due(self) -> bool:
        """Whether the wait is long enough, and the last report old enough, to report; says so once."""
        now = time.monotonic()
        if self._position is None or now - self._since < PATIENCE or now < self._next_report:
            return False
        self._next_report = now + REPORT_EVERY
        return True

    def blame(self, pid: int | None) -> None:
        """The server process whose transaction is waited for."""
        self._pid = pid

    @property
    def held(self) -> Held | None:
        """The wait as it stands."""
        if self._position is None:
            return None
        return Held(self._position, time.monotonic() - self._since, self._pid)
