"""Retention of finished children: section 2.10 of checkpoints-operations.md; case 154 is in test_ops_cascade.py."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine.checkpoints import CheckpointStatus, ChildRetention, Fence, SweepPolicy, retain_children
from engine.checkpoints import child_retention as module
from engine.errors import StoreFailure, ValidationError
from tests.support.builders import STEP, TTL, claim, emit, latest_id
from tests.support.cascades import COMPLETED, Recorder, alive, check_only_tombstones, grow, marked
from tests.support.intercept import failing
from tests.support.refusals import refused
from tests.support.threads import SECOND, put

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

NONE = ChildRetention(keep_last=0)
FIVE = ("a", "b", "c", "d", "e")


def parent_of(store: Checkpointer, *children: str, tenant: str | None = None) -> int:
    """A parent under a live claim, with these finished children; its token."""
    grow(store, {"p": None, **dict.fromkeys(children, "p")}, tenant=tenant, status=COMPLETED)
    return claim(store, "p", "parent's run", tenant=tenant, ttl=timedelta(hours=2)).token


def test_the_newest_so_many_stay(harness: Harness) -> None:
    store = harness.checkpoints
    token = parent_of(store, *FIVE)
    assert retain_children(store, "p", token, ChildRetention(keep_last=5)) == []
    assert retain_children(store, "p", token, ChildRetention(keep_last=2)) == ["a", "b", "c"]
    assert store.children("p") == ["d", "e"]
    assert retain_children(store, "p", token, NONE) == ["d", "e"]
    check_only_tombstones(harness, FIVE)
    emit(store, "p", token, "the parent's run goes on")


def test_a_policy_that_asks_for_nothing_does_nothing(harness: Harness) -> None:
    store = harness.checkpoints
    token = parent_of(store, *FIVE)
    watched = Recorder(store)
    assert retain_children(watched.checkpoints, "p", token, ChildRetention()) == []
    assert watched.made == []
    assert retain_children(store, "nobody", token, NONE) == []


def test_strictly_older_ones_go_by_the_stores_clock(harness: Harness) -> None:
    store = harness.checkpoints
    token = parent_of(store, "a")
    harness.advance(SECOND)
    grow(store, {"b": "p"}, status=COMPLETED)
    hour = ChildRetention(max_age=timedelta(hours=1))
    harness.advance(timedelta(hours=1) - SECOND)
    assert retain_children(store, "p", token, hour) == []
    harness.advance(STEP)
    assert retain_children(store, "p", token, hour) == ["a"]
    harness.advance(SECOND)
    assert retain_children(store, "p", token, hour) == ["b"]


def test_either_rule_lets_a_child_go(harness: Harness) -> None:
    store = harness.checkpoints
    token = parent_of(store, "a", "b", "c")
    harness.advance(timedelta(hours=1))
    grow(store, {"d": "p", "e": "p"}, status=COMPLETED)
    policy = ChildRetention(keep_last=4, max_age=timedelta(minutes=30))
    assert retain_children(store, "p", token, policy) == ["a", "b", "c"]


def test_only_settled_children_count_and_go(harness: Harness) -> None:
    store = harness.checkpoints
    token = parent_of(store)
    for status in CheckpointStatus:
        grow(store, {status.value: "p"}, status=status)
    assert retain_children(store, "p", token, ChildRetention(keep_last=1)) == ["completed"]
    assert retain_children(store, "p", token, NONE) == ["failed"]
    assert store.children("p") == ["running", "suspended", "deleting"]


def test_descendants_go_first_each_fenced_by_the_parent(harness: Harness) -> None:
    store = harness.checkpoints
    token = parent_of(store, "a", "b")
    grow(store, {"g": "a", "gg": "g", "h": "b"})
    watched = Recorder(store)
    assert retain_children(watched.checkpoints, "p", token, NONE) == ["gg", "g", "a", "h", "b"]
    assert {args[2] for args in watched.arguments("delete_thread")} == {Fence("p", token)}
    assert watched.calls["commit"] == watched.calls["release"] == 0
    assert not marked(store, "p")
    check_only_tombstones(harness, ["a", "b", "g", "gg", "h"])


def test_deleted_children_keep_page_boundaries_valid(harness: Harness) -> None:
    store = harness.checkpoints
    token = parent_of(store, *FIVE)
    assert retain_children(store, "p", token, ChildRetention(keep_last=3)) == ["a", "b"]
    assert store.children("p", after="a", limit=2) == ["c", "d"]
    assert store.children("p", after="b") == ["c", "d", "e"]
    harness.advance(TTL)

    def nothing(_: Sequence[str]) -> Mapping[str, frozenset[str]]:
        return {}

    store.sweep(SweepPolicy(tombstone_age=TTL / 2), nothing)
    with pytest.raises(ValidationError):
        store.children("p", after="a")


def test_a_busy_child_is_left_for_the_next_pass(harness: Harness) -> None:
    store = harness.checkpoints
    token = parent_of(store, "a", "b", "c")
    grow(store, {"g": "b"})
    held = {t: claim(store, t, "somebody").token for t in ("a", "g")}
    assert retain_children(store, "p", token, NONE) == ["c"]
    assert alive(store, ["a", "b", "g"]) == {"a", "b", "g"}
    for t, mine in held.items():
        emit(store, t, mine, "alive")
        store.release(t, mine)
    claim(store, "b", "nobody holds it")
    harness.advance(TTL)
    assert retain_children(store, "p", token, NONE) == ["a", "g", "b"]


def test_a_child_taken_over_meanwhile_is_left_alone(harness: Harness) -> None:
    store = harness.checkpoints
    token = parent_of(store, "a", "b")
    watched = Recorder(store)

    def take_over() -> None:
        harness.advance(TTL)
        claim(store, "a", "successor")

    watched.before("delete_thread", take_over)
    assert retain_children(watched.checkpoints, "p", token, NONE) == ["b"]
    assert latest_id(store, "a") == "c1"


def test_a_failure_of_one_child_is_logged_and_the_pass_goes_on(
    harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    store = harness.checkpoints
    token = parent_of(store, "a", "b", "c")
    watched = Recorder(store)
    watched.before("delete_thread", lambda: None, failing(StoreFailure("delete_thread", "disk full")))
    with caplog.at_level(logging.WARNING):
        assert retain_children(watched.checkpoints, "p", token, NONE) == ["a", "c"]
    assert "'b'" in caplog.text
    claim(store, "b", "it was given back")


def test_a_child_of_another_tenant_stays(harness: Harness, caplog: pytest.LogCaptureFixture) -> None:
    store = harness.checkpoints
    token = parent_of(store, "a", tenant="x")
    grow(store, {"foreign": "p"}, tenant="y", status=COMPLETED)
    with caplog.at_level(logging.WARNING):
        assert retain_children(store, "p", token, NONE) == ["a"]
    assert latest_id(store, "foreign") == "c1"


def test_a_parent_below_itself_is_not_deleted(harness: Harness, caplog: pytest.LogCaptureFixture) -> None:
    store = harness.checkpoints
    token = parent_of(store, "a")
    put(store, "p", "c2", "c1", token=token, origin="a")
    harness.advance(timedelta(hours=2))  # its claim has lapsed, so nothing but the circle is in the way
    with caplog.at_level(logging.WARNING):
        assert retain_children(store, "p", token, NONE) == []
    assert "its own ancestor" in caplog.text
    assert alive(store, ["p", "a"]) == {"p", "a"}
    emit(store, "p", token, "alive")


def test_children_are_read_in_pages(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the last one of a page goes without leaving a place behind."""
    store = harness.checkpoints
    token = parent_of(store)
    for t in FIVE:
        store.release(t, put(store, t, origin="p", status=COMPLETED))
    monkeypatch.setattr(module, "PAGE", 2)
    watched = Recorder(store)

    def delete_b() -> None:
        store.delete_thread("b", claim(store, "b").token)

    watched.after("child_states", delete_b)
    assert retain_children(watched.checkpoints, "p", token, NONE) == ["a", "c", "d", "e"]
    assert [kwargs["limit"] for name, _, kwargs in watched.made if name == "child_states"] == [2] * 4


def test_policies_out_of_bounds() -> None:
    both = ("keep_last must be at least 0", "max_age must be above zero")
    refused(ValidationError("retention", both), ChildRetention, keep_last=-1, max_age=timedelta(seconds=-1))
    refused(ValidationError("retention", both[1:]), ChildRetention, max_age=timedelta(0))
    assert ChildRetention(keep_last=0) == NONE
