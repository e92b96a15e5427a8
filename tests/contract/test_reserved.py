"""Tentative rows in a participant's own table: the numbered cases of reserved.md, and rulings 30 to 33."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import create_engine, event, insert, select

from engine.clock import to_ns
from engine.errors import ReservationInvalidated, StoreFailure, ValidationError
from engine.reserved import (
    Confirmation,
    Outcome,
    Sweeper,
    VisibilityTier,
    Weight,
    application_predicate,
    confirm,
    deadline,
    guard_predicate,
    predicate_for,
    release,
    reserve_values,
)
from tests.support.background import LIMIT, background
from tests.support.builders import STEP
from tests.support.slots import MINUTE, NOTHING, SECOND, Slots, counts
from tests.support.together import all_succeeded, errors, together, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine

    from tests.support.harness import Harness

CONFIRMED = Confirmation(Outcome.CONFIRMED, 1)
ALREADY = Confirmation(Outcome.ALREADY_CONFIRMED, 1)
EXPIRED = Confirmation(Outcome.EXPIRED, 0)
GONE = Confirmation(Outcome.GONE, 0)
PESSIMISTIC, OPTIMISTIC = Weight.PESSIMISTIC, Weight.OPTIMISTIC


@pytest.fixture
def own(harness: Harness) -> Iterator[Engine]:
    """An engine of the participant's own, as SQLAlchemy makes it."""
    engine = harness._storage.engine(harness.url)
    yield engine
    engine.dispose()


@pytest.fixture
def slots(harness: Harness, own: Engine) -> Slots:
    """The table of the cases, empty."""
    return Slots(harness, own)


@pytest.fixture
def exclusive(harness: Harness, own: Engine) -> Slots:
    """The same, where no two committed rows may have one name."""
    return Slots(harness, own, exclusive=True)


def test_reserved_1_confirmed_rows_are_committed_for_good(slots: Slots) -> None:
    slots.live("room-101", "txn-A")
    assert slots.confirm("txn-A") == CONFIRMED
    assert slots.rows() == [("room-101", "txn-A", "committed", None)]
    assert slots.release("txn-A") == 0
    assert len(slots.rows()) == 1


def test_reserved_2_released_rows_go(slots: Slots) -> None:
    slots.plain("room-100")
    slots.live("room-101", "txn-A")
    assert slots.release("txn-A") == 1
    assert slots.rows() == [("room-100", None, "committed", None)]


def test_reserved_3_a_sweep_takes_what_lapsed(slots: Slots) -> None:
    slots.plain("room-100")
    slots.lapsed("room-101", "txn-lapsed")
    slots.live("room-102", "txn-live")
    assert counts(slots.sweep()) == (2, 1, 0)
    assert [row[1:3] for row in slots.rows()] == [(None, "committed"), ("txn-live", "reserved")]


def test_reserved_4_a_second_confirm_says_so(slots: Slots) -> None:
    slots.live("room-101", "txn-A")
    assert [slots.confirm("txn-A"), slots.confirm("txn-A")] == [CONFIRMED, ALREADY]


def test_reserved_5_an_unknown_transaction_is_gone(slots: Slots) -> None:
    slots.plain("room-100")
    assert slots.confirm("txn-unknown") == GONE


def test_reserved_6_a_lapsed_row_is_not_confirmed(slots: Slots) -> None:
    slots.lapsed("room-101", "txn-A")
    before = slots.rows()
    assert slots.confirm("txn-A") == EXPIRED
    assert slots.rows() == before


def test_reserved_7_live_rows_count_for_a_pessimistic_guard(slots: Slots) -> None:
    slots.plain("room-100")
    slots.live("room-101", "txn-A")
    assert slots.guarded(PESSIMISTIC) == 2


def test_reserved_8_lapsed_rows_do_not(slots: Slots) -> None:
    slots.plain("room-100")
    slots.lapsed("room-101", "txn-A")
    assert slots.guarded(PESSIMISTIC) == 1


def test_reserved_9_an_optimistic_guard_sees_committed_rows(slots: Slots) -> None:
    slots.plain("room-100")
    slots.live("room-101", "txn-A")
    slots.live("room-101", "txn-B")
    assert slots.guarded(OPTIMISTIC) == 1


def test_reserved_10_an_optimistic_loser_releases(slots: Slots) -> None:
    slots.live("room-101", "txn-A")
    slots.live("room-101", "txn-B")
    assert slots.confirm("txn-A") == CONFIRMED
    mine = slots.table.c.name == "room-101"
    assert slots.seen(application_predicate(slots.table) & mine) == 1
    assert slots.release("txn-B") == 1
    assert slots.rows() == [("room-101", "txn-A", "committed", None)]


def test_reserved_11_each_tier_and_weight(slots: Slots) -> None:
    slots.plain("room-100")
    slots.live("room-101", "txn-A")
    seen = [
        slots.seen(predicate_for(slots.table, tier, weight, slots.now()))
        for weight in (PESSIMISTIC, OPTIMISTIC)
        for tier in (VisibilityTier.GUARD, VisibilityTier.ADVISORY, VisibilityTier.ANALYTIC)
    ]
    assert seen == [2, 2, 1, 1, 1, 1]


def test_reserved_12_a_sweep_takes_all_that_lapsed(slots: Slots) -> None:
    slots.plain("room-100")
    slots.lapsed("room-101", "txn-A")
    slots.lapsed("room-102", "txn-B")
    slots.live("room-103", "txn-C")
    assert counts(slots.sweep()) == (3, 2, 0)
    assert slots.committed() == 1


def test_reserved_13_a_table_that_fails_does_not_stop_the_others(slots: Slots) -> None:
    slots.lapsed("room-101", "txn-A")
    sweeper = Sweeper(clock=slots.clock)
    sweeper.register(slots.engine, "no_such_table")
    sweeper.register(slots.engine, "slots")
    report = sweeper.sweep()
    assert (report.errors, report.collected) == (1, 1)
    assert [failure.table for failure in report.failures] == ["no_such_table"]
    assert "no_such_table" in report.failures[0].error
    assert "SELECT" not in report.failures[0].error


def test_reserved_14_a_lapsed_row_decides_before_a_confirmed_one(slots: Slots) -> None:
    slots.live("room-101", "txn-A")
    slots.confirm("txn-A")
    slots.lapsed("room-102", "txn-A")
    assert slots.confirm("txn-A") == EXPIRED


def test_reserved_15_a_deadline_that_is_now_has_lapsed(slots: Slots) -> None:
    slots.reserve("room-101", "txn-A", NOTHING)
    assert slots.guarded(PESSIMISTIC) == 0
    assert slots.confirm("txn-A") == EXPIRED
    assert slots.sweep().collected == 1
    slots.reserve("room-102", "txn-B", STEP)
    assert slots.sweep().collected == 0
    assert slots.guarded(PESSIMISTIC) == 1
    assert slots.confirm("txn-B") == CONFIRMED


def test_reserved_16_of_two_that_confirm_at_once_one_does(slots: Slots) -> None:
    for n in range(5):
        txn = f"txn-{n}"
        slots.live("room-101", txn)
        found = all_succeeded(together(*[partial(slots.confirm, txn)] * 2))
        assert sorted(found, key=str) == sorted([CONFIRMED, ALREADY], key=str)


def test_reserved_16_the_second_waits_for_the_first(slots: Slots) -> None:
    slots.live("room-101", "txn-A")
    with slots.engine.connect() as connection:
        assert confirm(connection, slots.table, "txn-A", slots.now()) == CONFIRMED
        second = background(slots.confirm, "txn-A")
        with pytest.raises(TimeoutError):
            second.result(0.1)
        connection.commit()
    assert second.result(LIMIT) == ALREADY


@pytest.mark.parametrize("writes_before", [0, 1])
def test_reserved_17_a_rollback_leaves_the_row_reserved(slots: Slots, writes_before: int) -> None:
    slots.live("room-101", "txn-A")
    before = slots.rows()
    with slots.engine.connect() as connection:
        for _ in range(writes_before):
            connection.execute(insert(slots.table).values(name="room-102"))
        assert confirm(connection, slots.table, "txn-A", slots.now()) == CONFIRMED
        connection.rollback()
    assert slots.rows() == before
    assert slots.confirm("txn-A") == CONFIRMED


def test_confirm_says_how_many_rows(slots: Slots) -> None:
    """All live rows of the transaction, and nobody else's; a lapsed one beside them decides the next time."""
    for n in range(3):
        slots.live(f"room-{n}", "txn-A")
    slots.live("room-9", "txn-B")
    assert slots.confirm("txn-A") == Confirmation(Outcome.CONFIRMED, 3)
    assert slots.confirm("txn-A") == Confirmation(Outcome.ALREADY_CONFIRMED, 3)
    slots.lapsed("room-10", "txn-B")
    assert slots.confirm("txn-B") == CONFIRMED
    assert slots.confirm("txn-B") == EXPIRED
    assert [row[1:3] for row in slots.rows()[3:]] == [("txn-B", "committed"), ("txn-B", "reserved")]


def test_release_takes_live_and_lapsed_rows_and_leaves_confirmed_ones(slots: Slots) -> None:
    slots.live("room-1", "txn-A")
    slots.confirm("txn-A")
    slots.live("room-2", "txn-A")
    slots.lapsed("room-3", "txn-A")
    slots.live("room-4", "txn-B")
    assert slots.release("txn-A") == 2
    assert [row[:3] for row in slots.rows()] == [
        ("room-1", "txn-A", "committed"),
        ("room-4", "txn-B", "reserved"),
    ]
    assert slots.release("nobody") == 0


HOSTILE = [
    "slots; drop table slots",
    'slots"',
    "sl'ots",
    "",
    ".",
    "a.b.c",
    ".slots",
    "slots.",
    "slots --",
    "1slots",
    "slots\n",
    "slots\0",
    "x" * 300,
]


def test_reserved_18_a_name_that_is_none_is_refused_unseen(slots: Slots) -> None:
    slots.lapsed("room-101", "txn-A")
    ran: list[str] = []
    event.listen(slots.engine, "before_cursor_execute", lambda _c, _cur, said, *_: ran.append(said))
    with slots.engine.connect() as connection:
        for call in (call for name in HOSTILE for call in _calls(slots, connection, name)):
            with pytest.raises(ValueError) as caught:
                call()
            assert isinstance(caught.value, ValidationError)
    assert ran == []
    assert len(slots.rows()) == 1


def _calls(slots: Slots, connection: Connection, name: str) -> list[Callable[[], Any]]:
    now = slots.now()
    return [
        partial(confirm, connection, name, "txn-A", now),
        partial(release, connection, name, "txn-A"),
        partial(guard_predicate, name, PESSIMISTIC, now),
        partial(application_predicate, name),
        partial(predicate_for, name, VisibilityTier.GUARD, OPTIMISTIC, now),
        partial(Sweeper().register, slots.engine, name),
    ]


def test_reserved_19_ruling_30_a_loser_is_invalidated(exclusive: Slots) -> None:
    exclusive.live("room-101", "txn-A")
    exclusive.live("room-101", "txn-B")
    exclusive.confirm("txn-A")
    with pytest.raises(ReservationInvalidated) as caught:
        exclusive.confirm("txn-B")
    assert caught.value == ReservationInvalidated("txn-B")
    assert [row[1:3] for row in exclusive.rows()] == [("txn-A", "committed"), ("txn-B", "reserved")]
    exclusive.clock.advance(MINUTE)
    assert counts(exclusive.sweep()) == (1, 1, 0)


def test_reserved_20_ruling_30_of_two_competitors_one_is_confirmed(exclusive: Slots) -> None:
    for n in range(5):
        pair = (f"txn-A{n}", f"txn-B{n}")
        for txn in pair:
            exclusive.live(f"room-{n}", txn)
        outcomes = together(*(partial(exclusive.confirm, txn) for txn in pair))
        assert values(outcomes) == [CONFIRMED]
        (lost,) = errors(outcomes)
        assert isinstance(lost, ReservationInvalidated)
        assert lost.txn_id in pair


def test_ruling_30_the_callers_transaction_goes_on(exclusive: Slots) -> None:
    exclusive.plain("room-101")
    exclusive.live("room-101", "txn-B")
    exclusive.live("room-102", "txn-B")
    with exclusive.begin() as connection:
        with pytest.raises(ReservationInvalidated):
            confirm(connection, exclusive.table, "txn-B", exclusive.now())
        assert release(connection, exclusive.table, "txn-B") == 2
        connection.execute(insert(exclusive.table).values(name="room-103"))
    assert [row[0] for row in exclusive.rows()] == ["room-101", "room-103"]


def test_ruling_30_another_refusal_of_the_database_is_the_callers(slots: Slots) -> None:
    slots.live("room-101", "txn-A")
    with slots.begin() as connection:
        table = "slots_of_nobody"
        with pytest.raises(Exception, match=table):
            confirm(connection, table, "txn-A", slots.now())


def test_ruling_30_a_connection_in_autocommit_is_refused(slots: Slots) -> None:
    slots.live("room-101", "txn-A")
    with slots.engine.connect() as connection:
        alone = connection.execution_options(isolation_level="AUTOCOMMIT")
        with pytest.raises(ValidationError):
            confirm(alone, slots.table, "txn-A", slots.now())
    made = create_engine(slots.engine.url, isolation_level="AUTOCOMMIT")
    for whole in (slots.engine.execution_options(isolation_level="AUTOCOMMIT"), made):
        with whole.connect() as connection, pytest.raises(ValidationError):
            confirm(connection, slots.table, "txn-A", slots.now())
    made.dispose()
    assert slots.rows()[0][2] == "reserved"


def test_ruling_31_rows_that_come_in_between_are_confirmed(
    slots: Slots, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.reserved import transitions

    confirmed, seen = transitions._confirmed, list[int]()

    def late(*args: Any) -> int:
        seen.append(confirmed(*args))
        if len(seen) == 2:
            args[0].execute(
                insert(slots.table).values(
                    name="late", **reserve_values("txn-A", deadline(slots.now(), MINUTE))
                )
            )
        return seen[-1] if len(seen) > 2 else 0

    monkeypatch.setattr(transitions, "_confirmed", late)
    assert slots.confirm("txn-A") == GONE
    with slots.begin() as connection:
        assert confirm(connection, slots.table, "txn-A", slots.now()) == CONFIRMED
    assert len(seen) == 3


def test_ruling_31_rows_that_are_seen_and_cannot_be_changed(
    slots: Slots, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.reserved import transitions

    tried = list[int]()

    def unchanged(*_: Any) -> int:
        tried.append(1)
        return 0

    monkeypatch.setattr(transitions, "_confirmed", unchanged)
    slots.live("room-101", "txn-A")
    with pytest.raises(StoreFailure, match="trigger or policy"):
        slots.confirm("txn-A")
    assert len(tried) == 1 + transitions.MAX_REPEATS == 4


def test_ruling_33_reads_of_each_tier_go_through_one_predicate(slots: Slots) -> None:
    """An advisory reader may hold live rows; when they lapse, guard and advisory reads agree again without a sweep."""
    slots.live("room-101", "txn-A")
    assert slots.guarded(PESSIMISTIC) == 1
    slots.clock.advance(MINUTE)
    for tier in VisibilityTier:
        for weight in Weight:
            assert slots.seen(predicate_for(slots.table, tier, weight, slots.now())) == 0
    assert len(slots.rows()) == 1


def test_a_predicate_of_an_alias_and_of_a_name(slots: Slots) -> None:
    slots.plain("room-100")
    slots.live("room-101", "txn-A")
    other = slots.table.alias("other")
    with slots.begin() as connection:
        found = select(other.c.name).where(guard_predicate(other, OPTIMISTIC, slots.now()))
        assert connection.execute(found).scalars().all() == ["room-100"]
    assert slots.seen(guard_predicate("slots", PESSIMISTIC, slots.now())) == 2


def test_the_verbs_take_names_with_a_schema(harness: Harness, slots: Slots) -> None:
    schema = {"sqlite": "main", "postgresql": "public"}[harness.kind]
    slots.live("room-101", "txn-A")
    slots.live("room-102", "txn-B")
    with slots.begin() as connection:
        assert confirm(connection, f"{schema}.slots", "txn-A", slots.now()) == CONFIRMED
        assert release(connection, f"{schema}.slots", "txn-B") == 1


def test_the_cases_on_a_connection_of_a_store(harness: Harness) -> None:
    slots = Slots(harness, harness.store.engine, exclusive=True)
    slots.plain("room-100")
    slots.live("room-101", "txn-A")
    slots.live("room-101", "txn-B")
    with slots.engine.connect() as connection:
        assert confirm(connection, slots.table, "txn-A", slots.now()) == CONFIRMED
        connection.rollback()
    assert slots.confirm("txn-A") == CONFIRMED
    with pytest.raises(ReservationInvalidated):
        slots.confirm("txn-B")
    assert slots.release("txn-B") == 1
    assert slots.confirm("txn-B") == GONE
    slots.reserve("room-102", "txn-C", SECOND)
    harness.advance(SECOND)
    assert counts(slots.sweep()) == (1, 1, 0)
    assert slots.guarded(PESSIMISTIC) == 2


def test_deadlines_are_whole_nanoseconds(slots: Slots) -> None:
    now = slots.now()
    assert deadline(now, STEP) == to_ns(now) + 1000
    assert deadline(now, -SECOND) == to_ns(now) - 10**9
    with pytest.raises(ValidationError):
        deadline(now.replace(tzinfo=None), MINUTE)
    with pytest.raises(ValidationError):
        deadline(now, timedelta.max)


def test_a_table_without_the_columns_is_refused(slots: Slots) -> None:
    from sqlalchemy import Column, MetaData, Table, Text

    bare = Table("bare", MetaData(), Column("state", Text))
    with pytest.raises(ValidationError, match="txn_id, reserve_deadline"):
        application_predicate(bare)
    with slots.begin() as connection, pytest.raises(ValidationError):
        release(connection, slots.table.alias(), "txn-A")  # type: ignore[arg-type]
