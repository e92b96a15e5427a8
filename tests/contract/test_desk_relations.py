"""What stands beside a thread on the desk: the half-done, children, the deleted, and all of it in one detail."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import engine.desk.detail
from engine.checkpoints import CheckpointStatus, Commit, Origin
from engine.desk import ANY, ThreadFilter, ThreadStatus
from engine.desk.graves import TombstoneRow
from engine.errors import StaleClaim, ValidationError
from engine.paging import encode_cursor
from tests.support.builders import T0, TTL, ck, claim, emit, ev
from tests.support.desk import LONG, TENANTS, fill, status_of, stored
from tests.support.operator import whole

if TYPE_CHECKING:
    from tests.support.harness import Harness

SECOND = timedelta(seconds=1)


def adopt(harness: Harness, child: str, parent: str | None, tenant: str | None = None) -> int:
    """A checkpoint that names the parent; the token of its claim, which stays."""
    token = claim(harness.store, child, tenant=tenant).token
    origin = None if parent is None else Origin(parent)
    made = ck("c", t=child, tenant=tenant, origin=origin)
    harness.checkpoints.commit(child, Commit(token, checkpoint=made))
    return token


@pytest.mark.parametrize("limit", [1, 3, 200])
def test_the_half_done_are_listed_longest_untouched_first(harness: Harness, limit: int) -> None:
    fill(harness)
    desk, rows, now = harness.store.desk, stored(harness), harness.now()
    listed = [row for row in rows if row.latest_id is not None]
    idle = [row for row in listed if status_of(row, now) is ThreadStatus.IDLE]
    idle.sort(key=lambda row: (row.updated_at, row.thread_id))
    for tenant in (ANY, *TENANTS, "nobody"):
        key = "" if tenant is None else f"t{tenant}"
        mine = [row for row in idle if tenant is ANY or (row.parent_id is None and row.tenant_key == key)]
        found = whole(lambda after, tenant=tenant: desk.incomplete(tenant, after, limit))  # type: ignore[misc]
        assert [row.thread_id for row in found] == [row.thread_id for row in mine], tenant
        assert all(row.status is ThreadStatus.IDLE for row in found)
    newest_first = desk.threads(ThreadFilter(statuses=frozenset({ThreadStatus.IDLE}))).rows
    assert {row.thread_id for row in newest_first} == {row.thread_id for row in idle}


def test_the_half_done_agree_with_the_registry(harness: Harness) -> None:
    fill(harness)
    for tenant in TENANTS:
        ours = [row.thread_id for row in harness.store.desk.incomplete(tenant).rows]
        assert ours == [each.thread_id for each in harness.checkpoints.incomplete(tenant).threads]


@pytest.mark.parametrize("limit", [1, 2, 200])
def test_children_come_as_adopted(harness: Harness, limit: int) -> None:
    adopt(harness, "p", None)
    for child in ("z", "a", "m", "b"):
        adopt(harness, child, "p", tenant="acme" if child == "a" else None)
    adopt(harness, "grandchild", "z")
    desk = harness.store.desk
    found = whole(lambda after: desk.children("p", after, limit))
    assert [row.thread_id for row in found] == ["z", "a", "m", "b"] == harness.checkpoints.children("p")
    assert [row.tenant for row in found] == [None, "acme", None, None]
    assert desk.children("nobody").rows == ()


def test_a_cursor_among_children_outlives_its_child(harness: Harness) -> None:
    tokens = {child: adopt(harness, child, "p") for child in ("a", "b", "c")}
    desk = harness.store.desk
    first = desk.children("p", limit=2)
    harness.checkpoints.delete_thread("b", tokens["b"])
    assert [row.thread_id for row in desk.children("p", first.next).rows] == ["c"]


@pytest.mark.parametrize("limit", [1, 2, 200])
def test_tombstones_say_where_numbering_continues(harness: Harness, limit: int) -> None:
    for number, t in enumerate(("a", "b", "c")):
        token = claim(harness.store, t).token
        emit(harness.checkpoints, t, token, *"xyz"[: number + 1])
        harness.checkpoints.delete_thread(t, token)
        if number:
            harness.advance(SECOND)
    desk, checkpoints = harness.store.desk, harness.checkpoints
    late = claim(harness.store, "b").token
    harness.advance(TTL)
    claim(harness.store, "b")
    with pytest.raises(StaleClaim):
        checkpoints.commit("b", Commit(late, events=[ev("late")]))
    again = claim(harness.store, "c").token
    assert emit(checkpoints, "c", again, "again") == [5]
    found = whole(lambda after: desk.tombstones(after, limit))
    now = harness.now()
    assert found == [
        TombstoneRow("c", 6, T0 + SECOND, now - T0 - SECOND, reused=True, refusals=0),
        TombstoneRow("b", 4, T0, now - T0, reused=True, refusals=1),
        TombstoneRow("a", 3, T0, now - T0, reused=False, refusals=0),
    ]
    assert emit(checkpoints, "a", claim(harness.store, "a").token, "next") == [3]
    assert {each.thread_id for each in checkpoints.tombstones()} == {"a", "b", "c"}


def test_a_late_writer_is_counted_on_the_tombstone(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    emit(harness.checkpoints, "t", token, "a")
    harness.checkpoints.delete_thread("t", token)
    with pytest.raises(StaleClaim):
        harness.checkpoints.commit("t", Commit(token, events=[ev("late")]))
    (row,) = harness.store.desk.tombstones().rows
    assert (row.thread_id, row.refusals, row.reused) == ("t", 1, False)


def test_bounds_of_a_page(harness: Harness) -> None:
    desk = harness.store.desk
    by_time, by_id = encode_cursor(1, "t"), encode_cursor("t")
    calls: list[tuple[str, Any]] = [
        *(("limit", call) for call in (lambda: desk.incomplete(limit=0), lambda: desk.tombstones(limit=201))),
        ("limit", lambda: desk.children("p", limit=-1)),
        ("after", lambda: desk.incomplete(after=by_id)),
        ("after", lambda: desk.children("p", by_time)),
        ("after", lambda: desk.tombstones(by_id)),
        ("tenant", lambda: desk.incomplete("\0")),
        ("parent", lambda: desk.children("\0")),
    ]
    for field, call in calls:
        with pytest.raises(ValidationError) as caught:
            call()
        assert caught.value.field == field


def test_a_detail_shows_the_tree_and_the_queue(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.desk.detail, "MAX_RELATED", 2)
    adopt(harness, "root", None)
    adopt(harness, "p", "root")
    for child in ("z", "a", "m"):
        adopt(harness, child, "p")
    queue = harness.store.queue
    entries = sorted(queue.enqueue("p", {"n": n}) for n in range(3))
    desk = harness.store.desk
    detail = desk.thread("p")
    assert detail is not None
    assert detail.parent == "root"
    assert detail.children == desk.children("p", limit=2)
    assert detail.queue == desk.queue(thread_id="p", limit=2)
    assert detail.children is not None
    assert detail.queue is not None
    assert [row.thread_id for row in detail.children.rows] == ["z", "a"]
    assert [row.entry_id for row in desk.queue(thread_id="p", after=detail.queue.next).rows] == entries[2:]
    leaf = desk.thread("m")
    assert leaf is not None
    assert leaf.children is not None
    assert (leaf.children.rows, leaf.children.next) == ((), None)


def test_a_detail_survives_a_queue_that_is_too_long_for_it(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    adopt(harness, "t", None)
    for _ in range(3):
        harness.store.queue.enqueue("t", {})
    monkeypatch.setattr("engine.desk.queue.MAX_DRIVEN", 2)
    detail = harness.store.desk.thread("t")
    assert detail is not None
    assert (detail.queue, detail.row is None) == (None, False)


def test_every_part_of_a_detail_is_of_one_moment(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    adopt(harness, "p", None)
    adopt(harness, "a", "p")
    harness.store.queue.enqueue("p", {})
    detail = harness.store.desk.thread("p")
    assert detail is not None
    assert detail.children is not None
    assert detail.queue is not None
    assert detail.as_of == detail.children.as_of == detail.queue.as_of


def test_the_relations_of_a_read_only_store_with_a_time_limit(harness: Harness) -> None:
    token = adopt(harness, "t", "p")
    emit(harness.checkpoints, "t", token, "a")
    harness.checkpoints.commit(
        "t", Commit(token, checkpoint=ck("d", "c", t="t", status=CheckpointStatus.RUNNING))
    )
    harness.advance(LONG)
    desk = harness.open(read_only=True, statement_timeout=SECOND).desk
    assert [row.thread_id for row in desk.incomplete().rows] == ["t"]
    assert desk.children("p").rows == ()
    assert desk.tombstones().rows == ()
    assert desk.thread("t") == harness.store.desk.thread("t")
