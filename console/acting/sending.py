"""Changes on their way: whether each reached the store is known, or is said to be unknown (console.md F8).

An order is kept before it is sent. Where its answer is lost it is UNKNOWN until the store says what became of it; it
is never sent again by the console.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

from console.acting.model import UNKNOWN_CODE
from console.model import GatewayError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from console.acting.model import Order, Outcome
    from console.calls import Calls

    T = TypeVar("T")

_COMMITTING: Final = frozenset({UNKNOWN_CODE, "store_closed"})
"""Errors that may have come while the store committed."""
LOST: Final = _COMMITTING | {"store_failure", "file_gone", "stopped"}
"""Errors after which part of a call may have been done: only the store can tell."""
SETTLED_SECONDS: Final = 15.0
"""So long may a commit whose client has gone still be under way: a writer's statements end after that."""
MOST: Final = 200
"""Orders that are remembered, the newest; one whose outcome is unknown is never forgotten."""


class Fate(StrEnum):
    """How an order stands."""

    SENT = "in flight"
    UNKNOWN = "UNKNOWN"
    APPLIED = "applied"
    NOT_APPLIED = "not applied"
    ANSWERED = "answered"


@dataclass(slots=True)
class Sent:
    """One order. `since` is the local monotonic second in which its answer was lost; `why` what was said then."""

    order: Order
    fate: Fate = Fate.SENT
    why: str = ""
    since: float | None = None
    told: str = ""


class Sending:
    """The orders of one session. `ask` asks the store for an operation and may block; `monotonic` gives seconds.

    `said` hears each outcome that was unknown, and that it is; `changed` each order whose effect is in the store.
    """

    def __init__(
        self,
        acts: Callable[[], Calls],
        calls: Callable[[], Calls],
        ask: Callable[[str], Outcome | None],
        monotonic: Callable[[], float],
    ) -> None:
        self._acts = acts
        self._calls = calls
        self._ask = ask
        self._monotonic = monotonic
        self._orders: dict[str, Sent] = {}
        self.said: Callable[[Sent], object] = lambda _sent: None
        self.changed: Callable[[Order], object] = lambda _order: None

    @property
    def orders(self) -> tuple[Sent, ...]:
        """What was sent, newest first."""
        return tuple(reversed(self._orders.values()))

    @property
    def unknown(self) -> tuple[Sent, ...]:
        """Those whose outcome is unknown, newest first."""
        return tuple(sent for sent in self.orders if sent.fate is Fate.UNKNOWN)

    async def send(self, order: Order, call: Callable[[], T]) -> T:
        """The call's answer, or its GatewayError; the order is kept first, and no call is ever made twice.

        Where the answer was lost the error says what the store knows by now: `commit_unknown` says that it is unknown.
        """
        sent = self._kept(order)
        try:
            answer = await self._acts().run(call)
        except GatewayError as error:
            if error.code not in LOST:
                sent.fate = Fate.ANSWERED
                raise
            raise await self._lost(sent, error) from error
        except asyncio.CancelledError:
            self._mark(sent, "the console stopped waiting for the answer")
            raise
        except BaseException:
            self._mark(sent, "the call broke off")
            raise
        sent.fate = Fate.APPLIED
        self.changed(order)
        return answer

    async def look(self) -> None:
        """Ask the store for every unknown outcome, once; where it does not answer they stay unknown."""
        waiting = [sent.order.operation for sent in self.unknown]
        if not waiting:
            return
        try:
            found = await self._calls().run(lambda: self.asked(waiting))
        except GatewayError:
            return  # the screen in front says that the store does not answer
        self.take(found)

    def asked(self, operations: list[str]) -> Mapping[str, Outcome | None]:
        """What the store knows of these; blocks, GatewayError."""
        return {operation: self._ask(operation) for operation in operations}

    def take(self, found: Mapping[str, Outcome | None]) -> None:
        """Learn what the store knows of operations that were unknown."""
        for operation, outcome in found.items():
            sent = self._orders.get(operation)
            if sent is not None and sent in self.unknown and self._settled(sent, outcome):
                self.said(sent)
                if sent.fate is Fate.APPLIED:
                    self.changed(sent.order)

    def _settled(self, sent: Sent, outcome: Outcome | None) -> bool:
        """Take one outcome over; whether it is final. What is not in the store yet may still come."""
        if outcome is not None:
            sent.fate = Fate.APPLIED if outcome.applied else Fate.NOT_APPLIED
            sent.told = outcome.told
            return True
        left = SETTLED_SECONDS - (self._monotonic() - (sent.since or 0.0))
        if left > 0:
            sent.told = f"not in the store so far; final in {left:.0f}s"
            return False
        sent.fate, sent.told = Fate.NOT_APPLIED, "it has no effect in the store"
        return True

    def _kept(self, order: Order) -> Sent:
        sent = self._orders[order.operation] = Sent(order)
        over = [key for key, each in self._orders.items() if each.fate not in {Fate.SENT, Fate.UNKNOWN}]
        for key in over[: max(0, len(self._orders) - MOST)]:
            del self._orders[key]
        return sent

    def _mark(self, sent: Sent, why: str) -> None:
        sent.fate, sent.why, sent.since = Fate.UNKNOWN, why, self._monotonic()
        self.said(sent)

    async def _lost(self, sent: Sent, error: GatewayError) -> GatewayError:
        """What is raised for an error after which the outcome must be asked for: at once, where the store answers."""
        operation = sent.order.operation
        try:
            outcome = await self._calls().run(lambda: self._ask(operation))
        except GatewayError:
            self._mark(sent, error.message)
            return _unknown(sent)
        if outcome is None and error.code not in _COMMITTING:
            sent.fate, sent.told = Fate.NOT_APPLIED, "it has no effect in the store"
            return error  # nothing of it was being committed when the connection died
        sent.why, sent.since = error.message, self._monotonic()
        if not self._settled(sent, outcome):
            self._mark(sent, error.message)
            return _unknown(sent)
        if sent.fate is Fate.APPLIED:
            self.changed(sent.order)
        return GatewayError(said_of(sent), code="answer_lost", retryable=False)


def said_of(sent: Sent) -> str:
    """An order's fate as a line for the operator."""
    what = f"{sent.order.what} ({sent.order.operation})"
    if sent.fate is Fate.UNKNOWN:
        return f"UNKNOWN OUTCOME of {what}: {sent.why}; it is not sent again, the store is asked (u shows it)"
    return f"{sent.fate.value}: {what}: {sent.told}" if sent.told else f"{sent.fate.value}: {what}"


def _unknown(sent: Sent) -> GatewayError:
    return GatewayError(said_of(sent), code=UNKNOWN_CODE, retryable=False)
