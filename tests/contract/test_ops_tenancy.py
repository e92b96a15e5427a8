"""One owner's view (cases 16 to 18 of checkpoints-operations.md, ruling 48), prefixes and tombstones."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import (
    MAX_LIMIT,
    RetentionPolicy,
    TenantThreads,
    ThreadQuery,
    Tombstone,
    find_threads,
    tombstones,
)
from engine.errors import CheckpointNotFound, TenantMismatch, ValidationError
from tests.support.builders import chain, claim, emit, fresh_id
from tests.support.refusals import refused
from tests.support.threads import SECOND, ids, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

KEEP_ONE = RetentionPolicy(max_checkpoints=1)


def owned(store: Checkpointer) -> tuple[TenantThreads, TenantThreads, TenantThreads]:
    """What a, b and nobody see of a store with one thread of a's."""
    token = put(store, "t", "c1", tenant="a")
    put(store, "t", "c2", "c1", token=token, tenant="a")
    store.release("t", token)
    return TenantThreads(store, "a"), TenantThreads(store, "b"), TenantThreads(store, None)


@pytest.mark.parametrize("view", [1, 2], ids=["another tenant", "no tenant"])
def test_ops_16_another_owners_thread(harness: Harness, view: int) -> None:
    store = harness.checkpoints
    views = owned(store)
    stranger, before = views[view], store.latest("t")
    calls: list[Callable[[], Any]] = [
        partial(stranger.history, "t"),
        partial(stranger.history, "t", before="unknown"),
        partial(stranger.checkpoint, "t", "c1"),
        partial(stranger.checkpoint, "t", "unknown"),
        partial(stranger.children, "t"),
        partial(stranger.prune, "t", KEEP_ONE),
        partial(stranger.delete, "t", run_id="run"),
    ]
    for call in calls:
        refused(TenantMismatch("t", stranger.tenant), call)
    assert views[0].history("t") == store.history("t")
    assert len(store.history("t")) == 2
    assert store.latest("t") == before


def test_ops_16_the_owner_reads_everything(harness: Harness) -> None:
    store = harness.checkpoints
    mine, _, _ = owned(store)
    assert [found.id for found in mine.history("t", limit=1)] == ["c2"]
    assert [found.id for found in mine.history("t", before="c2")] == ["c1"]
    assert mine.checkpoint("t", "c1") == store.checkpoint("t", "c1")
    assert mine.checkpoint("t", "unknown") is None
    assert mine.checkpoint(fresh_id(), "c1") is None


def test_ops_16_each_checkpoint_is_checked(harness: Harness) -> None:
    """A thread that changed hands does not show its former owner's part."""
    store = harness.checkpoints
    token = put(store, "t", "c1", tenant="a")
    put(store, "t", "c2", "c1", token=token, tenant="b")
    theirs = TenantThreads(store, "b")
    refused(TenantMismatch("t", "b"), theirs.history, "t")
    refused(TenantMismatch("t", "b"), theirs.checkpoint, "t", "c1")
    assert [found.id for found in theirs.history("t", limit=1)] == ["c2"]


def test_ops_17_limits_and_unknown_threads(harness: Harness) -> None:
    _, stranger, _ = owned(harness.checkpoints)
    for t in ("t", fresh_id()):
        problem = ValidationError("limit", ("must be at least 1, not 0",))
        refused(problem, stranger.history, t, limit=0)
        refused(problem, stranger.children, t, limit=0)
    unknown = fresh_id()
    refused(CheckpointNotFound(unknown, "c1"), stranger.history, unknown, before="c1")
    assert stranger.history(unknown) == []


def test_ops_18_an_unknown_thread_is_pruned(harness: Harness) -> None:
    mine, _, _ = owned(harness.checkpoints)
    mine.prune(fresh_id(), KEEP_ONE)
    mine.prune("t", KEEP_ONE)
    assert [found.id for found in mine.history("t")] == ["c2"]


def test_ruling_48_listings_are_the_owners_whatever_is_asked(harness: Harness) -> None:
    store = harness.checkpoints
    mine, stranger, nobody = owned(store)
    put(store, "b1", tenant="b")
    for query in (ThreadQuery("a"), ThreadQuery("b"), ThreadQuery(None)):
        assert ids(mine.threads(query)) == ["t"]
        assert ids(stranger.threads(query)) == ["b1"]
        assert ids(nobody.threads(query)) == []
    assert ids(mine.incomplete()) == ["t"]
    assert ids(stranger.incomplete()) == []
    refused(
        ValidationError("limit", (f"must lie between 1 and {MAX_LIMIT}, not 0",)), mine.incomplete, limit=0
    )


def test_ruling_48_the_owner_deletes(harness: Harness) -> None:
    store = harness.checkpoints
    mine, _, _ = owned(store)
    store.release("child", put(store, "child", tenant="a", origin="t"))
    assert mine.delete("t", run_id="run").deleted == ["child", "t"]
    assert store.latest("t") is None
    assert mine.history("t") == []


def test_decision_3_ids_with_a_prefix(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    names = ["a", "ab", "ab\U0010ffff", "aba", "abz", "ac", "b", "aB", "ab%", "ab_"]
    for t in names:
        put(store, t)
    put(store, "abx", tenant="x")
    put(store, "aby", origin="a")
    claim(store, "abc")
    matching = sorted(name for name in names if name.startswith("ab"))
    assert find_threads(store, None, "ab") == matching
    assert find_threads(store, None, "ab%") == ["ab%"]
    assert find_threads(store, None, "ab", after="ab_", limit=2) == ["aba", "abz"]
    assert find_threads(store, None, "ab", after="abz") == ["ab\U0010ffff"]
    assert find_threads(store, None, "ab", after="a") == matching
    assert find_threads(store, None, "ab", after="b") == []
    assert find_threads(store, None, "") == sorted(names)
    assert find_threads(store, None, "\U0010ffff") == []
    assert find_threads(store, "x", "a") == ["abx"]
    for limit in (0, MAX_LIMIT + 1):
        problem = f"must lie between 1 and {MAX_LIMIT}, not {limit}"
        refused(ValidationError("limit", (problem,)), find_threads, store, None, "a", limit=limit)


def buried(store: Checkpointer, t: str, events: int) -> None:
    """A thread with that many events, deleted."""
    token = claim(store, t).token
    chain(store, t, token, ["c1"])
    for number in range(events - 1):
        emit(store, t, token, f"e{number}")
    store.delete_thread(t, token)


def test_tombstones_longest_deleted_first(harness: Harness) -> None:
    store = harness.store
    made = []
    for t, events in (("b", 1), ("a", 3), ("c", 2)):
        buried(store.checkpoints, t, events)
        made.append(Tombstone(t, events + 2, harness.now()))
        harness.advance(SECOND)
    token = put(store.checkpoints, "eventless")
    store.checkpoints.delete_thread("eventless", token)

    assert tombstones(store) == made
    assert tombstones(store, limit=2) == made[:2]
    assert tombstones(store, after="a") == made[2:]
    assert tombstones(store, after="c") == []
    for after in ("eventless", fresh_id()):
        problem = f"{after!r} has no tombstone; start again without it"
        refused(ValidationError("after", (problem,)), tombstones, store, after=after)
    for limit in (0, MAX_LIMIT + 1):
        problem = f"must lie between 1 and {MAX_LIMIT}, not {limit}"
        refused(ValidationError("limit", (problem,)), tombstones, store, limit=limit)


def test_a_tombstone_stays_while_its_id_lives_again(harness: Harness) -> None:
    store = harness.store
    buried(store.checkpoints, "t", 1)
    (before,) = tombstones(store)
    harness.advance(SECOND)
    token = put(store.checkpoints, "t")
    assert tombstones(store) == [before]
    store.checkpoints.delete_thread("t", token)
    assert tombstones(store) == [Tombstone("t", before.first, harness.now())]
