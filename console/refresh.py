"""How a view keeps itself fresh without hurting the store: one query in flight, adaptive pace, back-off,
pause.

A `Poll` is one view's loop. It asks, delivers, waits and asks again; while paused or hidden it asks nothing.
What it knows about its data's freshness it hands out as a frozen `Freshness`, which header and banner show.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from console.model import GatewayError

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.calls import Calls

T = TypeVar("T")

BASE_SECONDS: Final = 2.0
SLOWEST_SECONDS: Final = 60.0
STEPS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, SLOWEST_SECONDS)
"""Intervals in seconds that the keys go through."""
COST_SHARE: Final = 0.10
"""The part of its interval that a query may cost before the interval doubles (console.md F6)."""
BACKOFF_SECONDS: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
UNFOCUSED_SECONDS: Final = 10.0
"""The least interval while the terminal has no focus: a heartbeat."""


class Pace:
    """The interval between two queries, in seconds: doubles while they are dear, comes back when they are
    cheap.
    """

    def __init__(self, base: float = BASE_SECONDS) -> None:
        self.base = base
        self.interval = base

    def took(self, seconds: float) -> None:
        """Learn what the last query cost."""
        if seconds > COST_SHARE * self.interval:
            self.interval = min(self.interval * 2, SLOWEST_SECONDS)
        elif seconds < COST_SHARE * self.interval / 4:
            self.interval = max(self.interval / 2, self.base)


def slower(seconds: float) -> float:
    """The step after an interval; the last one stays."""
    return next((step for step in STEPS if step > seconds), STEPS[-1])


def faster(seconds: float) -> float:
    """The step before an interval; the first one stays."""
    return next((step for step in reversed(STEPS) if step < seconds), STEPS[0])


def backoff(attempt: int) -> float:
    """Seconds to wait after the failed attempt of this number, counted from one."""
    return BACKOFF_SECONDS[min(attempt, len(BACKOFF_SECONDS)) - 1]


class Condition(StrEnum):
    """What can be said of a view's data."""

    WAITING = "WAITING"
    LIVE = "LIVE"
    PAUSED = "PAUSED"
    STALE = "STALE"


@dataclass(frozen=True, slots=True)
class Freshness:
    """Seconds are of the local monotonic clock: `since` when data last came, `next_at` when the next
    query is due.
    """

    condition: Condition
    interval: float
    since: float | None = None
    cause: GatewayError | None = None
    attempt: int = 0
    next_at: float | None = None


class Poll(Generic[T]):
    """One view's reading loop.

    Every method but `run` belongs to the event loop's thread and returns at once.
    """

    def __init__(
        self,
        calls: Calls,
        ask: Callable[[], T],
        deliver: Callable[[T], None],
        *,
        changed: Callable[[Freshness], None],
        monotonic: Callable[[], float],
        pace: Pace | None = None,
        turn: asyncio.Lock | None = None,
    ) -> None:
        self._calls = calls
        self._ask = ask
        self._deliver = deliver
        self._changed = changed
        self._monotonic = monotonic
        self._turn = turn if turn is not None else asyncio.Lock()
        self._wake = asyncio.Event()
        self._question = 0
        self._asked = False
        self._paused = self._hidden = self._unfocused = False
        self._least = 0.0 if pace is None else pace.base
        self.pace = pace if pace is not None else Pace()
        self.freshness = Freshness(Condition.WAITING, self.pace.interval)

    async def run(self) -> None:
        """Ask for ever; ends by being cancelled. A failed query is shown and asked again, never raised."""
        while True:
            if self._may_ask():
                self._asked = False
                await self._once()
            await self._rest()

    def keep_to(self, seconds: float) -> None:
        """The operator's interval, from now on: a view that has one of its own is never faster than that."""
        self.pace = Pace(max(seconds, self._least))
        self.freshness = replace(self.freshness, interval=self.pace.interval)
        self._wake.set()

    def ask_now(self) -> None:
        """Query as soon as the one in flight is done, also while paused."""
        self._asked = True
        self._wake.set()

    def ask_anew(self) -> None:
        """The question has changed: an answer still in flight is thrown away."""
        self._question += 1
        self.ask_now()

    def pause(self) -> None:
        """Ask nothing until `resume`; what is shown stays."""
        self._paused = True
        self._note(Condition.PAUSED)

    def give_up(self) -> None:
        """Pause, and want no answer any more: neither the one in flight nor one that waits for its turn."""
        self._question += 1
        self._asked = False
        self.pause()

    def resume(self) -> None:
        """Go on after `pause`, at once."""
        self._paused = False
        self._note(Condition.LIVE if self.freshness.since is not None else Condition.WAITING)
        self.ask_now()

    @property
    def paused(self) -> bool:
        """Whether the operator has paused this view."""
        return self._paused

    def hide(self) -> None:
        """The view is not on the screen: ask nothing."""
        self._hidden = True

    def reveal(self) -> None:
        """The view is on the screen again."""
        self._hidden = False
        if not self._paused:
            self.ask_now()

    def focus(self, has_focus: bool) -> None:
        """The terminal gained or lost the focus."""
        self._unfocused = not has_focus
        self._wake.set()
        if has_focus and not self._paused:
            self.ask_now()

    def _may_ask(self) -> bool:
        return not self._hidden and (self._asked or not self._paused)

    async def _rest(self) -> None:
        while not (self._asked and not self._hidden):
            self._wake.clear()
            try:
                await asyncio.wait_for(self._wake.wait(), self._interval())
            except TimeoutError:
                return  # The interval is over: time to ask again.

    def _interval(self) -> float | None:
        if self._paused or self._hidden:
            return None
        wait = backoff(self.freshness.attempt) if self.freshness.attempt else self.pace.interval
        return max(wait, UNFOCUSED_SECONDS) if self._unfocused else wait

    async def _once(self) -> None:
        question = self._question
        async with self._turn:
            if question != self._question:
                return  # nobody wants it any more
            started = self._monotonic()
            try:
                answer = await self._calls.run(self._ask)
            except GatewayError as error:
                self._failed(question, error)
                return
            cost = self._monotonic() - started
        if question != self._question:
            return
        if self.freshness.since is not None:  # the first query pays for imports and for connecting
            self.pace.took(cost)
        self._deliver(answer)
        self._note(Condition.PAUSED if self._paused else Condition.LIVE, since=self._monotonic())

    def _failed(self, question: int, error: GatewayError) -> None:
        if question != self._question:
            return
        attempt = self.freshness.attempt + 1
        due = None if self._paused else self._monotonic() + backoff(attempt)
        self.freshness = Freshness(
            Condition.STALE, self.pace.interval, self.freshness.since, error, attempt, due
        )
        self._changed(self.freshness)

    def _note(self, condition: Condition, since: float | None = None) -> None:
        kept = self.freshness.since if since is None else since
        self.freshness = Freshness(condition, self.pace.interval, kept)
        self._changed(self.freshness)
