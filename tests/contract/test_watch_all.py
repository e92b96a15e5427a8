"""Following every thread of a store: ruling 23."""

from __future__ import annotations

import time
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.checkpoints import Commit, commits, watch_all
from engine.errors import StoreFailure, ValidationError
from tests.support.background import background, until
from tests.support.builders import ck, claim, emit, ev, fresh_id
from tests.support.follower import Follower
from tests.support.locks import end_other_connections
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.store import Store
    from tests.support.harness import Harness

SETTLE = 0.3
"""Seconds in which a follower that could deliver something would have done so."""


@pytest.fixture
def follower(harness: Harness) -> Iterator[Follower]:
    """One that started before anything happened, on a store of its own."""
    following = started(harness.sibling())
    yield following
    following.cancel()


def started(store: Store) -> Follower:
    """A follower that has taken its starting point: events committed from now on are its."""
    following = Follower(store)
    time.sleep(SETTLE)
    return following


def claimed(harness: Harness, tenant: str | None = None) -> tuple[str, int]:
    t = fresh_id()
    return t, claim(harness.store, t, tenant=tenant).token


def test_ruling_23_every_thread_is_followed_from_now_on(harness: Harness) -> None:
    t, token = claimed(harness)
    emit(harness.checkpoints, t, token, "before")
    following = started(harness.sibling())
    u, other = claimed(harness)

    emit(harness.checkpoints, t, token, "a", "b")
    emit(harness.sibling().checkpoints, u, other, "c")
    following.wait_for(3)
    following.cancel()

    assert following.names == ["a", "b", "c"]
    assert following.records == [
        *harness.checkpoints.events_after(t, 1, 10),
        *harness.checkpoints.events_after(u, 0, 10),
    ]


def test_ruling_23_a_position_resumes_after_itself(harness: Harness, follower: Follower) -> None:
    t, token = claimed(harness)
    for name in "abcde":
        emit(harness.checkpoints, t, token, name)
    follower.wait_for(5)
    positions = [position for position, _ in follower.delivered]
    assert len(set(positions)) == 5

    emit(harness.checkpoints, t, token, "last")
    follower.wait_for(6)
    for seen, position in enumerate(positions, 1):
        resumed = Follower(harness.sibling(), after=position)
        resumed.wait_for(6 - seen)
        resumed.cancel()
        assert resumed.delivered == follower.delivered[seen:]


def test_ruling_23_a_made_up_position_is_refused(harness: Harness) -> None:
    with pytest.raises(ValidationError):
        next(watch_all(harness.store, after="not a position"))


def test_ruling_23_only_the_kinds_asked_for(harness: Harness) -> None:
    following = Follower(harness.store, kinds=["wanted"])
    time.sleep(SETTLE)
    t, token = claimed(harness)
    drafts = [ev("a"), ev("b", kind="wanted"), ev("c"), ev("d", kind="wanted")]
    harness.checkpoints.commit(t, Commit(token, events=drafts))
    following.wait_for(2)
    following.cancel()
    assert following.names == ["b", "d"]


@pytest.mark.parametrize(("tenant", "wanted"), [("A", ["of A"]), (None, ["of nobody"])])
def test_ruling_23_only_the_tenant_asked_for(harness: Harness, tenant: str | None, wanted: list[str]) -> None:
    following = Follower(harness.store, tenant=tenant)
    time.sleep(SETTLE)
    for owner, name in (("B", "of B"), ("A", "of A"), (None, "of nobody")):
        t, token = claimed(harness, owner)
        made = ck("c1", t=t, tenant=owner)
        harness.checkpoints.commit(t, Commit(token, checkpoint=made, events=[ev(name)]))
    following.wait_for(1)
    time.sleep(SETTLE)
    following.cancel()
    assert following.names == wanted


def test_ruling_23_nothing_is_missed_or_doubled_under_concurrent_writers(
    harness: Harness, follower: Follower
) -> None:
    writers, commits_each = 8, 40
    threads = [claimed(harness) for _ in range(writers)]
    stores = [harness.store, harness.sibling()]

    def write(number: int) -> None:
        t, token = threads[number]
        for step in range(commits_each):
            emit(stores[number % 2].checkpoints, t, token, *("x" for _ in range(1 + step % 3)))

    all_succeeded(together(*[partial(write, number) for number in range(writers)]))
    logs = {t: [record.seq for record in harness.checkpoints.events_after(t, 0, 1000)] for t, _ in threads}
    follower.wait_for(sum(map(len, logs.values())))

    assert follower.by_thread() == logs
    assert len({position for position, _ in follower.delivered}) == len(follower.delivered)


def test_ruling_23_a_commit_that_lands_late_is_waited_for(postgres_harness: Harness) -> None:
    following = started(postgres_harness.sibling())
    slow, slow_token = claimed(postgres_harness)
    quick, quick_token = claimed(postgres_harness)

    with postgres_harness.store.engine.connect() as connection, connection.begin():
        commits.commit(connection, slow, Commit(slow_token, events=[ev("drawn first")]))
        emit(postgres_harness.checkpoints, quick, quick_token, "landed first")
        time.sleep(SETTLE)
        assert following.names == []
    following.wait_for(2)
    following.cancel()

    assert following.names == ["drawn first", "landed first"]


def test_ruling_23_a_commit_that_never_lands_holds_nobody_up(postgres_harness: Harness) -> None:
    following = started(postgres_harness.sibling())
    slow, slow_token = claimed(postgres_harness)
    quick, quick_token = claimed(postgres_harness)

    with postgres_harness.store.engine.connect() as connection:
        transaction = connection.begin()
        commits.commit(connection, slow, Commit(slow_token, events=[ev("lost"), ev("lost too")]))
        emit(postgres_harness.checkpoints, quick, quick_token, "landed")
        time.sleep(SETTLE)
        assert following.names == []
        transaction.rollback()
    following.wait_for(1)
    emit(postgres_harness.checkpoints, slow, slow_token, "next")
    following.wait_for(2)
    following.cancel()

    assert following.names == ["landed", "next"]


def test_ruling_23_a_long_wait_names_the_process_it_waits_for(
    postgres_harness: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    following = started(postgres_harness.sibling())
    slow, slow_token = claimed(postgres_harness)
    quick, quick_token = claimed(postgres_harness)

    with postgres_harness.store.engine.connect() as connection, connection.begin():
        commits.commit(connection, slow, Commit(slow_token, events=[ev("late")]))
        pid = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        emit(postgres_harness.checkpoints, quick, quick_token, "held")
        until(lambda: f"process {pid} " in caplog.text, "the wait is reported")
        assert following.names == []
    following.wait_for(2)
    following.cancel()


def test_ruling_23_a_gap_of_an_older_transaction_is_not_waited_for_twice(postgres_harness: Harness) -> None:
    """A transaction that holds no position keeps nobody waiting for positions that were never drawn by it."""
    following = started(postgres_harness.sibling())
    t, token = claimed(postgres_harness)
    with postgres_harness.raw() as idle:
        idle.execute(
            text("CREATE TEMPORARY TABLE held (n int)")
        )  # Gives it a transaction id, and so an xmin.
        for name in "abc":
            emit(postgres_harness.checkpoints, t, token, name)
        following.wait_for(3)
    following.cancel()
    assert following.names == ["a", "b", "c"]


def test_ruling_23_many_late_commits_are_delivered_in_order(postgres_harness: Harness) -> None:
    following = started(postgres_harness.sibling())
    threads = [claimed(postgres_harness) for _ in range(6)]

    def write(number: int) -> None:
        t, token = threads[number]
        for step in range(25):
            with postgres_harness.store.engine.connect() as connection:
                transaction = connection.begin()
                commits.commit(connection, t, Commit(token, events=[ev("x"), ev("y")]))
                time.sleep((number * 7 + step * 3) % 5 * 0.002)
                if (number + step) % 4:
                    transaction.commit()
                else:
                    transaction.rollback()

    all_succeeded(together(*[partial(write, number) for number in range(6)]))
    logs = {
        t: [record.seq for record in postgres_harness.checkpoints.events_after(t, 0, 1000)]
        for t, _ in threads
    }
    following.wait_for(sum(map(len, logs.values())))
    following.cancel()
    assert following.by_thread() == logs


def test_ruling_23_a_reconnect_misses_nothing(postgres_harness: Harness) -> None:
    following = started(postgres_harness.sibling())
    t, token = claimed(postgres_harness)
    for round_ in range(5):
        end_other_connections(postgres_harness)
        store = postgres_harness.sibling()
        emit(store.checkpoints, t, token, f"after {round_}")
        store.close()
    following.wait_for(5)
    following.cancel()
    assert following.names == [f"after {round_}" for round_ in range(5)]


def test_ruling_23_a_delete_takes_nothing_from_who_has_read(harness: Harness, follower: Follower) -> None:
    t, token = claimed(harness)
    emit(harness.checkpoints, t, token, "a")
    follower.wait_for(1)
    harness.checkpoints.delete_thread(t, token)
    u, other = claimed(harness)
    emit(harness.checkpoints, u, other, "b")
    follower.wait_for(2)
    assert follower.names == ["a", "b"]


def test_ruling_23_compacted_events_make_no_hole_to_wait_for(harness: Harness) -> None:
    t, token = claimed(harness)
    u, other = claimed(harness)
    following = started(harness.sibling())
    emit(harness.checkpoints, t, token, "a")
    following.wait_for(1)
    after = following.delivered[0][0]
    following.cancel()
    emit(harness.checkpoints, t, token, "b", "c", "d")
    emit(harness.checkpoints, u, other, "e")
    harness.checkpoints.compact_events(t, 4)

    resumed = Follower(harness.sibling(), after=after)
    resumed.wait_for(2)
    resumed.cancel()
    assert resumed.names == ["d", "e"]


def test_ruling_23_a_closed_store_ends_the_stream(harness: Harness) -> None:
    store = harness.sibling()
    following = started(store)
    store.close()
    following.wait_ended()
    assert isinstance(following.ended_by, StoreFailure)


def test_ruling_23_wakes_soon(harness: Harness) -> None:
    following = Follower(harness.sibling(), poll_interval=timedelta(hours=1))
    time.sleep(SETTLE)
    t, token = claimed(harness)
    for number in range(20):
        background(emit, harness.checkpoints, t, token, "a")
        following.wait_for(number + 1, limit=2)
    following.cancel()
