"""The desk's event pages: both ways, filtered, and nothing missed behind a slow commit (rulings 23, 58)."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

import engine.checkpoints.gaps
import engine.desk.events
import engine.desk.frontier
from engine.checkpoints import Commit
from engine.checkpoints.commits import commit
from engine.clock import to_ns
from engine.desk import ANY, PREVIEW, EventPage
from engine.errors import ValidationError
from tests.support.background import until
from tests.support.builders import T0, ck, claim, emit, ev

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.store import Store
    from tests.support.harness import Harness

WRITERS, COMMITS = 6, 60
KINDS = ("claimed", "tool.result", "done")
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"kinds": ["claimed", "done"]},
    {"kinds": []},
    {"tenant": "acme"},
    {"tenant": None},
    {"tenant": "acme", "kinds": ["done"]},
    {"thread_id": "t1"},
    {"thread_id": "t1", "kinds": ["done"]},
    {"thread_id": "t2", "tenant": "acme"},
    {"thread_id": "nobody"},
)


def fill(harness: Harness) -> None:
    """Thirty-three events of three threads, two of them with tenants, and one without a checkpoint."""
    tokens = {}
    for number, tenant in enumerate(("acme", None, "acme", "none yet")):
        t = f"t{number}"
        tokens[t] = claim(harness.store, t, tenant=tenant).token
        made = None if number == 3 else ck("c", t=t, tenant=tenant)
        harness.checkpoints.commit(t, Commit(tokens[t], checkpoint=made))
    for number in range(11):
        t = f"t{number % 4}"
        drafts = [ev("e", kind=kind, payload={"n": number}) for kind in KINDS]
        harness.checkpoints.commit(t, Commit(tokens[t], events=drafts))
    harness.checkpoints.delete_thread("t0", tokens["t0"])
    # What was deleted is a gap, and the server's own housekeeping may run a transaction at this very moment.
    until(lambda: harness.store.desk.events(None).held is None, "the gap to be settled")


def expected(harness: Harness, wanted: dict[str, Any]) -> list[tuple[str, int]]:
    """(thread, seq) of every event a filter lets through, oldest first, in plain Python."""
    with harness.raw() as connection:
        rows = connection.execute(text("SELECT * FROM event ORDER BY position")).all()
        threads = connection.execute(text("SELECT thread_id, tenant_key FROM thread")).all()
    keys: dict[str, str | None] = {row.thread_id: row.tenant_key for row in threads}
    return [(row.thread_id, row.seq) for row in rows if _matches(row, keys.get(row.thread_id), wanted)]


def _matches(row: Any, key: str | None, wanted: dict[str, Any]) -> bool:
    tenant, kinds, t = wanted.get("tenant", ANY), wanted.get("kinds"), wanted.get("thread_id")
    return (
        (tenant is ANY or (key or "") == ("" if tenant is None else f"t{tenant}"))
        and (kinds is None or row.kind in kinds)
        and (t is None or row.thread_id == t)
    )


def ids(page: EventPage) -> list[tuple[str, int]]:
    """(thread, seq) of a page's rows."""
    return [(row.thread_id, row.seq) for row in page.rows]


def back(store: Store, limit: int, wanted: dict[str, Any]) -> Iterator[EventPage]:
    """Every page from the log's end to its beginning."""
    position = None
    for _ in range(1000):
        page = store.desk.events_before(position, limit=limit, **wanted)
        yield page
        if page.before is None:
            return
        position = page.before
    raise AssertionError("the log does not begin")


def forth(store: Store, start: str, limit: int, wanted: dict[str, Any]) -> Iterator[EventPage]:
    """Every page from a position to the log's end."""
    for _ in range(1000):
        page = store.desk.events(start, limit=limit, **wanted)
        yield page
        if page.position == start:
            return
        start = page.position
    raise AssertionError("the log does not end")


@pytest.mark.parametrize("searched", [1, 4, 5_000])
@pytest.mark.parametrize("limit", [1, 2, 3, 500])
def test_every_filter_backwards(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, limit: int, searched: int
) -> None:
    fill(harness)
    monkeypatch.setattr(engine.desk.events, "MAX_SEARCHED", searched)
    for wanted in FILTERS:
        pages = list(back(harness.store, limit, wanted))
        assert [each for page in pages for each in ids(page)] == expected(harness, wanted)[::-1], wanted
        assert all(len(page.rows) == page.received <= limit for page in pages)


@pytest.mark.parametrize("searched", [1, 4])
def test_every_filter_forwards(harness: Harness, monkeypatch: pytest.MonkeyPatch, searched: int) -> None:
    fill(harness)
    monkeypatch.setattr(engine.desk.events, "MAX_SEARCHED", searched)
    for wanted in FILTERS:
        found = expected(harness, wanted)
        first = list(back(harness.store, 1, wanted))[-1]
        start = first.position if first.before is None else first.before
        pages = list(forth(harness.store, start, 500, wanted))
        seen = [each for page in pages for each in ids(page)]
        assert seen == found[len(found) - len(seen) :], wanted
        assert sum(page.received for page in pages) == len(seen)
        assert len(seen) >= len(found) - 1, wanted


def test_a_tail_reads_on_from_its_first_page(harness: Harness) -> None:
    fill(harness)
    desk = harness.store.desk
    for wanted in FILTERS:
        first = desk.events(None, limit=3, **wanted)
        assert ids(first) == expected(harness, wanted)[-3:], wanted
        again = desk.events(first.position, **wanted)
        assert (again.rows, again.received, again.position) == ((), 0, first.position)
    token = claim(harness.store, "new").token
    start = desk.events(None).position
    emit(harness.checkpoints, "new", token, "a", "b")
    page = desk.events(start)
    assert ids(page) == [("new", 1), ("new", 2)]
    assert page.received == 2
    assert desk.events(page.position).rows == ()
    assert page.before is not None
    assert ids(desk.events_before(page.before, limit=1)) == expected(harness, {})[-3:-2]


def test_what_comes_too_fast_is_counted_not_shown(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    emit(harness.checkpoints, "t", token, "first")
    filters: tuple[dict[str, Any], ...] = ({}, {"thread_id": "t"}, {"kinds": ["custom"]})
    for wanted in filters:
        start = harness.store.desk.events(None, **wanted).position
        numbers = emit(harness.checkpoints, "t", token, *"abcdefghij")
        page = harness.store.desk.events(start, limit=3, **wanted)
        assert [row.seq for row in page.rows] == numbers[-3:]
        assert page.received == 10
        assert harness.store.desk.events(page.position, **wanted).rows == ()


def test_a_row_says_all_that_the_tail_shows(harness: Harness) -> None:
    token = claim(harness.store, "t", tenant="acme").token
    draft = ev("e", kind="tool.result", payload={"x": "y" * PREVIEW}, checkpoint_id="c", run_id="run 7")
    made = ck("c", t="t", tenant="acme")
    harness.checkpoints.commit("t", Commit(token, checkpoint=made, events=[draft]))
    page = harness.store.desk.events(None)
    (row,) = page.rows
    assert (row.thread_id, row.tenant, row.seq, row.kind) == ("t", "acme", 1, "tool.result")
    assert (row.run_id, row.checkpoint_id, row.token) == ("run 7", "c", token)
    assert (row.timestamp, row.committed_at, page.as_of) == (T0, T0, T0)
    whole = json.dumps(draft.payload, separators=(",", ":"))
    assert (row.payload, row.size) == (whole[:PREVIEW], len(whole))
    assert harness.store.desk.payload("t", 1) == whole


def test_bounds_of_an_event_page(harness: Harness) -> None:
    desk = harness.store.desk
    assert (desk.events(None).rows, desk.events(None).before) == ((), None)
    of_store, of_thread = desk.events(None).position, desk.events(None, thread_id="t").position
    calls: list[tuple[str, Any]] = [
        ("limit", lambda: desk.events(of_store, limit=0)),
        ("limit", lambda: desk.events_before(None, limit=501)),
        ("kinds", lambda: desk.events(None, kinds="done")),
        ("tenant", lambda: desk.events(None, tenant="\0")),
        ("thread_id", lambda: desk.events(None, thread_id="\0")),
        ("position", lambda: desk.events("nowhere")),
        ("position", lambda: desk.events(of_thread)),
        ("position", lambda: desk.events_before(of_store, thread_id="t")),
    ]
    for field, call in calls:
        with pytest.raises(ValidationError) as caught:
            call()
        assert caught.value.field == field


class Slow:
    """Somebody else's transaction that has written an event and not ended."""

    def __init__(self, harness: Harness) -> None:
        token = claim(harness.store, "slow").token
        emit(harness.checkpoints, "slow", token, "before")
        self.connection = harness.sibling().engine.connect()
        self.transaction = self.connection.begin()
        commit(self.connection, "slow", Commit(token, events=[ev("slow")]))


@pytest.mark.parametrize("ending", ["commit", "rollback"])
def test_ruling_23_nothing_is_passed_that_may_still_come(postgres_harness: Harness, ending: str) -> None:
    harness, desk = postgres_harness, postgres_harness.store.desk
    slow = Slow(harness)
    start = desk.events(None)
    assert ids(start) == [("slow", 1)]
    token = claim(harness.store, "fast").token
    emit(harness.checkpoints, "fast", token, "fast")
    waiting = desk.events(start.position)
    assert (waiting.rows, waiting.position) == ((), start.position)
    assert waiting.held is not None
    assert ids(desk.events_before(None)) == [("slow", 1)]
    assert ids(desk.events(None, thread_id="fast")) == [("fast", 1)]

    getattr(slow.transaction, ending)()
    slow.connection.close()
    seen = [
        each
        for page in itertools.islice(forth(harness.store, start.position, 500, {}), 5)
        for each in ids(page)
    ]
    assert seen == ([("slow", 2)] if ending == "commit" else []) + [("fast", 1)]
    assert desk.events(start.position).held is None


def test_ruling_23_a_dead_gap_is_passed_while_others_still_write(postgres_harness: Harness) -> None:
    harness, desk = postgres_harness, postgres_harness.store.desk
    slow = Slow(harness)
    start = desk.events(None).position
    fast = claim(harness.store, "fast").token
    emit(harness.checkpoints, "fast", fast, "one")
    assert desk.events(start).rows == ()
    slow.transaction.rollback()
    with harness.sibling().engine.begin() as busy:
        token = claim(harness.store, "busy").token
        commit(busy, "busy", Commit(token, events=[ev("uncommitted")]))
        emit(harness.checkpoints, "fast", fast, "two")
        page = desk.events(start)
        assert ids(page) == [("fast", 1)]
    assert ids(desk.events(page.position)) == [("busy", 1), ("fast", 2)]
    slow.connection.close()


def test_ruling_23_a_running_transaction_above_every_ended_one_is_waited_for(
    postgres_harness: Harness,
) -> None:
    """Its id lies not below `pg_snapshot_xmax`, although it drew the earlier position."""
    harness, desk = postgres_harness, postgres_harness.sibling().desk
    start = desk.events(None).position
    first, second = (claim(harness.store, t).token for t in ("first", "second"))
    with (
        harness.store.engine.connect() as lower,
        harness.store.engine.connect() as upper,
        lower.begin() as low,
    ):
        lower.execute(text("SELECT pg_current_xact_id()"))
        with upper.begin():
            commit(upper, "second", Commit(second, events=[ev("drawn first")]))
            commit(lower, "first", Commit(first, events=[ev("landed first")]))
            low.commit()
            for _ in range(3):
                page = desk.events(start)
                assert (page.rows, page.held is None) == ((), False)
    assert ids(desk.events(start)) == [("second", 1), ("first", 1)]


def test_ruling_23_later_moments_settle_behind_an_earlier_one(postgres_harness: Harness) -> None:
    """Each look remembers its own moment, so that a new transaction does not put off what was seen before it."""
    harness, desk = postgres_harness, postgres_harness.store.desk
    slow = Slow(harness)
    start = desk.events(None).position
    fast = claim(harness.store, "fast").token
    emit(harness.checkpoints, "fast", fast, "one")
    assert desk.events(start).rows == ()
    slow.transaction.rollback()
    with harness.sibling().engine.begin() as busy:
        commit(busy, "busy", Commit(claim(harness.store, "busy").token, events=[ev("uncommitted")]))
        emit(harness.checkpoints, "fast", fast, "two")
        assert ids(desk.events(start)) == [("fast", 1)]
        assert ids(desk.events(start)) == [("fast", 1)]
    assert ids(desk.events(start)) == [("fast", 1), ("busy", 1), ("fast", 2)]
    slow.connection.close()


def test_ruling_23_a_long_wait_remembers_a_bounded_number_of_moments(
    postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.desk.frontier, "MAX_HORIZONS", 2)
    harness, desk = postgres_harness, postgres_harness.store.desk
    slow = Slow(harness)
    start = desk.events(None).position
    fast = claim(harness.store, "fast").token
    for number in range(5):
        emit(harness.checkpoints, "fast", fast, str(number))
        assert desk.events(start).rows == ()
    assert desk._frontier._gaps.pending == 2
    slow.transaction.commit()
    slow.connection.close()
    assert ids(desk.events(start)) == [("slow", 2), *(("fast", number) for number in range(1, 6))]


def test_ruling_23_a_long_transaction_without_events_holds_nothing(postgres_harness: Harness) -> None:
    harness, desk = postgres_harness, postgres_harness.store.desk
    token = claim(harness.store, "t").token
    start = desk.events(None).position
    with harness.sibling().engine.begin() as busy:
        busy.execute(text("SELECT pg_current_xact_id()"))
        emit(harness.checkpoints, "t", token, "a")
        page = desk.events(start)
        assert (ids(page), page.held) == ([("t", 1)], None)


def test_ruling_23_a_long_wait_names_its_server_process(
    postgres_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.checkpoints.gaps, "PATIENCE", 0.0)
    harness, desk = postgres_harness, postgres_harness.store.desk
    slow = Slow(harness)
    pid = slow.connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
    emit(harness.checkpoints, "fast", claim(harness.store, "fast").token, "fast")
    held = desk.events(None).held
    assert held is not None
    assert (held.position, held.pid) == (2, pid)
    slow.transaction.rollback()
    slow.connection.close()


def test_ruling_23_a_tail_under_load_misses_and_repeats_nothing(postgres_harness: Harness) -> None:
    harness, desk = postgres_harness, postgres_harness.store.desk
    start = desk.events(None).position
    seen: list[tuple[str, int]] = []
    with ThreadPoolExecutor(WRITERS) as pool:
        running = [pool.submit(_write, harness.sibling(), number) for number in range(WRITERS)]
        done = False
        while not done:
            done = all(each.done() for each in running)
            page = desk.events(start)
            assert page.received >= len(page.rows)
            seen += ids(page)
            start = page.position
        for each in running:
            each.result()
    seen += [each for page in forth(harness.store, start, 500, {}) for each in ids(page)]
    assert len(seen) == WRITERS * COMMITS * 2 // 3
    assert seen == expected(harness, {})


def _write(store: Store, number: int) -> None:
    """Commit events one by one under a claim of its own, every third one in vain."""
    t = f"writer-{number}"
    token = claim(store, t).token
    for turn in range(COMMITS):
        with store.engine.connect() as connection, connection.begin() as transaction:
            commit(connection, t, Commit(token, events=[ev(f"e{turn}")]))
            if turn % 3 == 1:
                transaction.rollback()


def test_positions_are_those_of_watch_all(harness: Harness) -> None:
    token = claim(harness.store, "t").token
    emit(harness.checkpoints, "t", token, "a", "b")
    first = harness.store.desk.events_before(None, limit=1)
    assert first.before is not None
    tail = harness.checkpoints.tail(after=harness.store.desk.events(None).rows[0].position)
    assert [record.seq for _, record in tail.read()] == [2]
    assert harness.store.desk.events(tail.position).rows == ()
    assert to_ns(first.as_of) == to_ns(harness.now())
