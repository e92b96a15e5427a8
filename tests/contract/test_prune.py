"""Pruning a deleted id: case 83 of checkpoints.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.checkpoints import RetentionPolicy
from tests.support.builders import TTL, fresh_id
from tests.support.tombs import check_deleted, five_events_deleted

if TYPE_CHECKING:
    from tests.support.harness import Harness


def test_core_83_prune_keeps_the_tombstone(harness: Harness) -> None:
    checkpoints = harness.checkpoints
    t = fresh_id()
    five_events_deleted(checkpoints, t)

    checkpoints.prune(t, RetentionPolicy(max_age=TTL, max_checkpoints=1, max_events=1))

    check_deleted(checkpoints, t)
