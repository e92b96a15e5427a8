"""The operator's lists go by an index and touch no more rows than they must, at any depth (console.md F6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.checkpoints.tables import event, queue_entry, queue_run, refusal
from engine.clock import to_ns
from engine.desk import ANY, ClaimFilter, ClaimState, QueueState, Stored, ThreadFilter, ThreadStatus
from tests.conftest import BOTH
from tests.support import crowd
from tests.support.builders import T0
from tests.support.harness import Harness
from tests.support.plans import plan, statements
from tests.support.statements import plans, recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.desk import Desk
    from tests.support.plans import Step

COUNT = 6_000
PAGE = 20
CLAIMS = COUNT // 3
CHILDREN = 500
STATES = ("queued", "done", "queued", "leased", "dead", "cancelled")
CLAIMED, OVER = "i % 3 = 0", "i % 6 = 0"
OPEN_OF_ONE = 40
"""Open entries of the one thread that has many."""
RUNS_OF_ONE = 200
LOOK_UPS = 2 * (PAGE + 1)
"""By key, for the rows of a page: their bodies and the bodies' sizes, or their runs."""
WINDOW = 10_001
"""Threads that are looked at for a pair, one past the bound."""

# The call for a page behind the cursor, the index on both back ends, and how many rows of its table it may touch.
THREADS: dict[str, tuple[Any, str, int]] = {
    "claims": (lambda d, at: d.claims(ClaimFilter(), at, PAGE), "thread_by_expiry", PAGE + 1),
    "live": (
        lambda d, at: d.claims(ClaimFilter(state=ClaimState.LIVE), at, PAGE),
        "thread_by_expiry",
        PAGE + 1,
    ),
    "expired": (
        lambda d, at: d.claims(ClaimFilter(state=ClaimState.EXPIRED), at, PAGE),
        "thread_by_expiry",
        PAGE + 1,
    ),
    "holder": (lambda d, at: d.claims(ClaimFilter(holder="worker"), at, PAGE), "thread_by_holder", PAGE + 1),
    "claims of nobody": (
        lambda d, at: d.claims(ClaimFilter(tenant=None), at, PAGE),
        "thread_by_expiry",
        CLAIMS,
    ),
    "with a checkpoint": (
        lambda d, at: d.claims(ClaimFilter(stored=Stored.CHECKPOINT), at, PAGE),
        "thread_by_expiry",
        CLAIMS,
    ),
    "holders": (lambda d, _: d.holders(None, PAGE), "thread_by_holder", CLAIMS),
    "incomplete": (lambda d, at: d.incomplete(ANY, at, PAGE), "thread_by_state", 2 * (PAGE + 1)),
    "incomplete of one": (
        lambda d, at: d.incomplete("acme", at, PAGE),
        "thread_by_status",
        2 * (PAGE + 1),
    ),
    "children": (lambda d, at: d.children("parent", at, PAGE), "thread_by_parent", PAGE + 1),
    "tombstones": (lambda d, at: d.tombstones(at, PAGE), "thread_by_deletion", PAGE + 1),
}
QUEUE: dict[str, tuple[Any, str, int]] = {
    "queued": (lambda d, at: d.queue(QueueState.QUEUED, None, at, PAGE), "queue_by_time", PAGE + 1),
    "leased": (lambda d, at: d.queue(QueueState.LEASED, None, at, PAGE), "queue_by_lease", PAGE + 1),
    "dead": (lambda d, at: d.queue(QueueState.DEAD, None, at, PAGE), "queue_by_state", PAGE + 1),
    "queued of a tenant": (
        lambda d, at: d.queue(QueueState.QUEUED, None, at, PAGE, tenant="acme"),
        "queue_by_time",
        COUNT // 3,
    ),
}


def _entry(number: int) -> dict[str, Any]:
    at, state = to_ns(T0), STATES[number % 6]
    leased = state == "leased"
    return {
        "id": f"entry-{number:06}",
        "thread_id": "many" if state == "queued" and number < 3 * OPEN_OF_ONE else f"acme-{number:06}",
        "tenant": ("acme", None)[number % 2],
        "input": "{}",
        "state": state,
        "available_at": at + number,
        "lease_owner": "w" if leased else None,
        "lease_token": 1,
        "lease_until": at + number if leased else None,
        "attempts": 1,
        "max_attempts": 3,
        "last_error": None,
    }


def _event(number: int) -> dict[str, Any]:
    return {
        "thread_id": f"acme-{number:06}",
        "seq": 1,
        "kind": "k",
        "run_id": "run",
        "committed_at": to_ns(T0),
        "token": 1,
        "payload": "{}",
    }


def _fill(harness: Harness) -> None:
    with harness.raw() as connection:
        crowd.threads(connection, "acme-", COUNT, tenant="tacme", claimed=CLAIMED, over=OVER, keys=1)
        crowd.threads(connection, "beta-", COUNT, tenant="tbeta", later=7, keys=1)
        crowd.threads(connection, "child-", CHILDREN, tenant="tacme", parent="parent")
        crowd.pairs(connection, "acme-", COUNT, tenant="tacme")
        crowd.pairs(connection, "beta-", COUNT, tenant="tbeta", value="'task'")
        crowd.tombs(connection, "gone-", COUNT)
        connection.execute(
            text(
                "UPDATE thread SET claim_renewed_at = created_at, claim_granted_at = created_at,"
                " claim_renewals = 0 WHERE claim_token IS NOT NULL"
            )
        )
        connection.execute(insert(event), [_event(number) for number in range(COUNT)])
        refused = [
            {"thread_id": f"acme-{n:06}", "count": 1, "last_token": 1, "last_verb": "commit", "last_at": 0}
            for n in range(COUNT)
        ]
        connection.execute(insert(refusal), refused)
        connection.execute(insert(queue_entry), [_entry(number) for number in range(COUNT)])
        runs = [
            {"thread_id": f"acme-{n:06}", "entry_id": f"entry-{n:06}", "run_id": f"run-{k}", "n": k}
            for n in range(1, COUNT, 2)
            for k in range(2)
        ]
        runs += [
            {"thread_id": "many", "entry_id": f"entry-{n:06}", "run_id": "run", "n": 1}
            for n in range(0, 3 * RUNS_OF_ONE, 3)
        ]
        connection.execute(insert(queue_run), runs)
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
            database = connection.execute(text("SELECT current_database()")).scalar_one()
            connection.execute(text(f"ALTER DATABASE {database} SET random_page_cost = 1.1"))


@pytest.fixture(scope="module", params=BOTH)
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """A store with thousands of rows; PostgreSQL has seen them, and costs a page as solid state does."""
    name = "sqlite_storage" if request.param == "sqlite" else "postgres_storage"
    harness = Harness(request.getfixturevalue(name), tmp_path_factory.mktemp("operator-plans"))
    try:
        _fill(harness)
        yield harness
    finally:
        harness.close()


def steps(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, call: Callable[[Desk], object]
) -> list[list[Step]]:
    """The plans of the one statement that a call runs, however it runs it, after what it may set for it."""
    with statements(harness.store) as executed, recording(monkeypatch) as ran:
        call(harness.store.desk)
    seen = [each for each in executed if "set_config" not in each[0]]
    assert len(seen) + len(ran) == 1, (seen, ran)
    if ran:
        return plans(harness, ran[0])
    with harness.raw() as connection:
        for each in executed[: len(executed) - 1]:
            connection.exec_driver_sql(*each)
        return [plan(connection, *seen[0])]


def scans(found: list[Step], *tables: str) -> list[Step]:
    """The steps that read rows of a table, or of one of its aliases."""
    return [
        step
        for step in found
        if "Bitmap Index" not in step.text and any(f" {table} " in f"{step.text} " for table in tables)
    ]


def check(found: list[Step], table: str, most: dict[str, int]) -> None:
    """Every scan of the table is a search in one of these indexes, and touches so many rows there at most."""
    read = scans(found, table)
    assert read, found
    for step in read:
        assert step.text.startswith(("SEARCH", "Index")), found
    for name in {step.text for step in read}:
        index = next((index for index in most if index in name), "")
        assert index, (name, found)
        assert sum(step.rows or 0 for step in read if index in step.text) <= most[index], (index, found)


def key_of(harness: Harness, table: str) -> str:
    """The name of a table's primary key."""
    return f"{table}_pkey" if harness.kind == "postgresql" else f"sqlite_autoindex_{table}_1"


def test_what_the_lists_are_measured_on(large: Harness) -> None:
    totals = large.store.desk.claim_totals()
    assert totals.live.count + totals.expired.count == CLAIMS
    assert min(totals.live.count, totals.expired.count) > 10 * PAGE


@pytest.mark.parametrize("name", THREADS)
def test_report_48_a_page_searches_one_index(
    large: Harness, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    call, index, most = THREADS[name]
    first = call(large.store.desk, None)
    deep = call(large.store.desk, first.next) if first.next is not None else first
    for found in steps(large, monkeypatch, lambda desk: call(desk, deep.next)):
        check(found, "thread", {index: most})
        assert "OFFSET" not in str(found)


@pytest.mark.parametrize("name", QUEUE)
def test_report_48_a_page_of_the_queue_searches_one_index(
    large: Harness, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    call, index, most = QUEUE[name]
    first = call(large.store.desk, None)
    assert len(first.rows) == PAGE
    key = key_of(large, "queue_entry")
    for found in steps(large, monkeypatch, lambda desk: call(desk, first.next)):
        check(found, "queue_entry", {index: most, key: LOOK_UPS})
        check_look_ups(large, found)


def check_look_ups(harness: Harness, found: list[Step]) -> None:
    """Bodies and runs are read for the rows of the page alone, by their keys."""
    if scans(found, "whole"):
        check(found, "whole", {key_of(harness, "queue_entry"): LOOK_UPS})
    check(found, "queue_run", {key_of(harness, "queue_run"): LOOK_UPS})


@pytest.mark.parametrize("state", [None, QueueState.QUEUED, QueueState.DONE])
def test_the_queue_of_a_thread_searches_its_entries(
    large: Harness, monkeypatch: pytest.MonkeyPatch, state: QueueState | None
) -> None:
    assert len(large.store.desk.queue(thread_id="many", limit=PAGE).rows) == PAGE
    mine = OPEN_OF_ONE + RUNS_OF_ONE
    most = {"queue_open": OPEN_OF_ONE, key_of(large, "queue_entry"): mine + LOOK_UPS}
    for found in steps(large, monkeypatch, lambda desk: desk.queue(state, "many", limit=PAGE)):
        check(found, "queue_entry", most)
        check(found, "queue_run", {key_of(large, "queue_run"): mine + LOOK_UPS})


def test_all_entries_are_paged_by_their_key(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    first = large.store.desk.queue(limit=PAGE)
    for found in steps(large, monkeypatch, lambda desk: desk.queue(after=first.next, limit=PAGE)):
        check(found, "queue_entry", {key_of(large, "queue_entry"): PAGE + 1 + LOOK_UPS})


def test_the_depth_is_counted_in_the_indexes(large: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    for found in steps(large, monkeypatch, lambda desk: desk.queue_depth()):
        # A walk along a state's own index, up to the cap, is no scan of the table; nothing is sorted.
        read = scans(found, "queue_entry")
        assert len(read) == 6
        assert all("queue_by_time" in step.text or "queue_by_lease" in step.text for step in read), found
        assert not any("Sort" in step.text or "TEMP B-TREE" in step.text for step in found), found


COUNTS: dict[str, tuple[Any, str]] = {
    "claims": (lambda d: d.count_claims(), "thread_by_expiry"),
    "holder": (lambda d: d.count_claims(ClaimFilter(holder="worker")), "thread_by_holder"),
    "totals": (lambda d: d.claim_totals(), "thread_by_expiry"),
    "of a tenant": (lambda d: d.count_claims(ClaimFilter(tenant="acme")), "thread_by_expiry"),
}


@pytest.mark.parametrize("name", COUNTS)
def test_claims_are_counted_in_their_index(
    large: Harness, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    call, index = COUNTS[name]
    for found in steps(large, monkeypatch, call):
        # Either of the two indexes holds claims and nothing else; below the cap, one is as good as the other.
        check(found, "thread", {index: CLAIMS, "thread_by_holder": 2 * CLAIMS})


PAIRS: dict[str, ThreadFilter] = {
    "alone": ThreadFilter(tenant="acme", metadata={"kind": "chat"}),
    "since": ThreadFilter(tenant="acme", metadata={"kind": "chat"}, updated_since=T0),
    "of a status": ThreadFilter(
        tenant="acme", metadata={"kind": "chat"}, statuses=frozenset({ThreadStatus.FAILED})
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_of_one_tenant_searches_its_index(
    large: Harness, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    wanted = PAIRS[name]
    first = large.store.desk.threads(wanted, limit=PAGE)
    assert len(first.rows) == PAGE
    looked = COUNT if wanted.statuses else PAGE + 1
    for found in steps(large, monkeypatch, lambda desk: desk.threads(wanted, first.next, PAGE)):
        check(found, "thread_metadata", {"metadata_by_value": looked})
        check(found, "thread", {key_of(large, "thread"): looked + PAGE + 1})
    for found in steps(large, monkeypatch, lambda desk: desk.count_threads(wanted)):
        check(found, "thread_metadata", {"metadata_by_value": COUNT})


def test_a_pair_of_all_tenants_is_looked_for_in_a_window(
    large: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    everywhere = ThreadFilter(metadata={"kind": "chat"})
    assert len(large.store.desk.threads(everywhere, limit=PAGE).rows) == PAGE
    for call in (
        lambda desk: desk.threads(everywhere, limit=PAGE),
        lambda desk: desk.count_threads(everywhere),
    ):
        for found in steps(large, monkeypatch, call):
            check(found, "thread", {"thread_by_update": WINDOW})
            check(found, "thread_metadata", {key_of(large, "thread_metadata"): WINDOW})


def test_one_claim_and_one_entry_are_read_by_their_keys(
    large: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = large.store.desk.claims(limit=1).rows
    with recording(monkeypatch) as ran:
        assert large.store.desk.claim(row.thread_id) is not None
        assert large.store.desk.queue_entry("entry-000001") is not None
    keys = {
        table: key_of(large, table) for table in ("thread", "event", "refusal", "queue_entry", "queue_run")
    }
    for found in (found for each in ran for found in plans(large, each)):
        for table, key in keys.items():
            if scans(found, table):
                check(found, table, {key: 5})
