"""Rows that do not decode: case 123 of checkpoints.md, on both back ends."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import make_url, text

from engine.checkpoints import Commit
from engine.errors import StoreFailure
from tests.support.builders import ck, claim, emit, ev, fresh_id, seqs, wr
from tests.support.files import path_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

BROKEN = '{"cut off'
CALLS = {
    "latest": ("checkpoint", "body"),
    "history": ("checkpoint", "body"),
    "checkpoint": ("checkpoint", "body"),
    "latest of a write": ("pending_write", "body"),
    "events_after": ("event", "payload"),
    "await_events_after": ("event", "payload"),
}


def call(checkpoints: Checkpointer, name: str, t: str) -> object:
    """The read of that name."""
    reads: dict[str, Callable[[], object]] = {
        "latest": lambda: checkpoints.latest(t),
        "latest of a write": lambda: checkpoints.latest(t),
        "history": lambda: checkpoints.history(t, limit=10),
        "checkpoint": lambda: checkpoints.checkpoint(t, "c1"),
        "events_after": lambda: checkpoints.events_after(t, 0, 10),
        "await_events_after": lambda: checkpoints.await_events_after(t, 0, 10, timedelta(seconds=1)),
    }
    return reads[name]()


def where(harness: Harness) -> str:
    """What the message must name: the file, or the database."""
    if harness.kind == "sqlite":
        return str(path_of(harness.url))
    return str(make_url(harness.url).database)


@pytest.mark.parametrize("name", list(CALLS))
def test_core_123_a_row_that_does_not_decode(harness: Harness, name: str) -> None:
    checkpoints = harness.checkpoints
    table, column = CALLS[name]
    t = fresh_id()
    token = claim(checkpoints, t).token
    checkpoints.commit(t, Commit(token, checkpoint=ck("c1", t=t), writes=[wr("c1", "0.0")], events=[ev("a")]))
    with harness.raw() as connection:
        connection.execute(text(f"UPDATE {table} SET {column} = :broken"), {"broken": BROKEN})

    with pytest.raises(StoreFailure) as caught:
        call(checkpoints, name, t)

    assert caught.value.operation.endswith(name.partition(" ")[0])
    assert table.replace("_", " ") in str(caught.value)
    assert t in str(caught.value) or "c1" in str(caught.value)
    assert where(harness) in str(caught.value)


def test_core_123_other_threads_stay_readable(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    broken, sound = fresh_id(), fresh_id()
    for t in (broken, sound):
        emit(checkpoints, t, claim(checkpoints, t).token, "a")
    with harness.raw() as connection:
        change = text("UPDATE event SET payload = :broken WHERE thread_id = :t")
        connection.execute(change, {"broken": BROKEN, "t": broken})

    with pytest.raises(StoreFailure):
        checkpoints.events_after(broken, 0, 10)
    assert seqs(checkpoints, sound) == [1]
    assert emit(checkpoints, broken, claim_of(harness, broken), "b") == [2]


def claim_of(harness: Harness, t: str) -> int:
    with harness.raw() as connection:
        token = connection.execute(text("SELECT claim_token FROM thread WHERE thread_id = :t"), {"t": t})
        return int(token.scalar_one())
