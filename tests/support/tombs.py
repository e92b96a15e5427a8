"""The states of an id that was deleted once or twice: cases 74 to 78 and 81 to 83 of checkpoints.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.errors import ReplayUnavailable, ThreadDeleted
from tests.support.builders import MANY, claim, emit
from tests.support.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from engine.checkpoints import Checkpointer


def five_events_deleted(checkpoints: Checkpointer, t: str) -> None:
    """Numbers 1 to 5, then the thread is gone."""
    token = claim(checkpoints, t).token
    assert emit(checkpoints, t, token, "a", "b", "c", "d", "e") == [1, 2, 3, 4, 5]
    checkpoints.delete_thread(t, token)


def second_life(checkpoints: Checkpointer, t: str) -> int:
    """Numbers 1 to 5, compacted, deleted, and two events of a new thread; its token."""
    first = claim(checkpoints, t).token
    emit(checkpoints, t, first, "a", "b", "c", "d", "e")
    checkpoints.compact_events(t, 4)
    checkpoints.delete_thread(t, first)
    second = claim(checkpoints, t, "second").token
    assert emit(checkpoints, t, second, "f", "g") == [7, 8]
    return second


def compact_second_life(checkpoints: Checkpointer, t: str, token: int) -> None:
    """Raise the floor of a `second_life` to its end, in the steps of case 76, and number one event more."""
    checkpoints.compact_events(t, 2)
    check_second_life(checkpoints, t)
    checkpoints.compact_events(t, 8)
    check_half_compacted(checkpoints, t)
    checkpoints.compact_events(t, 100)
    assert read(checkpoints, t, 8) == []
    assert emit(checkpoints, t, token, "h") == [9]


def read(checkpoints: Checkpointer, t: str, after: int) -> list[int]:
    """The numbers that follow the cursor."""
    return [record.seq for record in checkpoints.events_after(t, after, MANY)]


def deleted_at(checkpoints: Checkpointer, t: str, cursors: Iterable[int]) -> None:
    """Every one of the cursors points into a deleted log."""
    for cursor in cursors:
        refused(ThreadDeleted(t), checkpoints.events_after, t, cursor, MANY)


def check_deleted(checkpoints: Checkpointer, t: str) -> None:
    """Case 74: nothing to read at 0, 6 and beyond; told so within the old log."""
    assert [read(checkpoints, t, cursor) for cursor in (0, 6, 7)] == [[], [], []]
    deleted_at(checkpoints, t, range(1, 6))


def check_second_life(checkpoints: Checkpointer, t: str) -> None:
    """Case 75: the new thread's events, and no trace of the old floor."""
    assert read(checkpoints, t, 0) == [7, 8]
    assert read(checkpoints, t, 6) == [7, 8]
    assert read(checkpoints, t, 7) == [8]
    deleted_at(checkpoints, t, range(1, 6))


def check_half_compacted(checkpoints: Checkpointer, t: str) -> None:
    """Case 76, after the floor rose to 8."""
    for cursor in (0, 6):
        refused(ReplayUnavailable(t, 8), checkpoints.events_after, t, cursor, MANY)
    assert read(checkpoints, t, 7) == [8]
    deleted_at(checkpoints, t, range(1, 6))


def check_twice_deleted(checkpoints: Checkpointer, t: str) -> None:
    """Case 77: all of both logs, the number skipped between them included, is a deleted log."""
    deleted_at(checkpoints, t, range(1, 10))
    assert read(checkpoints, t, 0) == []
    assert read(checkpoints, t, 10) == []


def untold(checkpoints: Checkpointer, t: str) -> None:
    """The id looks as if nothing had ever been there, at the cursors of a log of five."""
    for cursor in range(6):
        try:
            assert read(checkpoints, t, cursor) == []
        except ThreadDeleted:
            pytest.fail(f"cursor {cursor} is told of a delete that numbered nothing")
