"""The day store counts every micro-dollar once, whatever the order of calls, on both storages."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.check import is_long
from tests.property.day_machine import Days
from tests.support.daybooks import MIDNIGHT

if TYPE_CHECKING:
    from tests.support.harness import Harness

AT_LEAST = (
    "reserve: done",
    "reserve: refused",
    "release: True",
    "defer: True",
    "sweep: True",
    "ask: True",
    "admit: Begun",
    "admit: InFlight",
    "begin_run: Begun",
    "renew_run: True",
    "end_run: True",
    "end_run: False",
)
"""What a run of this size must have come across to have tested anything."""
HALF_AN_HOUR = timedelta(minutes=30)


def drive(harness: Harness, times: float) -> None:
    """Run the machine, so many times the profile's runs, from half an hour before midnight."""
    seen: Counter[str] = Counter()
    stores = (harness.store, harness.sibling())
    kind = type("Days", (Days,), {"stores": stores, "seen": seen, "first": MIDNIGHT - HALF_AN_HOUR})
    # A failing story of many calls takes minutes to be made smaller.
    phases = [phase for phase in Phase if is_long() or phase is not Phase.shrink]
    runs = int(settings().max_examples * times)
    run_state_machine_as_test(kind, settings=settings(max_examples=runs, phases=phases))
    missing = [what for what in AT_LEAST if not seen[what]]
    assert not missing, f"never happened: {missing} among {seen}"


def test_spend_day_on_sqlite(sqlite_harness: Harness) -> None:
    drive(sqlite_harness, 1)


def test_spend_day_on_postgresql(postgres_harness: Harness) -> None:
    drive(postgres_harness, 0.5)
