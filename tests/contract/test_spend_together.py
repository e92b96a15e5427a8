"""The day store's verbs inside a transaction of the caller's own: all of it lands, or nothing (design rule 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import create_engine

from engine.checkpoints import Commit, commits
from engine.errors import CostCapExceeded, StaleClaim, ValidationError
from engine.spend import Begun, DaySweep, Gone, Released
from engine.spend.day import (
    SqlDayStore,
    add_fenced_reservation,
    add_reservation,
    admit_operation,
    begin_run,
    defer_reservation,
    end_run,
    expired_reservations,
    lock_day,
    release_expired_spend,
    release_spend,
    renew_run,
    reserve_spend,
    settle_defaults,
    settle_reservation,
    total,
)
from engine.spend.day.expired import START
from tests.support.builders import chain, claim, ev, latest_id, seqs
from tests.support.daybooks import A0, A1, CAP, HOUR, Oracle, audited, day_is, ms, operation, reserve
from tests.support.daybooks import D as DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from tests.support.harness import Harness

T = "t1"


class GaveUpError(Exception):
    """What a caller raises to undo its transaction."""


def in_one(harness: Harness, work: Callable[[Connection], None]) -> None:
    """Run it in one transaction of the test's own."""
    with harness.store.engine.begin() as connection:
        work(connection)


def held(harness: Harness) -> int:
    """The token of a claim on T, which has one checkpoint and one event."""
    token = claim(harness.store, T).token
    chain(harness.checkpoints, T, token, ["c1"])
    return token


def spend(connection: Connection, micro: int, cap: int = CAP) -> str:
    """Reserve in the caller's transaction."""
    store = SqlDayStore(connection)
    return reserve_spend(store, kind="call", micro=micro, at=A0, expires=A1, cap_micro=cap, thread_id=T)


def test_spend_money_and_events_land_together(harness: Harness) -> None:
    token = held(harness)
    with harness.store.engine.begin() as connection:
        commits.commit(connection, T, Commit(token, events=[ev("about to pay")]))
        reservation = spend(connection, 700)
    assert seqs(harness.checkpoints, T) == [1, 2]
    day_is(harness.store.days, 700, 0)
    with harness.store.engine.begin() as connection:
        assert release_spend(SqlDayStore(connection), reservation, 300, A0)
        commits.commit(connection, T, Commit(token, events=[ev("paid")]))
    day_is(harness.store.days, 0, 300)
    assert seqs(harness.checkpoints, T) == [1, 2, 3]
    audited(harness.store)


def test_spend_a_refused_commit_takes_the_money_back(harness: Harness) -> None:
    token = held(harness)

    def pay(connection: Connection) -> None:
        spend(connection, 700)
        commits.commit(connection, T, Commit(token + 1, events=[ev("paid")]))

    with pytest.raises(StaleClaim):
        in_one(harness, pay)
    day_is(harness.store.days, 0, 0)
    assert harness.store.days.expired(A1) == []


def test_spend_a_refused_admission_takes_the_events_back(harness: Harness) -> None:
    token = held(harness)

    def pay(connection: Connection) -> None:
        commits.commit(connection, T, Commit(token, events=[ev("about to pay")]))
        spend(connection, 700, cap=699)

    with pytest.raises(CostCapExceeded):
        in_one(harness, pay)
    assert seqs(harness.checkpoints, T) == [1]
    assert latest_id(harness.checkpoints, T) == "c1"


def everything(connection: Connection, settled: str) -> None:
    """Every verb once, on rows of its own or on the given one."""
    assert lock_day(connection, DAY) == 50
    plain = add_reservation(connection, "call", 100, A0, A1)
    fenced = add_fenced_reservation(connection, "call", 200, A0, A1, thread_id=T)
    assert defer_reservation(connection, plain, A1, {"why": "unknown"})
    assert settle_reservation(connection, settled, 20, A0)
    assert {item.id for item in expired_reservations(connection, A1)} == {plain, fenced}
    store = SqlDayStore(connection)
    begun = admit_operation(store, operation())
    assert renew_run(connection, begun.reservation_id, 1, ms(A0, 1), ms(A0, 2000))
    assert end_run(connection, begun.reservation_id, 1, 10, ms(A0, 2))
    assert begin_run(connection, begun.reservation_id, ms(A0, 3), A1, 20, 3) == Begun(begun.reservation_id, 2)
    assert release_expired_spend(store, A1, Oracle(Released())) == DaySweep(1, 2, 0, 0)
    assert admit_operation(store, operation()) == Gone(begun.reservation_id)
    assert settle_defaults(connection, A1, START, 10) == (0, None)
    assert total(connection, DAY).committed_micro == 20 + 30


def test_spend_every_verb_is_undone_with_its_transaction(harness: Harness) -> None:
    days = harness.store.days
    mine = reserve(days, 50)

    def give_up(connection: Connection) -> None:
        everything(connection, mine)
        raise GaveUpError

    with pytest.raises(GaveUpError):
        in_one(harness, give_up)
    day_is(days, 50, 0)
    assert [item.id for item in days.expired(A1 + HOUR)] == [mine]
    assert days.open_operation("op") is None
    in_one(harness, lambda connection: everything(connection, mine))
    day_is(days, 0, 50)
    audited(harness.store)


def test_spend_a_day_must_be_locked_before_a_row_is_added(harness: Harness) -> None:
    """A row that no total counts would be money that nobody sees."""
    with harness.store.engine.begin() as connection:
        with pytest.raises(ValidationError, match="lock_day"):
            add_reservation(connection, "call", 5, A0, A1)
        store: Any = SqlDayStore(connection)
        with pytest.raises(ValidationError, match="lock_day"):
            store.add_operation_reservation(operation())
    assert harness.store.days.expired(A1) == []
    day_is(harness.store.days, 0, 0)
    audited(harness.store)


def test_ruling_2_verbs_refuse_a_connection_that_commits_by_itself(postgres_harness: Harness) -> None:
    engine = postgres_harness.store.engine
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        with pytest.raises(ValidationError, match="AUTOCOMMIT"):
            lock_day(connection, DAY)
        with pytest.raises(ValidationError, match="AUTOCOMMIT"):
            settle_reservation(connection, "any", 5, A0)


def test_spend_verbs_refuse_a_connection_of_another_engine() -> None:
    with (
        create_engine("sqlite://").connect() as connection,
        pytest.raises(ValidationError, match="connection"),
    ):
        lock_day(connection, DAY)
