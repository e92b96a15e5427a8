"""A refusal that is being counted while its thread goes leaves no row of a thread that is not there (ruling 20)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine.checkpoints import SweepPolicy
from engine.checkpoints.refusals import record_refusal
from tests.support.background import LIMIT, background, until
from tests.support.builders import TTL, claim, emit, fresh_id
from tests.support.locks import waiting_for_locks
from tests.support.retention import nothing
from tests.support.rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.harness import Harness

AGE = timedelta(hours=1)


def _deleted(harness: Harness, t: str, token: int) -> None:
    harness.checkpoints.delete_thread(t, token)


def _released(harness: Harness, t: str, token: int) -> None:
    harness.checkpoints.release(t, token)


def _reclaimed(harness: Harness, t: str, token: int) -> None:
    assert harness.checkpoints.sweep(SweepPolicy(tombstone_age=AGE), nothing).tombstones_reclaimed == 1


def _bury(harness: Harness, t: str, token: int) -> None:
    emit(harness.checkpoints, t, token, "one")
    harness.checkpoints.delete_thread(t, token)
    harness.advance(2 * AGE)


@pytest.mark.parametrize("going", [_deleted, _released, _reclaimed], ids=["deleted", "released", "reclaimed"])
def test_ruling_20_a_count_under_way_does_not_outlive_its_thread(
    postgres_harness: Harness, going: Callable[[Harness, str, int], None]
) -> None:
    """SQLite has one writer at a time: there the two cannot meet."""
    harness, t = postgres_harness, fresh_id()
    late = claim(harness.checkpoints, t).token
    harness.advance(TTL)
    token = claim(harness.checkpoints, t, "second").token
    if going is _reclaimed:
        _bury(harness, t, token)

    with harness.store.engine.begin() as connection:
        record_refusal(connection, t, late, "commit")
        gone = background(going, harness, t, token)
        until(lambda: waiting_for_locks(harness) or gone.done(), "the other one has come to the row")
    gone.result(LIMIT)

    with harness.raw() as connection:
        assert rows_of(connection, t) == {}
