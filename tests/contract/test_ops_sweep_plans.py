"""Query plans of prune and sweep: invariant 18 of checkpoints-operations.md, ruling 27."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.checkpoints import RetentionPolicy, SweepPolicy, SweepResult
from engine.clock import to_ns
from engine.database.columns import METADATA
from tests.support import crowd
from tests.support.builders import T0
from tests.support.retention import nothing
from tests.support.statements import Ran, plans, recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.harness import Harness
    from tests.support.plans import Step

THREADS, EACH = 4_000, 3
PAGE = 600
"""So many that PostgreSQL would rather hash a table than probe it, where a statement lets it choose."""
HOUR = timedelta(hours=1)
TABLES = frozenset(METADATA.tables) - {"meta"}
KEPT = RetentionPolicy(max_age=3 * HOUR, max_checkpoints=EACH, max_events=EACH)
"""What everything that is stored lies within."""
RULES = (
    SweepPolicy(RetentionPolicy(max_checkpoints=EACH), batch_size=PAGE),
    SweepPolicy(RetentionPolicy(max_events=EACH), batch_size=PAGE),
    SweepPolicy(RetentionPolicy(max_age=3 * HOUR), batch_size=PAGE),
    SweepPolicy(tombstone_age=3 * HOUR, batch_size=PAGE),
    SweepPolicy(KEPT, tombstone_age=3 * HOUR, batch_size=PAGE),
)
_OF_EACH = "FROM thread CROSS JOIN (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3) numbers"
SEEDS = (
    f"""INSERT INTO checkpoint
    (thread_id, place, checkpoint_id, run_id, status, committed_at, first_seq, format, body)
    SELECT thread_id, n, 'c' || CAST(n AS TEXT), 'run', 'running', :at, n, 1, '{{}}' {_OF_EACH}""",
    f"""INSERT INTO event (thread_id, seq, kind, run_id, committed_at, token, payload)
    SELECT thread_id, n, 'custom', 'run', :at, 1, '{{}}' {_OF_EACH}""",
    """INSERT INTO effect (thread_id, key, value, token, committed_at)
    SELECT thread_id, 'k', '1', 1, :at FROM thread""",
    """INSERT INTO queue_entry
    (id, thread_id, input, state, available_at, lease_token, attempts, max_attempts)
    SELECT thread_id, thread_id, '{}', 'queued', :at, 0, 0, 3 FROM thread""",
    """INSERT INTO queue_run (thread_id, entry_id, run_id, n)
    SELECT thread_id, thread_id, 'another run', 1 FROM thread WHERE :at = :at""",
    """INSERT INTO refusal (thread_id, count, last_token, last_verb, last_at)
    SELECT thread_id, 1, 1, 'commit', :at FROM thread""",
    """UPDATE thread SET latest_id = 'c3', latest_place = 3, last_place = 3,
    first_seq = 1, next_seq = 4, floor_seq = 1 WHERE :at = :at""",
)


@pytest.fixture
def large(harness: Harness) -> Harness:
    """Threads an hour old with something of them in every table, and half as many tombstones besides."""
    with harness.raw() as connection:
        crowd.threads(connection, "t-", THREADS, tenant="tx", keys=1)
        crowd.pairs(connection, "t-", THREADS, tenant="tx")
        crowd.places(connection, "p", "t-", THREADS)
        for statement in SEEDS:
            connection.execute(text(statement), {"at": to_ns(T0)})
        crowd.tombs(connection, "t-00", THREADS // 2)
        crowd.places(connection, "q", "t-00", THREADS // 2)
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
    harness.advance(HOUR)
    return harness


def planned(
    large: Harness, monkeypatch: pytest.MonkeyPatch, call: Callable[[], object]
) -> list[tuple[Ran, list[Step]]]:
    """Every statement of the call with each of its plans, which are tried out after it."""
    with recording(monkeypatch) as seen:
        call()
    return [(ran, steps) for ran in seen for steps in plans(large, ran)]


def check(steps: list[Step], **most: int) -> None:
    """Tables are searched by an index, at most so many rows of each; of one that is not named a row at most."""
    for table in TABLES:
        read = [step for step in steps if _names(step, table)]
        assert all(step.text.startswith(("SEARCH", "Index")) for step in read), steps
        assert sum(step.rows or 0 for step in read) <= most.get(table, 1), steps


def _names(step: Step, table: str) -> bool:
    words = step.text.split()
    return table in words and words[0] not in ("ModifyTable", "LockRows")


KEYS = ("thread_pkey", "sqlite_autoindex_thread_1")


AFTER = (None, f"t-00{THREADS // 4:06}", f"t-{THREADS // 2:06}")
"""The beginning, half-way through the tombstones, and half-way through the threads."""


def test_a_sweep_looks_at_its_page_only(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    results: list[SweepResult] = []
    for policy, after in product(RULES, AFTER):

        def call(policy: SweepPolicy = policy, after: str | None = after) -> None:
            results.append(large.checkpoints.sweep(policy, nothing, after=after))

        found = planned(large, monkeypatch, call)
        assert len({ran.text for ran, _ in found}) == 2
        for ran, steps in found:
            check_page(ran, steps)
    assert {(result.visited, result.checkpoints_removed) for result in results} == {(PAGE, 0)}


def check_page(ran: Ran, steps: list[Step]) -> None:
    """The threads of the page are found by their ids, and of each only what belongs to it is read."""
    (by_id,) = (step for step in steps if _names(step, "thread"))
    assert any(key in by_id.text for key in KEYS), steps
    if "WHERE" not in ran.text:
        # The first page has no lower bound: the index is read from its beginning, as far as the limit.
        assert by_id.rows in (None, PAGE + 1)
        return
    rows = PAGE + 1
    check(steps, thread=rows, event=rows, effect=rows, thread_metadata=rows, checkpoint=2 * EACH * PAGE)


def test_a_prune_looks_at_its_thread_only(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = RetentionPolicy(max_age=HOUR / 2, max_checkpoints=2, max_events=1)
    found = planned(large, monkeypatch, lambda: large.checkpoints.prune("t-000007", policy))
    assert len({ran.text for ran, _ in found}) == 8
    for _, steps in found:
        check(steps, checkpoint=2 * EACH)


def test_a_reclamation_looks_at_its_thread_only(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = SweepPolicy(tombstone_age=HOUR / 2, batch_size=1)
    after = "t-00000700"
    results: list[SweepResult] = []
    found = planned(
        large,
        monkeypatch,
        lambda: results.append(large.checkpoints.sweep(policy, nothing, after=after)),
    )
    assert [result.tombstones_reclaimed for result in results] == [1]
    assert len({ran.text for ran, _ in found}) == 8
    for _, steps in found:
        check(steps, thread=2)
