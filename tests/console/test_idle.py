"""What a refresh costs the line to the terminal while nothing new arrives (ruling 59)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from console.refresh import Poll
from tests.console.fake import FakeGateway, make_app, thread_row
from tests.console.waiting import ready, refreshed

if TYPE_CHECKING:
    from console.model import ThreadRow

REFRESHES = 15
PACE = timedelta(seconds=2)
BUDGET = 2_000


@dataclass
class Aging(FakeGateway):
    """Rows to which nothing happens but time: two seconds with each refresh."""

    def age(self) -> None:
        """Two seconds went by."""
        self.as_of += PACE
        self.rows = [older(row) for row in self.rows]


def older(row: ThreadRow) -> ThreadRow:
    """The same row two seconds later."""
    left = None if row.lease_left is None else row.lease_left - PACE
    assert row.age is not None
    return replace(row, age=row.age + PACE, lease_left=left)


def young(number: int) -> ThreadRow:
    """The worst row: both its age and its lease are below a minute."""
    age, left = timedelta(seconds=12 + number / 5), timedelta(seconds=58 - number / 5)
    return replace(thread_row(number), age=age, lease_left=left, holder=f"worker-{number}", token=number)


@pytest.mark.parametrize(
    "keys",
    [(), ("2",), ("3",), ("4",), ("0",), ("5",), ("6",), ("7",), ("8",), ("9",)],
    ids=[
        "threads",
        "claims",
        "reservations",
        "fences",
        "overview",
        "events",
        "jobs",
        "audit",
        "queue",
        "budgets",
    ],
)
def test_an_idle_refresh_costs_at_most_two_kilobytes(
    keys: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Poll, "_interval", lambda _poll: None)
    monkeypatch.setattr("textual.constants.COLOR_SYSTEM", "truecolor")
    written: list[int] = []
    monkeypatch.setattr(HeadlessDriver, "write", lambda _driver, data: written.append(len(data.encode())))
    monkeypatch.setattr(
        HeadlessDriver, "is_headless", property(lambda _driver: False)
    )  # or nothing is written
    gateway = Aging(rows=[young(number) for number in range(60)])

    async def scene() -> None:
        async with make_app(gateway).run_test(size=(120, 40)) as pilot:
            await ready(pilot)
            await pilot.press(*keys)
            await refreshed(pilot)
            await pilot.pause(0.3)
            written.clear()
            for _ in range(REFRESHES):
                gateway.age()
                await refreshed(pilot)

    asyncio.run(scene())
    assert sum(written) / REFRESHES <= BUDGET, sum(written) / REFRESHES
    assert written
