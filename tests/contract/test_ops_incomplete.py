"""Incomplete threads: cases 63 to 73 of checkpoints-operations.md 4.5."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from engine.checkpoints import MAX_LIMIT, CheckpointStatus, ThreadPage, ThreadStatus
from engine.errors import ValidationError
from tests.support.builders import TTL, claim, emit
from tests.support.refusals import refused
from tests.support.threads import ids, in_turn, put, walk_incomplete

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness


def stopped(store: Checkpointer, t: str, *, tenant: str | None = None, origin: str | None = None) -> None:
    """A thread with work left and nobody on it."""
    store.release(t, put(store, t, tenant=tenant, origin=origin))


def stopped_in_turn(harness: Harness, *names: str) -> None:
    """The same a second apart, in the order given."""
    for t, token in in_turn(harness, *names).items():
        harness.checkpoints.release(t, token)


def test_ops_63_longest_untouched_first(harness_any_clock: Harness) -> None:
    stopped_in_turn(harness_any_clock, "t1", "t2", "t3")
    page = harness_any_clock.checkpoints.incomplete(None)
    assert (ids(page), page.next) == (["t1", "t2", "t3"], None)
    assert {(found.status, found.held) for found in page.threads} == {(ThreadStatus.IDLE, False)}


def test_ops_64_ties_go_by_ascending_id(harness: Harness) -> None:
    for t in ("c", "a", "b"):
        stopped(harness.checkpoints, t)
    assert ids(harness.checkpoints.incomplete(None)) == ["a", "b", "c"]
    assert walk_incomplete(harness.checkpoints, None, 1) == [["a"], ["b"], ["c"]]


def test_ops_65_pages(harness_any_clock: Harness) -> None:
    stopped_in_turn(harness_any_clock, "t1", "t2", "t3")
    store = harness_any_clock.checkpoints
    first = store.incomplete(None, limit=2)
    assert ids(first) == ["t1", "t2"]
    assert first.next is not None
    rest = store.incomplete(None, after=first.next, limit=2)
    assert (ids(rest), rest.next) == (["t3"], None)
    assert store.incomplete(None, limit=3).next is None


def test_ops_66_live_claims_keep_a_thread_out(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    token = put(store, "t")
    assert ids(store.incomplete(None)) == []
    store.release("t", token)
    assert ids(store.incomplete(None)) == ["t"]
    claim(store, "t")
    assert ids(store.incomplete(None)) == []
    harness_any_clock.advance(TTL)
    assert ids(store.incomplete(None)) == ["t"]


@pytest.mark.parametrize("status", sorted(set(CheckpointStatus) - {CheckpointStatus.RUNNING}))
def test_ops_67_only_running_threads_are_incomplete(
    harness_any_clock: Harness, status: CheckpointStatus
) -> None:
    """Case 69 with them: a cascade that has begun."""
    store = harness_any_clock.checkpoints
    store.release("t", put(store, "t", status=status))
    assert store.incomplete(None) == ThreadPage((), None)


def test_ops_68_children_and_other_owners_are_left_out(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    for t, tenant in (("n", None), ("x", "x"), ("y", "y")):
        stopped(store, t, tenant=tenant)
    stopped(store, "child", origin="n")
    assert ids(store.incomplete(None)) == ["n"]
    assert ids(store.incomplete("x")) == ["x"]
    assert ids(store.incomplete("nobody")) == []


def test_ops_69_a_thread_whose_cascade_has_begun(harness: Harness) -> None:
    store = harness.checkpoints
    stopped(store, "t")
    assert ids(store.incomplete(None)) == ["t"]
    token = claim(store, "t").token
    put(store, "t", "c2", "c1", token=token, status=CheckpointStatus.DELETING)
    store.release("t", token)
    assert ids(store.incomplete(None)) == []


def test_ops_70_a_deleted_thread(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    token = put(store, "t")
    emit(store, "t", token, "a")
    store.delete_thread("t", token)
    assert ids(store.incomplete(None)) == []


@pytest.mark.parametrize("limit", [0, -1, MAX_LIMIT + 1])
def test_ops_71_limits_that_are_refused(harness: Harness, limit: int) -> None:
    problem = f"must lie between 1 and {MAX_LIMIT}, not {limit}"
    call = harness.checkpoints.incomplete
    refused(ValidationError("limit", (problem,)), call, None, limit=limit)
    refused(ValidationError("limit", (problem,)), call, None, after="no cursor", limit=limit)
    assert call(None, limit=MAX_LIMIT) == call(None, limit=1)


def test_ops_72_cancelled_drained_and_crashed_runs_look_alike(harness: Harness) -> None:
    """A run that was told to stop gives its claim back; one that crashed leaves it to run out."""
    store = harness.checkpoints
    put(store, "crashed")
    for t in ("cancelled", "drained"):
        stopped(store, t)
    harness.advance(TTL)
    found = store.incomplete(None).threads
    assert [each.thread_id for each in found] == ["cancelled", "crashed", "drained"]
    assert {(each.status, each.held, each.updated_at) for each in found} == {
        (ThreadStatus.IDLE, False, found[0].updated_at)
    }


def test_ops_73_a_thread_claimed_between_two_pages(harness: Harness) -> None:
    store = harness.checkpoints
    stopped_in_turn(harness, "t1", "t2", "t3")
    first = store.incomplete(None, limit=1)
    claim(store, "t2")
    rest = store.incomplete(None, after=first.next)
    assert (ids(rest), rest.next) == (["t3"], None)
    # Its cursor keeps its position though the thread itself has left the list.
    claim(store, "t1")
    assert ids(store.incomplete(None, after=first.next)) == ["t3"]


def test_ops_73_a_thread_that_enters_behind_the_cursor_waits_for_the_next_pass(harness: Harness) -> None:
    store = harness.checkpoints
    token = in_turn(harness, "t1")["t1"]
    stopped_in_turn(harness, "t2", "t3")
    first = store.incomplete(None, limit=1)
    assert ids(first) == ["t2"]
    store.release("t1", token)
    next_page = partial(store.incomplete, None)
    assert ids(next_page(after=first.next)) == ["t3"]
    assert ids(next_page()) == ["t1", "t2", "t3"]
