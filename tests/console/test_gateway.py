"""The gateway over a real store, on both back ends: the engine's records arrive as the console's rows."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from console import gateway, stores
from console.claims_model import Verdict
from console.gateway import EngineGateway
from console.model import ANY, EventQuery, GatewayError, ThreadQuery, ThreadState
from engine import open_store
from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    EffectDraft,
    EventDraft,
    PendingWrite,
)
from engine.errors import StaleClaim

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine import Store
    from tests.support.harness import Harness

LEASE = timedelta(minutes=5)


@pytest.fixture
def store(harness: Harness) -> Iterator[Store]:
    """A writer with the clock that operators have."""
    with open_store(harness.url) as opened:
        yield opened


@pytest.fixture
def door(harness: Harness) -> Iterator[EngineGateway]:
    """The gateway under test."""
    opened = EngineGateway(harness.url)
    yield opened
    opened.close()


def work(store: Store, thread: str, *, tenant: str | None = None, release: bool = False) -> int:
    """One agent's step on a thread: claim, commit, perhaps let go; the token."""
    claim = store.checkpoints.claim(thread, ClaimRequest(holder=f"worker-{thread}", ttl=LEASE, tenant=tenant))
    checkpoint = Checkpoint(
        id=f"ck-{thread}",
        thread_id=thread,
        run_id=f"worker-{thread}",
        status=CheckpointStatus.SUSPENDED if release else CheckpointStatus.RUNNING,
        snapshot={"n": 9_007_199_254_740_993, "text": "\x1b[2J"},
        tenant=tenant,
    )
    store.checkpoints.commit(
        thread,
        Commit(
            claim.token,
            checkpoint,
            writes=(PendingWrite(checkpoint.id, "task", "node", {"w": 1}),),
            events=tuple(EventDraft(f"kind.{n}", {"n": n}, f"worker-{thread}") for n in range(3)),
            effects=(EffectDraft("mail", {"sent": True}),),
            metadata={"title": "report"},
        ),
    )
    if release:
        store.checkpoints.release(thread, claim.token)
    return claim.token


def test_threads_come_newest_first_and_page_by_cursor(store: Store, door: EngineGateway) -> None:
    for name in ("a", "b", "c"):
        work(store, name, tenant="acme", release=name == "b")
    first = door.threads(ThreadQuery(), None, 2)
    rest = door.threads(ThreadQuery(), first.next, 2)
    assert [row.id for row in (*first.rows, *rest.rows)] == ["c", "b", "a"]
    assert rest.next is None
    newest, middle = first.rows
    assert (newest.state, newest.holder, newest.events) == (ThreadState.RUNNING, "worker-c", 3)
    assert newest.lease_left is not None
    assert timedelta(0) < newest.lease_left <= LEASE
    assert (middle.state, middle.holder, middle.lease_left) == (ThreadState.SUSPENDED, None, None)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        (ThreadQuery(states=frozenset({ThreadState.SUSPENDED})), ["b"]),
        (ThreadQuery(tenant=None), ["c"]),
        (ThreadQuery(tenant="acme"), ["b", "a"]),
        (ThreadQuery(prefix="a"), ["a"]),
        (ThreadQuery(holder="worker-c"), ["c"]),
        (ThreadQuery(since=timedelta(minutes=1)), ["c", "b", "a"]),
        (ThreadQuery(tenant=ANY, prefix="zz"), []),
    ],
)
def test_filters_are_answered_by_the_store(
    store: Store, door: EngineGateway, query: ThreadQuery, ids: list[str]
) -> None:
    work(store, "a", tenant="acme")
    work(store, "b", tenant="acme", release=True)
    work(store, "c")
    assert [row.id for row in door.threads(query, None, 10).rows] == ids
    assert door.count_threads(query).count == len(ids)


def test_a_story_tells_who_holds_and_who_was_refused(store: Store, door: EngineGateway) -> None:
    token = work(store, "a", tenant="acme", release=True)
    work_on = store.checkpoints.claim("a", ClaimRequest(holder="second", ttl=LEASE, tenant="acme"))
    with pytest.raises(StaleClaim):
        store.checkpoints.commit("a", Commit(token))
    story = door.story("a")
    assert story is not None
    assert story.claim is not None
    claim = story.claim.row
    assert (claim.holder, claim.token, claim.live) == ("second", work_on.token, True)
    assert (claim.verdict, story.claim.next_token) == (Verdict.ALIVE, work_on.token + 1)
    assert story.refusals is not None
    assert (story.refusals.count, story.refusals.token) == (1, token)
    assert [row.id for row in story.checkpoints] == ["ck-a"]
    assert [(row.task, json.loads(row.body)) for row in story.writes] == [("task", {"w": 1})]
    assert [(row.key, json.loads(row.value)) for row in story.effects] == [("mail", {"sent": True})]
    assert story.metadata == (("title", "report"),)
    assert (story.floor_seq, story.next_seq) == (1, 4)
    assert json.loads(door.snapshot("a", "ck-a"))["n"] == 9_007_199_254_740_993


def test_what_is_not_stored_is_said(store: Store, door: EngineGateway) -> None:
    assert door.story("nobody") is None
    with pytest.raises(GatewayError, match="no longer stored"):
        door.snapshot("nobody", "nothing")


def test_a_tail_begins_with_the_newest_and_goes_on(store: Store, door: EngineGateway) -> None:
    work(store, "a", tenant="acme")
    batch = door.newest_events(EventQuery(), 2)
    assert [event.seq for event in batch.rows] == [2, 3]
    assert (batch.received, batch.dropped) == (2, 0)
    assert batch.before is not None
    older = door.older_events(EventQuery(), batch.before, 10)
    assert [event.seq for event in older.rows] == [1]
    work(store, "b")
    more = door.events(EventQuery(), batch.position, 2)
    assert [(event.thread, event.seq) for event in more.rows] == [("b", 2), ("b", 3)]
    assert (more.received, more.dropped) == (3, 1)
    quiet = door.events(EventQuery(), more.position, 10)
    assert (quiet.rows, quiet.position) == ((), more.position)


def test_a_tail_can_be_narrowed(store: Store, door: EngineGateway) -> None:
    work(store, "a", tenant="acme")
    work(store, "b")
    of_thread = door.newest_events(EventQuery(thread="a"), 10)
    of_kind = door.newest_events(EventQuery(kinds=frozenset({"kind.1"})), 10)
    of_none = door.newest_events(EventQuery(tenant=None), 10)
    assert {event.thread for event in of_thread.rows} == {"a"}
    assert [event.kind for event in of_kind.rows] == ["kind.1", "kind.1"]
    assert {event.thread for event in of_none.rows} == {"b"}


def test_a_closed_gateway_says_so(door: EngineGateway, store: Store) -> None:
    door.threads(ThreadQuery(), None, 1)
    door.close()
    with pytest.raises(GatewayError):
        door.threads(ThreadQuery(), None, 1)


def test_a_file_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    path, moved = tmp_path / "fleet.db", tmp_path / "moved.db"
    with open_store(f"sqlite:///{path}") as store:
        work(store, "a")
    door = EngineGateway(f"sqlite:///{path}")
    assert len(door.threads(ThreadQuery(), None, 10).rows) == 1
    path.rename(moved)
    with pytest.raises(GatewayError, match="cannot be reached"):
        door.threads(ThreadQuery(), None, 10)
    assert not path.exists()
    moved.rename(path)
    assert len(door.threads(ThreadQuery(), None, 10).rows) == 1
    door.close()


def test_a_store_without_tables_is_refused_and_migrate_makes_them(harness: Harness) -> None:
    url = harness.fresh_url()
    door = EngineGateway(url)
    with pytest.raises(GatewayError, match=r"migrate|cannot be reached"):
        door.threads(ThreadQuery(), None, 1)
    gateway.migrate(url)
    assert door.threads(ThreadQuery(), None, 1).rows == ()
    door.close()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ops:hunter2@db-1:5432/ledger?sslmode=require",
        "postgresql+psycopg://ops@db-1/ledger?password=hunter2",
        "postgres://ops:hun%74er2@db-1/ledger?sslpassword=hunter2",
        "postgresql://ops:hunter2@[::bad/x",
        "postgresql://ops:1/hunter2@db-1/ledger",
        "postgresql://ops:1?hunter2@db-1/ledger",
        "postgresql://ops:1@hunter2@db-1/ledger",
    ],
)
def test_no_password_is_ever_shown(url: str) -> None:
    label = stores.label_of(url)
    assert "hunter2" not in f"{label.name}{label.address}"
    assert "hun%74er2" not in label.address
