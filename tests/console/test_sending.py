"""The outcome of a change is known, or said to be unknown, and nothing is ever sent twice (console.md F8)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from console.acting.model import Order, Outcome, Route
from console.acting.sending import MOST, SETTLED_SECONDS, Fate, Sending, said_of
from console.calls import Calls
from console.model import GatewayError
from tests.console.fake_moment import T0

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CUT = GatewayError("the connection died while it committed", code="commit_unknown", retryable=False)
DOWN = GatewayError("cannot be reached", code="store_failure", retryable=True)
REFUSED = GatewayError("that is not the phrase", code="plan_refused", retryable=False)


class Store:
    """Knows the outcomes that a test puts in; `fails` is raised instead."""

    def __init__(self) -> None:
        self.now = 50.0
        self.known: dict[str, Outcome] = {}
        self.fails: GatewayError | None = None
        self.asked: list[str] = []
        self.made = 0

    def ask(self, operation: str) -> Outcome | None:
        self.asked.append(operation)
        if self.fails is not None:
            raise self.fails
        return self.known.get(operation)

    def learn(self, order: Order, told: str = "job job_1", *, applied: bool = True) -> None:
        self.known[order.operation] = Outcome(order.operation, "x", "mk@b", T0, told, applied)

    def change(self, error: GatewayError | None = None) -> Callable[[], str]:
        """A call that is counted, and then fails or answers."""

        def call() -> str:
            self.made += 1
            if error is not None:
                raise error
            return "answer"

        return call


def order(what: str = "execute pln_1") -> Order:
    return Order(what, "INC-1", Route.KEY, "holdwatch execute pln_1")


def play(scene: Callable[[Sending, Store, list[str]], Awaitable[None]]) -> Sending:
    """A scene with a sending whose words are kept."""
    store, heard = Store(), []
    acts, calls = Calls(1), Calls()
    sending = Sending(lambda: acts, lambda: calls, store.ask, lambda: store.now)
    sending.said = lambda sent: heard.append(said_of(sent))
    sending.changed = lambda made: heard.append(f"changed {made.what}")
    asyncio.run(scene(sending, store, heard))  # type: ignore[arg-type]
    return sending


def test_an_answered_change_is_known_and_told_to_the_hook_once() -> None:
    async def scene(sending: Sending, store: Store, heard: list[str]) -> None:
        assert await sending.send(order(), store.change()) == "answer"
        with pytest.raises(GatewayError, match="phrase"):
            await sending.send(order(), store.change(REFUSED))
        assert [sent.fate for sent in sending.orders] == [Fate.ANSWERED, Fate.APPLIED]
        assert (heard, store.asked) == (["changed execute pln_1"], [])

    play(scene)


def test_the_order_is_kept_before_it_is_sent() -> None:
    async def scene(sending: Sending, store: Store, _heard: list[str]) -> None:
        seen: list[Fate] = []

        def call() -> None:
            seen.extend(sent.fate for sent in sending.orders)

        await sending.send(order(), call)
        assert seen == [Fate.SENT]
        assert store.asked == []

    play(scene)


def test_report_40_a_lost_answer_of_a_change_that_was_made_is_told_as_applied() -> None:
    async def scene(sending: Sending, store: Store, heard: list[str]) -> None:
        sent = order()
        store.learn(sent)
        with pytest.raises(GatewayError, match=r"^applied: execute pln_1 \(op_.*job job_1") as told:
            await sending.send(sent, store.change(CUT))
        assert told.value.code == "answer_lost"
        assert (store.made, heard) == (1, ["changed execute pln_1"])

    play(scene)


def test_what_may_still_be_committing_stays_unknown_until_that_is_over() -> None:
    async def scene(sending: Sending, store: Store, heard: list[str]) -> None:
        sent = order()
        with pytest.raises(GatewayError, match="UNKNOWN OUTCOME") as told:
            await sending.send(sent, store.change(CUT))
        assert told.value.code == "commit_unknown"
        store.now += SETTLED_SECONDS - 1
        await sending.look()
        assert [each.fate for each in sending.unknown] == [Fate.UNKNOWN]
        assert "final in 1s" in sending.unknown[0].told
        store.learn(sent)
        await sending.look()
        assert [each.fate for each in sending.orders] == [Fate.APPLIED]
        assert [line.split(" ")[0] for line in heard] == ["UNKNOWN", "applied:", "changed"]
        assert store.made == 1

    play(scene)


def test_what_is_not_in_the_store_afterwards_was_not_applied() -> None:
    async def scene(sending: Sending, store: Store, heard: list[str]) -> None:
        with pytest.raises(GatewayError):
            await sending.send(order(), store.change(CUT))
        store.now += SETTLED_SECONDS
        await sending.look()
        assert not sending.unknown
        assert heard[-1].startswith("not applied: execute pln_1")
        assert "no effect in the store" in heard[-1]
        asked = len(store.asked)
        await sending.look()
        assert (len(store.asked), store.made) == (asked, 1)

    play(scene)


def test_while_the_store_does_not_answer_it_stays_unknown_and_is_not_sent_again() -> None:
    async def scene(sending: Sending, store: Store, heard: list[str]) -> None:
        sent, store.fails = order(), DOWN
        with pytest.raises(GatewayError, match="UNKNOWN OUTCOME"):
            await sending.send(sent, store.change(DOWN))
        for _ in range(3):
            store.now += 100
            await sending.look()
        assert len(sending.unknown) == 1
        store.fails = None
        store.learn(sent, "refused too_old", applied=False)
        await sending.look()
        assert heard[-1].startswith("not applied: ")
        assert "refused too_old" in heard[-1]
        assert store.made == 1

    play(scene)


def test_a_call_that_failed_before_any_commit_is_refused_as_it_was() -> None:
    async def scene(sending: Sending, store: Store, heard: list[str]) -> None:
        with pytest.raises(GatewayError, match="cannot be reached"):
            await sending.send(order(), store.change(DOWN))
        assert (sending.unknown, heard) == ((), [])

    play(scene)


def test_who_stops_waiting_leaves_an_unknown_outcome() -> None:
    async def scene(sending: Sending, store: Store, heard: list[str]) -> None:
        task = asyncio.ensure_future(sending.send(order(), lambda: asyncio.run(asyncio.sleep(0.05))))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [sent.fate for sent in sending.unknown] == [Fate.UNKNOWN]
        assert "stopped waiting" in heard[0]
        assert store.asked == []

    play(scene)


def test_what_is_remembered_is_bounded_and_never_forgets_what_is_unknown() -> None:
    async def scene(sending: Sending, store: Store, _heard: list[str]) -> None:
        with pytest.raises(GatewayError):
            await sending.send(order("the first"), store.change(CUT))
        for _ in range(MOST + 5):
            await sending.send(order(), store.change())
        assert len(sending.orders) <= MOST + 1
        assert [sent.order.what for sent in sending.unknown] == ["the first"]

    play(scene)
