"""Sweeps in bounded batches (reserved.md, "Sweeper"; ruling 32)."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import Column, Text, event, insert, select, text

from engine.clock import ManualClock, SystemClock, to_ns
from engine.errors import ReadOnlyStore, StoreClosed, ValidationError
from engine.reserved import Sweeper, SweepReport, reserve_values, sweeper
from engine.reserved.lapsed import BATCH, EARLIEST, MAX_BATCH, count_reserved, delete_lapsed
from tests.support.background import LIMIT, background
from tests.support.builders import T0
from tests.support.slots import MINUTE, SECOND, Slots, counts
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from tests.support.harness import Harness


@pytest.fixture
def slots(harness: Harness) -> Slots:
    """The table of the cases on the store's engine."""
    return Slots(harness, harness.store.engine)


def fill(slots: Slots, lapsed: int, live: int = 0) -> None:
    """Rows of which many lapsed at the same moment, in no order."""
    dues = [to_ns(T0) - (n * 7 % 5) * 10**9 for n in range(lapsed)] + [to_ns(T0 + MINUTE)] * live
    rows = [{"name": f"room-{n}", **reserve_values(f"txn-{n}", due)} for n, due in enumerate(dues)]
    with slots.begin() as connection:
        connection.execute(insert(slots.table), rows)


class Deletes:
    """What each transaction on the engine deleted."""

    def __init__(self, engine: Engine) -> None:
        self.batches: list[int] = []
        event.listen(engine, "after_cursor_execute", self._note)

    def _note(self, _c: Any, cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("DELETE"):
            self.batches.append(1)


def test_an_empty_sweeper_reports_zeroes() -> None:
    report = Sweeper().sweep()
    assert counts(report) == (0, 0, 0)
    assert report.failures == ()
    assert timedelta(0) <= report.duration < SECOND
    assert SweepReport() == SweepReport(0, 0, 0, timedelta(0), ())


def test_a_sweep_goes_on_until_nothing_lapsed_is_left(slots: Slots) -> None:
    fill(slots, 25, live=3)
    deletes = Deletes(slots.engine)
    assert counts(slots.sweep(batch=10)) == (28, 25, 0)
    assert len(deletes.batches) == 4  # 10, 10, 5, and the one that finds none
    assert len(slots.rows()) == 3
    assert counts(slots.sweep(batch=10)) == (3, 0, 0)
    assert len(deletes.batches) == 4


def test_each_batch_is_a_transaction(harness: Harness, slots: Slots, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(slots, 25)
    left = list[int]()

    def watched(connection: Connection, *args: Any) -> Any:
        with harness.raw() as other:
            left.append(len(other.execute(select(slots.table.c.slot_id)).all()))
        return delete_lapsed(connection, *args)

    monkeypatch.setattr(sweeper, "delete_lapsed", watched)
    assert slots.sweep(batch=10).collected == 25
    assert left == [25, 15, 5, 0]


def test_a_batch_is_one_to_a_hundred_thousand_rows(slots: Slots) -> None:
    fill(slots, 3)
    wrong: list[Any] = [0, -1, MAX_BATCH + 1, True, 1.5]
    for batch in wrong:
        with pytest.raises(ValidationError):
            slots.sweep(batch=batch)
    assert len(slots.rows()) == 3
    assert BATCH == 1000
    assert slots.sweep(batch=MAX_BATCH).collected == 3


def test_a_dry_run_counts_and_deletes_nothing(slots: Slots) -> None:
    fill(slots, 12, live=2)
    before = slots.rows()
    assert counts(slots.sweep(dry_run=True)) == (14, 12, 0)
    assert slots.rows() == before
    assert counts(slots.sweep()) == (14, 12, 0)


def test_now_may_be_given(slots: Slots) -> None:
    slots.live("room-101", "txn-A")
    assert slots.sweep(now=T0).collected == 0
    with pytest.raises(ValidationError):
        slots.sweep(now=T0.replace(tzinfo=None))
    assert slots.sweep(now=T0 + MINUTE).collected == 1


def test_the_clock_of_a_store_decides_on_its_engine(slots: Slots) -> None:
    slots.live("room-101", "txn-A")
    plain = Sweeper()  # its own clock, the process's, is not asked
    plain.register(slots.engine, "slots")
    assert plain.sweep().collected == 0
    slots.clock.advance(MINUTE)
    assert plain.sweep().collected == 1


def test_the_servers_clock_decides_where_a_store_has_none(harness: Harness, slots: Slots) -> None:
    store = harness.open(clock=None)
    real = SystemClock().now()
    for name, by in (("past", -MINUTE), ("future", MINUTE)):
        slots.reserve(name, f"txn-{name}", real + by - slots.now())
    other = Sweeper(clock=ManualClock(T0 - timedelta(days=9000)))  # nobody asks it
    other.register(store.engine, "slots")
    assert counts(other.sweep()) == (2, 1, 0)
    assert [row[0] for row in slots.rows()] == ["future"]


def test_tables_are_swept_in_order_and_once(harness: Harness, slots: Slots) -> None:
    second = Slots(harness, slots.engine, name="seats")
    for each in (slots, second):
        each.lapsed("room-101", "txn-A")
    both = Sweeper(clock=harness.clock)
    for name in ("slots", "nowhere", "seats", "slots", "elsewhere"):
        both.register(slots.engine, name)
    report = both.sweep()
    assert counts(report) == (2, 2, 2)
    assert [failure.table for failure in report.failures] == ["nowhere", "elsewhere"]


def test_tables_registered_while_sweeping_wait_for_the_next_one(harness: Harness, slots: Slots) -> None:
    second = Slots(harness, slots.engine, name="seats")
    for each in (slots, second):
        each.lapsed("room-101", "txn-A")
    both = Sweeper(clock=harness.clock)
    both.register(slots.engine, "slots")
    event.listen(
        slots.engine, "before_cursor_execute", lambda *_: both.register(slots.engine, "seats"), once=True
    )
    assert both.sweep().collected == 1
    assert both.sweep().collected == 1
    assert second.rows() == []


def test_an_engine_that_cannot_connect_is_a_failure(slots: Slots) -> None:
    from sqlalchemy import create_engine

    away = create_engine("postgresql+psycopg://nobody:hush-hush@127.0.0.1:1/none")
    slots.lapsed("room-101", "txn-A")
    both = Sweeper(clock=slots.clock)
    both.register(away, "slots")
    both.register(slots.engine, "slots")
    report = both.sweep()
    assert counts(report) == (1, 1, 1)
    assert report.failures[0].error
    assert "hush-hush" not in report.failures[0].error


def test_a_table_without_end_is_left_at_a_bound(slots: Slots, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeper, "MAX_BATCHES", 3)
    fill(slots, 40)
    report = slots.sweep(batch=10)
    assert counts(report) == (40, 30, 1)
    assert "sweep again" in report.failures[0].error
    assert slots.sweep(batch=10).collected == 10


def test_rows_in_use_are_passed_over(postgres_harness: Harness) -> None:
    slots = Slots(postgres_harness, postgres_harness.store.engine)
    fill(slots, 10)
    with slots.engine.begin() as connection:
        held = select(slots.table.c.slot_id).order_by(slots.table.c.reserve_deadline).limit(2)
        connection.execute(held.with_for_update())
        assert background(slots.sweep, batch=4).result(LIMIT).collected == 8
    assert slots.sweep().collected == 2


def test_sweeps_at_once_delete_each_row_once(slots: Slots) -> None:
    fill(slots, 60, live=1)
    reports = all_succeeded(together(*[partial(slots.sweep, batch=7)] * 4))
    assert sum(report.collected for report in reports) == 60
    assert len(slots.rows()) == 1


def test_live_rows_at_the_address_of_another_partitions_lapsed_ones_stay(postgres_harness: Harness) -> None:
    """Each partition numbers its rows by itself."""
    from engine.reserved import convention_columns_ddl

    engine = postgres_harness.store.engine
    due = to_ns(T0)
    with engine.begin() as connection:
        columns = convention_columns_ddl("postgresql")
        connection.execute(text(f"CREATE TABLE parted (half INTEGER, {columns}) PARTITION BY LIST (half)"))
        for half in (0, 1):
            connection.execute(text(f"CREATE TABLE part_{half} PARTITION OF parted FOR VALUES IN ({half})"))
        for half, later in ((0, 0), (1, 10**9)):
            connection.execute(
                text("INSERT INTO parted SELECT :half, 'txn', 'reserved', :due FROM generate_series(1, 20)"),
                {"half": half, "due": due + later},
            )
    found = Sweeper()
    found.register(engine, "parted")
    assert counts(found.sweep(batch=3)) == (40, 20, 0)


def test_rows_without_an_address_are_found_by_their_key(sqlite_harness: Harness) -> None:
    from engine.reserved import convention_columns_ddl

    engine = sqlite_harness.store.engine
    columns = convention_columns_ddl("sqlite")
    with engine.begin() as connection:
        connection.execute(
            text(f"CREATE TABLE keyed (b TEXT, a INTEGER, {columns}, PRIMARY KEY (a, b)) WITHOUT ROWID")
        )
        for n in range(9):
            row = {"a": n % 3, "b": f"{n}", "due": to_ns(T0) + (n % 2)}
            connection.execute(
                text("INSERT INTO keyed VALUES (:b, :a, 'txn', 'reserved', :due)").bindparams(**row)
            )
    found = Sweeper()
    for name in ("keyed", "main.keyed"):
        found.register(engine, name)
    assert counts(found.sweep(batch=2)) == (9 + 4, 5, 0)


def test_a_table_without_a_key_is_swept(harness: Harness) -> None:
    from sqlalchemy import MetaData, Table

    from engine.reserved import convention_columns

    engine = harness.store.engine
    bare = Table("bare", MetaData(), Column("name", Text), *convention_columns())
    with engine.begin() as connection:
        bare.create(connection)
        row = {"name": "same", **reserve_values("txn", to_ns(T0))}
        connection.execute(insert(bare), [row] * 5)
    found = Sweeper()
    found.register(engine, bare)
    assert counts(found.sweep(batch=2)) == (5, 5, 0)


def test_rows_without_a_deadline_are_nobodys_to_collect(slots: Slots) -> None:
    with slots.begin() as connection:
        connection.execute(insert(slots.table).values(name="odd", txn_id="txn-A", state="reserved"))
    assert counts(slots.sweep()) == (1, 0, 0)


def test_a_stores_sweep_needs_a_store_that_is_open_and_writes(harness: Harness, slots: Slots) -> None:
    fill(slots, 2)
    reader = harness.open(read_only=True)
    with pytest.raises(ReadOnlyStore):
        reader.reserved.sweep()
    assert reader.reserved.sweep(dry_run=True).collected == 2
    reader.close()
    with pytest.raises(StoreClosed):
        reader.reserved.sweep(dry_run=True)
    assert len(slots.rows()) == 2


def test_the_sweep_takes_rows_from_the_deadline_index(harness: Harness, slots: Slots) -> None:
    """Also where the database has no statistics of the table."""
    fill(slots, 3000)
    ran = list[tuple[str, Any]]()

    def note(_c: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if statement.startswith("DELETE"):
            ran.append((statement, values))

    with slots.engine.begin() as connection:
        event.listen(slots.engine, "before_cursor_execute", note)
        counted = count_reserved(connection, slots.table, to_ns(T0))
        assert delete_lapsed(connection, slots.table, counted, EARLIEST, 100).rows == 100
        ((statement, values),) = ran
        explain = "EXPLAIN QUERY PLAN" if harness.kind == "sqlite" else "EXPLAIN"
        plan = "\n".join(map(str, connection.exec_driver_sql(f"{explain} {statement}", values)))
    assert "hw_slots_deadline" in plan
    for wrong in ("Sort", "Seq Scan", "TEMP B-TREE", "SCAN"):
        assert wrong not in plan.replace("Index Scan", "")
