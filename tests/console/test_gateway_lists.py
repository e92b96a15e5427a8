"""The operator's lists through the gateway, on both back ends: incomplete, children, tombstones, claims, queue."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console.claims_model import ClaimQuery, ClaimState, Stored, Verdict
from console.gateway import EngineGateway
from console.model import (
    EventQuery,
    GatewayError,
    IncompleteQuery,
    ThreadQuery,
    ThreadState,
    TombstoneQuery,
)
from console.queue_model import QueueQuery, QueueState
from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    EventDraft,
    Origin,
    delete_thread_cascade,
)
from engine.errors import StaleClaim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine import Store
    from tests.support.harness import Harness

LEASE = timedelta(minutes=5)
OVER = timedelta(milliseconds=1)
"""A lease that has ended when anybody looks."""


@pytest.fixture
def store(harness: Harness) -> Store:
    """A writer under the harness's clock."""
    return harness.store


@pytest.fixture
def door(harness: Harness) -> Iterator[EngineGateway]:
    """The gateway under test, with the same clock."""
    opened = EngineGateway(harness.url, harness.clock)
    yield opened
    opened.close()


def begin(
    store: Store, thread: str, *, ttl: timedelta = LEASE, tenant: str | None = None, parent: str | None = None
) -> int:
    """A claim and a first checkpoint; the token."""
    token = store.checkpoints.claim(thread, ClaimRequest(f"run-{thread}", ttl, tenant)).token
    checkpoint = Checkpoint(
        f"ck-{thread}",
        thread,
        f"run-{thread}",
        CheckpointStatus.RUNNING,
        {"n": 1},
        tenant=tenant,
        origin=None if parent is None else Origin(parent),
    )
    draft = EventDraft("begun", {"text": "x" * 20_000}, f"run-{thread}")
    store.checkpoints.commit(
        thread, Commit(token, checkpoint, events=(draft,), metadata={"title": "a report"})
    )
    return token


def test_both_ends_of_the_threads_and_of_the_incomplete_ones(
    harness: Harness, store: Store, door: EngineGateway
) -> None:
    for number in range(5):
        begin(store, f"t{number}", ttl=OVER if number % 2 else LEASE)
        harness.advance(timedelta(seconds=1))
    query, idle = ThreadQuery(), ThreadQuery(states=frozenset({ThreadState.IDLE}))
    first = door.threads_from_end(query, None, 3)
    rest = door.threads_from_end(query, first.next, 3)
    assert [row.id for row in (*first.rows, *rest.rows)] == ["t0", "t1", "t2", "t3", "t4"]
    assert rest.next is None
    assert [row.id for row in door.incomplete(IncompleteQuery(), None, 9).rows] == ["t1", "t3"]
    assert [row.id for row in door.threads(idle, None, 9).rows] == ["t3", "t1"]


def test_incomplete_threads_come_longest_untouched_first(
    harness: Harness, store: Store, door: EngineGateway
) -> None:
    for thread in ("a", "b", "c"):
        begin(store, thread, ttl=LEASE if thread == "b" else OVER, tenant="acme")
        harness.clock.advance(timedelta(seconds=1))
    first = door.incomplete(IncompleteQuery(), None, 1)
    rest = door.incomplete(IncompleteQuery(tenant="acme"), first.next, 10)
    assert [row.id for row in (*first.rows, *rest.rows)] == ["a", "c"]
    assert {row.state for row in (*first.rows, *rest.rows)} == {ThreadState.IDLE}
    assert door.incomplete(IncompleteQuery(tenant=None), None, 10).rows == ()


def test_metadata_finds_its_threads(store: Store, door: EngineGateway) -> None:
    begin(store, "a", tenant="acme")
    asked = ThreadQuery(metadata=("title", "a report"))
    assert [row.id for row in door.threads(asked, None, 10).rows] == ["a"]
    assert door.count_threads(asked).count == 1
    assert door.threads(ThreadQuery(tenant="acme", metadata=("title", "b")), None, 10).rows == ()


def test_children_come_as_adopted_and_tell_their_parent(store: Store, door: EngineGateway) -> None:
    begin(store, "root")
    for name in ("z", "m", "a"):
        begin(store, name, parent="root")
    first = door.children("root", None, 2)
    rest = door.children("root", first.next, 2)
    assert [row.id for row in (*first.rows, *rest.rows)] == ["z", "m", "a"]
    assert rest.next is None
    root, child = door.story("root"), door.story("m")
    assert root is not None
    assert child is not None
    assert (root.parent, root.children, root.more) == (None, 3, frozenset())
    assert (child.parent, child.children) == ("root", 0)


def test_a_tombstone_says_where_numbering_continues(store: Store, door: EngineGateway) -> None:
    token = begin(store, "gone")
    store.checkpoints.release("gone", token)
    delete_thread_cascade(store.checkpoints, "gone", run_id="erase", tenant=None, ttl=LEASE)
    (row,) = door.tombstones(TombstoneQuery(), None, 10).rows
    story = door.story("gone")
    assert story is not None
    assert story.tombstone is not None
    assert (row.thread, row.continues_at, row.reused) == ("gone", story.tombstone.next_first_seq, False)
    begin(store, "gone")
    assert door.newest_events(EventQuery(thread="gone"), 10).rows[0].seq == row.continues_at
    assert door.tombstones(TombstoneQuery(), None, 10).rows[0].reused


def test_claims_carry_a_verdict_and_the_refused(harness: Harness, store: Store, door: EngineGateway) -> None:
    late = begin(store, "lost", ttl=OVER, tenant="acme")
    harness.clock.advance(timedelta(seconds=1))
    begin_again = store.checkpoints.claim("lost", ClaimRequest("second", OVER, "acme"))
    with pytest.raises(StaleClaim):
        store.checkpoints.commit("lost", Commit(late))
    harness.clock.advance(timedelta(minutes=20))
    begin(store, "held")
    store.checkpoints.claim("bare", ClaimRequest("run-bare", LEASE))
    rows = {row.thread: row for row in door.claims(ClaimQuery(), None, 10).rows}
    assert next(iter(rows)) == "lost"
    lost, bare = rows["lost"], rows["bare"]
    assert (lost.token, lost.live, lost.verdict, lost.refused) == (begin_again.token, False, Verdict.SAFE, 1)
    assert lost.silent >= timedelta(minutes=20)
    assert lost.reason
    assert (bare.live, bare.verdict, bare.thread_state) == (True, Verdict.ALIVE, None)
    story = door.claim("lost")
    assert story is not None
    assert story.refusals is not None
    assert (story.refusals.token, story.next_token) == (late, bare.token + 1)
    assert door.claim("nobody") is None


def test_claims_by_state_holder_tenant_and_without_checkpoint(
    harness: Harness, store: Store, door: EngineGateway
) -> None:
    begin(store, "over", ttl=OVER, tenant="acme")
    harness.clock.advance(timedelta(seconds=1))
    begin(store, "held")
    store.checkpoints.claim("bare", ClaimRequest("run-bare", LEASE))

    def ids(query: ClaimQuery) -> set[str]:
        found = {row.thread for row in door.claims(query, None, 10).rows}
        assert door.count_claims(query).count == len(found)
        return found

    assert ids(ClaimQuery(state=ClaimState.EXPIRED)) == {"over"}
    assert ids(ClaimQuery(state=ClaimState.LIVE)) == {"held", "bare"}
    assert ids(ClaimQuery(holder="run-held")) == {"held"}
    assert ids(ClaimQuery(tenant="acme")) == {"over"}
    assert ids(ClaimQuery(stored=Stored.CLAIM_ONLY)) == {"bare"}
    totals = door.claim_totals()
    assert (totals.live.count, totals.expired.count) == (2, 1)
    holders = door.holders(None, 10).rows
    assert [(row.holder, row.live, row.expired) for row in holders] == [
        ("run-bare", 1, 0),
        ("run-held", 1, 0),
        ("run-over", 0, 1),
    ]


def test_the_queue_lists_leased_entries_and_then_queued_ones(
    harness: Harness, store: Store, door: EngineGateway
) -> None:
    for number in range(5):
        store.queue.enqueue(f"t{number}", {"n": number}, tenant="acme")
        harness.clock.advance(timedelta(seconds=1))
    leased = [store.queue.lease("dispatcher", LEASE * times) for times in (1, 2)]
    assert leased[0] is not None
    store.queue.record_run(leased[0].id, leased[0].lease_token, "run-1")
    pages, after = [], None
    for _ in range(9):
        page = door.queue(QueueQuery(), after, 2)
        pages.append([row.thread for row in page.rows])
        after = page.next
        if after is None:
            break
    assert pages == [["t0", "t1"], ["t2", "t3"], ["t4"]]
    first = door.queue(QueueQuery(state=QueueState.LEASED), None, 10).rows[0]
    assert (first.owner, first.run, first.attempts, json.loads(first.input)) == (
        "dispatcher",
        "run-1",
        1,
        {"n": 0},
    )
    runs = door.queue_runs(leased[0].id)
    assert runs is not None
    assert (runs.runs, runs.more) == (("run-1",), False)
    assert door.queue_runs("nothing") is None
    depth = door.queue_depth()
    assert (depth.leased.count, depth.lapsed.count, depth.queued.count, depth.due.count) == (2, 0, 3, 3)
    assert door.queue(QueueQuery(tenant="globex"), None, 10).rows == ()


def test_a_thread_shows_its_own_entries(store: Store, door: EngineGateway) -> None:
    begin(store, "a")
    entry = store.queue.enqueue("a", {"go": True})
    store.queue.enqueue("b", {})
    story = door.story("a")
    assert story is not None
    assert [row.entry for row in story.queue] == [entry]
    assert [row.entry for row in door.queue(QueueQuery(thread="a"), None, 10).rows] == [entry]


def test_a_cut_payload_can_be_had_whole(store: Store, door: EngineGateway) -> None:
    begin(store, "a")
    assert json.loads(door.payload("a", 1)) == {"text": "x" * 20_000}
    with pytest.raises(GatewayError, match="no longer stored"):
        door.payload("a", 99)
