"""Processes that are forked with a store open, and a store that is closed under its users."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING

from engine import open_store
from engine.errors import EngineError, StoreClosed
from tests.support.background import background
from tests.support.builders import claim, emit, fresh_id, seqs
from tests.support.processes import Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.harness import Harness

ROUNDS = 5
USERS = 8


def _code_of(calls: list[Callable[[], object]]) -> int:
    """0 when every call says that the store is not this process's."""
    for call in calls:
        try:
            call()
        except StoreClosed as error:
            if "forked" not in str(error):
                return 2
        else:
            return 1
    return 0


def forked(url: str) -> tuple[int, list[int]]:
    """A store used, forked, used by the child, closed by the child, used again: the child's code, the log."""
    with open_store(url) as store:
        t = fresh_id()
        token = claim(store, t).token
        emit(store.checkpoints, t, token, "before")
        child = os.fork()
        if child == 0:
            calls: list[Callable[[], object]] = [
                lambda: emit(store.checkpoints, t, token, "child"),
                lambda: store.checkpoints.latest(t),
                lambda: claim(store, fresh_id()),
                lambda: store.engine,
            ]
            code = _code_of(calls)
            store.close()
            os._exit(code)
        _, status = os.waitpid(child, 0)
        emit(store.checkpoints, t, token, "after")
        return os.waitstatus_to_exitcode(status), seqs(store.checkpoints, t)


def test_a_forked_child_is_told_to_open_its_own(harness: Harness) -> None:
    assert Program(forked, harness.url).answer().value == (0, [1, 2])


def closed_under_its_users() -> int:
    """How many users of stores in memory were told that it is closed, of all."""
    told = 0
    for _ in range(ROUNDS):
        store = open_store("memory:")
        t = fresh_id()
        token = claim(store, t).token
        futures = [background(_use_on, partial(emit, store.checkpoints, t, token, "a")) for _ in range(USERS)]
        time.sleep(0.1)
        store.close()
        told += sum(future.result(10) for future in futures)
    return told


def _use_on(call: Callable[[], object]) -> bool:
    while True:
        try:
            call()
        except EngineError as error:
            return isinstance(error, StoreClosed)


def test_a_store_in_memory_is_closed_under_its_users() -> None:
    """SQLite's connection must not be closed while another thread is inside of it: the program would end."""
    assert Program(closed_under_its_users).answer().value == ROUNDS * USERS
