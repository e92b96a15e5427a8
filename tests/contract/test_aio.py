"""The bridge for asyncio programs: design rule 10, ruling 22."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine.aio import Bridge
from engine.checkpoints import ClaimRequest, Commit
from engine.errors import ThreadBusy, ValidationError
from tests.support.background import LIMIT, until
from tests.support.builders import TTL, claim, emit, ev, fresh_id

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from tests.support.harness import Harness

HOUR = timedelta(hours=1)


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(main, LIMIT))


def test_bridge_a_call_answers_what_the_function_answers(harness: Harness) -> None:
    async def main() -> None:
        async with Bridge(2) as bridge:
            t = fresh_id()
            granted = await bridge.call(harness.checkpoints.claim, t, ClaimRequest("a", TTL))
            commit = Commit(granted.token, events=[ev("a")])
            made = await bridge.call(harness.checkpoints.commit, t, commit)
            assert [record.seq for record in made] == [1]
            assert await bridge.call(harness.checkpoints.events_after, t, 0, limit=10) == made

    run(main())


def test_bridge_an_error_comes_through_as_it_is(harness: Harness) -> None:
    t = fresh_id()
    claim(harness.store, t)

    async def main() -> None:
        async with Bridge(1) as bridge:
            with pytest.raises(ThreadBusy):
                await bridge.call(harness.checkpoints.claim, t, ClaimRequest("b", TTL))

    run(main())


def test_ruling_22_cancelling_the_task_ends_the_wait_and_nothing_else(harness: Harness) -> None:
    t = fresh_id()
    token = claim(harness.store, t).token

    async def main() -> None:
        async with Bridge(4) as bridge:
            wait = harness.checkpoints.await_events_after
            ended = asyncio.ensure_future(bridge.call(wait, t, 0, 10, HOUR))
            kept = asyncio.ensure_future(bridge.call(wait, t, 0, 10, HOUR))
            await asyncio.sleep(0.1)
            ended.cancel()
            with pytest.raises(asyncio.CancelledError):
                await ended
            assert not kept.done()
            await bridge.call(emit, harness.checkpoints, t, token, "a")
            assert [record.seq for record in await kept] == [1]

    run(main())


def test_ruling_22_a_cancelled_call_leaves_its_thread_to_others(harness: Harness) -> None:
    t = fresh_id()

    async def main() -> None:
        async with Bridge(1) as bridge:
            for _ in range(20):
                task = asyncio.ensure_future(
                    bridge.call(harness.checkpoints.await_events_after, t, 0, 10, HOUR)
                )
                await asyncio.sleep(0.005)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert await bridge.call(harness.checkpoints.latest, t) is None

    run(main())


def test_bridge_a_call_that_has_not_begun_is_dropped() -> None:
    begun: list[str] = []
    gate = threading.Event()

    async def main() -> None:
        async with Bridge(1) as bridge:
            first = asyncio.ensure_future(bridge.call(gate.wait, LIMIT))
            second = asyncio.ensure_future(bridge.call(begun.append, "second"))
            await asyncio.sleep(0.05)
            second.cancel()
            with pytest.raises(asyncio.CancelledError):
                await second
            gate.set()
            assert await first

    run(main())
    assert begun == []


def test_bridge_a_callers_own_cancel_is_left_alone() -> None:
    mine = threading.Event()
    seen: list[threading.Event | None] = []

    def call(cancel: threading.Event | None = None) -> None:
        seen.append(cancel)
        time.sleep(0.1)

    async def main() -> None:
        async with Bridge(1) as bridge:
            task = asyncio.ensure_future(bridge.call(call, cancel=mine))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await bridge.call(call)

    run(main())
    assert seen[0] is mine
    assert not mine.is_set()
    assert isinstance(seen[1], threading.Event)


def test_bridge_runs_in_the_callers_context() -> None:
    word: contextvars.ContextVar[str] = contextvars.ContextVar("word")

    async def main() -> None:
        word.set("said")
        async with Bridge(1) as bridge:
            assert await bridge.call(word.get) == "said"

    run(main())


def test_bridge_at_most_so_many_calls_at_a_time() -> None:
    lock, running, most = threading.Lock(), 0, 0

    def call() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.02)
        with lock:
            running -= 1

    async def main() -> None:
        async with Bridge(3) as bridge:
            await asyncio.gather(*(bridge.call(call) for _ in range(12)))

    run(main())
    assert most == 3


def test_bridge_closing_ends_what_runs_and_refuses_what_comes(harness: Harness) -> None:
    t = fresh_id()
    before = threading.active_count()

    async def main() -> None:
        bridge = Bridge(2)
        waits = [
            asyncio.ensure_future(bridge.call(harness.checkpoints.await_events_after, t, 0, 10, HOUR))
            for _ in range(3)
        ]
        await asyncio.sleep(0.1)
        await asyncio.to_thread(bridge.close)
        bridge.close()
        outcomes = await asyncio.gather(*waits, return_exceptions=True)
        assert all(isinstance(outcome, BaseException) for outcome in outcomes)
        with pytest.raises(ValidationError):
            await bridge.call(fresh_id)

    run(main())
    harness.store.close()
    until(lambda: threading.active_count() <= before, "every thread has ended")


def test_bridge_needs_a_worker() -> None:
    with pytest.raises(ValidationError):
        Bridge(0)
