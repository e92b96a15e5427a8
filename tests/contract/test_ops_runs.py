"""What a run left behind: cases 74 to 76 and 87 of checkpoints-operations.md 4.6, rulings 16 and 71."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert

from engine.checkpoints import CheckpointStatus, Commit
from engine.checkpoints.tables import queue_entry, queue_run
from engine.clock import to_ns
from engine.errors import ValidationError
from tests.support.builders import T0, chain, ck, claim, fresh_id, latest_id
from tests.support.retention import three_runs
from tests.support.threads import put

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

SUSPENDED, FAILED = CheckpointStatus.SUSPENDED, CheckpointStatus.FAILED


def newest(store: Checkpointer, t: str, runs: Iterable[str]) -> str | None:
    """The id of the runs' newest checkpoint."""
    found = store.latest_of_runs(t, runs)
    return None if found is None else found.id


def test_ops_74_the_newest_checkpoint_of_runs(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    three_runs(store, t)
    asked: list[tuple[list[str], str | None]] = [
        (["r1"], "c2"),
        (["r2"], "c4"),
        (["r1", "r2"], "c4"),
        (["r2", "r1", "r2"], "c4"),
        (["r3"], "c5"),
        (["r9"], None),
        (["r9", "r1"], "c2"),
        ([], None),
    ]
    for runs, expected in asked:
        assert newest(store, t, runs) == newest(store, t, frozenset(runs)) == expected, runs
    assert newest(store, fresh_id(), ["r1"]) is None


def test_ops_74_the_whole_checkpoint_is_answered(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    three_runs(store, t)
    assert store.latest_of_runs(t, ["r2"]) == store.checkpoint(t, "c4")


def test_ops_74_no_runs_ask_no_database(harness: Harness) -> None:
    store = harness.store
    checkpoints = store.checkpoints
    store.engine.dispose()
    assert checkpoints.latest_of_runs(fresh_id(), []) is None
    assert checkpoints.latest_of_runs(fresh_id(), iter(())) is None
    assert "Connections in pool: 0" in store.engine.pool.status() or harness.kind == "sqlite"


def test_ops_74_many_runs_with_any_name(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    names = ['"', "'", "\\", "[]", "é", "𝄞", "\n", "", "null", "run-500"]
    token = claim(store, t).token
    for number, run in enumerate(names):
        chain(store, t, token, [f"c{number}"], run_id=run)
    for number, run in enumerate(names):
        assert newest(store, t, [run]) == f"c{number}", run
    assert newest(store, t, [f"run-{number}" for number in range(1_000)]) == "c9"
    for bad in ("\0", "\ud800", "x" * 513):
        with pytest.raises(ValidationError):
            store.latest_of_runs(t, [bad])


def test_ops_75_newest_is_by_place_and_not_by_time(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = put(store, t, "c1", run_id="r1", created_at=T0)
    put(store, t, "c2", "c1", token=token, run_id="r1", created_at=T0 + timedelta(hours=1))
    put(store, t, "c3", "c2", token=token, run_id="r2", created_at=T0)
    put(store, t, "c4", "c3", token=token, run_id="r2", created_at=T0 - timedelta(days=365))
    assert newest(store, t, ["r1", "r2"]) == "c4"


def test_ops_76_a_deleted_thread(harness_any_clock: Harness) -> None:
    store, t = harness_any_clock.checkpoints, fresh_id()
    token = three_runs(store, t)
    store.delete_thread(t, token)
    assert newest(store, t, ["r1"]) is None
    put(store, t, run_id="r2")
    assert (newest(store, t, ["r1"]), newest(store, t, ["r1", "r2"])) == (None, "c1")


def record(harness: Harness, t: str, state: str, *runs: str) -> None:
    """A queue entry of the thread that records the runs."""
    entry = {"id": fresh_id(), "thread_id": t, "input": "{}", "state": state, "available_at": to_ns(T0)}
    with harness.raw() as connection:
        whole = entry | {"lease_token": 1, "attempts": len(runs), "max_attempts": 9}
        connection.execute(insert(queue_entry), [whole])
        rows = [{"thread_id": t, "entry_id": entry["id"], "run_id": run} for run in runs]
        connection.execute(insert(queue_run), [row | {"n": n} for n, row in enumerate(rows)])


@pytest.mark.parametrize(
    ("state", "kept"), [("leased", "s1"), ("queued", "s1"), ("done", None), (None, None)]
)
def test_ops_87_a_retraction_keeps_what_an_open_entry_asks_for(
    harness: Harness, state: str | None, kept: str | None
) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = put(store, t, "s0", run_id="A")
    put(store, t, "s1", "s0", token=token, run_id="A", status=SUSPENDED)
    if state is not None:
        record(harness, t, state, "A", "B")
    put(store, t, "b1", "s1", token=token, run_id="B")
    closing = ck("failed", "b1", t=t, run_id="B", status=FAILED)
    store.commit(t, Commit(token, checkpoint=closing, retract_turn=True))

    assert newest(store, t, ["B"]) == latest_id(store, t) == "failed"
    assert newest(store, t, ["A"]) == kept
    assert newest(store, t, ["A", "B"]) == "failed"
    # Ruling 71: of each recorded run the newest one stays, and the closing checkpoint is B's.
    left = [found.id for found in store.history(t)]
    assert left == ["failed", *([kept] if kept else [])]
