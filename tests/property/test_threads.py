"""Durable threads behave as their rules say, whatever the order of calls, on every storage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import Table

from engine.checkpoints import checkpointer, commits, queue, refusals, tables
from tests.property.audit import ORDERS
from tests.property.machine import THREAD, Threads
from tests.property.operations import Operations
from tests.property.plans import COMMITS, FIRST, STEPS, THREADS
from tests.property.subjects import IDS, OF_THREADS, MemorySubject, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.property.plans import CommitPlan
    from tests.support.harness import Harness

AT_LEAST = (
    "claim: done",
    "claim: ThreadBusy",
    "commit: done",
    "commit: StaleClaim",
    "prune: checkpoints",
    "prune: events",
    "sweep: done",
    "cascade: descendants",
    "cascade: done",
    "lease: done",
    "record_run: done",
    "record_run: StaleLease",
)
"""What a run of this size must have come across to have tested anything."""
LOOK = 6
"""How many commits lie between two comparisons of all that can be read."""


@pytest.fixture(autouse=True)
def every_refusal_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the real time: else a run could not be repeated."""
    monkeypatch.setattr(refusals, "INTERVAL", 0.0)


@pytest.fixture(autouse=True)
def entries_have_the_same_ids_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries that are due together are taken by id."""
    monkeypatch.setattr(queue, "uuid", IDS)


@pytest.fixture
def memory() -> Iterator[MemorySubject]:
    """A store in memory."""
    subject = MemorySubject()
    yield subject
    subject.close()


Machine = TypeVar("Machine", bound=Threads)


def machine(base: type[Machine], subject: Subject) -> tuple[type[Machine], Counter[str]]:
    """The machine over that subject, and what its runs come across."""
    seen: Counter[str] = Counter()
    return type(base.__name__, (base,), {"subject": subject, "seen": seen}), seen


def drive(subject: Subject, times: float) -> None:
    """Run the machine over the subject, so many times the profile's runs."""
    kind, seen = machine(Operations, subject)
    runs = settings(max_examples=int(settings().max_examples * times))
    run_state_machine_as_test(kind, settings=runs)
    missing = [what for what in AT_LEAST if not seen[what]]
    assert not missing, f"never happened: {missing} among {seen}"


def test_every_table_is_audited_and_wiped() -> None:
    """Or a row could be left behind in one that was added later."""
    made = {each.name for each in vars(tables).values() if isinstance(each, Table)} - {"meta"}
    assert set(ORDERS) == set(OF_THREADS) == made


def test_threads_in_memory(memory: MemorySubject) -> None:
    drive(memory, 3)


def test_threads_on_sqlite(sqlite_harness: Harness) -> None:
    drive(Subject(sqlite_harness), 3)


def test_threads_on_postgresql(postgres_harness: Harness) -> None:
    drive(Subject(postgres_harness), 0.8)


@pytest.fixture
def forms(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each form of a commit ran, and whether it was done with that."""
    found: Counter[str] = Counter()

    def counted(name: str, form: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            result = form(*args)
            found[f"{name}: {'not ' * (result is None)}done"] += 1
            return result

        return run

    for name in ("plain_commit", "plain_steps"):
        monkeypatch.setattr(checkpointer, name, counted("short", getattr(checkpointer, name)))
    monkeypatch.setattr(commits, "commit_drafts", counted("ordinary", commits.commit_drafts))
    return found


def test_commits_in_a_row(harness: Harness, forms: Counter[str]) -> None:
    """Long runs of commits by both forms, on threads that are held most of the time."""
    subject = Subject(harness)
    kind, seen = machine(Threads, subject)

    @settings(max_examples=settings().max_examples * 2)
    @given(plans=st.lists(st.tuples(THREAD, STEPS | STEPS | COMMITS), min_size=LOOK * 2, max_size=LOOK * 6))
    def property_of_commits(plans: list[tuple[str, CommitPlan]]) -> None:
        run = kind()
        run.commit_several([(t, FIRST) for t in THREADS], 0)
        for start in range(0, len(plans), LOOK):
            run.commit_several(plans[start : start + LOOK], start // LOOK % 3)
            run.agrees()
        run.teardown()

    property_of_commits()
    assert seen["commit: done"] > seen["commit: StaleClaim"], seen
    missing = [form for form in ("short: done", "short: not done", "ordinary: done") if not forms[form]]
    assert not missing, (forms, seen)
