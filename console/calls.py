"""Blocking gateway calls from the event loop: each in a daemon thread, at most two at once.

A daemon thread never keeps the console from leaving: a call that hangs in a driver is abandoned at exit,
after the gateway was told to end it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

IN_FLIGHT: Final = 2
"""Calls that may run at once: as many as the reading store has connections (ruling 57)."""
LONG_SECONDS: Final = 0.4
"""From when on a call counts as long: esc ends it then, instead of stepping back."""


class Calls:
    """Runs blocking functions for coroutines. `running` is how many are in flight, `finished` how many ended."""

    def __init__(self, limit: int = IN_FLIGHT) -> None:
        self._slots = asyncio.Semaphore(limit)
        self.limit = limit
        self.running = 0
        self.finished = 0
        self._began: dict[object, float] = {}

    @property
    def longest(self) -> float:
        """For how many seconds the call has run that began first; 0 while none runs."""
        return time.monotonic() - min(self._began.values()) if self._began else 0.0

    async def run(self, function: Callable[[], T]) -> T:
        """The function's answer or its exception; waits for a free slot first."""
        async with self._slots:
            self.running += 1
            mark = object()
            self._began[mark] = time.monotonic()
            try:
                return await self._in_thread(function)
            finally:
                del self._began[mark]
                self.running -= 1
                self.finished += 1

    async def _in_thread(self, function: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                result = function()
            except BaseException as error:  # noqa: BLE001 - handed whole to the waiting coroutine
                _tell(loop, _fail, answer, error)
            else:
                _tell(loop, _succeed, answer, result)

        threading.Thread(target=work, name="holdwatch-call", daemon=True).start()
        return await answer


def _tell(loop: asyncio.AbstractEventLoop, settle: Callable[..., None], *arguments: Any) -> None:
    try:
        loop.call_soon_threadsafe(settle, *arguments)
    except RuntimeError:  # the loop has closed: the console has left, nobody waits for the answer
        return


def _succeed(answer: asyncio.Future[T], result: T) -> None:
    if not answer.done():
        answer.set_result(result)


def _fail(answer: asyncio.Future[Any], error: BaseException) -> None:
    if not answer.done():
        answer.set_exception(error)
