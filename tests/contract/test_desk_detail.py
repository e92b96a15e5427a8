"""The desk's view of one thread: all that is stored of it, bounded, at one moment (console.md F9)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import engine.desk.detail
from engine.checkpoints import CheckpointStatus, Commit, EffectDraft, PendingWrite
from engine.desk import (
    PREVIEW,
    CheckpointRow,
    ClaimDetail,
    EffectRow,
    RefusalDetail,
    ThreadDetail,
    ThreadFilter,
    ThreadStatus,
    TombstoneDetail,
    WriteRow,
)
from engine.errors import StaleClaim, ValidationError
from tests.support.builders import T0, TTL, chain, ck, claim, emit, ev, fresh_id, wr

if TYPE_CHECKING:
    from tests.support.harness import Harness

SECOND = timedelta(seconds=1)


def detail(harness: Harness, t: str) -> ThreadDetail:
    """The desk's detail of a thread that is there."""
    found = harness.store.desk.thread(t)
    assert found is not None
    return found


def test_everything_stored_of_a_thread(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    held = claim(harness.store, "t", "worker", tenant="acme", ttl=TTL)
    first = ck("c1", t="t", tenant="acme", snapshot={"n": 1}, run_id="run 1", fencing_token=held.token)
    checkpoints.commit("t", Commit(held.token, checkpoint=first, events=[ev("a")], metadata={"k": "v"}))
    harness.advance(SECOND)
    second = ck("c2", "c1", t="t", tenant="acme", snapshot={}, created_at=None)
    effects = [EffectDraft("paid", {"micro": 3})]
    checkpoints.commit("t", Commit(held.token, checkpoint=second, writes=[wr("c2", "0.0")], effects=effects))
    harness.advance(SECOND)
    checkpoints.renew("t", held.token, TTL)
    found = detail(harness, "t")

    assert found.row is not None
    assert (found.row.status, found.row.latest_id) == (ThreadStatus.RUNNING, "c2")
    assert found.row.updated_at == T0 + SECOND
    assert found.claim == ClaimDetail(
        "worker", "acme", held.token, T0, T0 + 2 * SECOND, 1, T0 + 2 * SECOND + TTL, live=True, left=TTL
    )
    body = harness.store.desk.snapshot("t", "c1")
    assert body == '{"n":1}'
    running = CheckpointStatus.RUNNING
    assert found.checkpoints == (
        CheckpointRow(2, "c2", "run", running, "c1", None, T0 + SECOND, None, 2),
        CheckpointRow(1, "c1", "run 1", running, None, held.token, T0, T0, len(body)),
    )
    write = '{"operations":[],"routes":[]}'
    assert found.writes == (WriteRow(0, "c2", "0.0", "n", write, len(write)),)
    assert found.effects == (EffectRow("paid", '{"micro":3}', "worker", held.token, T0 + SECOND, 11),)
    assert dict(found.metadata) == {"k": "v"}
    assert (found.first_seq, found.next_seq, found.floor_seq) == (1, 2, 1)
    assert (found.refusal, found.tombstone, found.as_of) == (None, None, T0 + 2 * SECOND)
    assert (found.more_checkpoints, found.more_writes, found.more_effects) == (False, False, False)


def test_what_the_store_holds_nothing_of(harness: Harness) -> None:
    desk = harness.store.desk
    assert desk.thread(fresh_id()) is None
    assert desk.snapshot(fresh_id(), "c") is None
    assert desk.payload(fresh_id(), 1) is None
    for call in (lambda: desk.thread("\0"), lambda: desk.snapshot("t", "\0"), lambda: desk.payload("\0", 1)):
        with pytest.raises(ValidationError):
            call()


def test_a_claim_alone_has_a_detail_but_no_row(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    harness.advance(TTL + SECOND)
    found = detail(harness, "t")
    assert found.row is None
    assert found.claim is not None
    assert (found.claim.token, found.claim.live, found.claim.left) == (token, False, -SECOND)
    assert (found.checkpoints, found.writes, found.effects, found.first_seq) == ((), (), (), None)
    harness.checkpoints.release("t", token)
    assert harness.store.desk.thread("t") is None


def test_a_tombstone_stands_until_an_event_is_numbered_again(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    token = claim(harness.store, "t").token
    chain(checkpoints, "t", token, ["c1", "c2"])
    checkpoints.delete_thread("t", token)
    found = detail(harness, "t")
    assert (found.row, found.claim, found.checkpoints) == (None, None, ())
    assert found.tombstone == TombstoneDetail(next_first_seq=4, deleted_at=T0)

    token = claim(harness.store, "t").token
    checkpoints.commit("t", Commit(token, checkpoint=ck("c1", t="t")))
    assert detail(harness, "t").tombstone == TombstoneDetail(4, T0)
    emit(checkpoints, "t", token, "again")
    found = detail(harness, "t")
    assert (found.tombstone, found.first_seq) == (None, 4)


def test_late_writers_are_seen(harness: Harness) -> None:
    late = claim(harness.store, "t").token
    harness.advance(TTL)
    claim(harness.store, "t", "second")
    with pytest.raises(StaleClaim):
        harness.checkpoints.commit("t", Commit(late, events=[ev("late")]))
    assert detail(harness, "t").refusal == RefusalDetail(1, late, "commit", harness.now())


def test_a_detail_is_bounded_and_says_so(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.desk.detail, "MAX_CHECKPOINTS", 2)
    monkeypatch.setattr(engine.desk.detail, "MAX_PARTS", 3)
    token = claim(harness.store, "t").token
    chain(harness.checkpoints, "t", token, ["c1", "c2", "c3"])
    big = PendingWrite("c3", "big", "n", "x" * PREVIEW)
    effects = [EffectDraft(f"k{n}", n) for n in range(4)]
    writes = [big, *(wr("c3", str(n)) for n in range(3))]
    harness.checkpoints.commit("t", Commit(token, writes=writes, effects=effects))
    found = detail(harness, "t")
    assert [row.checkpoint_id for row in found.checkpoints] == ["c3", "c2"]
    assert [row.task_id for row in found.writes] == ["big", "0", "1"]
    assert [row.key for row in found.effects] == ["k0", "k1", "k2"]
    assert found.more_checkpoints
    assert found.more_writes
    assert found.more_effects
    assert (len(found.writes[0].body), found.writes[0].size) == (PREVIEW, PREVIEW + 2)


def test_a_detail_is_of_one_moment(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    token = claim(harness.store, "t").token
    chain(harness.checkpoints, "t", token, ["c1"])
    other = harness.sibling().checkpoints
    statement = engine.desk.detail._CHECKPOINTS

    class Meanwhile:
        """The statement for checkpoints, before which somebody commits another."""

        def all(self, *args: Any, **values: Any) -> Any:
            chain(other, "t", token, ["c2"])
            return statement.all(*args, **values)

    monkeypatch.setattr(engine.desk.detail, "_CHECKPOINTS", Meanwhile())
    found = detail(harness, "t")
    assert found.row is not None
    assert found.row.latest_id == "c1"
    assert [row.checkpoint_id for row in found.checkpoints] == ["c1"]
    assert found.next_seq == 2


def test_every_view_of_a_read_only_store_with_a_time_limit(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    chain(harness.checkpoints, "t", token, ["c1"])
    desk = harness.open(read_only=True, statement_timeout=SECOND).desk
    assert [row.thread_id for row in desk.threads(ThreadFilter()).rows] == ["t"]
    assert desk.count_threads(ThreadFilter(prefix="t")).count == 1
    assert desk.thread("t") == harness.store.desk.thread("t")
    assert desk.snapshot("t", "c1") == harness.store.desk.snapshot("t", "c1")
    assert desk.events(None).rows == desk.events_before(None).rows == harness.store.desk.events(None).rows
    assert len(desk.events(None, thread_id="t", kinds=["custom"]).rows) == 1
    assert desk.now() == harness.now()
