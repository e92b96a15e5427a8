"""Committing: cases 1 to 17 of checkpoints.md 4.1."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.checkpoints import CheckpointStatus, Commit, EventDraft, PendingWrite
from engine.errors import CheckpointConflict, InvalidCommit, StaleClaim, StoreFailure
from tests.support.builders import (
    T0,
    TTL,
    chain,
    ck,
    claim,
    emit,
    empty_graph,
    ev,
    fresh_id,
    latest_id,
    seqs,
    task_ids,
    wr,
)
from tests.support.refusals import refused
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

WRITERS = 8
COMMITS_EACH = 25
LONG_LEASE = timedelta(hours=2)


@pytest.fixture(params=[0, 2], ids=["unnumbered", "numbered"])
def earlier(request: pytest.FixtureRequest) -> int:
    """How many events the thread has before a case begins: a thread's first event takes another way."""
    count: int = request.param
    return count


def begun(checkpointer: Checkpointer, t: str, earlier: int) -> int:
    """A claimed thread without a checkpoint; the token."""
    token = claim(checkpointer, t).token
    assert emit(checkpointer, t, token, *["earlier"] * earlier) == numbers(earlier)
    return token


def started(checkpointer: Checkpointer, t: str, earlier: int, *writes: str) -> int:
    """A claimed thread whose latest checkpoint is c1, with those tasks' writes; the token."""
    token = begun(checkpointer, t, earlier)
    pending = [wr("c1", task) for task in writes]
    assert checkpointer.commit(t, Commit(token, checkpoint=ck("c1", t=t), writes=pending)) == []
    return token


def numbers(count: int) -> list[int]:
    """What `seqs` answers on a thread of so many events."""
    return list(range(1, count + 1))


def test_core_1_writes_and_events_accumulate(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    assert store.latest(t) is None
    token = claim(store, t).token

    first = Commit(token, checkpoint=ck("c1", t=t), writes=[wr("c1", "0.0")], events=[ev("a"), ev("b")])
    assert [record.seq for record in store.commit(t, first)] == [1, 2]
    second = Commit(token, writes=[wr("c1", "0.1")], events=[ev("c")])
    assert [record.seq for record in store.commit(t, second)] == [3]

    stored = store.latest(t)
    assert stored is not None
    assert stored.checkpoint == ck("c1", t=t)
    assert list(stored.writes) == [wr("c1", "0.0"), wr("c1", "0.1")]
    assert seqs(store, t) == [1, 2, 3]


def test_core_1_writes_keep_their_order_inside_a_commit(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = started(store, t, earlier, "0.9", "0.10")
    store.commit(t, Commit(token, writes=[wr("c1", "0.2"), wr("c1", "0.1"), wr("c1", "0.2")]))
    assert task_ids(store, t) == ["0.9", "0.10", "0.2", "0.1", "0.2"]


def test_core_2_checkpoint_over_the_wrong_parent(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["c1"])

    lost = Commit(token, checkpoint=ck("c2", "other", t=t), writes=[wr("c2", "0.0")], events=[ev("lost")])
    refused(CheckpointConflict(t, "other", "c1"), store.commit, t, lost)

    assert latest_id(store, t) == "c1"
    assert task_ids(store, t) == []
    assert seqs(store, t) == [1]
    assert emit(store, t, token, "next") == [2]


def test_core_3_checkpoint_without_parent_over_a_history(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = started(store, t, earlier)
    refused(CheckpointConflict(t, None, "c1"), store.commit, t, Commit(token, checkpoint=ck("c2", t=t)))
    assert latest_id(store, t) == "c1"


def test_core_4_parent_on_a_thread_without_checkpoint(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = begun(store, t, earlier)
    refused(CheckpointConflict(t, "x", None), store.commit, t, Commit(token, checkpoint=ck("c1", "x", t=t)))
    assert store.latest(t) is None


def test_core_5_write_without_any_checkpoint(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = begun(store, t, earlier)
    invalid(store, t, Commit(token, writes=[wr("c1", "0.0")]), naming="c1")
    assert store.latest(t) is None


def test_core_6_write_for_another_checkpoint(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = started(store, t, earlier)
    invalid(store, t, Commit(token, writes=[wr("c0", "0.0")], events=[ev("x")]), naming="c0")
    assert task_ids(store, t) == []
    assert seqs(store, t) == numbers(earlier)


def test_core_7_write_for_the_checkpoint_being_replaced(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = started(store, t, earlier)
    late = Commit(token, checkpoint=ck("c2", "c1", t=t), writes=[wr("c1", "0.0")], events=[ev("y")])
    invalid(store, t, late, naming="c1")
    assert latest_id(store, t) == "c1"
    assert seqs(store, t) == numbers(earlier)


def test_core_8_new_checkpoint_replaces_the_writes(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = started(store, t, earlier, "0.0")
    store.commit(t, Commit(token, checkpoint=ck("c2", "c1", t=t), writes=[wr("c2", "1.0")]))
    assert latest_id(store, t) == "c2"
    assert task_ids(store, t) == ["1.0"]


def test_core_9_new_checkpoint_drops_the_writes(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = started(store, t, earlier, "0.0")
    store.commit(t, Commit(token, checkpoint=ck("c2", "c1", t=t)))
    assert latest_id(store, t) == "c2"
    assert task_ids(store, t) == []


def test_core_10_one_misdirected_write_refuses_all(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = started(store, t, earlier)
    mixed = Commit(token, writes=[wr("c1", "0.0"), wr("elsewhere", "0.1"), wr("c1", "0.2")])
    invalid(store, t, mixed, naming="elsewhere")
    assert task_ids(store, t) == []


def test_core_11_round_trip(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    checkpoint = ck(
        "run-1/1",
        t=t,
        run_id="run-1",
        status=CheckpointStatus.SUSPENDED,
        created_at=T0 + timedelta(microseconds=123456),
        snapshot=busy_graph(),
        tenant="tenant",
        fencing_token=token,
    )
    draft = EventDraft(
        kind="custom",
        payload={"name": "contract.payload", "version": 2, "payload": {"text": "ünïcode", "n": 42}},
        run_id="run-1",
        checkpoint_id="run-1/1",
        task_id="3.0",
        node_id="worker",
        timestamp=T0 + timedelta(seconds=1.5),
    )
    commit = Commit(token, checkpoint=checkpoint, writes=[busy_write()], events=[draft])
    (record,) = store.commit(t, commit)

    assert (record.thread_id, record.seq, record.fencing_token) == (t, 1, token)
    for field in ("kind", "payload", "run_id", "checkpoint_id", "task_id", "node_id", "timestamp"):
        assert getattr(record, field) == getattr(draft, field), field
    assert store.events_after(t, 0, 10) == [record]
    stored = store.latest(t)
    assert stored is not None
    assert stored.checkpoint == checkpoint
    assert list(stored.writes) == [busy_write()]


def test_core_12_empty_commit_changes_nothing(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = started(store, t, earlier, "0.0")
    before = store.latest(t)
    assert store.commit(t, Commit(token)) == []
    assert store.latest(t) == before
    assert seqs(store, t) == numbers(earlier)
    assert emit(store, t, token, "next") == [earlier + 1]


def test_core_12_empty_commit_on_a_bare_claim(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = begun(store, t, earlier)
    assert store.commit(t, Commit(token)) == []
    assert store.latest(t) is None
    refused(StaleClaim(t, token + 1, token), store.commit, t, Commit(token + 1))


def test_core_13_events_without_a_checkpoint(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = begun(store, t, earlier)
    assert emit(store, t, token, "a", "b", "c") == [earlier + 1, earlier + 2, earlier + 3]
    assert store.latest(t) is None


def test_core_14_concurrent_commits_interleave_whole(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t, ttl=LONG_LEASE).token
    store.commit(t, Commit(token, checkpoint=ck("c1", t=t)))

    def write() -> list[list[int]]:
        return [emit(store, t, token, "a", "b") for _ in range(COMMITS_EACH)]

    results = [pair for each in all_succeeded(together(*[write] * WRITERS)) for pair in each]
    everything = list(range(1, 2 * WRITERS * COMMITS_EACH + 1))
    assert len(results) == WRITERS * COMMITS_EACH
    assert sorted(seq for pair in results for seq in pair) == everything
    assert {second - first for first, second in results} == {1}
    assert seqs(store, t) == everything


def test_core_15_events_carry_their_own_token(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    first = claim(store, t).token
    emit(store, t, first, "a")
    harness.advance(TTL)
    second = claim(store, t, "second").token
    emit(store, t, second, "b")
    assert [record.fencing_token for record in store.events_after(t, 0, 10)] == [first, second]


def test_core_16_nothing_stored_aliases_the_caller(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    payload: dict[str, Any] = {"list": [1], "map": {"deep": "as written"}}
    draft = ev("a", payload=payload)
    (returned,) = store.commit(t, Commit(token, events=[draft]))

    payload["list"].append(2)
    assert returned.payload == {"list": [1], "map": {"deep": "as written"}}
    returned.payload["map"]["deep"] = "changed"
    (reread,) = store.events_after(t, 0, 10)
    assert reread.payload == {"list": [1], "map": {"deep": "as written"}}
    reread.payload["list"].clear()
    assert store.events_after(t, 0, 10)[0].payload["list"] == [1]


def test_core_16_checkpoints_and_writes_do_not_alias_either(harness: Harness, earlier: int) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = begun(store, t, earlier)
    snapshot, body = empty_graph(frontier=["one"]), {"operations": ["one"]}
    write = PendingWrite("c1", "0.0", "n", body)
    store.commit(t, Commit(token, checkpoint=ck("c1", t=t, snapshot=snapshot), writes=[write]))

    snapshot["frontier"].append("two")
    body["operations"].append("two")
    for _ in range(2):
        stored = store.latest(t)
        assert stored is not None
        assert stored.checkpoint.snapshot["frontier"] == ["one"]
        assert stored.writes[0].body["operations"] == ["one"]
        stored.checkpoint.snapshot["frontier"].clear()
        stored.writes[0].body["operations"].clear()


def test_core_17_storage_failing_midway_leaves_nothing(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["c1"])
    poison_events(harness)

    doomed = Commit(
        token,
        checkpoint=ck("c2", "c1", t=t),
        writes=[wr("c2", "1.0")],
        events=[ev("fine"), ev("bad", kind="poison")],
    )
    with pytest.raises(StoreFailure):
        store.commit(t, doomed)

    assert latest_id(store, t) == "c1"
    assert task_ids(store, t) == []
    assert seqs(store, t) == [1]
    assert emit(store, t, token, "next") == [2]


def invalid(store: Checkpointer, t: str, commit: Commit, *, naming: str) -> None:
    """The commit is refused as InvalidCommit on `t`, and the reason names the offender."""
    with pytest.raises(InvalidCommit) as caught:
        store.commit(t, commit)
    assert caught.value.thread_id == t
    assert naming in caught.value.reason


def busy_graph() -> dict[str, Any]:
    """The snapshot of a graph in the middle of its work."""
    task = {"task_id": "3.0", "node_id": "worker", "input": {"version": 1, "value": "in"}, "join_id": "j"}
    log = {"version": 2, "value": ["a", {"nested": 1.5}]}
    return empty_graph(superstep=3, state={"log": log}, frontier=[task], paused=True)


def busy_write() -> PendingWrite:
    """A write of every kind that a graph runtime puts into one."""
    body = {
        "operations": [
            {"update": "log", "value": {"version": 2, "value": "x"}},
            {"remove": "count"},
        ],
        "routes": [
            {"goto": "next"},
            {"fan_out": "j", "node_id": "worker", "inputs": [{"version": 1, "value": None}]},
        ],
        "suspension": {"resume_node": "approve", "question": {"version": 1, "value": {"q": "ok?"}}},
    }
    return PendingWrite(checkpoint_id="run-1/1", task_id="3.0", node_id="worker", body=body)


POISON = {
    "sqlite": """
        CREATE TRIGGER poison BEFORE INSERT ON event WHEN NEW.kind = 'poison'
        BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END
        """,
    "postgresql": """
        CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'the disk is on fire'; END $$;
        CREATE TRIGGER poison BEFORE INSERT ON event FOR EACH ROW
        WHEN (NEW.kind = 'poison') EXECUTE FUNCTION poison()
        """,
}
"""How the event table of each storage is made to refuse events of kind "poison"."""


def poison_events(harness: Harness) -> None:
    """Make the storage itself fail on every event of kind "poison"."""
    with harness.raw() as connection:
        connection.execute(text(POISON[harness.kind]))
