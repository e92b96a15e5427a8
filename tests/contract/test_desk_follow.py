"""The desk's followers: every event of a store or of a thread, whole, in order, from any position (ruling 23)."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import Commit
from engine.checkpoints.commits import commit
from engine.desk import ANY, PREVIEW
from engine.errors import ValidationError, WaitCancelled
from tests.support.background import until
from tests.support.builders import T0, ck, claim, emit, ev

if TYPE_CHECKING:
    from engine.desk import EventRow, Follower
    from tests.support.harness import Harness

KINDS = ("claimed", "tool.result", "done")
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"kinds": ["claimed", "done"]},
    {"kinds": []},
    {"tenant": "acme"},
    {"tenant": None},
    {"thread_id": "t1"},
    {"thread_id": "t1", "kinds": ["done"]},
    {"thread_id": "t1", "tenant": "acme"},
    {"thread_id": "nobody"},
)


def fill(harness: Harness) -> None:
    """Events of three threads, of two kinds of owners."""
    tenants = {"t0": "acme", "t1": None, "t2": "acme"}
    tokens = {}
    for t, tenant in tenants.items():
        tokens[t] = claim(harness.store, t, tenant=tenant).token
        harness.checkpoints.commit(t, Commit(tokens[t], checkpoint=ck("c", t=t, tenant=tenant)))
    for number in range(9):
        t = f"t{number % 3}"
        drafts = [ev("e", kind=kind, payload={"n": number}) for kind in KINDS]
        harness.checkpoints.commit(t, Commit(tokens[t], events=drafts))


def start(harness: Harness, **wanted: Any) -> str:
    """The position before anything, taken on the empty store."""
    return harness.store.desk.events(None, **wanted).position


def everything(follower: Follower, limit: int) -> list[EventRow]:
    """What reads of that size bring until nothing is left."""
    found: list[EventRow] = []

    def read() -> bool:
        found.extend(follower.read(limit))
        return not follower.more

    until(read, "the end of the log")
    return found


@pytest.mark.parametrize("limit", [1, 2, 500])
def test_every_filter_brings_what_matches_in_order(harness: Harness, limit: int) -> None:
    starts = [start(harness, thread_id=wanted.get("thread_id")) for wanted in FILTERS]
    fill(harness)
    whole = harness.store.desk.events(None).rows
    assert len(whole) == 27
    for wanted, position in zip(FILTERS, starts, strict=True):
        tenant, kinds, t = wanted.get("tenant", ANY), wanted.get("kinds"), wanted.get("thread_id")
        expected = [
            (row.thread_id, row.seq, row.tenant)
            for row in whole
            if (tenant is ANY or row.tenant == tenant)
            and (kinds is None or row.kind in kinds)
            and (t is None or row.thread_id == t)
        ]
        follower = harness.store.desk.follow(position, **wanted)
        rows = everything(follower, limit)
        assert [(row.thread_id, row.seq, row.tenant) for row in rows] == expected, wanted
        assert follower.read() == ()


def test_a_follower_goes_on_from_any_row(harness: Harness) -> None:
    for wanted in ({}, {"thread_id": "t1"}):
        first = start(harness, **wanted)
        if not wanted:
            fill(harness)
            rows = everything(harness.store.desk.follow(first), 500)
        else:
            rows = everything(harness.store.desk.follow(rows[0].position), 500)
            rows = list(harness.store.desk.events(None, thread_id="t1").rows)
        middle = rows[3].position
        rest = everything(harness.sibling().desk.follow(middle, **wanted), 500)
        assert [row.seq for row in rest] == [row.seq for row in rows[4:]]


def test_payloads_come_whole(harness: Harness) -> None:
    position = start(harness)
    token = claim(harness.store, "t", tenant="acme").token
    made = ck("c", t="t", tenant="acme")
    draft = ev("e", payload={"x": "y" * PREVIEW, "n": 9_007_199_254_740_993}, checkpoint_id="c")
    harness.checkpoints.commit("t", Commit(token, checkpoint=made, events=[draft]))
    (row,) = everything(harness.store.desk.follow(position), 500)
    assert row.payload == json.dumps(draft.payload, separators=(",", ":"))
    assert (row.size, row.tenant, row.checkpoint_id) == (len(row.payload), "acme", "c")
    assert (row.timestamp, row.committed_at, row.token) == (T0, T0, token)
    (same,) = harness.store.desk.follow(start(harness, thread_id="other"), thread_id="t").read()
    assert same.payload == row.payload


def test_a_thread_is_followed_into_its_next_life(harness: Harness) -> None:
    position = start(harness, thread_id="t")
    token = claim(harness.store, "t").token
    emit(harness.checkpoints, "t", token, "a", "b")
    follower = harness.store.desk.follow(position, thread_id="t")
    assert [row.seq for row in follower.read()] == [1, 2]
    harness.checkpoints.delete_thread("t", token)
    assert follower.read() == ()
    emit(harness.checkpoints, "t", claim(harness.store, "t").token, "c")
    assert [row.seq for row in follower.read()] == [4]


def test_ruling_23_a_follower_waits_for_an_earlier_commit(postgres_harness: Harness) -> None:
    harness = postgres_harness
    slow, fast = (claim(harness.store, t).token for t in ("slow", "fast"))
    follower = harness.store.desk.follow(start(harness))
    with harness.sibling().engine.connect() as connection, connection.begin():
        commit(connection, "slow", Commit(slow, events=[ev("slow")]))
        emit(harness.checkpoints, "fast", fast, "fast")
        assert follower.read() == ()
        assert follower.held is not None
    assert [row.thread_id for row in follower.read()] == ["slow", "fast"]
    assert follower.held is None


def test_bounds_and_cancel(harness: Harness) -> None:
    desk = harness.store.desk
    of_store, of_thread = start(harness), start(harness, thread_id="t")
    calls: list[tuple[str, Any]] = [
        ("after", lambda: desk.follow(of_thread)),
        ("position", lambda: desk.follow(of_store, thread_id="t")),
        ("limit", lambda: desk.follow(of_store).read(501)),
        ("limit", lambda: desk.follow(of_thread, thread_id="t").read(0)),
        ("kinds", lambda: desk.follow(of_store, kinds="done")),
    ]
    for field, call in calls:
        with pytest.raises(ValidationError) as caught:
            call()
        assert caught.value.field == field
    cancel = threading.Event()
    cancel.set()
    for follower in (desk.follow(of_store), desk.follow(of_thread, thread_id="t")):
        with pytest.raises(WaitCancelled):
            follower.read(cancel=cancel)
