"""Children: cases 23 to 40 of checkpoints-operations.md 4.3, rulings 25, 48 and 72."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from engine.checkpoints import CheckpointStatus, Commit, SweepPolicy, TenantThreads, ThreadQuery
from engine.errors import TenantMismatch, ValidationError
from tests.support.builders import TTL, ck, claim, emit, ev, fresh_id
from tests.support.refusals import refused
from tests.support.threads import ids, put
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

PATIENCE_SECONDS = 30.0
CHILDREN = 16
ROUNDS = 3


def family(store: Checkpointer, *names: str, parent: str = "p") -> dict[str, int]:
    """The parent, and its children in the order given, each with one event; their tokens."""
    put(store, parent)
    return {name: adopted(store, name, parent) for name in names}


def adopted(store: Checkpointer, t: str, parent: str) -> int:
    """A child of `parent` with one event; its token."""
    token = put(store, t, origin=parent)
    emit(store, t, token, t)
    return token


def unplaced(store: Checkpointer, parent: str, after: str) -> None:
    """`after` is no cursor under this parent."""
    problem = f"{after!r} has no place among the children of {parent!r}; start again without it"
    refused(ValidationError("after", (problem,)), store.children, parent, after=after)


def delete(store: Checkpointer, t: str, token: int) -> None:
    store.delete_thread(t, token)


def test_ops_23_pages_of_children(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    family(store, "a", "b", "c")
    assert store.children("p", limit=10) == store.children("p") == ["a", "b", "c"]
    assert store.children("p", limit=2) == ["a", "b"]
    assert store.children("p", after="b") == ["c"]
    assert store.children("p", after="c") == []


def test_ops_24_the_order_is_that_of_adoption(harness: Harness) -> None:
    family(harness.checkpoints, "z", "m", "a")
    assert harness.checkpoints.children("p") == ["z", "m", "a"]
    assert harness.checkpoints.children("p", after="m", limit=1) == ["a"]


def test_ops_25_a_later_commit_does_not_move_a_child(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = family(store, "a", "b", "c")
    put(store, "a", "c2", "c1", token=tokens["a"], origin="p")
    assert store.children("p") == ["a", "b", "c"]


@pytest.mark.parametrize("limit", [0, -1])
def test_ops_26_a_limit_below_one_is_answered_with_nothing(harness: Harness, limit: int) -> None:
    store = harness.checkpoints
    family(store, "a")
    assert store.children("p", limit=limit) == []
    assert store.children("p", after="never", limit=limit) == []
    assert len(store.children("p", limit=2**70)) == 1


def test_ops_27_a_cursor_must_have_a_place_under_the_parent(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    family(store, "a")
    family(store, "x", parent="q")
    for after in ("never", "x", "p", ""):
        unplaced(store, "p", after)


def test_ops_28_an_unknown_parent_has_no_children(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    assert store.children(fresh_id()) == []
    family(store, "a")
    assert store.children("a") == []


def test_ops_28_children_outlive_their_parent(harness: Harness) -> None:
    store = harness.checkpoints
    token = put(store, "p")
    adopted(store, "a", "p")
    store.delete_thread("p", token)
    assert store.children("p") == ["a"]


def test_ops_29_a_child_that_names_another_parent(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = family(store, "a", "b", "c")
    put(store, "b", "c2", "c1", token=tokens["b"], origin="q")
    assert store.children("p") == ["a", "c"]
    assert store.children("q") == ["b"]
    assert store.children("p", after="b") == ["c"]
    assert store.children("q", after="b") == []


def test_ops_30_a_child_that_becomes_a_root(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = family(store, "a", "b", "c")
    put(store, "b", "c2", "c1", token=tokens["b"])
    assert store.children("p") == ["a", "c"]
    assert ids(store.threads(ThreadQuery(None))) == ["p", "b"]

    # Case 31: it comes back, and has its old place.
    put(store, "b", "c3", "c2", token=tokens["b"], origin="p")
    assert store.children("p") == ["a", "b", "c"]
    assert ids(store.threads(ThreadQuery(None))) == ["p"]


def test_ops_31_a_child_that_returns_from_another_parent(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = family(store, "a", "b", "c")
    put(store, "b", "c2", "c1", token=tokens["b"], origin="q")
    put(store, "b", "c3", "c2", token=tokens["b"], origin="p")
    assert store.children("p") == ["a", "b", "c"]
    assert store.children("q") == []
    assert store.children("q", after="b") == []


def test_ops_32_a_deleted_child_is_still_a_cursor(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    tokens = family(store, "a", "b", "c")
    delete(store, "b", tokens["b"])
    assert store.children("p") == ["a", "c"]
    assert store.children("p", after="b") == ["c"]


def test_ops_33_a_reclaimed_child_is_no_cursor(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = family(store, "a", "b", "c")
    delete(store, "b", tokens["b"])
    harness.advance(2 * TTL)
    swept = store.sweep(SweepPolicy(tombstone_age=TTL), lambda _: {})
    assert swept.tombstones_reclaimed == 1
    unplaced(store, "p", "b")
    assert store.children("p") == ["a", "c"]
    assert store.children("p", after="a") == ["c"]


def test_ops_34_a_deleted_child_without_an_event_is_no_cursor(harness: Harness) -> None:
    store = harness.checkpoints
    family(store, "a")
    token = put(store, "d", origin="p")
    assert store.children("p", after="a") == ["d"]
    assert store.children("p", after="d") == []
    delete(store, "d", token)
    unplaced(store, "p", "d")


def test_ops_35_a_child_made_anew_has_its_old_place(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = family(store, "a", "b", "c")
    delete(store, "b", tokens["b"])
    put(store, "b", origin="p")
    assert store.children("p") == ["a", "b", "c"]


def test_ops_35_without_a_tombstone_it_gets_a_new_one(harness: Harness) -> None:
    store = harness.checkpoints
    put(store, "p")
    token = put(store, "a", origin="p")
    put(store, "b", origin="p")
    delete(store, "a", token)
    put(store, "a", origin="p")
    assert store.children("p") == ["b", "a"]


def test_ops_36_a_grandchild_is_its_parents_child_only(harness: Harness) -> None:
    store = harness.checkpoints
    family(store, "a", "b")
    adopted(store, "g", "a")
    assert store.children("p") == ["a", "b"]
    assert store.children("a") == ["g"]


def test_ops_37_children_are_listed_under_any_claim(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = family(store, "a", "b")
    store.release("a", tokens["a"])
    assert claim(store, "a", "another").token > tokens["b"]
    assert harness.sibling().checkpoints.children("p") == ["a", "b"]


def test_ops_38_another_store_and_a_reopened_one_see_the_same(harness: Harness) -> None:
    tokens = family(harness.checkpoints, "c", "a", "b")
    delete(harness.checkpoints, "a", tokens["a"])
    for store in (harness.sibling(), harness.reopen()):
        assert store.checkpoints.children("p") == ["c", "b"]
        assert store.checkpoints.children("p", after="a") == ["b"]
        assert store.checkpoints.children("p", after="c", limit=1) == ["b"]


def test_ops_39_another_owners_children(harness: Harness) -> None:
    store = harness.checkpoints
    put(store, "p", tenant="a")
    put(store, "c", tenant="a", origin="p")
    assert TenantThreads(store, "a").children("p") == ["c"]
    for tenant in ("b", None):
        refused(TenantMismatch("p", tenant), TenantThreads(store, tenant).children, "p")
        refused(TenantMismatch("p", tenant), TenantThreads(store, tenant).children, "p", after="never")


def test_ops_39_the_limit_comes_first_and_an_unknown_parent_is_empty(harness: Harness) -> None:
    store = harness.checkpoints
    put(store, "p", tenant="a")
    theirs = TenantThreads(store, "b")
    refused(ValidationError("limit", ("must be at least 1, not 0",)), theirs.children, "p", limit=0)
    assert theirs.children(fresh_id()) == theirs.children(fresh_id(), after="never") == []


def test_ops_40_children_adopted_at_one_moment(harness: Harness) -> None:
    store = harness.checkpoints
    put(store, "p")
    for turn in range(ROUNDS):
        names = [f"{turn}-{number:02}" for number in range(CHILDREN)]
        all_succeeded(together(*(partial(put, store, name, origin="p") for name in names)))
        listed = store.children("p")
        assert listed == store.children("p")
        assert sorted(listed[-CHILDREN:]) == names
        assert len(listed) == CHILDREN * (turn + 1)
        paged = _by_pages(store, 5)
        assert paged == listed


def _by_pages(store: Checkpointer, size: int) -> list[str]:
    found: list[str] = []
    while True:
        page = store.children("p", after=found[-1] if found else None, limit=size)
        found += page
        if not page:
            return found


def test_ruling_7_a_pager_meets_children_in_the_order_of_their_commits(harness: Harness) -> None:
    """Adopted while others page: nothing is passed, and nothing met twice."""
    store = harness.checkpoints
    put(store, "p")
    names = [f"c{number:02}" for number in range(CHILDREN)]
    seen: list[str] = []

    def page_until_full() -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            seen.extend(store.children("p", after=seen[-1] if seen else None, limit=3))
            if len(seen) >= CHILDREN:
                return

    all_succeeded(together(page_until_full, *(partial(put, store, name, origin="p") for name in names)))
    assert sorted(seen) == names
    assert seen == store.children("p")


def test_ruling_25_a_place_alone_lists_nothing(harness: Harness) -> None:
    """A claim on a deleted child, and events under its id, do not bring it back."""
    store = harness.checkpoints
    tokens = family(store, "a", "b")
    delete(store, "a", tokens["a"])
    token = claim(store, "a").token
    store.commit("a", Commit(token, events=[ev("alone")]))
    assert store.children("p") == ["b"]
    store.commit("a", Commit(token, checkpoint=ck("c1", t="a")))
    assert store.children("p") == ["b"]
    assert store.children("p", after="a") == ["b"]


def test_ruling_72_a_child_that_is_being_deleted_is_listed_until_it_is_gone(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = family(store, "a", "b")
    put(store, "a", "c2", "c1", token=tokens["a"], origin="p", status=CheckpointStatus.DELETING)
    assert store.children("p") == ["a", "b"]
    delete(store, "a", tokens["a"])
    assert store.children("p") == ["b"]
