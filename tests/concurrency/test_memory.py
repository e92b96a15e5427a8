"""Threads that share the one connection of a store in memory."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from engine import open_store
from engine.errors import WaitCancelled
from tests.support.background import LIMIT, background
from tests.support.builders import claim, emit, fresh_id
from tests.support.processes import Program

if TYPE_CHECKING:
    from engine.checkpoints import Checkpointer

SECONDS = 2.0
READERS = 4


def _emit_until(checkpoints: Checkpointer, t: str, token: int, stop: threading.Event) -> int:
    done = 0
    while not stop.is_set():
        emit(checkpoints, t, token, *"abcdefgh")
        done += 1
    return done


def _read_until(checkpoints: Checkpointer, t: str, stop: threading.Event) -> int:
    """Reads that could be cancelled, every other one of which is."""
    done = 0
    while not stop.is_set():
        cancel = threading.Event()
        if done % 2:
            threading.Timer(0.0005, cancel.set).start()
        try:
            checkpoints.events_after(t, 0, 1000, cancel=cancel)
        except WaitCancelled:
            assert cancel.is_set()
        done += 1
    return done


def bounded_beside_unbounded() -> tuple[int, int]:
    """How many commits and how many reads that could be cancelled went on side by side."""
    with open_store("memory:") as store:
        t, stop = fresh_id(), threading.Event()
        token = claim(store, t).token
        writer = background(_emit_until, store.checkpoints, t, token, stop)
        readers = [background(partial(_read_until, store.checkpoints, t, stop)) for _ in range(READERS)]
        time.sleep(SECONDS)
        stop.set()
        return writer.result(LIMIT), sum(reader.result(LIMIT) for reader in readers)


def test_a_cancellable_read_neither_blocks_nor_ends_what_others_do() -> None:
    """A handler set while another thread is inside of SQLite would stop the whole program, both waiting for good."""
    commits, reads = Program(bounded_beside_unbounded).answer(within=30).value
    assert commits > 10
    assert reads > 10
