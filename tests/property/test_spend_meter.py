"""The spend meter behaves as its rules say, whatever the order of calls, by either form and on every storage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.property.meter_machine import Metering, MeterSubject

if TYPE_CHECKING:
    from tests.support.harness import Harness

AT_LEAST = (
    "reserve: Reserved",
    "reserve: allowance_exhausted",
    "reserve: in_flight",
    "settle: settled",
    "settle: already_settled",
    "default: settled",
    "answers: ReconcileReport",
    "answered for another attempt",
)
"""What a run of this size must have come across to have tested anything."""


def drive(harness: Harness, times: float, *, windowed: bool) -> None:
    """Run the machine, so many times the profile's runs."""
    seen: Counter[str] = Counter()
    subject = MeterSubject(harness, windowed=windowed)
    kind = type("Metering", (Metering,), {"subject": subject, "seen": seen})
    run_state_machine_as_test(kind, settings=settings(max_examples=int(settings().max_examples * times)))
    missing = [what for what in AT_LEAST if not seen[what]]
    assert not missing, f"never happened: {missing} among {seen}"


@pytest.mark.parametrize("counted", ["periods", "windows"])
def test_a_meter_on_sqlite(sqlite_harness: Harness, counted: str) -> None:
    drive(sqlite_harness, 1, windowed=counted == "windows")


@pytest.mark.parametrize("counted", ["periods", "windows"])
def test_a_meter_on_postgresql(postgres_harness: Harness, counted: str) -> None:
    drive(postgres_harness, 0.7, windowed=counted == "windows")
