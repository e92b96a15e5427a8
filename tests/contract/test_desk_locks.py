"""What keeps readers out, and how a caller ends his own reads (console.md F6 and row 57, ruling 22)."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from engine.desk import cancelling
from engine.desk.filters import ThreadFilter
from engine.errors import WaitCancelled
from tests.support.background import LIMIT, background, until
from tests.support.builders import claim, emit, fresh_id
from tests.support.locks import waiting_for_locks

if TYPE_CHECKING:
    from tests.support.harness import Harness

LOCK = text("LOCK TABLE thread IN ACCESS EXCLUSIVE MODE")


def test_a_store_that_nobody_locks_has_no_locks(harness: Harness) -> None:
    with harness.raw() as connection:
        connection.execute(text("SELECT count(*) FROM thread"))
        assert harness.store.desk.table_locks() == ()


def test_who_holds_a_table_and_who_waits_for_it_are_told_apart(postgres_harness: Harness) -> None:
    desk = postgres_harness.store.desk
    desk.now()

    def wait_for_it() -> None:
        with postgres_harness.raw() as connection:
            connection.execute(text("SET application_name = 'second'"))
            connection.execute(LOCK)

    with postgres_harness.raw() as connection:
        connection.execute(text("SET application_name = 'first'"))
        connection.execute(LOCK)
        waiter = background(wait_for_it)
        until(lambda: waiting_for_locks(postgres_harness) == 1, "the second one waits")
        found = desk.table_locks()
    waiter.result(LIMIT)
    assert [(each.table, each.who, each.granted) for each in found] == [
        ("thread", "first", True),
        ("thread", "second", False),
    ]
    assert all(each.pid > 0 and each.seconds is not None and each.seconds >= 0 for each in found)
    assert desk.table_locks() == ()


def test_ruling_22_a_set_event_ends_the_reads_within_its_block_and_no_others(harness: Harness) -> None:
    desk, event = harness.store.desk, threading.Event()
    event.set()
    with cancelling(event):
        for read in (lambda: desk.threads(ThreadFilter()), desk.now, desk.queue_depth, desk.identity):
            with pytest.raises(WaitCancelled):
                read()
        thread = fresh_id()
        assert emit(harness.checkpoints, thread, claim(harness.checkpoints, thread).token, "written") == [1]
    assert [row.thread_id for row in desk.claims().rows] == [thread]


def test_row_57_a_read_that_waits_for_a_lock_is_ended_in_the_server(postgres_harness: Harness) -> None:
    desk, event = postgres_harness.store.desk, threading.Event()

    def read() -> None:
        with cancelling(event):
            desk.threads(ThreadFilter())

    with postgres_harness.raw() as connection:
        connection.execute(LOCK)
        reader = background(read)
        until(lambda: waiting_for_locks(postgres_harness) == 1, "the reader waits")
        event.set()
        with pytest.raises(WaitCancelled):
            reader.result(LIMIT)
        until(lambda: waiting_for_locks(postgres_harness) == 0, "nobody waits in the server")
    assert desk.threads(ThreadFilter()).rows == ()
