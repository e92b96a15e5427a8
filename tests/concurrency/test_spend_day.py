"""The day store under many threads at once: no total ever differs from its rows, and nobody waits in a circle."""

from __future__ import annotations

import random
import time
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from engine.database import transaction
from engine.database.backend import Fault
from engine.errors import CostCapExceeded
from engine.spend import Begun, Consumed, Deferred, Released
from tests.support.daybooks import A0, A1, NEXT_DAY, D, audited, committed, operation, reserve
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from engine.spend import DaySpend
    from tests.support.harness import Harness

SPELL = 1.2
"""Seconds for which everybody works."""
CAP, LOW_CAP = 10_000_000, 60_000
"""Of most admissions, which all fit; and of some, which soon do not."""
SECOND = timedelta(seconds=1)
DAYS = (A0, A0 + timedelta(days=1))


@pytest.fixture
def conflicts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every deadlock that the server broke, though the store would have tried again."""
    found: list[Any] = []
    fault = transaction.Transactions._fault

    def noted(self: Any, error: Exception) -> Fault | None:
        answer = fault(self, error)
        if answer is Fault.CONFLICT:
            found.append(error)
        return answer

    monkeypatch.setattr(transaction.Transactions, "_fault", noted)
    return found


class Worker:
    """Calls in any order on rows that all workers share, until the spell is over."""

    def __init__(self, days: DaySpend, seed: int, shared: list[str], until: float) -> None:
        self._days, self._dice, self._shared, self._until = days, random.Random(seed), shared, until
        self._seed = seed
        self.admitted = self.settled = 0

    def work(self) -> tuple[int, int]:
        """How many rows it made and settled."""
        calls = (
            self.reserve,
            self.reserve,
            self.settle,
            self.settle,
            self.defer,
            self.operate,
            self.sweep,
            self.ask,
        )
        while time.monotonic() < self._until:
            self._dice.choice(calls)()
        return self.admitted, self.settled

    def reserve(self) -> None:
        """A row of either day, soon due, fenced or not."""
        at = self._dice.choice(DAYS)
        fence = self._dice.random() < 0.3
        try:
            made = reserve(
                self._days,
                self._dice.randrange(2000),
                at=at,
                expires=at + SECOND,
                cap_micro=self._dice.choice((CAP, CAP, LOW_CAP)),
                require_fence=fence,
            )
        except CostCapExceeded:
            return  # Its cap is reached, as it is for most before the end.
        self._shared.append(made)
        self.admitted += 1

    def settle(self) -> None:
        """Any of the latest rows, whoever made it."""
        for held in self._dice.sample(self._shared[-12:], min(2, len(self._shared))):
            self.settled += self._days.release(held, self._dice.randrange(1000), A0)

    def defer(self) -> None:
        """The same."""
        for held in self._dice.sample(self._shared[-12:], min(1, len(self._shared))):
            self._days.defer(held, A0 + SECOND, {"by": self._seed})

    def operate(self) -> None:
        """A run of one of a few operations; most are ended."""
        at = self._dice.choice(DAYS)
        wish = operation(
            f"op-{self._dice.randrange(12)}",
            at=at,
            expires=at + SECOND,
            lease_until=at,
            cap_micro=CAP,
            max_runs=99,
        )
        try:
            answer = self._days.admit_operation(wish)
        except CostCapExceeded:
            return  # Its cap is reached, as it is for most before the end.
        if isinstance(answer, Begun) and self._dice.random() < 0.8:
            close = self._dice.random() < 0.5
            self._days.end_run(answer.reservation_id, answer.run, self._dice.randrange(400), at, close)

    def sweep(self) -> None:
        """Defaults, page by page."""
        self.settled += self._days.sweep(DAYS[1] + SECOND).settled

    def ask(self) -> None:
        """Answers, one by one."""
        at = A0 + SECOND
        answers = (Consumed(5), Released(), Deferred(at + SECOND, {}), Consumed())
        swept = self._days.sweep(at, lambda _: self._dice.choice(answers))
        self.settled += swept.settled + swept.released


def test_spend_day_every_micro_is_counted_whoever_works(harness: Harness, conflicts: list[Any]) -> None:
    shared: list[str] = []
    until = time.monotonic() + SPELL
    stores = [harness.sibling() for _ in range(4)]
    workers = [Worker(stores[n % len(stores)].days, n, shared, until) for n in range(8)]
    done = all_succeeded(together(*(worker.work for worker in workers)))
    assert conflicts == []
    audited(harness.store)
    days = harness.store.days
    admitted, settled = (sum(column) for column in zip(*done, strict=True))
    assert admitted > 0
    assert settled > 0
    for day in (D, NEXT_DAY):
        assert 0 < committed(days, day) <= CAP
    late = DAYS[1] + 10 * SECOND
    days.sweep(late)
    days.sweep(late, lambda _: Released())
    assert [days.total(day).reserved_micro for day in (D, NEXT_DAY)] == [0, 0]
    audited(harness.store)


def test_spend_day_a_cap_is_never_passed(harness: Harness, conflicts: list[Any]) -> None:
    """Twelve threads, five hundred micros each, room for seven."""
    stores = [harness.sibling() for _ in range(4)]
    calls = [partial(reserve, stores[n % 4].days, 500, cap_micro=3999) for n in range(12)]
    outcomes = together(*calls)
    refusals = [outcome.error for outcome in outcomes if outcome.error is not None]
    assert len(refusals) == 5
    assert all(isinstance(error, CostCapExceeded) for error in refusals)
    assert committed(harness.store.days) == 3500
    assert conflicts == []
    audited(harness.store)


def test_spend_day_a_row_is_settled_once_whoever_comes_first(harness: Harness, conflicts: list[Any]) -> None:
    stores = [harness.sibling() for _ in range(4)]
    for _ in range(6):
        held = [reserve(harness.store.days, 100) for _ in range(3)]
        owners = [partial(stores[0].days.release, row, 40, A1) for row in held]
        askers = [partial(stores[n].days.sweep, A1, lambda _: Consumed(60)) for n in (1, 2)]
        outcomes = all_succeeded(together(*owners, *askers, partial(stores[3].days.sweep, A1)))
        by_owner = sum(outcomes[:3])
        asked = sum(swept.settled for swept in outcomes[3:5])
        assert by_owner + asked + outcomes[5].settled == len(held)
    assert harness.store.days.total(D).reserved_micro == 0
    assert conflicts == []
    audited(harness.store)
