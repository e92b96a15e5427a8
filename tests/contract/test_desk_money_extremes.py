"""Reservations whose instants lie at the ends of what columns hold: they are listed, each once, and fail no screen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text

from engine.clock import EARLIEST, LATEST
from engine.desk import FenceFilter, ReservationFilter
from engine.errors import ValidationError
from engine.paging import encode_cursor
from engine.reserved import convention_columns_ddl
from engine.spend import Outcome
from tests.support.daybooks import A1, reserve
from tests.support.meters import T0, hold, metering

if TYPE_CHECKING:
    from tests.support.harness import Harness

LAST_YEAR = 253_402_300_799_999  # of the years that a datetime has, in milliseconds
MILLISECONDS = (5, 9_223_372_036_854, 9_223_372_036_855, LAST_YEAR, LAST_YEAR)
NANOSECONDS = (-(2**63), 1 - 2**63, 0, 10**18, 2**63 - 1, 2**63 - 1)
TABLES = ("aa", "zz")
DAYS = (EARLIEST, A1, datetime(2261, 12, 31, tzinfo=UTC))


def fill(harness: Harness) -> int:
    """Rows of each kind; how many."""
    for end in DAYS:
        reserve(harness.store.days, 1, expires=end)
    names = [f"op-{n}" for n in range(len(MILLISECONDS))]
    hold(metering(harness, a=len(names)), T0, *names)
    with harness.raw() as connection:
        for name, late in zip(names, MILLISECONDS, strict=True):
            moved = text("UPDATE agentos_spend_reservations SET expires_at = :at WHERE operation_id = :op")
            connection.execute(moved, {"at": late, "op": name})
        for table in TABLES:
            columns = convention_columns_ddl(harness.kind)
            connection.execute(text(f"CREATE TABLE {table} (id TEXT PRIMARY KEY, {columns})"))
            for n, due in enumerate(NANOSECONDS):
                made = text(f"INSERT INTO {table} VALUES (:id, 'txn', 'reserved', :at)")
                connection.execute(made, {"id": f"row-{n}", "at": due})
    return len(DAYS) + len(MILLISECONDS) + len(TABLES) * len(NANOSECONDS)


@pytest.mark.parametrize("limit", [1, 2, 200])
def test_ruling_65_every_row_is_listed_once_however_far_its_end(harness: Harness, limit: int) -> None:
    """ "Never" is often written as the largest number, and another meter's milliseconds exceed ours in nanoseconds."""
    number = fill(harness)
    rows: list[Any] = []
    after = None
    for _ in range(number + 1):
        page = harness.store.desk.reservations(after=after, limit=limit)
        rows += page.rows
        after = page.next
        if after is None:
            break
    assert len({(row.kind, row.source, row.reservation_id) for row in rows}) == len(rows) == number
    ends = [row.due_at for row in rows]
    assert ends == sorted(ends)


def test_settled_rows_are_listed_once_however_late(harness: Harness) -> None:
    meter = metering(harness, a=9)
    hold(meter, T0, "x", "y", "z")
    for name in ("x", "y", "z"):
        meter.settle(name, Outcome.CONSUMED, now=T0)
    with harness.raw() as connection:
        connection.execute(text(f"UPDATE agentos_spend_reservations SET settled_at = {LAST_YEAR}"))
    seen: list[str] = []
    after = None
    for _ in range(4):
        page = harness.store.desk.reservations(ReservationFilter(state="settled"), after, 1)  # type: ignore[arg-type]
        seen += [row.reservation_id for row in page.rows]
        after = page.next
        if after is None:
            break
    assert seen == ["z", "y", "x"]


def test_a_span_longer_than_64_bits_of_nanoseconds_fails_no_screen(harness: Harness) -> None:
    reserve(harness.store.days, 1, at=EARLIEST, expires=EARLIEST, require_fence=True)
    (row,) = harness.store.desk.reservations().rows
    assert row.age is not None
    assert row.due_in is not None
    assert row.due_in.days < -140 * 365
    assert row.age.days > 140 * 365
    assert harness.store.desk.reservation("day", row.reservation_id) is not None
    assert len(harness.store.desk.fences().rows) == 1
    assert harness.store.days.sweep(LATEST - timedelta(days=1)).left == 1


def test_an_instant_of_another_implementation_fails_no_overview(harness: Harness) -> None:
    hold(metering(harness, a=1), T0, "op")
    with harness.raw() as connection:
        connection.execute(text(f"UPDATE agentos_spend_reservations SET expires_at = {-(2**63)}"))
    assert harness.store.desk.overview() is not None
    assert harness.store.desk.reservation_totals().meter.expired.count == 1


@pytest.mark.parametrize("field", ["day", "thread_id"])
def test_a_filter_by_an_empty_name_asks_for_rows_of_days_alone(harness: Harness, field: str) -> None:
    fill(harness)
    wanted = ReservationFilter(**{field: ""})  # type: ignore[arg-type]
    assert harness.store.desk.reservations(wanted).rows == ()
    assert harness.store.desk.count_reservations(wanted).count == 0


def test_fences_by_an_empty_thread_are_those_of_days_alone(harness: Harness) -> None:
    fill(harness)
    assert harness.store.desk.fences(FenceFilter(thread_id="")).rows == ()


@pytest.mark.parametrize(
    "after", [5, b"a", True, 1.5, ["x"], encode_cursor("1e5", "day", "", "x"), encode_cursor(1)]
)
def test_what_is_no_cursor_of_this_listing_is_refused(harness: Harness, after: Any) -> None:
    with pytest.raises(ValidationError, match="after"):
        harness.store.desk.reservations(after=after)
