"""The registry: cases 41 to 62 of checkpoints-operations.md 4.4, as changed by rulings 24 and 28."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.checkpoints import (
    MAX_LIMIT,
    CheckpointStatus,
    Commit,
    RetentionPolicy,
    SweepPolicy,
    ThreadPage,
    ThreadQuery,
    ThreadStatus,
    ThreadSummary,
    set_metadata,
)
from engine.errors import StaleClaim, StoreFailure, ValidationError
from tests.support.builders import T0, TTL, chain, ck, claim, emit, fresh_id, wr
from tests.support.refusals import refused
from tests.support.threads import SECOND, ids, in_turn, put, walk, walk_incomplete

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

MILLISECOND = timedelta(milliseconds=1)
ANYBODY = ThreadQuery(None)


def test_ops_41_newest_first(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    in_turn(harness_any_clock, "t1", "t2", "t3")
    page = store.threads(ANYBODY)
    assert (ids(page), page.next) == (["t3", "t2", "t1"], None)


def test_ops_41_a_summary_says_what_is_stored(harness: Harness) -> None:
    store = harness.checkpoints
    held = claim(store, "t1", "run", tenant="x")
    harness.advance(SECOND)
    store.commit("t1", Commit(held.token, events=[], metadata={"kind": "chat"}))
    harness.advance(SECOND)
    store.commit("t1", Commit(held.token, checkpoint=ck("c1", t="t1", run_id="r1", tenant="x")))
    (found,) = store.threads(ThreadQuery("x")).threads
    assert found == ThreadSummary(
        thread_id="t1",
        tenant="x",
        status=ThreadStatus.RUNNING,
        held=True,
        updated_at=T0 + 2 * SECOND,
        created_at=T0 + SECOND,
        latest_checkpoint_id="c1",
        latest_run_id="r1",
        metadata={"kind": "chat"},
    )


def test_ops_42_pages(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    in_turn(harness_any_clock, "t1", "t2", "t3")
    first = store.threads(ThreadQuery(None, limit=2))
    assert ids(first) == ["t3", "t2"]
    assert first.next is not None
    second = store.threads(ThreadQuery(None, after=first.next, limit=2))
    assert (ids(second), second.next) == (["t1"], None)
    assert store.threads(ThreadQuery(None, limit=3)).next is None


def test_ops_43_ties_go_by_descending_id(harness: Harness) -> None:
    store = harness.checkpoints
    for t in ("b", "c", "a"):
        put(store, t)
    assert ids(store.threads(ANYBODY)) == ["c", "b", "a"]
    assert walk(store, ThreadQuery(None, limit=1)) == [["c"], ["b"], ["a"]]


def test_ops_43_ids_are_compared_by_code_point(harness: Harness) -> None:
    store = harness.checkpoints
    names = ["", "A", "Z", "a", "z", "é", "\ue000", "𝄞", "~", " "]
    tokens = {t: put(store, t) for t in names}
    assert walk(store, ThreadQuery(None, limit=3)) == _paged(sorted(names, reverse=True), 3)
    for t in names:
        store.release(t, tokens[t])
    assert walk_incomplete(store, None, 4) == _paged(sorted(names), 4)


def _paged(names: list[str], size: int) -> list[list[str]]:
    return [names[place : place + size] for place in range(0, len(names), size)]


def test_ops_44_owners(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    for t, tenant in (("x1", "x"), ("y1", "y"), ("n1", None), ("x2", "x"), ("e1", "")):
        put(store, t, tenant=tenant)
    assert sorted(ids(store.threads(ThreadQuery("x")))) == ["x1", "x2"]
    assert ids(store.threads(ThreadQuery(None))) == ["n1"]
    assert ids(store.threads(ThreadQuery(""))) == ["e1"]
    assert ids(store.threads(ThreadQuery("nobody"))) == []
    assert {found.tenant for found in store.threads(ThreadQuery("x")).threads} == {"x"}


def test_ops_44_a_thread_goes_by_the_owner_of_its_latest_checkpoint(harness: Harness) -> None:
    store = harness.checkpoints
    token = put(store, "t", "c1", tenant="x", metadata={"k": "v"})
    put(store, "t", "c2", "c1", token=token, tenant="y")
    assert (
        ids(store.threads(ThreadQuery("x")))
        == ids(store.threads(ThreadQuery("x", metadata={"k": "v"})))
        == []
    )
    assert ids(store.threads(ThreadQuery("y"))) == ids(store.threads(ThreadQuery("y", metadata={"k": "v"})))
    assert ids(store.threads(ThreadQuery("y"))) == ["t"]


def test_ops_45_a_claim_alone_is_not_listed(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    held = claim(store, "t")
    emit(store, "t", held.token, "a")
    assert ids(store.threads(ANYBODY)) == []


def test_ops_46_a_child_is_not_listed(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    put(store, "p")
    put(store, "child", origin="p", metadata={"k": "v"})
    assert ids(store.threads(ANYBODY)) == ["p"]
    assert ids(store.threads(ThreadQuery(None, metadata={"k": "v"}))) == []


def test_ops_47_a_deleted_thread_is_not_listed(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    held = claim(store, "t")
    chain(store, "t", held.token, ["c1"])
    store.delete_thread("t", held.token)
    assert ids(store.threads(ANYBODY)) == []
    put(store, "t")
    assert ids(store.threads(ANYBODY)) == ["t"]


def test_ops_48_a_thread_that_changes_moves_to_the_front(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = in_turn(harness, "t1", "t2", "t3")
    first = store.threads(ThreadQuery(None, limit=1))
    assert ids(first) == ["t3"]
    harness.advance(SECOND)
    put(store, "t1", "c2", "c1", token=tokens["t1"])
    rest = store.threads(ThreadQuery(None, after=first.next))
    assert (ids(rest), rest.next) == (["t2"], None)
    assert ids(store.threads(ANYBODY)) == ["t1", "t3", "t2"]

    # Case 49: from that commit on, its own instant included.
    moved = store.threads(ANYBODY).threads[0].updated_at
    assert ids(store.threads(ThreadQuery(None, updated_since=moved))) == ["t1"]


def test_ops_49_updated_since_is_inclusive(harness: Harness) -> None:
    store = harness.checkpoints
    in_turn(harness, "t1", "t2", "t3")
    at = T0 + SECOND
    assert ids(store.threads(ThreadQuery(None, updated_since=at))) == ["t3", "t2"]
    assert ids(store.threads(ThreadQuery(None, updated_since=at + timedelta(microseconds=1)))) == ["t3"]
    assert walk(store, ThreadQuery(None, updated_since=at, limit=1)) == [["t3"], ["t2"]]
    refused(
        ValidationError("updated_since", ("must be timezone-aware; use datetime.now(UTC)",)),
        partial(ThreadQuery, None, updated_since=datetime(2026, 1, 1)),  # noqa: DTZ001 - refused for it
    )


def test_ops_50_what_does_not_move_a_thread(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = in_turn(harness, "t1", "t2")
    before = store.threads(ANYBODY)
    token = tokens["t1"]
    for change in (
        lambda: emit(store, "t1", token, "a"),
        lambda: store.commit("t1", Commit(token, writes=[wr("c1", "0.0")])),
        lambda: store.renew("t1", token, TTL),
        lambda: store.compact_events("t1", 2),
        lambda: store.prune("t1", RetentionPolicy(max_checkpoints=1, max_events=0)),
        lambda: store.sweep(SweepPolicy(RetentionPolicy(max_events=0)), lambda _: {}),
        lambda: store.release("t1", token),
        lambda: claim(store, "t1"),
    ):
        harness.advance(SECOND)
        change()
        after = store.threads(ANYBODY)
        assert [found.updated_at for found in after.threads] == [found.updated_at for found in before.threads]
        assert ids(after) == ids(before) == ["t2", "t1"]


def test_ops_51_metadata_moves_a_thread(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = in_turn(harness, "t1", "t2")
    harness.advance(SECOND)
    set_metadata(store, "t1", tokens["t1"], {"kind": "chat", "gone": "soon"})
    harness.advance(SECOND)
    set_metadata(store, "t1", tokens["t1"], {"gone": None, "step": "2"})
    first, second = store.threads(ANYBODY).threads
    assert (first.thread_id, first.updated_at) == ("t1", harness.now())
    assert (first.metadata, second.metadata) == ({"kind": "chat", "step": "2"}, {})
    refused(StaleClaim("t1", 10**6, tokens["t1"]), set_metadata, store, "t1", 10**6, {"kind": "none"})


STATUSES = {
    CheckpointStatus.SUSPENDED: ThreadStatus.SUSPENDED,
    CheckpointStatus.COMPLETED: ThreadStatus.COMPLETED,
    CheckpointStatus.FAILED: ThreadStatus.FAILED,
    CheckpointStatus.DELETING: ThreadStatus.DELETED,
}


def judged(store: Checkpointer, t: str = "t") -> tuple[ThreadStatus, bool]:
    """The status of `t`, on which every filter must agree, and whether it is held."""
    (found,) = store.threads(ANYBODY).threads
    for status in ThreadStatus:
        listed = ids(store.threads(ThreadQuery(None, statuses=frozenset({status}))))
        assert listed == ([t] if status is found.status else []), status
    stopped = ids(store.incomplete(None))
    assert stopped == ([t] if found.status is ThreadStatus.IDLE else [])
    return found.status, found.held


def test_ops_52_a_running_checkpoint(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    token = put(store, "t")
    assert judged(store) == (ThreadStatus.RUNNING, True)
    store.release("t", token)
    assert judged(store) == (ThreadStatus.IDLE, False)
    claim(store, "t")
    assert judged(store) == (ThreadStatus.RUNNING, True)
    harness_any_clock.advance(TTL)
    assert judged(store) == (ThreadStatus.IDLE, False)


@pytest.mark.parametrize("stored", STATUSES)
def test_ops_52_a_claim_does_not_change_another_status(
    harness_any_clock: Harness, stored: CheckpointStatus
) -> None:
    store = harness_any_clock.checkpoints
    token = put(store, "t", status=stored)
    assert judged(store) == (STATUSES[stored], True)
    store.release("t", token)
    assert judged(store) == (STATUSES[stored], False)


def test_ops_53_the_lease_ends_at_its_expiry(harness: Harness) -> None:
    store = harness.checkpoints
    put(store, "t")
    harness.advance(TTL - MILLISECOND)
    assert judged(store) == (ThreadStatus.RUNNING, True)
    harness.advance(MILLISECOND)
    assert judged(store) == (ThreadStatus.IDLE, False)


@pytest.mark.parametrize("limit", [0, -1, MAX_LIMIT + 1])
def test_ops_54_limits_that_are_refused(limit: int) -> None:
    problem = f"must lie between 1 and {MAX_LIMIT}, not {limit}"
    refused(ValidationError("limit", (problem,)), partial(ThreadQuery, None, limit=limit))


def test_ops_54_limits_that_are_accepted(harness: Harness) -> None:
    store = harness.checkpoints
    assert ThreadQuery.MAX_LIMIT == MAX_LIMIT == 1000
    assert ThreadQuery(None).limit == 100
    for limit in (1, MAX_LIMIT):
        assert store.threads(ThreadQuery(None, limit=limit)) == ThreadPage((), None)


def mixed(harness: Harness, tenant: str | None = None) -> list[ThreadSummary]:
    """Threads of every status, some held, with and without metadata; newest first."""
    store = harness.checkpoints
    kinds = [{}, {"kind": "chat"}, {"kind": "batch", "step": "2"}]
    for place, (status, held, pairs) in enumerate(product(CheckpointStatus, (True, False), kinds)):
        harness.advance(MILLISECOND)
        token = put(store, f"t{place:02}", status=status, tenant=tenant, metadata=pairs)
        if not held:
            store.release(f"t{place:02}", token)
    every = store.threads(ThreadQuery(tenant, limit=MAX_LIMIT))
    assert len(every.threads) == 30
    return list(every.threads)


def some_statuses() -> list[frozenset[ThreadStatus] | None]:
    """Every set of statuses, and none."""
    sets = product((False, True), repeat=len(ThreadStatus))
    chosen = [
        frozenset(each for each, wanted in zip(ThreadStatus, bits, strict=True) if wanted) for bits in sets
    ]
    return [None, *chosen]


def test_ops_55_statuses(harness: Harness) -> None:
    store = harness.checkpoints
    every = mixed(harness)
    for statuses in some_statuses():
        expected = [found.thread_id for found in every if statuses is None or found.status in statuses]
        query = ThreadQuery(None, statuses=statuses, limit=4)
        assert walk(store, query) == (_paged(expected, 4) or [[]]), statuses
    with pytest.raises(ValidationError) as caught:
        ThreadQuery(None, statuses=frozenset({"stuck"}))  # type: ignore[arg-type]
    assert caught.value.field == "statuses"


def test_ops_56_one_pair_of_metadata(harness: Harness) -> None:
    store = harness.checkpoints
    every = mixed(harness)
    for pair in ({"kind": "chat"}, {"kind": "batch"}, {"step": "2"}, {"step": "chat"}, {"kind": ""}):
        ((key, value),) = pair.items()
        expected = [found.thread_id for found in every if found.metadata.get(key) == value]
        assert walk(store, ThreadQuery(None, metadata=pair, limit=4)) == (_paged(expected, 4) or [[]]), pair
    assert len(ids(store.threads(ThreadQuery(None, metadata={})))) == 30
    refused(
        ValidationError("metadata", ("has 2 pairs; only one can be asked for",)),
        partial(ThreadQuery, None, metadata={"kind": "batch", "step": "2"}),
    )


def test_ops_56_metadata_follows_the_commits(harness: Harness) -> None:
    store = harness.checkpoints
    token = put(store, "t", metadata={"kind": "chat"})
    harness.advance(SECOND)
    put(store, "u", metadata={"kind": "chat"})
    chat, batch = (ThreadQuery(None, metadata={"kind": kind}) for kind in ("chat", "batch"))
    assert ids(store.threads(chat)) == ["u", "t"]
    harness.advance(SECOND)
    put(store, "t", "c2", "c1", token=token)
    assert ids(store.threads(chat)) == ["t", "u"]
    set_metadata(store, "t", token, {"kind": "batch"})
    assert (ids(store.threads(chat)), ids(store.threads(batch))) == (["u"], ["t"])
    set_metadata(store, "t", token, {"kind": None})
    assert ids(store.threads(batch)) == []
    store.delete_thread("t", token)
    assert ids(store.threads(ANYBODY)) == ["u"]


def test_ops_57_the_predicate_agrees_with_the_store(harness: Harness) -> None:
    store = harness.checkpoints
    mixed(harness, tenant="y")
    every = mixed_again(harness)
    times = [None, every[len(every) // 2].updated_at]
    pairs: list[dict[str, str] | None] = [None, {"kind": "chat"}]
    for statuses, since, pair in product(some_statuses(), times, pairs):
        query = ThreadQuery("x", statuses=statuses, updated_since=since, metadata=pair, limit=MAX_LIMIT)
        listed = store.threads(query)
        assert list(listed.threads) == [found for found in every if query.matches(found)], query
        assert not any(
            replace(query, tenant=other).matches(found) for found in every for other in (None, "y")
        )


def mixed_again(harness: Harness) -> list[ThreadSummary]:
    """A second set of threads, for another owner, with ids of their own."""
    store = harness.checkpoints
    for place, (status, pairs) in enumerate(
        product(CheckpointStatus, [{}, {"kind": "chat"}, {"kind": "batch"}])
    ):
        harness.advance(MILLISECOND)
        token = put(store, f"x{place:02}", status=status, tenant="x", metadata=pairs)
        if place % 2:
            store.release(f"x{place:02}", token)
    every = store.threads(ThreadQuery("x", limit=MAX_LIMIT))
    assert {found.status for found in every.threads} == set(ThreadStatus)
    return list(every.threads)


def test_ops_58_a_cursor_outlives_its_thread(harness: Harness) -> None:
    store = harness.checkpoints
    tokens = in_turn(harness, "t1", "t2", "t3")
    first = store.threads(ThreadQuery(None, limit=2))
    store.delete_thread("t2", tokens["t2"])
    assert ids(store.threads(ThreadQuery(None, after=first.next))) == ["t1"]


def test_ops_59_a_cursor_keeps_its_instant(harness: Harness) -> None:
    store = harness.checkpoints
    harness.advance(timedelta(microseconds=123_456))
    steps = in_turn(harness, "t1", "t2", "t3", every=timedelta(microseconds=1))
    assert len(steps) == 3
    assert walk(store, ThreadQuery(None, limit=1)) == [["t3"], ["t2"], ["t1"]]
    assert [found.updated_at.microsecond for found in store.threads(ANYBODY).threads] == [
        123_458,
        123_457,
        123_456,
    ]


@pytest.mark.parametrize("cursor", ["", "nope", "?", "WzFd", "WyJhIiwxXQ", "WzksImEiLDFd", "é"])
def test_ops_59_what_is_no_cursor(harness: Harness, cursor: str) -> None:
    for call in (
        partial(ThreadQuery, None, after=cursor),
        partial(harness.checkpoints.incomplete, None, after=cursor),
    ):
        with pytest.raises(ValidationError) as caught:
            call()
        assert caught.value.field == "after"


def test_ops_61_a_thread_whose_cascade_has_begun(harness_any_clock: Harness) -> None:
    store = harness_any_clock.checkpoints
    token = put(store, "t")
    put(store, "t", "c2", "c1", token=token, status=CheckpointStatus.DELETING)
    assert judged(store) == (ThreadStatus.DELETED, True)


def test_ops_62_another_store_and_a_reopened_one_see_the_same(harness: Harness) -> None:
    every = mixed(harness)
    queries = [ThreadQuery(None, limit=MAX_LIMIT), ThreadQuery(None, metadata={"kind": "chat"})]
    expected: list[Any] = [harness.checkpoints.threads(query) for query in queries]
    assert list(expected[0].threads) == every
    for store in (harness.sibling(), harness.reopen()):
        assert [store.checkpoints.threads(query) for query in queries] == expected
        assert store.checkpoints.incomplete(None) == harness.checkpoints.incomplete(None)


def test_ruling_75_created_at_is_the_first_commit_under_the_id(harness: Harness) -> None:
    store = harness.checkpoints
    t = fresh_id()
    token = claim(store, t).token
    harness.advance(SECOND)
    emit(store, t, token, "a")
    harness.advance(SECOND)
    put(store, t, token=token, created_at=datetime(2001, 1, 1, tzinfo=UTC))
    (found,) = store.threads(ANYBODY).threads
    assert found.created_at == T0 + SECOND
    store.delete_thread(t, token)
    harness.advance(SECOND)
    put(store, t)
    assert store.threads(ANYBODY).threads[0].created_at == harness.now()


def test_a_row_that_does_not_decode_is_a_store_failure(harness: Harness) -> None:
    store = harness.checkpoints
    put(store, "t")
    with harness.raw() as connection:
        connection.execute(text("UPDATE thread SET latest_status = 'odd'"))
    with pytest.raises(StoreFailure) as caught:
        store.threads(ANYBODY)
    assert caught.value.operation == "threads"
    assert "'t'" in caught.value.message
    assert "'odd'" in caught.value.message


def test_a_reader_lists_what_it_may_not_change(harness: Harness) -> None:
    put(harness.checkpoints, "t", metadata={"kind": "chat"})
    put(harness.checkpoints, "child", origin="t")
    reader = harness.open(read_only=True).checkpoints
    assert ids(reader.threads(ANYBODY)) == reader.find_threads(None, "t") == ["t"]
    assert ids(reader.threads(ThreadQuery(None, metadata={"kind": "chat"}))) == ["t"]
    assert reader.children("t") == ["child"]
    assert ids(reader.incomplete(None)) == []
    assert reader.tombstones() == []
    found = reader.latest_of_runs("t", ["run"])
    assert found is not None
    assert found.id == "c1"
