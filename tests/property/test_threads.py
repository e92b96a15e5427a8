"""Durable threads behave as their rules say, whatever the order of calls, on every storage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from engine.checkpoints import checkpointer, commits, plain_commit, refusals
from tests.property.machine import Threads
from tests.property.subjects import MemorySubject, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.harness import Harness

AT_LEAST = ("claim: done", "claim: ThreadBusy", "commit: done", "commit: StaleClaim")
"""What a run of this size must have come across to have tested anything."""


def drive(subject: Subject, monkeypatch: pytest.MonkeyPatch, times: float) -> Counter[str]:
    """Run the machine over the subject, so many times the profile's runs; how often what happened."""
    monkeypatch.setattr(refusals, "INTERVAL", 0.0)  # Every refusal is counted, whatever the real time.
    seen: Counter[str] = Counter()
    machine = type("Threads", (Threads,), {"subject": subject, "seen": seen})
    runs = settings(max_examples=int(settings().max_examples * times))
    run_state_machine_as_test(machine, settings=runs)
    missing = [what for what in AT_LEAST if not seen[what]]
    assert not missing, f"never happened: {missing} among {seen}"
    return seen


@pytest.fixture
def memory() -> Iterator[MemorySubject]:
    """A store in memory."""
    subject = MemorySubject()
    yield subject
    subject.close()


def test_threads_in_memory(memory: MemorySubject, monkeypatch: pytest.MonkeyPatch) -> None:
    drive(memory, monkeypatch, 2)


def test_threads_on_sqlite(sqlite_harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    drive(Subject(sqlite_harness), monkeypatch, 2)


def test_threads_on_postgresql(postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    forms: Counter[str] = Counter()
    plain, ordinary = plain_commit.plain_commit, commits.commit_drafts

    def one_statement(*args: Any) -> int | None:
        first = plain(*args)
        forms["plain, done" if first is not None else "plain, not done"] += 1
        return first

    def several_statements(*args: Any) -> Any:
        forms["ordinary"] += 1
        return ordinary(*args)

    monkeypatch.setattr(checkpointer, "plain_commit", one_statement)
    monkeypatch.setattr(commits, "commit_drafts", several_statements)
    seen = drive(Subject(postgres_harness), monkeypatch, 0.8)

    assert all(forms[form] for form in ("plain, done", "plain, not done", "ordinary")), (forms, seen)
