"""History and retraction: cases 1 to 7 and 12 of checkpoints-operations.md 4.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.checkpoints import CheckpointStatus, Commit
from engine.errors import CheckpointNotFound, InvalidCommit, StaleClaim
from tests.support.builders import TTL, chain, ck, claim, ev, fresh_id, seqs, task_ids, wr
from tests.support.refusals import refused
from tests.support.retention import hist

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

COMPLETED, FAILED, SUSPENDED = CheckpointStatus.COMPLETED, CheckpointStatus.FAILED, CheckpointStatus.SUSPENDED


def test_ops_1_history_is_equal_field_by_field(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t, tenant="x").token
    c1 = ck("c1", t=t, tenant="x", fencing_token=token)
    c2 = ck("c2", "c1", t=t, tenant="x", status=SUSPENDED, run_id="second", created_at=None)
    c3 = ck("c3", "c2", t=t, tenant="x", status=COMPLETED, snapshot={"é": [1.5, None, {"": False}]})
    store.commit(t, Commit(token, checkpoint=c1, writes=[wr("c1", "0.0")]))
    store.commit(t, Commit(token, checkpoint=c2, writes=[wr("c2", "1.0")]))
    assert task_ids(store, t) == ["1.0"]
    store.commit(t, Commit(token, checkpoint=c3))

    assert store.history(t, before=None, limit=10) == [c3, c2, c1]
    assert [store.checkpoint(t, name) for name in ("c2", "c3", "c4")] == [c2, c3, None]
    assert store.checkpoint(fresh_id(), "c2") is None
    assert task_ids(store, t) == []


def test_ops_2_no_history_before_any_commit(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    assert hist(store, t) == []
    claim(store, t)
    assert hist(store, t) == []


def test_ops_3_pages_of_history(harness: Harness) -> None:
    store, t, other = harness.checkpoints, fresh_id(), fresh_id()
    chain(store, t, claim(store, t).token, ["c1", "c2", "c3", "c4", "c5"])
    chain(store, other, claim(store, other).token, ["other"])

    def page(before: str | None, limit: int = 2) -> list[str]:
        return [found.id for found in store.history(t, before=before, limit=limit)]

    pages = [page(before) for before in (None, "c4", "c2", "c1")]
    assert pages == [["c5", "c4"], ["c3", "c2"], ["c1"], []]
    assert page(None, 0) == page("c4", 0) == []
    refused(CheckpointNotFound(t, "nope"), page, "nope")
    refused(CheckpointNotFound(other, "c1"), store.history, other, before="c1", limit=2)


def test_ops_4_an_id_is_in_a_history_once(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["c1", "c2"])

    invalid(store, t, Commit(token, checkpoint=ck("c1", "c2", t=t), events=[ev("lost")]))

    assert (hist(store, t), seqs(store, t)) == (["c2", "c1"], [1, 2])


def invalid(store: Checkpointer, t: str, commit: Commit) -> None:
    """The commit contradicts itself or this thread."""
    with pytest.raises(InvalidCommit) as caught:
        store.commit(t, commit)
    assert caught.value == InvalidCommit(t, caught.value.reason)
    assert caught.value.reason


def open_turn(store: Checkpointer, t: str) -> int:
    """A settled turn, then an open one of two checkpoints; the token."""
    token = claim(store, t).token
    chain(store, t, token, ["c1"])
    chain(store, t, token, ["done"], status=COMPLETED)
    chain(store, t, token, ["c3", "c4"])
    return token


def retracted(store: Checkpointer, t: str) -> int:
    """Case 5's thread after its retraction; the token."""
    token = open_turn(store, t)
    closing = ck("failed", "c4", t=t, status=FAILED)
    store.commit(t, Commit(token, checkpoint=closing, writes=[wr("failed", "9.0")], retract_turn=True))
    return token


def test_ops_5_a_refused_retraction_changes_nothing(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = open_turn(store, t)
    closing = ck("failed", "c4", t=t, status=FAILED)

    invalid(store, t, Commit(token, retract_turn=True))
    wrong = Commit(token + 1000, checkpoint=closing, retract_turn=True)
    refused(StaleClaim(t, token + 1000, token), store.commit, t, wrong)

    assert (hist(store, t), seqs(store, t)) == (["c4", "c3", "done", "c1"], [1, 2, 3, 4])


def test_ops_5_a_retraction_removes_the_open_turn(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    retracted(store, t)

    assert hist(store, t) == ["failed", "done", "c1"]
    assert store.checkpoint(t, "c3") is None
    assert task_ids(store, t) == ["9.0"]


def test_ops_6_a_failed_checkpoint_without_retraction_follows(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = retracted(store, t)
    chain(store, t, token, ["c6", "c7"])

    store.commit(t, Commit(token, checkpoint=ck("next", "c7", t=t, status=FAILED)))

    assert hist(store, t) == ["next", "c7", "c6", "failed", "done", "c1"]


def test_ops_7_a_thread_that_is_one_open_turn(harness: Harness) -> None:
    store, t = harness.checkpoints, fresh_id()
    token = claim(store, t).token
    chain(store, t, token, ["a", "b"])

    store.commit(t, Commit(token, checkpoint=ck("x", "b", t=t, status=FAILED), retract_turn=True))

    assert hist(store, t) == ["x"]


def test_ops_12_history_survives_a_reopening_and_not_a_delete(harness: Harness) -> None:
    t = fresh_id()
    chain(harness.checkpoints, t, claim(harness.checkpoints, t).token, ["c1", "c2", "c3"])
    before = harness.checkpoints.history(t)

    store = harness.reopen().checkpoints
    assert store.history(t) == before
    assert hist(store, t) == ["c3", "c2", "c1"]
    assert store.checkpoint(t, "c1") == before[2]

    harness.advance(TTL)
    token = claim(store, t, "deleter").token
    store.delete_thread(t, token)
    assert (hist(store, t), store.checkpoint(t, "c1")) == ([], None)

    chain(store, t, claim(store, t).token, ["c1"])
    assert hist(store, t) == ["c1"]
