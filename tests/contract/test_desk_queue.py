"""The desk's run queue: every order and filter, a thread's entries, one entry, the depth (console.md F6)."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

import engine.desk.queue
import engine.desk.queue_entry
import engine.desk.queue_thread
from engine.clock import from_ns
from engine.desk import ANY, PREVIEW, Capped, QueueState
from engine.errors import StoreFailure, ValidationError
from engine.paging import encode_cursor
from tests.support.builders import TTL
from tests.support.operator import rows_of, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.harness import Harness

S = QueueState
SECOND = timedelta(seconds=1)
OPEN = {"queued", "leased"}
FILTERS: list[tuple[Any, ...]] = [
    *itertools.product((None, *S), (None, "t1", "t2", "nobody"), (ANY, None, "acme", "nobody"))
]


def fill(harness: Harness) -> None:
    """Entries of every state: due, not due yet, leased, over, and three ways closed; some without a run."""
    queue = harness.store.queue
    for number in range(24):
        tenant = (None, "acme")[number % 2]
        queue.enqueue(f"t{number % 5}", {"n": number}, tenant=tenant, max_attempts=1 + number % 2)
        if number % 4 == 3:
            harness.advance(SECOND)
    queue.enqueue("t1", {}, available_at=harness.now() + timedelta(hours=1))
    for ending in ("complete", "retry", "kill", "later", "lapse"):
        _end(harness, ending)
    queue.cancel(queue.enqueue("t2", {}))
    harness.advance(2 * SECOND)


def _end(harness: Harness, ending: str) -> None:
    """Lease an entry, record a run of it, and end it this way, or leave it leased."""
    queue = harness.store.queue
    entry = queue.lease(f"worker-{ending}", SECOND if ending == "lapse" else TTL)
    assert entry is not None
    queue.record_run(entry.id, entry.lease_token, f"run-{ending}")
    if ending == "complete":
        queue.complete(entry.id, entry.lease_token)
    elif ending == "retry":
        queue.retry(entry.id, entry.lease_token, SECOND)
    elif ending == "kill":
        queue.kill(entry.id, entry.lease_token, "boom")


def expected(rows: Sequence[Any], runs: set[str], wanted: tuple[Any, ...]) -> list[str]:
    """The ids that a filter lists, in order, in plain Python."""
    state, thread, tenant = wanted
    found = [
        row
        for row in rows
        if (state is None or row.state == state)
        and (tenant is ANY or row.tenant == tenant)
        and (thread is None or (row.thread_id == thread and (row.state in OPEN or row.id in runs)))
    ]
    order = {"queued": "available_at", "leased": "lease_until"}.get(state or "") if thread is None else None
    found.sort(key=lambda row: row.id if order is None else (getattr(row, order), row.id))
    return [row.id for row in found]


@pytest.mark.parametrize("limit", [1, 3, 200])
def test_every_filter_lists_what_the_rows_say(harness: Harness, limit: int) -> None:
    fill(harness)
    desk, rows = harness.store.desk, rows_of(harness, "queue_entry")
    runs = {row.entry_id for row in rows_of(harness, "queue_run")}
    for wanted in FILTERS if limit == 200 else FILTERS[:: 3 + limit]:
        state, thread, tenant = wanted
        listed = whole(lambda after, w=wanted: desk.queue(w[0], w[1], after, limit, tenant=w[2]))  # type: ignore[misc]
        assert [row.entry_id for row in listed] == expected(rows, runs, wanted), (state, thread, tenant)
    assert {len(expected(rows, runs, (state, None, ANY))) for state in S} >= {1, 2}


def test_a_row_and_a_detail_say_what_is_stored(harness: Harness) -> None:
    fill(harness)
    desk, now = harness.store.desk, harness.now()
    runs = {row.entry_id: row.run_id for row in rows_of(harness, "queue_run")}
    stored = {row.id: row for row in rows_of(harness, "queue_entry")}
    for row in whole(lambda after: desk.queue(after=after)):
        kept = stored[row.entry_id]
        assert (row.thread_id, row.tenant, row.state.value) == (kept.thread_id, kept.tenant, kept.state)
        assert (row.lease_owner, row.lease_token, row.last_error) == (
            kept.lease_owner,
            kept.lease_token,
            kept.last_error,
        )
        assert (row.attempts, row.max_attempts) == (kept.attempts, kept.max_attempts)
        assert (row.input, row.size) == (kept.input, len(kept.input))
        assert row.available_at == from_ns(kept.available_at)
        assert row.waiting == now - row.available_at
        assert row.lease_left == (None if row.lease_until is None else row.lease_until - now)
        assert row.last_run_id == runs.get(row.entry_id)
        detail = desk.queue_entry(row.entry_id)
        assert detail is not None
        assert detail.row == row
        assert detail.run_ids == ((row.last_run_id,) if row.last_run_id else ())
        assert (detail.more_runs, detail.as_of) == (False, now)
    assert desk.queue_entry("nobody") is None


def test_an_entry_shows_its_newest_runs(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    queue, desk = harness.store.queue, harness.store.desk
    entry_id = queue.enqueue("t", "x" * PREVIEW, max_attempts=9)
    for number in range(4):
        entry = queue.lease("w", TTL)
        assert entry is not None
        queue.record_run(entry_id, entry.lease_token, f"run-{9 - number}")
        queue.retry(entry_id, entry.lease_token, timedelta(0))
    detail = desk.queue_entry(entry_id)
    assert detail is not None
    assert detail.run_ids == ("run-9", "run-8", "run-7", "run-6")
    assert (detail.row.last_run_id, len(detail.row.input), detail.row.size) == ("run-6", PREVIEW, PREVIEW + 2)
    with harness.raw() as connection:
        more = "INSERT INTO queue_run (thread_id, entry_id, run_id, n) VALUES ('t', :entry, :run, :n)"
        connection.execute(text(more), [{"entry": entry_id, "run": f"x{n}", "n": n} for n in range(10, 220)])
    detail = desk.queue_entry(entry_id)
    assert detail is not None
    assert (len(detail.run_ids), detail.run_ids[-1], detail.more_runs) == (200, "x219", True)


def test_the_depth_of_the_queue(harness: Harness) -> None:
    desk = harness.store.desk
    empty = desk.queue_depth()
    assert (empty.queued.count, empty.oldest_due, empty.oldest_lapsed) == (0, None, None)
    fill(harness)
    depth, now = desk.queue_depth(), harness.now()
    rows = rows_of(harness, "queue_entry")
    queued = [from_ns(row.available_at) for row in rows if row.state == "queued"]
    due = [at for at in queued if at <= now]
    leases = [from_ns(row.lease_until) for row in rows if row.state == "leased"]
    over = [at for at in leases if at <= now]
    counts = [each.count for each in (depth.queued, depth.due, depth.leased, depth.lapsed)]
    assert counts == [len(queued), len(due), len(leases), len(over)]
    assert len(due) < len(queued)
    assert len(over) < len(leases)
    assert (depth.oldest_due, depth.oldest_lapsed) == (now - min(due), now - min(over))


def test_bounds_of_a_page(harness: Harness) -> None:
    desk = harness.store.desk
    by_time, by_id = encode_cursor(1, "e"), encode_cursor("e")
    calls: list[tuple[str, Any]] = [
        ("limit", lambda: desk.queue(limit=0)),
        ("limit", lambda: desk.queue(limit=201)),
        ("after", lambda: desk.queue(after=by_time)),
        ("after", lambda: desk.queue(S.QUEUED, after=by_id)),
        ("after", lambda: desk.queue(S.QUEUED, "t", by_time)),
        ("state", lambda: desk.queue("broken")),  # type: ignore[arg-type]
        ("tenant", lambda: desk.queue(tenant="\0")),
        ("thread_id", lambda: desk.queue(thread_id="\0")),
        ("entry_id", lambda: desk.queue_entry("\0")),
    ]
    for field, call in calls:
        with pytest.raises(ValidationError) as caught:
            call()
        assert caught.value.field == field


def test_what_no_index_answers_is_looked_for_within_a_bound(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(harness)
    desk = harness.store.desk
    monkeypatch.setattr(engine.desk.queue, "MAX_DRIVEN", 4)
    monkeypatch.setattr(engine.desk.queue_thread, "MAX_DRIVEN", 4)
    with pytest.raises(ValidationError) as caught:
        desk.queue(S.QUEUED, tenant="acme")
    assert caught.value.field == "tenant"
    with pytest.raises(ValidationError) as caught:
        desk.queue(thread_id="t1")
    assert caught.value.field == "thread_id"
    assert desk.thread("t1") is None
    assert len(desk.queue(S.QUEUED).rows) > 4


def test_a_count_of_the_queue_stops_at_its_cap(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    with harness.raw() as connection:
        rows = [{"id": f"e{n:05}", "state": "queued"} for n in range(10_002)]
        statement = (
            "INSERT INTO queue_entry (id, thread_id, input, state, available_at, lease_token, attempts,"
            " max_attempts) VALUES (:id, 't', '{}', :state, 0, 0, 0, 1)"
        )
        connection.execute(text(statement), rows)
    depth = harness.store.desk.queue_depth()
    assert depth.queued == depth.due == Capped(10_000, more=True)
    with pytest.raises(ValidationError):
        harness.store.desk.queue(thread_id="t")


def test_an_entry_in_a_state_nobody_knows_is_named(harness: Harness) -> None:
    entry = harness.store.queue.enqueue("t", {})
    with harness.raw() as connection:
        connection.execute(text("UPDATE queue_entry SET state = 'dreaming'"))
    for call in (harness.store.desk.queue, lambda: harness.store.desk.queue_entry(entry)):
        with pytest.raises(StoreFailure, match="dreaming"):
            call()


def test_the_queue_of_a_read_only_store_with_a_time_limit(harness: Harness) -> None:
    entry = harness.store.queue.enqueue("t", {})
    desk = harness.open(read_only=True, statement_timeout=SECOND).desk
    assert desk.queue().rows == desk.queue(thread_id="t").rows == harness.store.desk.queue().rows
    assert desk.queue_entry(entry) == harness.store.desk.queue_entry(entry)
    assert desk.queue_depth().queued == Capped(1, more=False)
