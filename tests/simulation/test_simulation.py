"""Workers, readers, a deleter and a compactor over one store, with crashes, takeovers, lost replies and restarts.

A run is the work of its seed alone: `pytest -k "seed7"` repeats one. HYPOTHESIS_PROFILE=long runs many more, longer.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.property.subjects import MemorySubject, Subject
from tests.simulation.simulator import simulate

if TYPE_CHECKING:
    from tests.support.harness import Harness

LONG = settings.get_current_profile_name() == "long"
SEEDS = range(60 if LONG else 5)
STEPS = 3000 if LONG else 800
HAPPENS = (
    "claim: done",
    "claim: ThreadBusy",
    "commit: done",
    "commit: StaleClaim",
    "commit: request lost",
    "reply lost",
    "delete: done",
    "read: ReplayUnavailable",
    "read: ThreadDeleted",
)
"""What the seeds together must come across, or the simulation shows nothing."""

_seeds = pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"seed{seed}")


@_seeds
def test_simulation_in_memory(seed: int) -> None:
    subject = MemorySubject()
    try:
        simulate(subject, seed, STEPS)
    finally:
        subject.close()


@_seeds
def test_simulation(harness: Harness, seed: int) -> None:
    simulate(Subject(harness), seed, STEPS)


def test_the_seeds_come_across_everything(sqlite_harness: Harness) -> None:
    seen: Counter[str] = Counter()
    for seed in range(3):
        seen += simulate(Subject(sqlite_harness), seed, 800)
    assert not [what for what in HAPPENS if not seen[what]], seen
