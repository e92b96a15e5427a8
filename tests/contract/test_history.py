"""History, retraction and formats: cases 86 to 95 of checkpoints.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.checkpoints import CheckpointStatus, Commit
from engine.checkpoints.history import _LATEST
from engine.errors import CheckpointConflict, CheckpointNotFound, InvalidCommit, StaleClaim
from engine.errors import UnsupportedCheckpointFormat as Unsupported
from tests.support.builders import chain, ck, claim, ev, fresh_id, latest_id, seqs, task_ids, wr
from tests.support.refusals import refused

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

COMPLETED, FAILED, SUSPENDED = CheckpointStatus.COMPLETED, CheckpointStatus.FAILED, CheckpointStatus.SUSPENDED


def ids(checkpoints: Checkpointer, t: str) -> list[str]:
    """The whole history, newest first."""
    return [each.id for each in checkpoints.history(t, limit=100)]


def chained(checkpoints: Checkpointer, *names: str) -> tuple[str, int]:
    """A thread with the chain of RUNNING checkpoints, an event each; its id and token."""
    t = fresh_id()
    token = claim(checkpoints, t).token
    chain(checkpoints, t, token, names)
    return t, token


def invalid(checkpoints: Checkpointer, t: str, commit: Commit) -> None:
    """The commit is refused as invalid, for this thread and with a reason."""
    with pytest.raises(InvalidCommit) as caught:
        checkpoints.commit(t, commit)
    assert caught.value.thread_id == t
    assert caught.value.reason


def test_core_86_history_is_newest_first_and_whole(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    assert checkpoints.history(t, limit=10) == []
    token = claim(checkpoints, t).token
    c1 = ck("c1", t=t)
    c2 = ck("c2", "c1", t=t, status=SUSPENDED, tenant="tenant", snapshot={"step": [1, None, {"a": 2.5}]})
    c3 = ck("c3", "c2", t=t, status=COMPLETED, fencing_token=token, run_id="other run")
    checkpoints.commit(t, Commit(token, checkpoint=c1, writes=[wr("c1", "0.0")]))
    checkpoints.commit(t, Commit(token, checkpoint=c2, writes=[wr("c2", "1.0")]))
    checkpoints.commit(t, Commit(token, checkpoint=c3))

    assert checkpoints.history(t, before=None, limit=10) == [c3, c2, c1]
    assert checkpoints.checkpoint(t, "c2") == c2
    assert checkpoints.checkpoint(t, "c3") == c3
    assert checkpoints.checkpoint(t, "nope") is None
    assert checkpoints.checkpoint(fresh_id(), "c2") is None
    stored = checkpoints.latest(t)
    assert stored is not None
    assert (stored.checkpoint, list(stored.writes)) == (c3, [])


def test_core_87_pages_of_history(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, _ = chained(checkpoints, "c1", "c2", "c3", "c4", "c5")

    def page(before: str | None, limit: int = 2) -> list[str]:
        return [each.id for each in checkpoints.history(t, before=before, limit=limit)]

    assert page(None) == ["c5", "c4"]
    assert page("c4") == ["c3", "c2"]
    assert page("c2") == ["c1"]
    assert page("c1") == []
    assert page(None, 0) == []
    assert page(None, -1) == []
    assert page("c4", 0) == []
    refused(CheckpointNotFound(t, "nope"), page, "nope")
    refused(CheckpointNotFound(t, "nope"), page, "nope", 0)
    unknown = fresh_id()
    refused(CheckpointNotFound(unknown, "c1"), checkpoints.history, unknown, before="c1", limit=2)


def test_core_88_an_id_of_the_history_is_not_used_twice(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = chained(checkpoints, "c1", "c2")

    invalid(checkpoints, t, Commit(token, checkpoint=ck("c1", "c2", t=t), events=[ev("lost")]))

    assert ids(checkpoints, t) == ["c2", "c1"]
    assert seqs(checkpoints, t) == [1, 2]


def test_core_89_the_parent_is_checked_before_the_id(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = chained(checkpoints, "c1", "c2")

    invalid(checkpoints, t, Commit(token, checkpoint=ck("c2", "c2", t=t)))
    again = Commit(token, checkpoint=ck("c1", "c1", t=t))
    refused(CheckpointConflict(t, "c1", "c2"), checkpoints.commit, t, again)


def retracted(checkpoints: Checkpointer) -> tuple[str, int]:
    """Case 90's thread: a settled turn, then one of two checkpoints that a FAILED one replaces."""
    t, token = chained(checkpoints, "c1")
    chain(checkpoints, t, token, ["done"], status=COMPLETED)
    chain(checkpoints, t, token, ["c3", "c4"])
    failed = ck("failed", "c4", t=t, status=FAILED)
    checkpoints.commit(t, Commit(token, checkpoint=failed, writes=[wr("failed", "9.0")], retract_turn=True))
    return t, token


def test_core_90_a_retraction_is_checked_as_any_commit(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = chained(checkpoints, "c1")
    chain(checkpoints, t, token, ["done"], status=COMPLETED)
    chain(checkpoints, t, token, ["c3", "c4"])

    invalid(checkpoints, t, Commit(token, retract_turn=True))
    failed = ck("failed", "c4", t=t, status=FAILED)
    wrong = Commit(token + 1000, checkpoint=failed, retract_turn=True)
    refused(StaleClaim(t, token + 1000, token), checkpoints.commit, t, wrong)

    assert ids(checkpoints, t) == ["c4", "c3", "done", "c1"]


def test_core_90_a_retraction_removes_the_turn(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, _ = retracted(checkpoints)

    assert ids(checkpoints, t) == ["failed", "done", "c1"]
    assert checkpoints.checkpoint(t, "c3") is None
    assert task_ids(checkpoints, t) == ["9.0"]


def test_core_91_without_retraction_a_failed_checkpoint_only_follows(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = retracted(checkpoints)
    chain(checkpoints, t, token, ["c6", "c7"])
    chain(checkpoints, t, token, ["next"], status=FAILED)

    assert ids(checkpoints, t) == ["next", "c7", "c6", "failed", "done", "c1"]


def test_core_92_with_nothing_settled_the_whole_history_goes(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = chained(checkpoints, "a", "b")

    checkpoints.commit(t, Commit(token, checkpoint=ck("x", "b", t=t, status=FAILED), retract_turn=True))

    assert ids(checkpoints, t) == ["x"]


def test_core_92_a_retracted_id_may_be_used_again(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = chained(checkpoints, "a", "b")
    checkpoints.commit(t, Commit(token, checkpoint=ck("x", "b", t=t, status=FAILED), retract_turn=True))

    checkpoints.commit(t, Commit(token, checkpoint=ck("a", "x", t=t)))

    assert ids(checkpoints, t) == ["a", "x"]


def test_core_93_events_survive_a_retraction(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, _ = retracted(checkpoints)

    records = checkpoints.events_after(t, 0, 10)

    assert [record.seq for record in records] == [1, 2, 3, 4]
    assert [record.checkpoint_id for record in records] == ["c1", "done", "c3", "c4"]


def test_core_94_history_survives_a_reopen_and_goes_with_a_delete(harness: Harness) -> None:
    t, token = chained(harness.checkpoints, "c1", "c2", "c3")
    checkpoints = harness.reopen().checkpoints
    assert ids(checkpoints, t) == ["c3", "c2", "c1"]
    assert checkpoints.checkpoint(t, "c1") == ck("c1", t=t)

    checkpoints.delete_thread(t, token)
    assert ids(checkpoints, t) == []
    assert checkpoints.checkpoint(t, "c1") is None
    refused(CheckpointNotFound(t, "c1"), checkpoints.history, t, before="c1", limit=1)

    chain(checkpoints, t, claim(checkpoints, t).token, ["c1"])
    assert ids(checkpoints, t) == ["c1"]


def store_format(harness: Harness, t: str, checkpoint_id: str, number: int) -> None:
    """What another build would have written."""
    change = text("UPDATE checkpoint SET format = :n WHERE thread_id = :t AND checkpoint_id = :c")
    with harness.raw() as connection:
        changed = connection.execute(change, {"n": number, "t": t, "c": checkpoint_id})
        assert changed.rowcount == 1


@pytest.mark.parametrize("found", [99, 0])
def test_core_95_a_format_this_build_cannot_read(harness: Harness, found: int) -> None:
    checkpoints = harness.checkpoints
    t, _ = chained(checkpoints, "c1", "c2")
    store_format(harness, t, "c2", found)

    for call in (
        lambda: checkpoints.latest(t),
        lambda: checkpoints.history(t, limit=10),
        lambda: checkpoints.checkpoint(t, "c2"),
    ):
        refused(Unsupported(found, 1), call)
    assert checkpoints.checkpoint(t, "c1") == ck("c1", t=t)
    assert [each.id for each in checkpoints.history(t, before="c2", limit=10)] == ["c1"]


def test_core_95_a_commit_does_not_look_at_the_format(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t, token = chained(checkpoints, "c1")
    store_format(harness, t, "c1", 99)

    chain_over = ck("c2", "c1", t=t)
    checkpoints.commit(t, Commit(token, checkpoint=chain_over))

    assert latest_id(checkpoints, t) == "c2"


def test_the_body_is_read_once_however_many_writes_are_pending(harness: Harness) -> None:
    checkpoints, t = harness.checkpoints, fresh_id()
    token = claim(checkpoints, t).token
    made = ck("c1", t=t)
    checkpoints.commit(t, Commit(token, made, writes=[wr("c1", task) for task in "abc"]))

    rows = harness.open()._transactions.read("rows", lambda connection: _LATEST.all(connection, id=t))

    assert [row.body is None for row in rows] == [False, True, True]
    stored = checkpoints.latest(t)
    assert stored is not None
    assert (stored.checkpoint, task_ids(checkpoints, t)) == (made, ["a", "b", "c"])
