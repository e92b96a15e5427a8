"""What the overview costs on 100,000 threads: rows read by an index, and instructions run, both bounded (F6)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.checkpoints.tables import event, queue_entry
from engine.clock import to_ns
from engine.desk import ANY, MAX_COUNT, Capped, ThreadFilter, ThreadStatus
from engine.spend.day.tables import reservation
from tests.conftest import BOTH
from tests.support import crowd, money
from tests.support.builders import T0
from tests.support.harness import Harness
from tests.support.plans import plan, statements
from tests.support.statements import Ran, plans, recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.checkpoints.model import Tenancy
    from engine.desk import Desk
    from tests.support.plans import Step

S = ThreadStatus
OTHERS = 64_000
RUNNING = 36_000
LIVE = RUNNING // 3
"""More than a listing is driven by."""
MORE = 12_000
"""Of events, entries, tombstones and reservations: more than are counted."""
CAP = MAX_COUNT + 1
TABLES = ("thread", "event", "queue_entry", "spend_day_reservations")

# Each part, and how many rows of tables it may read at most, whatever is stored.
PARTS: dict[str, tuple[Callable[[Desk], Any], int]] = {
    "threads": (lambda desk: desk.overview_threads(), 8 * CAP),
    "threads of one": (lambda desk: desk.overview_threads("acme"), 8 * CAP),
    "incomplete": (lambda desk: desk.overview_incomplete(), 4 * CAP),
    "incomplete of one": (lambda desk: desk.overview_incomplete("acme"), 4 * CAP),
    "cascades": (lambda desk: desk.overview_cascades(), 4 * CAP),
    "cascades of one": (lambda desk: desk.overview_cascades("acme"), 4 * CAP),
    "claims": (lambda desk: desk.overview_claims(), 2 * CAP + 1),
    "sweep": (lambda desk: desk.overview_sweep(), 1),
    "queue": (lambda desk: desk.overview_queue(), 5 * CAP + 2),
    "tombstones": (lambda desk: desk.overview_tombstones(), CAP + 2),
    "events": (lambda desk: desk.overview_events(), 5_001 + 1),
    "fences": (lambda desk: desk.overview_fences(), 5 * CAP + 2),
    "money": (lambda desk: desk.overview_money(), 5 * CAP + 2),
    "the last five minutes": (lambda desk: desk.changes(T0), 3 * CAP),
}
SETTINGS = ("enable_sort = off", "enable_bitmapscan = off")
"""What the desk sets before it reads tables of any size."""
WHOLE = "enable_incremental_sort = off"
"""What it sets besides where an index has the whole order."""
INSTRUCTIONS = 2_500_000
"""Of SQLite's machine, which ran eighty million a second where this was measured: some 30 ms."""
STEP = 1_000
MOST_STATEMENTS = 10
"""Figures, settings for them and for money, the catalogue twice or three times, one source, and two about days."""


def _count_of(status: ThreadStatus, tenant: Tenancy) -> Callable[[Desk], Any]:
    """The count of a tenant's threads of one status."""
    wanted = ThreadFilter(tenant, statuses=frozenset({status}))
    return lambda desk: desk.count_threads(wanted)


def _entry(number: int) -> dict[str, Any]:
    state = ("queued", "leased", "dead")[number % 3]
    row: dict[str, Any] = {"id": f"{number:06}", "thread_id": f"{number:06}", "tenant": None, "state": state}
    row |= {"input": "{}", "available_at": to_ns(T0), "lease_owner": None, "lease_token": 1, "attempts": 1}
    row |= {"lease_until": to_ns(T0) if state == "leased" else None, "max_attempts": 3, "last_error": None}
    return row


def _event(number: int) -> dict[str, Any]:
    at = {"thread_id": f"t{number}", "seq": 1, "committed_at": to_ns(T0) + number}
    return at | {"kind": "k", "run_id": "run", "token": 1, "payload": "{}"}


def fill(harness: Harness) -> None:
    """A crowd of everything."""
    running, over = "'running'", crowd.NOBODY
    done = (
        "CASE i % 4 WHEN 0 THEN 'suspended' WHEN 1 THEN 'failed' WHEN 2 THEN 'deleting' ELSE 'completed' END"
    )
    with harness.raw() as connection:
        crowd.threads(
            connection, "run-", RUNNING, status=running, tenant="tacme", claimed="i % 3 = 0", over=over
        )
        crowd.threads(
            connection, "end-", OTHERS, status=done, tenant="tacme", claimed="i % 8 = 0", over=crowd.EVERYBODY
        )
        crowd.tombs(connection, "gone-", MORE)
        connection.execute(insert(event), [_event(number) for number in range(MORE)])
        connection.execute(insert(queue_entry), [_entry(number) for number in range(3 * MORE)])
        rows = [money.day_values(n, require_fence=n % 2 == 0, due_at=money.NOW) for n in range(2 * MORE)]
        connection.execute(insert(reservation), rows)
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
    harness.advance(money.from_rows(1))


@pytest.fixture(scope="module", params=BOTH)
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """A store with a hundred thousand threads, and more of everything than is counted."""
    name = "sqlite_storage" if request.param == "sqlite" else "postgres_storage"
    harness = Harness(request.getfixturevalue(name), tmp_path_factory.mktemp("overview"))
    try:
        fill(harness)
        yield harness
    finally:
        harness.close()


def ran(harness: Harness, call: Callable[[Desk], Any]) -> tuple[list[Ran], list[Ran]]:
    """The statements of a call, compiled ones and others, but those that set something or read the catalogue."""
    with (
        pytest.MonkeyPatch.context() as patch,
        statements(harness.store) as executed,
        recording(patch) as compiled,
    ):
        call(harness.store.desk)
    aside = re.compile("set_config|pg_catalog|pg_class|sqlite_master|pragma_")
    given = ([*compiled], [Ran(*each) for each in executed])
    one, other = ([each for each in some if not aside.search(each.text)] for some in given)
    return one, other


def plans_of(harness: Harness, call: Callable[[Desk], Any]) -> list[list[Step]]:
    """The plans of a call's statements together, of either kind, with the settings that it makes itself."""
    compiled, executed = ran(harness, call)
    with harness.raw() as connection:
        if harness.kind == "postgresql":
            for setting in SETTINGS:
                connection.execute(text(f"SET LOCAL {setting}"))
        rest = [step for each in executed for step in plan(connection, each.text, each.values)]
    found = [plans(harness, each, *SETTINGS, WHOLE) for each in compiled]
    kinds = max(map(len, found), default=1)
    return [[step for each in found for step in each[kind]] + rest for kind in range(kinds)]


def reads(found: list[Step]) -> list[Step]:
    """The steps that read rows of tables; what a bitmap gathers is counted where its rows are fetched."""
    return [
        step
        for step in found
        if "Bitmap Index" not in step.text and any(f" {table} " in f"{step.text} " for table in TABLES)
    ]


@pytest.mark.parametrize("name", PARTS)
def test_report_48_a_part_reads_no_more_than_its_bound(large: Harness, name: str) -> None:
    call, most = PARTS[name]
    for found in plans_of(large, call):
        read = reads(found)
        assert read, found
        for step in read:
            assert "Seq Scan" not in step.text, step
            # SQLite walks the log by its rowid, which is no index of its own.
            assert "INDEX" in step.text.upper() or step.text == "SCAN event", step
        assert sum(step.rows or 0 for step in read) <= most, read


COUNTS: dict[str, tuple[Callable[[Desk], Any], int]] = {
    **{
        f"{status} of {tenant}": (_count_of(status, tenant), 2 * CAP + LIVE)
        for status in S
        for tenant in (ANY, "acme")
    },
    "claims": (lambda desk: desk.count_claims(), CAP),
    "claim totals": (lambda desk: desk.claim_totals(), 2 * CAP),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_reads_no_more_than_its_cap_and_the_live_claims(large: Harness, name: str) -> None:
    call, most = COUNTS[name]
    _, executed = ran(large, call)
    assert executed
    with large.raw() as connection:
        if large.kind == "postgresql":
            for setting in (*SETTINGS, WHOLE):
                connection.execute(text(f"SET LOCAL {setting}"))
        found = [step for each in executed for step in plan(connection, each.text, each.values)]
    assert reads(found)
    assert sum(step.rows or 0 for step in reads(found)) <= most, found
    assert not any("Sort" in step.text for step in found), found


def test_the_overview_is_few_statements_and_skips_no_rows(large: Harness) -> None:
    with (
        pytest.MonkeyPatch.context() as patch,
        statements(large.store) as executed,
        recording(patch) as compiled,
    ):
        large.store.desk.overview()
    assert len(compiled) + len(executed) <= MOST_STATEMENTS, (compiled, executed)
    for text_of in (*(each.text for each in compiled), *(each[0] for each in executed)):
        # Beside a LIMIT that is no parameter SQLAlchemy says to SQLite that nothing is skipped.
        assert "OFFSET" not in re.sub(r"LIMIT (\d+|\?) OFFSET \?", "", text_of), text_of
        for table in TABLES:
            assert re.search(rf"count\(\*\)[^()]*FROM {table}\b", text_of) is None, text_of


@pytest.mark.parametrize("large", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", [*PARTS, "overview"])
def test_a_part_runs_no_more_than_its_instructions(large: Harness, name: str) -> None:
    call, _ = PARTS.get(name, (lambda desk: desk.overview(), 0))
    ran_so_far = sum(instructions(large, each) for some in ran(large, call) for each in some)
    assert ran_so_far <= (3 if name == "overview" else 1) * INSTRUCTIONS


def instructions(harness: Harness, each: Ran) -> int:
    """What SQLite's machine runs for a statement, in thousands of instructions."""
    called = 0

    def count() -> None:
        nonlocal called
        called += 1

    with harness.raw() as connection:
        driver: Any = connection.connection.driver_connection
        driver.set_progress_handler(count, STEP)
        connection.exec_driver_sql(each.text, tuple(each.values)).all()
        driver.set_progress_handler(None, STEP)
    return called * STEP


def test_idle_threads_behind_more_live_ones_than_are_skipped(harness: Harness) -> None:
    with harness.raw() as connection:
        crowd.threads(connection, "early-", 3, status="'running'")
        crowd.threads(connection, "live-", CAP + 50, status="'running'", claimed="TRUE", later=10_000)
        crowd.threads(connection, "late-", 2, status="'running'", later=10**9)
    desk = harness.store.desk
    found = desk.overview_incomplete()
    assert (found.count, desk.overview_threads().by_status[S.IDLE]) == (Capped(3, more=True),) * 2
    assert found.oldest is not None
    assert found.oldest.thread_id == "early-000001"
    assert desk.overview_threads().by_status[S.RUNNING] == Capped(MAX_COUNT, more=True)
    with harness.raw() as connection:
        connection.execute(text("DELETE FROM thread WHERE thread_id LIKE 'early-%'"))
    found = desk.overview_incomplete()
    assert (found.count, found.oldest) == (Capped(0, more=True), None)
    with harness.raw() as connection:
        connection.execute(text("UPDATE thread SET claim_token = NULL WHERE thread_id = 'live-000007'"))
        connection.execute(text("DELETE FROM thread WHERE thread_id > 'live-000100' AND thread_id < 'm'"))
    found = desk.overview_incomplete()
    assert found.count == Capped(3, more=False)
    assert found.oldest is not None
    assert found.oldest.thread_id == "live-000007"


def test_what_is_more_than_can_be_counted_is_said_to_be(large: Harness) -> None:
    desk = large.store.desk
    found = desk.overview_threads()
    assert {status for status in S if not found.by_status[status].more} == set()
    assert desk.overview_incomplete().count.more
    assert found.by_status[S.COMPLETED] == Capped(MAX_COUNT, more=True)
    cascades = desk.overview_cascades()
    assert (cascades.begun.more, cascades.interrupted.more, cascades.oldest is not None) == (True, True, True)
    money_now = desk.overview_money()
    assert money_now.totals.day.expired.more
    assert desk.overview_fences().due.more
