"""The statements over money go by an index and touch no more rows than they must (console.md F6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, text

from engine.desk import FenceFilter, ReservationFilter, ReservationKind, ReservationState
from engine.spend.day.tables import reservation, run
from tests.conftest import BOTH
from tests.support import money
from tests.support.harness import Harness
from tests.support.plans import plan, statements
from tests.support.statements import plans, recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from engine.desk import Desk
    from tests.support.plans import Step

K, S = ReservationKind, ReservationState
F = ReservationFilter
ROWS = 6_000
"""Of each table; a sixth of them are open and unfenced, as many open and fenced, the rest is over."""
OPEN, FENCED = ROWS // 3, ROWS // 6
PAGE = 20
THREADS = 100
METER = "units"
TABLES = ("spend_day_reservations", "units_reservations", "spots")
DUE = {"day": "spend_day_due", "meter": "idx_units_reservations_due", "tentative": "desk_spots_deadline"}
CATALOGUES = ("pg_class", "sqlite_master", "pragma_table_list")
PARTIAL = {"spend_day_due", "spend_day_fenced", "desk_spots_deadline", "idx_units_reservations_fenced"}
"""Indexes that hold nothing but what is asked for: the first rows of one need no search."""
FENCE = {"day": "spend_day_fenced", "meter": "idx_units_reservations_fenced"}


def _state(number: int) -> tuple[bool, bool]:
    """Whether it is open, and fenced; neighbours in time are of all sorts."""
    return number % 3 == 0, number % 6 == 0


def _day(number: int) -> dict[str, Any]:
    held, fenced = _state(number)
    over = {} if held else {"settled_at": money.NOW, "settled_micro": 1}
    more = {
        "thread_id": f"t{number % THREADS}",
        "kind": f"kind-{number % 7}",
        "day": f"2026-10-{1 + number % 9:02}",
    }
    return money.day_values(number, require_fence=fenced, **over, **more)


def _meter(number: int) -> dict[str, Any]:
    held, fenced = _state(number)
    over = {"state": "consumed", "outcome": "consumed", "settled_at": money.NOW // money.MILLION + number}
    more = {
        "fenced": fenced,
        "evidence_json": "{}" if fenced else None,
        "account_id": f"account-{number % 50}",
    }
    return money.meter_values(number, **({} if held else over), **more)


def _spot(number: int) -> dict[str, Any]:
    held, _ = _state(number)
    row = money.tentative_values(number, txn_id=f"txn-{number % 500}")
    over = {"state": "committed", "reserve_deadline": None}
    return {"spot": f"spot-{number:05}"} | row | ({} if held else over)


@pytest.fixture(scope="module", params=BOTH)
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """Thousands of rows of each kind; PostgreSQL has seen them, and costs a page as solid state does."""
    name = "sqlite_storage" if request.param == "sqlite" else "postgres_storage"
    harness = Harness(request.getfixturevalue(name), tmp_path_factory.mktemp("money"))
    fill(harness)
    with harness.raw() as connection:
        if harness.kind == "postgresql":
            connection.execute(text("ANALYZE"))
            database = connection.execute(text("SELECT current_database()")).scalar_one()
            connection.execute(text(f"ALTER DATABASE {database} SET random_page_cost = 1.1"))
    try:
        yield harness
    finally:
        harness.close()


def fill(harness: Harness) -> None:
    """Write them, and let half of them become due."""
    with harness.raw() as connection:
        connection.execute(insert(reservation), [_day(number) for number in range(ROWS)])
        connection.execute(insert(reservation), [money.operation_values(0, settled_at=1, settled_micro=0)])
        blank = {"bound_micro": 1, "began_at": 1, "settled_micro": None, "ended_at": None}
        runs = [{"reservation_id": f"ops-{n % 20:05}", "run": 1 + n // 20} | blank for n in range(ROWS)]
        connection.execute(insert(run), runs)
        tables = money.make_meter(connection, METER)
        connection.execute(insert(tables.reservations), [_meter(number) for number in range(ROWS)])
        owned = {"allowance": 1, "used": 0, "reserved": 0, "updated_at": 1}
        rows = [{"account_id": f"a{n:05}", "period": "2026-10"} | owned for n in range(ROWS)]
        connection.execute(insert(tables.meter), rows)
        money.make_tables(connection)
        connection.execute(insert(money.SPOTS), [_spot(number) for number in range(ROWS)])
    harness.clock.advance(money.from_rows(ROWS // 2))


def steps(harness: Harness, call: Callable[[Desk], object]) -> list[Step]:
    """The plans of all statements over reservations that a call runs."""
    with pytest.MonkeyPatch.context() as patch:
        with recording(patch) as ran, statements(harness.store) as executed:
            call(harness.store.desk)
        found = [step for each in ran for alike in plans(harness, each) for step in alike]
    with harness.raw() as connection:
        for statement, values in executed:
            if "set_config" in statement:
                connection.exec_driver_sql(statement, values)
            elif "SELECT" in statement and not any(each in statement for each in CATALOGUES):
                found += plan(connection, statement, values)
    return found


def check(found: list[Step], table: str, index: str, most: int) -> None:
    """Every scan of the table is a search in that index, and together they touch `most` rows."""
    read = [step for step in found if f" {table} " in f"{step.text} "]
    assert read, found
    # PostgreSQL may gather the rows of an equality first: the step behind such a one names its index.
    maps = [step for step in found if step.text.startswith("Bitmap Index")]
    for step in read:
        gathered = step.text.startswith("Bitmap Heap") and any(index in each.text for each in maps)
        assert gathered or index in step.text, (index, found)
        searched = (
            step.text.startswith(("SEARCH", "Index"))
            or index in PARTIAL
            or "pkey" in index
            or "autoindex" in index
        )
        assert gathered or searched, found
    assert sum(step.rows or 0 for step in read) <= most, found


def check_sorts(found: list[Step], most: int) -> None:
    """What is sorted is bounded."""
    for step in found:
        if "Sort" in step.text:
            assert (step.rows or 0) <= most, found


# The listing, and for each kind the index and how many rows a page may touch.
LISTINGS: dict[str, tuple[ReservationFilter, dict[str, str], int]] = {
    "all": (F(), DUE, PAGE + 3),
    "fenced": (F(state=S.FENCED), FENCE, PAGE + 3),
    "due": (F(state=S.DUE), FENCE, PAGE + 3),
    "open": (F(state=S.OPEN), DUE, OPEN),
    "expired": (F(state=S.EXPIRED), DUE, OPEN),
    "owner": (F(owner="kind-1"), DUE | {"tentative": "desk_spots_txn"}, OPEN),
    "txn": (F(owner="txn-3", kind=K.TENTATIVE), {"tentative": "desk_spots_txn"}, 8),
    "day": (F(day="2026-10-01"), {"day": "spend_day_due"}, OPEN),
    "thread": (F(thread_id="t3"), {"day": "spend_day_by_thread"}, OPEN // THREADS + 1),
    "leased": (F(leased=True), {"day": "spend_day_due"}, OPEN),
    "settled": (F(state=S.SETTLED), {"meter": "idx_units_reservations_settled"}, PAGE + 3),
    "one meter": (F(prefix=METER), {"meter": DUE["meter"]}, PAGE + 3),
    "one table": (F(table="spots", state=S.EXPIRED), {"tentative": DUE["tentative"]}, PAGE + 3),
}


@pytest.mark.parametrize("name", LISTINGS)
def test_report_48_a_page_of_reservations_searches_the_indexes_of_its_sources(
    large: Harness, name: str
) -> None:
    wanted, indexes, most = LISTINGS[name]
    limit = 2 if name in {"txn", "thread"} else PAGE
    first = large.store.desk.reservations(wanted, limit=limit)
    found = steps(large, lambda desk: desk.reservations(wanted, first.next, limit))
    for kind, table in zip(("day", "meter", "tentative"), TABLES, strict=True):
        if kind in indexes:
            check(found, table, indexes[kind], 2 * most if name in {"owner", "leased"} else most)
    check_sorts(found, OPEN)


@pytest.mark.parametrize("name", LISTINGS)
def test_a_count_of_reservations_searches_the_same_indexes(large: Harness, name: str) -> None:
    wanted, indexes, _ = LISTINGS[name]
    found = steps(large, lambda desk: desk.count_reservations(wanted))
    for kind, table in zip(("day", "meter", "tentative"), TABLES, strict=True):
        if kind in indexes:
            most = ROWS if name == "settled" else OPEN
            check(found, table, indexes[kind], most)


FENCES = {
    "all": (FenceFilter(), PAGE + 3),
    "due": (FenceFilter(state=S.DUE), PAGE + 3),
    "deferred": (FenceFilter(deferred=True, kind=K.METER), FENCED),
    "owner": (FenceFilter(owner="kind-1", kind=K.DAY), 2 * FENCED),
}


@pytest.mark.parametrize("name", FENCES)
def test_report_48_a_page_of_fences_searches_the_index_over_fences(large: Harness, name: str) -> None:
    wanted, most = FENCES[name]
    first = large.store.desk.fences(wanted, limit=PAGE)
    found = steps(large, lambda desk: desk.fences(wanted, first.next, PAGE))
    evidence = {"day": "spend_day_reservations_pkey", "meter": "units_reservations_pkey"}
    if large.kind == "sqlite":
        evidence = {kind: f"sqlite_autoindex_{TABLES[n]}_1" for n, kind in enumerate(("day", "meter"))}
    for kind, table in zip(("day", "meter"), TABLES, strict=False):
        if wanted.kind in {None, K(kind)}:
            listed = [step for step in found if evidence[kind] not in step.text]
            check(listed, table, FENCE[kind], most)
            by_key = [step for step in found if evidence[kind] in step.text]
            assert sum(step.rows or 0 for step in by_key) <= PAGE, found


# What is read beside the lists, the table, its index, and how many rows it may touch.
SINGLE: dict[str, tuple[Callable[[Desk], object], str, str, int]] = {
    "account": (
        lambda desk: desk.account(METER, "account-7"),
        TABLES[1],
        "idx_units_reservations_account",
        ROWS,
    ),
    "day": (lambda desk: desk.day("2026-10-03"), TABLES[0], "spend_day_by_day", ROWS // 4),
    "runs": (lambda desk: desk.reservation(K.DAY, "ops-00000"), "spend_day_runs", "key", 2 * 201),
    "reservation": (lambda desk: desk.reservation(K.DAY, "day-00003"), TABLES[0], "key", 2),
    "unit": (lambda desk: desk.reservation(K.METER, "unit-00003", METER), TABLES[1], "key", 1),
    "its account": (lambda desk: desk.reservation(K.METER, "unit-00003", METER), "units_meter", "key", 1),
    "spot": (lambda desk: desk.reservation(K.TENTATIVE, "spot-00001", "spots"), TABLES[2], "spots", 5),
    "accounts": (lambda desk: desk.accounts(METER, limit=PAGE), "units_meter", "key", PAGE + 1),
}


@pytest.mark.parametrize("name", SINGLE)
def test_what_stands_beside_a_list_is_searched_too(large: Harness, name: str) -> None:
    call, table, index, most = SINGLE[name]
    if index == "key":
        index = f"{table}_pkey" if large.kind == "postgresql" else f"sqlite_autoindex_{table}_1"
    check(steps(large, call), table, index, most)


def test_the_totals_read_each_index_once(large: Harness) -> None:
    found = steps(large, lambda desk: desk.reservation_totals())
    indexes = {*DUE.values(), *FENCE.values()}
    read = [step for step in found if any(f" {table} " in f"{step.text} " for table in TABLES)]
    assert len(read) >= 4 + 4 + 2
    for step in read:
        assert any(index in step.text for index in indexes), step
        assert (step.rows or 0) <= OPEN, found


def test_pages_are_bounded_without_statistics_too(harness: Harness) -> None:
    fill(harness)
    for name in ("all", "due", "expired", "settled", "one meter", "one table"):
        wanted, indexes, most = LISTINGS[name]
        found = steps(harness, lambda desk, w=wanted: desk.reservations(w, limit=PAGE))  # type: ignore[misc]
        for kind, table in zip(("day", "meter", "tentative"), TABLES, strict=True):
            if kind in indexes:
                check(found, table, indexes[kind], most)
    found = steps(harness, lambda desk: desk.count_reservations())
    check_sorts(found, OPEN)
