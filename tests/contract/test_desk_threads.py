"""The desk's thread listing: what it holds, in which order, in pages of every size (console.md F6)."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

import engine.desk.ids
import engine.desk.pages
import engine.desk.threads
from engine.checkpoints import CheckpointStatus, Commit
from engine.desk import ANY, Capped, ThreadFilter, ThreadStatus
from engine.errors import StoreClosed, StoreFailure, ValidationError
from engine.paging import encode_cursor
from tests.support.builders import T0, TTL, ck, claim, ev, fresh_id
from tests.support.desk import HOLDERS, LONG, expected, fill, listed, pages, stored

if TYPE_CHECKING:
    from tests.support.harness import Harness

S = ThreadStatus
STATUSES = (
    None,
    *(frozenset({status}) for status in S),
    frozenset({S.RUNNING, S.IDLE}),
    frozenset({S.RUNNING, S.FAILED, S.DELETED}),
    frozenset({S.IDLE, S.COMPLETED}),
    frozenset(S) - {S.RUNNING},
    frozenset(S),
    frozenset[S](),
)
TENANTS: tuple[Any, ...] = (ANY, None, "", "acme", "nobody")
OTHERS: tuple[dict[str, Any], ...] = (
    {},
    {"holder": HOLDERS[1]},
    {"prefix": "thr_"},
    {"prefix": "thr_", "holder": HOLDERS[0]},
    {"prefix": ""},
    {"updated_since": T0 + timedelta(seconds=6)},
    {"prefix": "thr_0", "updated_since": T0 + timedelta(seconds=6)},
)


def filters() -> list[ThreadFilter]:
    """Every combination of the parts above."""
    return [
        ThreadFilter(tenant=tenant, statuses=statuses, **other)
        for tenant, statuses, other in itertools.product(TENANTS, STATUSES, OTHERS)
    ]


def test_every_filter_lists_and_counts_what_the_rows_say(harness: Harness) -> None:
    fill(harness)
    rows, now = stored(harness), harness.now()
    for wanted in filters()[::2]:
        found = expected(rows, wanted, now)
        assert listed(harness.store, wanted) == found, wanted
        assert harness.store.desk.count_threads(wanted) == Capped(len(found), more=False), wanted


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_pages_of_every_size_cover_everything_once(harness: Harness, limit: int) -> None:
    fill(harness)
    rows, now = stored(harness), harness.now()
    for wanted in filters()[::13]:
        found = expected(rows, wanted, now)
        all_pages = list(pages(harness.store, wanted, limit))
        assert [row.thread_id for page in all_pages for row in page.rows] == found, wanted
        assert all(len(page.rows) == limit for page in all_pages[:-1])
        assert len(all_pages) == max(1, -(-len(found) // limit))


def test_a_row_says_all_that_the_list_shows(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    desk, checkpoints = harness.store.desk, harness.checkpoints
    held = claim(harness.store, "t", "worker", tenant="acme", ttl=TTL)
    events = [ev("a"), ev("b"), ev("c")]
    made = ck("c1", t="t", run_id="run 1", tenant="acme")
    checkpoints.commit("t", Commit(held.token, checkpoint=made, events=events))
    checkpoints.compact_events("t", 2)
    page = desk.threads(ThreadFilter())
    (row,) = page.rows

    assert (row.thread_id, row.tenant, row.status) == ("t", "acme", S.RUNNING)
    assert (row.holder, row.token, row.events) == ("worker", held.token, 2)
    assert (row.latest_id, row.latest_run_id) == ("c1", "run 1")
    assert row.lease_left is not None
    assert timedelta(0) < row.lease_left <= TTL
    assert row.age == page.as_of - row.updated_at
    assert held.expires_at - page.as_of == row.lease_left


def test_a_lease_that_ends_makes_the_thread_idle(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    desk = harness.store.desk
    t = fresh_id()
    token = claim(harness.store, t).token
    harness.checkpoints.commit(t, Commit(token, checkpoint=ck("c", t=t)))
    running, idle = ThreadFilter(statuses=frozenset({S.RUNNING})), ThreadFilter(statuses=frozenset({S.IDLE}))

    harness.advance_to_just_before(TTL)
    assert [row.status for row in desk.threads(running).rows] == [S.RUNNING]
    assert desk.threads(idle).rows == ()
    harness.advance(TTL)
    assert desk.threads(running).rows == ()
    (row,) = desk.threads(idle).rows
    assert row.status is S.IDLE
    assert (row.holder, row.token) == ("first", token)
    assert row.lease_left is not None
    assert row.lease_left < timedelta(0)


def test_a_lease_over_at_this_very_moment_is_over(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    harness.checkpoints.commit("t", Commit(token, checkpoint=ck("c", t="t")))
    harness.advance(TTL)
    (row,) = harness.store.desk.threads(ThreadFilter(statuses=frozenset({S.IDLE}))).rows
    assert (row.status, row.lease_left) == (S.IDLE, timedelta(0))
    assert harness.store.desk.threads(ThreadFilter(statuses=frozenset({S.RUNNING}))).rows == ()


def test_a_cursor_is_a_position_and_outlives_its_row(harness: Harness) -> None:
    for t in ("a", "b", "c"):
        token = claim(harness.store, t).token
        harness.checkpoints.commit(t, Commit(token, checkpoint=ck("c", t=t)))
    desk = harness.store.desk
    first = desk.threads(ThreadFilter(), limit=1)
    by_id = desk.threads(ThreadFilter(prefix=""), limit=1)
    assert [row.thread_id for page in (first, by_id) for row in page.rows] == ["c", "a"]
    harness.advance(LONG)
    for t in ("a", "c"):
        harness.checkpoints.delete_thread(t, claim(harness.store, t).token)
    assert [row.thread_id for row in desk.threads(ThreadFilter(), first.next).rows] == ["b"]
    assert [row.thread_id for row in desk.threads(ThreadFilter(prefix=""), by_id.next).rows] == ["b"]


def test_bounds_of_a_page(harness: Harness) -> None:
    desk = harness.store.desk
    for limit in (0, -1, 201):
        with pytest.raises(ValidationError) as caught:
            desk.threads(ThreadFilter(), limit=limit)
        assert caught.value.field == "limit"
    assert desk.threads(ThreadFilter(), limit=200).rows == ()
    by_time, by_id = encode_cursor(1, "t"), encode_cursor("t")
    wrong = [(ThreadFilter(), by_id), (ThreadFilter(prefix="t"), by_time), (ThreadFilter(), "?")]
    wrong += [(ThreadFilter(), encode_cursor(2**70, "t")), (ThreadFilter(prefix="t"), encode_cursor("\0"))]
    for wanted, cursor in wrong:
        with pytest.raises(ValidationError) as caught:
            desk.threads(wanted, cursor)
        assert caught.value.field == "after"


def test_filters_are_checked_when_built() -> None:
    faults: list[tuple[str, dict[str, Any]]] = [
        ("statuses", {"statuses": frozenset({"stuck"})}),
        ("tenant", {"tenant": "\0"}),
        ("holder", {"holder": "x" * 513}),
        ("prefix", {"prefix": "\ud800"}),
        ("updated_since", {"updated_since": T0.replace(tzinfo=None)}),
    ]
    for field, wrong in faults:
        with pytest.raises(ValidationError) as caught:
            ThreadFilter(**wrong)
        assert caught.value.field == field


def test_more_live_claims_than_the_bound_ask_for_a_filter(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(harness)
    for module in (engine.desk.threads, engine.desk.pages, engine.desk.ids):
        monkeypatch.setattr(module, "MAX_DRIVEN", 3)
    desk = harness.store.desk
    for field, wanted in (
        ("statuses", ThreadFilter(statuses=frozenset({S.RUNNING, S.FAILED}))),
        ("holder", ThreadFilter(holder=HOLDERS[0])),
    ):
        with pytest.raises(ValidationError) as caught:
            desk.threads(wanted)
        assert caught.value.field == field
        assert desk.count_threads(wanted).more
    assert desk.threads(ThreadFilter(statuses=frozenset({S.RUNNING, S.IDLE}))).rows


def test_a_prefix_looks_at_a_bounded_stretch_of_ids(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(harness)
    monkeypatch.setattr(engine.desk.ids, "MAX_DRIVEN", 30)
    monkeypatch.setattr(engine.desk.pages, "MAX_DRIVEN", 30)
    desk = harness.store.desk
    wanted = ThreadFilter(prefix="thr_", tenant="acme")
    found = expected(stored(harness), wanted, harness.now())
    assert [row.thread_id for row in desk.threads(wanted, limit=2).rows] == found[:2]
    with pytest.raises(ValidationError) as caught:
        desk.threads(wanted, limit=100)
    assert caught.value.field == "prefix"
    counted = desk.count_threads(wanted)
    assert counted.more
    assert 0 < counted.count < len(found)


def test_counts_stop_at_their_cap(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(harness)
    monkeypatch.setattr(engine.desk.pages, "MAX_COUNT", 9)
    monkeypatch.setattr(engine.desk.threads, "MAX_COUNT", 9)
    for wanted in (
        ThreadFilter(),
        ThreadFilter(statuses=frozenset({S.IDLE, S.FAILED})),
        ThreadFilter(prefix="thr_"),
    ):
        assert harness.store.desk.count_threads(wanted) == Capped(9, more=True)


def test_a_row_of_a_status_nobody_knows_is_named(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    done = ck("c", t="t", status=CheckpointStatus.COMPLETED)
    harness.checkpoints.commit("t", Commit(token, checkpoint=done))
    with harness.raw() as connection:
        connection.execute(text("UPDATE thread SET latest_status = 'dreaming'"))
    with pytest.raises(StoreFailure, match="dreaming"):
        harness.store.desk.threads(ThreadFilter())


def test_now_is_the_stores_clock_and_ends_with_the_store(harness_any_clock: Harness) -> None:
    store = harness_any_clock.store
    before = harness_any_clock.now()
    assert before <= store.desk.now() <= harness_any_clock.now()
    desk = store.desk
    store.close()
    with pytest.raises(StoreClosed):
        desk.now()
