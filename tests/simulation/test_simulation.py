"""A fleet, its queue and its operators over one store, with crashes, takeovers, lost replies and restarts.

Workers, some of them of the queue, build trees of threads; others sweep, prune, compact, delete single threads and
whole trees; readers follow one thread or all of them. A run is the work of its seed alone: `pytest -k "seed7"`
repeats one. HYPOTHESIS_PROFILE=long runs many more, longer.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from engine.checkpoints import queue, refusals
from tests.property.subjects import IDS, MemorySubject, Subject
from tests.simulation.simulator import simulate

if TYPE_CHECKING:
    from tests.support.harness import Harness

LONG = settings.get_current_profile_name() == "long"
SEEDS = range(60 if LONG else 5)
STEPS = 3000 if LONG else 1200
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
    "prune: checkpoints",
    "sweep: done",
    "sweep: tombstones",
    "evidence: kept",
    "cascade: done",
    "cascade: ThreadBusy",
    "tree: descendants",
    "record_run: done",
    "complete: done",
    "follow: events",
)
"""What the seeds together must come across, or the simulation shows nothing."""

_seeds = pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"seed{seed}")


@pytest.fixture(autouse=True)
def a_run_is_the_work_of_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No id and no real time decides anything."""
    monkeypatch.setattr(queue, "uuid", IDS)
    monkeypatch.setattr(refusals, "INTERVAL", 0.0)


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
        seen += simulate(Subject(sqlite_harness), seed, 1200)
    assert not [what for what in HAPPENS if not seen[what]], seen
