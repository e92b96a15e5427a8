"""Tombstones and the reclamation mark: cases 114 to 124 of checkpoints-operations.md 4.8, ruling 14."""

from __future__ import annotations

import random
import time
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from engine.checkpoints import ClaimRequest, SweepPolicy, SweepResult
from engine.checkpoints.claims import claim as claim_verb
from engine.checkpoints.reclaim import reclaim
from engine.errors import ThreadDeleted, ValidationError
from tests.support.background import LIMIT, background, until
from tests.support.builders import TTL, claim, emit, fresh_id
from tests.support.locks import waiting_for_locks
from tests.support.refusals import refused
from tests.support.retention import buried, mark, nothing, sweep_through
from tests.support.rows import rows_of
from tests.support.threads import put
from tests.support.together import all_succeeded, together
from tests.support.tombs import check_deleted, deleted_at, five_events_deleted, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

AGE = timedelta(hours=1)
BURY = SweepPolicy(tombstone_age=AGE)
ROUNDS = 40
MOMENT = 0.1
"""Seconds by which a waiter has surely begun."""


def reclaimed(harness: Harness, *ids: str) -> None:
    """Let the ids' tombstones grow old and sweep them away."""
    harness.advance(2 * AGE)
    results = sweep_through(harness.checkpoints, BURY)
    assert sum(result.tombstones_reclaimed for result in results) == len(ids)
    for t in ids:
        with harness.raw() as connection:
            assert rows_of(connection, t) == {}


def first_event(store: Checkpointer, t: str) -> int:
    """The number that the id's next event gets."""
    return emit(store, t, claim(store, t, fresh_id()).token, "first")[0]


def test_ops_114_before_it_is_reclaimed(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    five_events_deleted(store, "x")
    check_deleted(store, "x")
    assert mark(harness) == 1
    assert first_event(store, "x") == 7
    assert first_event(store, "y") == 1


def test_ops_115_once_it_is_reclaimed(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    five_events_deleted(store, "x")
    reclaimed(harness, "x")
    assert mark(harness) == 7
    check_deleted(store, "x")
    assert store.events_after("x", 6, 0) == []


def no_place(child: str, parent: str) -> ValidationError:
    """What a cursor is told that is no child of this parent."""
    problem = f"{child!r} has no place among the children of {parent!r}; start again without it"
    return ValidationError("after", (problem,))


def test_ops_115_its_children_and_its_place_among_children(harness_any_clock: Harness) -> None:
    """A tombstone takes its own place with it, not those of its children."""
    harness = harness_any_clock
    store = harness.checkpoints
    token = put(store, "x", origin="p")
    emit(store, "x", token, "one")
    put(store, "child", origin="x")
    store.delete_thread("x", token)
    harness.advance(2 * AGE)

    assert store.sweep(BURY, nothing).tombstones_reclaimed == 1

    with harness.raw() as connection:
        assert rows_of(connection, "x") == {"thread": 1, "child_place": 1}
    refused(no_place("x", "p"), store.children, "p", after="x")
    assert store.children("x") == ["child"]


def test_ops_116_new_threads_number_from_the_mark(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    five_events_deleted(store, "x")
    reclaimed(harness, "x")
    for t in ("x", "never used"):
        assert first_event(store, t) == 7
        assert read(store, t, 0) == read(store, t, 6) == [7]
        deleted_at(store, t, range(1, 6))


def test_ops_116_the_number_is_fixed_by_the_first_event(harness_any_clock: Harness) -> None:
    """Ruling 14: a thread without events follows the mark until it has one."""
    harness = harness_any_clock
    store = harness.checkpoints
    five_events_deleted(store, "x")
    token = put(store, "y")
    reclaimed(harness, "x")
    assert emit(store, "y", token, "first") == [7]
    buried(store, "z", 20)
    reclaimed(harness, "z")
    assert emit(store, "y", token, "second") == [8]


def test_ops_117_a_thread_that_exists_keeps_its_numbers(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    token = claim(store, "z").token
    assert emit(store, "z", token, "a", "b", "c") == [1, 2, 3]
    five_events_deleted(store, "x")
    reclaimed(harness, "x")
    assert (read(store, "z", 1), read(store, "z", 0)) == ([2, 3], [1, 2, 3])
    assert emit(store, "z", token, "d") == [4]


@pytest.mark.parametrize("order", [("long", "short"), ("short", "long")], ids="-".join)
def test_ops_118_the_mark_only_rises(harness_any_clock: Harness, order: tuple[str, str]) -> None:
    harness = harness_any_clock
    firsts = {"long": 7, "short": 4}
    for t in order:
        buried(harness.checkpoints, t, firsts[t] - 2)
        harness.advance(AGE * 2 / 3)
    marks = []
    for _ in order:
        assert harness.checkpoints.sweep(BURY, nothing).tombstones_reclaimed == 1
        marks.append(mark(harness))
        harness.advance(AGE * 2 / 3)
    assert marks == [firsts[order[0]], 7]


def test_ops_118_of_one_page_the_largest_counts(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    for t, events in (("a", 2), ("b", 5), ("c", 1)):
        buried(harness.checkpoints, t, events)
    reclaimed(harness, "a", "b", "c")
    assert mark(harness) == 7


def test_ops_119_an_id_never_used(harness_any_clock: Harness) -> None:
    """The store no longer knows whose log was deleted, so that it says so of every id without one."""
    harness = harness_any_clock
    five_events_deleted(harness.checkpoints, "x")
    reclaimed(harness, "x")
    check_deleted(harness.checkpoints, "y")
    claim(harness.checkpoints, "y")
    check_deleted(harness.checkpoints, "y")


def test_ops_120_a_second_delete_without_events(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    five_events_deleted(store, "x")
    store.delete_thread("x", claim(store, "x").token)
    check_deleted(store, "x")
    put(store, "x")
    harness.advance(TTL)
    store.delete_thread("x", claim(store, "x", "again").token)
    check_deleted(store, "x")
    reclaimed(harness, "x")
    assert mark(harness) == 7
    assert first_event(store, "x") == 7


def test_ops_121_no_events_no_tombstone(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store = harness.checkpoints
    store.delete_thread("x", put(store, "x", origin="p"))
    with harness.raw() as connection:
        assert rows_of(connection, "x") == {}
    harness.advance(2 * AGE)
    assert store.sweep(BURY, nothing) == SweepResult(None)
    assert mark(harness) == 1
    assert first_event(store, "x") == 1


def test_ops_122_the_mark_is_the_stores(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    before = harness.sibling().checkpoints
    assert read(before, "y", 0) == []
    five_events_deleted(harness.checkpoints, "x")
    reclaimed(harness, "x")
    assert first_event(before, "y") == 7
    assert first_event(harness.sibling().checkpoints, "z") == 7
    store = harness.reopen().checkpoints
    assert mark(harness) == 7
    check_deleted(store, "x")
    assert first_event(store, "x") == 7


def test_ops_123_a_first_commit_and_a_reclamation_at_once(harness_any_clock: Harness) -> None:
    """Each round's tombstone lies above the mark, so that a number drawn from an older mark would show."""
    harness = harness_any_clock
    ours, theirs = harness.checkpoints, harness.sibling().checkpoints
    dice = random.Random(123)
    for number in range(ROUNDS):
        t = f"x-{number:02}"
        buried(ours, t, 5)
        (expected,) = (tomb.first for tomb in ours.tombstones(limit=1000) if tomb.thread_id == t)
        assert expected >= mark(harness) + 6
        harness.advance(2 * AGE)
        delays = [dice.random() / 100 for _ in range(2)]
        _, first = all_succeeded(
            together(
                partial(after, delays[0], ours.sweep, BURY, nothing),
                partial(after, delays[1], first_event, theirs, t),
            )
        )
        assert first == expected
        assert read(ours, t, 0) == [first]
        deleted_at(ours, t, (1, first - 2))


def after(seconds: float, call: Callable[..., Any], *args: Any) -> Any:
    """The call's value, a moment later."""
    time.sleep(seconds)
    return call(*args)


def test_ops_123_a_claim_waits_for_a_reclamation(harness_any_clock: Harness) -> None:
    """Whoever waited for the row of a tombstone that went begins again, with a row of its own."""
    harness = harness_any_clock
    store = harness.checkpoints
    five_events_deleted(store, "x")
    harness.advance(2 * AGE)
    with store_transaction(harness) as connection:
        assert reclaim(connection, "x", AGE)
        first = background(first_event, harness.sibling().checkpoints, "x")
        if harness.kind == "postgresql":
            until(lambda: waiting_for_locks(harness) == 1, "the claim waits")
        connection.commit()
    assert first.result(LIMIT) == 7
    assert mark(harness) == 7


def store_transaction(harness: Harness) -> Connection:
    """A connection of the store, for verbs in a transaction of the test's own."""
    return harness.store.engine.connect()


def test_ops_123_a_reclamation_waits_for_a_claim(harness_any_clock: Harness) -> None:
    """Looked at again under the lock, the tombstone is no longer alone."""
    harness = harness_any_clock
    store = harness.checkpoints
    five_events_deleted(store, "x")
    harness.advance(2 * AGE)
    other = harness.sibling().checkpoints
    with store_transaction(harness) as connection:
        claim_verb(connection, "x", ClaimRequest("first", TTL))
        swept = background(other.sweep, BURY, nothing)
        if harness.kind == "postgresql":
            until(lambda: waiting_for_locks(harness) == 1, "the sweep waits")
        connection.commit()
    assert swept.result(LIMIT).tombstones_reclaimed == 0
    assert mark(harness) == 1
    check_deleted(store, "x")


def test_ops_124_a_waiter_and_a_later_reader(harness_any_clock: Harness) -> None:
    harness = harness_any_clock
    store, hour = harness.checkpoints, timedelta(hours=1)
    token = claim(store, "x").token
    emit(store, "x", token, "a", "b", "c", "d", "e")
    told = background(harness.sibling().checkpoints.await_events_after, "x", 5, 10, hour)
    behind = background(harness.sibling().checkpoints.await_events_after, "x", 6, 10, hour)
    time.sleep(MOMENT)
    assert not told.done()

    store.delete_thread("x", token)

    assert told.exception(LIMIT) == ThreadDeleted("x")
    reclaimed(harness, "x")
    refused(ThreadDeleted("x"), store.events_after, "x", 5, 10)
    refused(ThreadDeleted("x"), store.await_events_after, "x", 5, 10, hour)
    # Whoever had seen the end of the old log is served the first event of a new thread.
    assert not behind.done()
    assert first_event(store, "x") == 7
    assert [record.seq for record in behind.result(LIMIT)] == [7]
