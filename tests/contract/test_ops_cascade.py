"""Deleting a tree: cases 141 to 155 of checkpoints-operations.md 4.11, rulings 17 to 19, 47 and 72.

Late writers and kill -9 are in tests/concurrency/test_cascade.py.
"""

from __future__ import annotations

import inspect
import sys
import time
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import (
    CheckpointStatus,
    ChildRetention,
    Commit,
    Fence,
    Origin,
    ThreadQuery,
    ThreadStatus,
    delete_thread_cascade,
    retain_children,
    tombstones,
)
from engine.checkpoints import cascade as module
from engine.errors import StaleClaim, StoreFailure, TenantMismatch, ThreadBusy, ThreadDeleted, ValidationError
from tests.support.background import LIMIT, background, until
from tests.support.builders import TTL, ck, claim, emit, ev, latest_id, seqs
from tests.support.cascades import (
    COMPLETED,
    FAMILY,
    Recorder,
    alive,
    cascade,
    check_only_tombstones,
    grow,
    marked,
)
from tests.support.intercept import Interceptor, failing
from tests.support.refusals import UNNAMED, named, refused
from tests.support.rows import rows_of
from tests.support.threads import SECOND, ids, put

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness


def everything(store: Checkpointer, t: str) -> tuple[Any, ...]:
    """What the public calls show of a thread."""
    return store.latest(t), store.history(t), store.events_after(t, 0, 100), store.children(t)


@pytest.mark.parametrize(("caller", "holder"), [("x", named("run-1")), ("y", None)])
def test_ops_141_a_live_run_keeps_its_thread(harness: Harness, caller: str, holder: Any) -> None:
    first, second = harness.checkpoints, harness.sibling().checkpoints
    token = claim(first, "t", "run-1", tenant="x").token
    put(first, "t", token=token, tenant="x")
    before = everything(first, "t")
    expected = TenantMismatch("t", "y") if holder is None else ThreadBusy("t", "c1", holder)
    refused(expected, cascade, second, "t", tenant=caller)
    assert everything(first, "t") == before
    assert emit(first, "t", token, "alive") == [1]


def test_ops_141_a_holder_of_another_tenant_is_not_named(harness: Harness) -> None:
    store = harness.checkpoints
    claim(store, "new", "run-1", tenant="x")
    refused(ThreadBusy("new", None, UNNAMED), cascade, store, "new", tenant="y")
    refused(ThreadBusy("new", None, named("run-1")), cascade, store, "new", tenant="x")


def test_ops_141_a_busy_thread_that_cannot_be_read_again_names_nobody(harness: Harness) -> None:
    store = harness.checkpoints
    token = claim(store, "t", "run-1").token
    put(store, "t", token=token)
    watched = Interceptor(store)
    watched.before("latest", lambda: None, failing(StoreFailure("latest", "gone")))
    refused(ThreadBusy("t", "c1", UNNAMED), cascade, watched.checkpoints, "t")


def test_ops_142_a_delete_that_fails_gives_its_claim_back(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, {"t": None})
    watched, error = Recorder(store), StoreFailure("delete_thread", "the disk is full")
    watched.before("delete_thread", failing(error))
    with pytest.raises(StoreFailure) as caught:
        cascade(watched.checkpoints, "t")
    assert caught.value is error
    assert watched.calls["release"] == 1
    assert latest_id(store, "t") == "c1"

    watched.made.clear()
    assert cascade(watched.checkpoints, "t").deleted == ["t"]
    assert "release" not in [name for name, _, _ in watched.made]
    assert store.latest("t") is None


def test_ops_143_a_thread_that_another_tenant_made_meanwhile(harness: Harness) -> None:
    store = harness.checkpoints
    watched = Interceptor(store)

    def run_of_b() -> None:
        token = claim(store, "t", "b's", tenant="tenant-b").token
        put(store, "t", token=token, tenant="tenant-b", status=COMPLETED)
        emit(store, "t", token, "made")
        store.release("t", token)

    watched.before("claim", run_of_b)
    refused(TenantMismatch("t", "tenant-a"), cascade, watched.checkpoints, "t", tenant="tenant-a")
    assert (latest_id(store, "t"), seqs(store, "t")) == ("c1", [1])
    claim(store, "t", "at once", tenant="tenant-b")


@pytest.mark.parametrize("error", [StoreFailure("claim", "no connection"), RuntimeError("boom")], ids=repr)
@pytest.mark.parametrize("when", ["before", "after"])
def test_ops_144_a_claim_that_fails_changes_nothing(harness: Harness, error: Exception, when: str) -> None:
    """The store's own error passes unchanged (ruling 47)."""
    store = harness.checkpoints
    grow(store)
    before = [everything(store, t) for t in FAMILY]
    watched = Interceptor(store)
    getattr(watched, when)("claim", failing(error))
    with pytest.raises(type(error)) as caught:
        cascade(watched.checkpoints)
    assert caught.value is error
    assert [everything(store, t) for t in FAMILY] == before
    assert watched.calls["commit"] == watched.calls["delete_thread"] == 0


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_ops_145_another_tenants_thread(harness: Harness, busy: bool) -> None:
    store = harness.checkpoints
    tokens = grow(store, tenant="x")
    if busy:
        tokens["p"] = claim(store, "p", "run-1", tenant="x").token
    before = [everything(store, t) for t in FAMILY]
    for caller in ("y", None):
        refused(TenantMismatch("p", caller), cascade, store, tenant=caller)
    assert [everything(store, t) for t in FAMILY] == before
    if busy:
        emit(store, "p", tokens["p"], "alive")


def test_ops_145_a_child_of_another_tenant_stops_the_cascade(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, {"p": None}, tenant="x")
    grow(store, {"a": "p"}, tenant="y")
    refused(TenantMismatch("a", "x"), cascade, store, tenant="x")
    held = claim(store, "a", "run-1", tenant="y").token
    refused(TenantMismatch("a", "x"), cascade, store, tenant="x")
    emit(store, "a", held, "alive")
    assert marked(store, "p")


def test_ops_146_an_unknown_thread_succeeds_and_leaves_nothing(harness: Harness) -> None:
    assert cascade(harness.checkpoints, "unknown").deleted == ["unknown"]
    assert tombstones(harness.store) == []
    with harness.raw() as connection:
        assert rows_of(connection, "unknown") == {}


def test_ops_146_a_thread_without_events_leaves_no_tombstone(harness: Harness) -> None:
    store = harness.checkpoints
    store.release("t", put(store, "t"))
    assert cascade(store, "t").deleted == ["t"]
    with harness.raw() as connection:
        assert rows_of(connection, "t") == {}


def test_ops_147_descendants_go_before_their_parents_fenced_by_the_root(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, tenant="x")
    watched = Recorder(store)
    assert cascade(watched.checkpoints, tenant="x").deleted == ["g", "a", "b", "p"]
    assert alive(store, FAMILY) == set()
    check_only_tombstones(harness, FAMILY)

    deletes = watched.arguments("delete_thread")
    tokens = {t: token for t, token, _ in deletes}
    fences = {t: fence for t, _, fence in deletes}
    assert fences.pop("p") is None
    assert fences == dict.fromkeys(("a", "b", "g"), Fence("p", tokens["p"]))
    assert watched.calls["release"] == 0
    assert {tomb.thread_id for tomb in tombstones(harness.store)} == set(FAMILY)


def test_ops_147_nothing_else_goes(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    others = {"q": None, "p/like-a-child": None, "of-q": "q"}
    grow(store, others)
    # A child that moved to another parent is none of the tree's any more.
    token = claim(store, "b").token
    put(store, "b", "c2", "c1", token=token, origin="q")
    store.release("b", token)
    assert cascade(store).deleted == ["g", "a", "p"]
    assert alive(store, [*FAMILY, *others]) == {"b", *others}
    assert store.children("q") == ["of-q", "b"]


def test_ops_147_a_subtree_alone(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    assert cascade(store, "a").deleted == ["g", "a"]
    assert alive(store, FAMILY) == {"p", "b"}
    assert store.children("p") == ["b"]
    assert not marked(store, "p")


def test_ops_147_a_child_that_left_before_it_was_claimed_stays(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    watched = Interceptor(store)

    def leave() -> None:
        token = claim(store, "a").token
        put(store, "a", "c2", "c1", token=token)
        store.release("a", token)

    watched.before("claim", lambda: None, leave)
    assert cascade(watched.checkpoints).deleted == ["b", "p"]
    assert alive(store, FAMILY) == {"a", "g"}
    claim(store, "a", "at once")


def test_ops_148_a_child_needs_its_roots_claim(harness: Harness) -> None:
    store = harness.checkpoints
    stale = grow(store)["p"]
    token = claim(store, "a").token
    fenced = partial(store.delete_thread, "a", token)
    refused(StaleClaim("p", stale, None), fenced, Fence("p", stale))
    current = claim(store, "p").token
    refused(StaleClaim("p", stale, current), fenced, Fence("p", stale))
    refused(StaleClaim("unknown", current, None), fenced, Fence("unknown", current))
    assert (latest_id(store, "a"), store.children("a")) == ("c1", ["g"])
    emit(store, "a", token, "alive")
    fenced(Fence("p", current))
    assert store.latest("a") is None


def test_ops_149_the_childs_own_claim_is_looked_at_first(harness: Harness) -> None:
    store = harness.checkpoints
    stale = grow(store)
    current = claim(store, "a").token
    refused(
        StaleClaim("a", stale["a"], current), store.delete_thread, "a", stale["a"], Fence("p", stale["p"])
    )
    assert latest_id(store, "a") == "c1"


def test_ops_150_a_busy_descendant_stops_the_cascade(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, tenant="x")
    held = claim(store, "b", "run-1", tenant="x").token
    refused(ThreadBusy("b", "c1", named("run-1")), cascade, store, tenant="x")
    assert alive(store, FAMILY) == {"p", "b"}
    assert ids(store.incomplete("x")) == []
    (shown,) = store.threads(ThreadQuery("x")).threads
    assert (shown.thread_id, shown.status, shown.held) == ("p", ThreadStatus.DELETED, False)
    emit(store, "b", held, "alive")

    # Nobody starts, recovers or resumes the root any more; its claim was given back.
    token = claim(store, "p", "run-2", tenant="x").token
    mark = latest_id(store, "p")
    for status in set(CheckpointStatus) - {CheckpointStatus.DELETING}:
        start = Commit(token, checkpoint=ck("c2", mark, t="p", tenant="x", status=status))
        refused(ThreadDeleted("p"), store.commit, "p", start)
    store.release("p", token)

    store.release("b", held)
    assert cascade(store, tenant="x").deleted == ["b", "p"]
    check_only_tombstones(harness, FAMILY)


def test_ops_150_the_mark_moves_the_thread_like_any_commit(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    put(store, "newer")
    harness.advance(SECOND)
    claim(store, "g", "run-1")
    with pytest.raises(ThreadBusy):
        cascade(store)
    shown = store.threads(ThreadQuery(None)).threads
    assert [found.thread_id for found in shown] == ["p", "newer"]
    assert (shown[0].updated_at, shown[0].latest_run_id) == (harness.now(), "deleter")
    stored = store.latest("p")
    assert stored is not None
    assert (stored.checkpoint.parent, stored.writes) == ("c1", [])


@contextmanager
def crashing(watched: Interceptor, call: str, *, at: int) -> Iterator[None]:
    """The caller dies before the call of that name and number, and gives nothing back."""
    die = failing(KeyboardInterrupt())
    watched.before(call, *[lambda: None] * at, die)
    watched.before("release", *[die] * 9)
    with pytest.raises(KeyboardInterrupt):
        yield


@pytest.mark.parametrize(("deletes", "left"), [(0, "gabp"), (1, "abp"), (2, "bp"), (3, "p")])
def test_ops_151_a_crashed_cascade_is_finished_by_the_next(harness: Harness, deletes: int, left: str) -> None:
    store = harness.checkpoints
    grow(store)
    watched = Interceptor(store)
    with crashing(watched, "delete_thread", at=deletes):
        cascade(watched.checkpoints)
    assert alive(store, FAMILY) == set(left)
    assert marked(store, "p")
    refused(ThreadBusy("p", latest_id(store, "p"), named("deleter")), cascade, store)

    harness.advance(TTL)
    assert cascade(harness.sibling().checkpoints).deleted == list(left)
    check_only_tombstones(harness, FAMILY)


def test_ops_151_the_mark_is_committed_once(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    claim(store, "g", "run-1")
    for _ in range(3):
        with pytest.raises(ThreadBusy):
            cascade(store)
    assert len(store.history("p")) == 2


def take_over(harness: Harness, t: str, tokens: list[int]) -> None:
    """The claim of `t` runs out and somebody else takes the thread."""
    harness.advance(TTL)
    tokens.append(claim(harness.checkpoints, t, "successor").token)


def test_ops_152_a_lost_root_claim_saves_the_next_child(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    watched, taken = Recorder(store), list[int]()
    watched.before("delete_thread", lambda: None, partial(take_over, harness, "p", taken))
    with pytest.raises(StaleClaim) as caught:
        cascade(watched.checkpoints)
    mine = [args[1] for args in watched.arguments("release") if args[0] == "p"]
    assert caught.value == StaleClaim("p", mine[0], taken[0])
    assert alive(store, FAMILY) == {"p", "a", "b"}
    # What it held of the survivors is free; the successor's claim is untouched.
    claim(store, "a", "at once")
    emit(store, "p", taken[0], "alive")


def test_ops_153_without_children_no_mark_is_ever_seen(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, {"t": None})
    watched, seen = Interceptor(store), list[bool]()
    for call in ("children", "latest", "delete_thread"):
        watched.before(call, *[lambda: seen.append(marked(store, "t"))] * 5)
    assert cascade(watched.checkpoints, "t").deleted == ["t"]
    assert set(seen) == {False}
    assert watched.calls["commit"] == 0


def test_ops_153_a_child_that_comes_late_is_marked_for_as_well(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, {"p": None})
    watched = Interceptor(store)
    watched.after("children", lambda: None)
    watched.before("children", lambda: grow(store, {"late": "p"}) and None)
    watched.before("delete_thread", failing(StoreFailure("delete_thread", "gone")))
    with pytest.raises(StoreFailure):
        cascade(watched.checkpoints)
    assert marked(store, "p")
    assert cascade(store).deleted == ["late", "p"]


def test_ops_154_child_retention_is_fenced_by_the_parents_claim(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store, status=COMPLETED)
    stale = claim(store, "p").token
    harness.advance(TTL)
    current = claim(store, "p", "successor").token
    lost = StaleClaim("p", stale, current)
    refused(lost, retain_children, store, "p", stale, ChildRetention(keep_last=0))
    assert alive(store, FAMILY) == set(FAMILY)
    claim(store, "a", "at once")


@pytest.mark.parametrize("caller", ["y", None])
def test_ops_155_another_tenant_cannot_resume(harness: Harness, caller: str | None) -> None:
    store = harness.checkpoints
    grow(store, tenant="x")
    claim(store, "b", "run-1", tenant="x")
    with pytest.raises(ThreadBusy):
        cascade(store, tenant="x")
    harness.advance(TTL)
    before = [everything(store, t) for t in ("p", "b")]
    refused(TenantMismatch("p", caller), cascade, store, tenant=caller)
    assert [everything(store, t) for t in ("p", "b")] == before
    assert cascade(store, tenant="x").deleted == ["b", "p"]


@contextmanager
def shallow_stack(spare: int) -> Iterator[None]:
    """So few calls within each other are possible."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + spare)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def test_ruling_19_a_deep_tree_needs_no_deep_stack(harness: Harness) -> None:
    store = harness.checkpoints
    names = [f"t{n}" for n in range(200)]
    grow(store, dict(zip(names, [None, *names], strict=False)))
    with shallow_stack(150):
        assert cascade(store, "t0").deleted == names[::-1]
    assert alive(store, names) == set()


def test_ruling_19_a_tree_too_deep_is_refused(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    store = harness.checkpoints
    names = [f"t{n}" for n in range(6)]
    grow(store, dict(zip(names, [None, *names], strict=False)))
    monkeypatch.setattr(module, "MAX_DEPTH", 4)
    with pytest.raises(ValidationError, match="t4"):
        cascade(store, "t0")
    assert alive(store, names) == set(names)
    for t in names[:5]:
        claim(store, t, "at once")
    harness.advance(TTL)
    assert cascade(store, "t4").deleted == ["t5", "t4"]
    assert cascade(store, "t0").deleted == names[3::-1]


def test_ruling_19_every_claim_on_the_path_is_renewed(harness: Harness) -> None:
    """Deletes that take longer than a lease, all together, while somebody waits for the root to lapse."""
    store = harness.open(clock=None).checkpoints
    grow(store, {"p": None, "a": "p", **{f"g{n}": "a" for n in range(6)}})
    watched, ttl = Recorder(store), timedelta(milliseconds=900)
    watched.before("delete_thread", *[lambda: time.sleep(0.25)] * 8)
    deleting = background(
        delete_thread_cascade, watched.checkpoints, "p", run_id="deleter", tenant=None, ttl=ttl
    )
    until(lambda: watched.calls["delete_thread"], "the first delete begins")
    while not deleting.done():
        try:
            claim(store, "p", "rival")
        except ThreadBusy:
            time.sleep(0.02)
        else:
            assert store.latest("p") is None
            break
    assert deleting.result(LIMIT).deleted[-2:] == ["a", "p"]
    renewed = {args[0] for args in watched.arguments("renew")}
    assert {"p", "a"} <= renewed


@pytest.mark.parametrize("tree", [{"p": "p"}, {"p": "b", "a": "p", "b": "a"}], ids=["itself", "circle"])
def test_ruling_19_a_circle_of_origins_is_refused(harness: Harness, tree: dict[str, str]) -> None:
    store = harness.checkpoints
    grow(store, tree)
    with pytest.raises(ValidationError, match="'p' is its own ancestor") as caught:
        cascade(store)
    assert caught.value.field == "origin"
    assert alive(store, tree) == set(tree)
    for t in tree:
        claim(store, t, "at once")


def test_ruling_19_a_lost_descendant_raises_its_own_stale_claim(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    watched, taken = Recorder(store), list[int]()
    watched.before("delete_thread", partial(take_over, harness, "g", taken))
    with pytest.raises(StaleClaim) as caught:
        cascade(watched.checkpoints)
    (mine,) = [args[1] for args in watched.arguments("release") if args[0] == "g"]
    assert caught.value == StaleClaim("g", mine, taken[0])
    assert alive(store, FAMILY) == set(FAMILY)
    assert marked(store, "p")
    emit(store, "g", taken[0], "alive")
    store.release("g", taken[0])
    assert cascade(store).deleted == ["g", "a", "b", "p"]


def test_ruling_18_a_descendant_with_a_long_log_goes_in_steps(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    token = claim(store, "b").token
    for _ in range(2):
        store.commit("b", Commit(token, events=[ev("x") for _ in range(3_000)]))
    store.release("b", token)
    assert cascade(store).deleted == ["g", "a", "b", "p"]
    check_only_tombstones(harness, FAMILY)


def test_ruling_72_a_child_whose_cascade_has_begun_is_still_a_child(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    claim(store, "g", "run-1")
    with pytest.raises(ThreadBusy):
        cascade(store, "a")
    assert marked(store, "a")
    stored = store.latest("a")
    assert stored is not None
    assert stored.checkpoint.origin == Origin("p")
    assert store.children("p") == ["a", "b"]
    assert ids(store.threads(ThreadQuery(None))) == ["p"]
    harness.advance(TTL)
    assert cascade(store).deleted == ["g", "a", "b", "p"]


def test_ruling_47_an_interruption_gives_every_claim_back(harness: Harness) -> None:
    store = harness.checkpoints
    grow(store)
    watched = Interceptor(store)
    watched.before("delete_thread", failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        cascade(watched.checkpoints)
    for t in FAMILY:
        claim(store, t, "at once")
