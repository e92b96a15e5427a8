"""Durable threads behave as their rules say, whatever the order of calls, on every storage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from engine.checkpoints import checkpointer, refusals
from tests.property.machine import Threads
from tests.property.subjects import MemorySubject, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.harness import Harness

EVERYTHING = (
    "claim: done",
    "claim: ThreadBusy",
    "renew: done",
    "renew: StaleClaim",
    "release: done",
    "commit: done",
    "commit: StaleClaim",
    "commit: CheckpointConflict",
    "commit: InvalidCommit",
    "compact_events: done",
    "delete_thread: done",
    "delete_thread: StaleClaim",
)
"""What a test of this size must have come across to have tested anything."""


def drive(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Run the machine over the subject with the profile's bounds; how often what happened."""
    monkeypatch.setattr(refusals, "INTERVAL", 0.0)  # Every refusal is counted, whatever the real time.
    seen: Counter[str] = Counter()
    machine = type("Threads", (Threads,), {"subject": subject, "seen": seen})
    run_state_machine_as_test(machine, settings=settings())  # type: ignore[no-untyped-call]
    print(sum(seen.values()), sorted(seen.items()))
    missing = [what for what in EVERYTHING if not seen[what]]
    assert not missing, f"never happened: {missing} among {seen}"
    return seen


@pytest.fixture
def memory() -> Iterator[MemorySubject]:
    """A store in memory."""
    subject = MemorySubject()
    yield subject
    subject.close()


def test_threads_in_memory(memory: MemorySubject, monkeypatch: pytest.MonkeyPatch) -> None:
    drive(memory, monkeypatch)


def test_threads_on_sqlite(sqlite_harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    drive(Subject(sqlite_harness), monkeypatch)


def test_threads_on_postgresql(postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    forms: Counter[str] = Counter()
    plain, ordinary = checkpointer.plain_commit, checkpointer.commits.commit_drafts

    def one_statement(*args: Any) -> int | None:
        first = plain(*args)
        forms["plain, done" if first is not None else "plain, not done"] += 1
        return first

    def several_statements(*args: Any) -> Any:
        forms["ordinary"] += 1
        return ordinary(*args)

    monkeypatch.setattr(checkpointer, "plain_commit", one_statement)
    monkeypatch.setattr(checkpointer.commits, "commit_drafts", several_statements)
    seen = drive(Subject(postgres_harness), monkeypatch)

    assert all(forms[form] for form in ("plain, done", "plain, not done", "ordinary")), (forms, seen)
