"""The desk's statements go by an index and touch no more rows than they must (console.md F6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.checkpoints.tables import event, thread
from engine.clock import to_ns
from engine.desk import ThreadFilter, ThreadStatus
from tests.conftest import BOTH
from tests.support.builders import T0
from tests.support.harness import Harness
from tests.support.plans import plan, statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.desk import Desk
    from tests.support.plans import Step

S = ThreadStatus
THREADS = 6_000
EVENTS = 12_000
PAGE = 20
LIVE = THREADS // 60
"""Threads with a live claim, as many as with one that is over."""
STATUSES = ("running", "completed", "completed", "suspended", "failed")


def of(*statuses: ThreadStatus, **more: Any) -> ThreadFilter:
    """A filter of these statuses."""
    return ThreadFilter(statuses=frozenset(statuses), **more)


# The listing, its index on both back ends, and how many rows its table's scans may touch for a page.
LISTINGS: dict[str, tuple[ThreadFilter, str, int]] = {
    "all": (ThreadFilter(), "thread_by_update", PAGE + 1),
    "since": (ThreadFilter(updated_since=T0), "thread_by_update", PAGE + 1),
    "failed": (of(S.FAILED), "thread_by_state", PAGE + 1),
    "idle": (of(S.IDLE), "thread_by_state", PAGE + 1 + LIVE),
    "running or idle": (of(S.RUNNING, S.IDLE), "thread_by_state", PAGE + 1),
    "two statuses": (of(S.FAILED, S.DELETED), "thread_by_state", 2 * (PAGE + 1)),
    "running": (of(S.RUNNING), "thread_by_expiry", LIVE),
    "holder": (ThreadFilter(holder="worker-0"), "thread_by_holder", 2 * LIVE),
    "tenant": (ThreadFilter(tenant="acme"), "thread_by_tenant", PAGE + 1),
    "tenant failed": (of(S.FAILED, tenant="acme"), "thread_by_status", PAGE + 1),
    "tenant idle": (of(S.IDLE, tenant="acme"), "thread_by_status", PAGE + 1 + LIVE),
}
DRIVEN = {"running", "holder"}
"""Those that sort, but no more than the claims they are driven by."""


def _thread(number: int) -> dict[str, Any]:
    now = to_ns(T0)
    row = dict.fromkeys(column.key for column in thread.c if column.nullable)
    claimed = number % 30 == 0
    row |= {
        "thread_id": f"thr_{number:06}",
        "tenant_key": ("", "tacme")[number % 2],
        "claim_tenant_recorded": False,
    }
    row |= {
        "latest_id": "c",
        "latest_place": 1,
        "latest_status": STATUSES[number % 5],
        "latest_run_id": "run",
    }
    row |= {"updated_at": now + number * 1_000, "last_place": 1, "next_write": 0, "metadata_keys": 0}
    if claimed:
        over = number % 60 == 0
        row |= {"claim_token": number + 1, "claim_holder": f"worker-{number % 4}", "claim_renewals": 0}
        row |= {"claim_expires_at": now + (-1 if over else 1) * 3_600 * 10**9}
    return row


def _event(number: int) -> dict[str, Any]:
    at = {"thread_id": f"thr_{number % THREADS:06}", "seq": 1 + number // THREADS, "committed_at": to_ns(T0)}
    return at | {"kind": f"kind-{number % 50}", "run_id": "run", "token": 1, "payload": "{}"}


@pytest.fixture(scope="module", params=BOTH)
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """A store with thousands of rows; PostgreSQL has seen them, and costs a page as solid state does."""
    name = "sqlite_storage" if request.param == "sqlite" else "postgres_storage"
    harness = Harness(request.getfixturevalue(name), tmp_path_factory.mktemp("plans"))
    with harness.raw() as connection:
        connection.execute(insert(thread), [_thread(number) for number in range(THREADS)])
        connection.execute(insert(event), [_event(number) for number in range(EVENTS)])
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
            database = connection.execute(text("SELECT current_database()")).scalar_one()
            connection.execute(text(f"ALTER DATABASE {database} SET random_page_cost = 1.1"))
    try:
        yield harness
    finally:
        harness.close()


def steps(harness: Harness, call: Callable[[Desk], object]) -> list[Step]:
    """The plan of the one statement that a call runs through SQLAlchemy, after what it may set for it."""
    with statements(harness.store) as seen:
        call(harness.store.desk)
    with harness.raw() as connection:
        for statement, values in seen[:-1]:
            assert "set_config" in statement, seen
            connection.exec_driver_sql(statement, values)
        return plan(connection, *seen[-1])


def scans(found: list[Step], table: str) -> list[Step]:
    """The steps that read rows of `table`."""
    return [step for step in found if f" {table} " in f"{step.text} " and "Bitmap Index" not in step.text]


def sorts(found: list[Step]) -> list[Step]:
    """The steps that sort."""
    return [step for step in found if "Sort" in step.text or "TEMP B-TREE" in step.text]


def check(found: list[Step], table: str, index: str, most: int) -> None:
    """Every scan of the table is a search in that index, and together they touch `most` rows."""
    read = scans(found, table)
    assert read
    for step in read:
        assert index in step.text, found
        assert step.text.startswith(("SEARCH", "Index")), found
    assert sum(step.rows or 0 for step in read) <= most, found


@pytest.mark.parametrize("name", LISTINGS)
def test_report_48_a_page_of_threads_searches_one_index(large: Harness, name: str) -> None:
    wanted, index, most = LISTINGS[name]
    first = large.store.desk.threads(wanted, limit=PAGE)
    assert len(first.rows) == PAGE
    found = steps(large, lambda desk: desk.threads(wanted, first.next, PAGE))
    check(found, "thread", index, most)
    assert bool(sorts(found)) == (name in DRIVEN), found
    assert "OFFSET" not in str(found)


@pytest.mark.parametrize("name", LISTINGS)
def test_report_48_a_count_of_threads_searches_one_index(large: Harness, name: str) -> None:
    wanted, index, _ = LISTINGS[name]
    found = steps(large, lambda desk: desk.count_threads(wanted))
    for step in scans(found, "thread"):
        assert index in step.text, found
    assert not sorts(found), found


def test_a_prefix_searches_the_key(large: Harness) -> None:
    wanted = ThreadFilter(prefix="thr_00", statuses=frozenset({S.FAILED}))
    key = "thread_pkey" if large.kind == "postgresql" else "sqlite_autoindex_thread_1"
    first = large.store.desk.threads(wanted, limit=PAGE)
    found = steps(large, lambda desk: desk.threads(wanted, first.next, PAGE))
    check(found, "thread", key, THREADS + 5 * (PAGE + 1))
    # SQLite does not see that the stretch is in order; it is bounded.
    assert large.kind == "sqlite" or not sorts(found), found
    found = steps(large, lambda desk: desk.count_threads(wanted))
    check(found, "thread", key, 2 * THREADS)


EVENT_CALLS: dict[str, tuple[Callable[[Desk, str], object], int]] = {
    "newest": (lambda desk, _: desk.events_before(None, limit=PAGE), PAGE + 1),
    "before": (lambda desk, at: desk.events_before(at, limit=PAGE), PAGE + 1),
    "after": (lambda desk, at: desk.events(at, limit=PAGE), PAGE + 1),
    "kinds": (lambda desk, at: desk.events_before(at, kinds=["kind-1"], limit=PAGE), 5_001 + PAGE),
    "tenant after": (lambda desk, at: desk.events(at, tenant="acme", limit=PAGE), 5_000 + PAGE),
    "forward": (lambda desk, at: desk.events_forward(at, limit=PAGE), PAGE + 1),
    "tenant forward": (lambda desk, at: desk.events_forward(at, tenant="acme", limit=PAGE), 5_000 + PAGE),
}


@pytest.mark.parametrize("name", EVENT_CALLS)
def test_report_48_a_page_of_events_searches_the_positions(large: Harness, name: str) -> None:
    call, most = EVENT_CALLS[name]
    middle = large.store.desk.events_before(None, limit=500).before
    assert middle is not None
    found = steps(large, lambda desk: call(desk, middle))
    key = "event_position_key" if large.kind == "postgresql" else "INTEGER PRIMARY KEY"
    check(found, "event", key, most)
    assert all((step.rows or 0) <= most for step in sorts(found)), found


def test_ruling_58_each_step_towards_a_time_is_a_keyed_read(large: Harness) -> None:
    with statements(large.store) as seen:
        large.store.desk.event_position_at(T0)
    key = "event_position_key" if large.kind == "postgresql" else "INTEGER PRIMARY KEY"
    assert len(seen) > 5
    with large.raw() as connection:
        for statement, values in seen:
            check(plan(connection, statement, values), "event", key, 1)


def test_a_threads_events_are_searched_by_its_numbers(large: Harness) -> None:
    found = steps(large, lambda desk: desk.events_before(None, thread_id="thr_000007", limit=PAGE))
    key = "event_pkey" if large.kind == "postgresql" else "sqlite_autoindex_event_1"
    check(found, "event", key, 2)
