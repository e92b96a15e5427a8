"""A reading loop: one question at a time, adaptive, backing off, silent when paused or hidden (F6, F7)."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from console.calls import Calls
from console.model import GatewayError
from console.refresh import BACKOFF_SECONDS, SLOWEST_SECONDS, Condition, Freshness, Pace, Poll, backoff

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

FAST = 0.01
DOWN = GatewayError("gone", code="store_failure", retryable=True)


class Source:
    """Answers with how often it was asked, unless told to fail or to wait."""

    def __init__(self) -> None:
        self.asked = 0
        self.at_once = 0
        self.most_at_once = 0
        self.error: GatewayError | None = None
        self.gate = threading.Event()
        self.gate.set()

    def ask(self) -> int:
        self.asked += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.gate.wait(5)
        self.at_once -= 1
        if self.error is not None:
            raise self.error
        return self.asked


class View:
    """A poll with what it delivered and said."""

    def __init__(self, base: float = FAST) -> None:
        self.source = Source()
        self.got: list[int] = []
        self.said: list[Freshness] = []
        self.poll: Poll[int] = Poll(
            Calls(),
            self.source.ask,
            self.got.append,
            changed=self.said.append,
            monotonic=lambda: 0.0,
            pace=Pace(base),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[View]:
        """The loop at work."""
        task = asyncio.create_task(self.poll.run())
        try:
            yield self
        finally:
            self.source.gate.set()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def until_asked(self, times: int) -> None:
        """Wait, five seconds at most."""
        for _ in range(500):
            if self.source.asked >= times:
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"asked {self.source.asked} times")


def test_the_interval_doubles_while_queries_are_dear_and_comes_back() -> None:
    pace = Pace(2.0)
    for _ in range(10):
        pace.took(pace.interval)
    assert pace.interval == SLOWEST_SECONDS
    for _ in range(10):
        pace.took(0.001)
    assert pace.interval == 2.0


def test_back_off_grows_to_a_bound() -> None:
    assert [backoff(attempt) for attempt in (1, 2, 6, 1_000)] == [1.0, 2.0, 30.0, BACKOFF_SECONDS[-1]]


def test_it_asks_again_and_again_one_at_a_time() -> None:
    async def scene() -> None:
        async with View().running() as view:
            await view.until_asked(4)
            view.poll.ask_now()
            view.poll.ask_now()
            await view.until_asked(6)
            assert view.source.most_at_once == 1
            assert view.poll.freshness.condition is Condition.LIVE

    asyncio.run(scene())


def test_paused_it_asks_nothing_but_when_told_to() -> None:
    async def scene() -> None:
        async with View().running() as view:
            await view.until_asked(1)
            view.poll.pause()
            await asyncio.sleep(0.05)
            asked = view.source.asked
            await asyncio.sleep(0.1)
            assert view.source.asked == asked
            assert view.poll.freshness.condition is Condition.PAUSED
            view.poll.ask_now()
            await view.until_asked(asked + 1)
            await asyncio.sleep(0.05)
            assert view.source.asked == asked + 1
            view.poll.resume()
            await view.until_asked(asked + 3)

    asyncio.run(scene())


def test_hidden_it_asks_nothing_at_all() -> None:
    async def scene() -> None:
        async with View().running() as view:
            await view.until_asked(1)
            view.poll.hide()
            await asyncio.sleep(0.05)
            asked = view.source.asked
            view.poll.ask_now()
            await asyncio.sleep(0.1)
            assert view.source.asked == asked
            view.poll.reveal()
            await view.until_asked(asked + 2)

    asyncio.run(scene())


def test_an_answer_to_an_old_question_is_thrown_away() -> None:
    async def scene() -> None:
        async with View(base=60).running() as view:
            await view.until_asked(1)
            await asyncio.sleep(0.05)
            view.source.gate.clear()
            view.poll.ask_now()
            await view.until_asked(2)
            view.poll.ask_anew()
            view.source.gate.set()
            await view.until_asked(3)
            await asyncio.sleep(0.05)
            assert view.got == [1, 3]

    asyncio.run(scene())


def test_failure_is_said_and_healed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.refresh.BACKOFF_SECONDS", (FAST,))

    async def scene() -> None:
        async with View().running() as view:
            await view.until_asked(1)
            view.source.error = DOWN
            await view.until_asked(view.source.asked + 3)
            stale = view.poll.freshness
            assert (stale.condition, stale.cause) == (Condition.STALE, DOWN)
            assert stale.attempt >= 2
            assert stale.since is not None
            view.source.error = None
            await view.until_asked(view.source.asked + 2)
            await asyncio.sleep(0.02)
            assert view.poll.freshness.condition is Condition.LIVE
            assert view.poll.freshness.attempt == 0

    asyncio.run(scene())


def test_calls_are_bounded_and_hand_exceptions_over() -> None:
    async def scene() -> None:
        calls, source = Calls(2), Source()
        source.gate.clear()
        tasks = [asyncio.create_task(calls.run(source.ask)) for _ in range(5)]
        await asyncio.sleep(0.1)
        assert (source.asked, calls.running) == (2, 2)
        source.error = DOWN
        source.gate.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert results == [DOWN] * 5
        assert calls.running == 0

    asyncio.run(scene())
