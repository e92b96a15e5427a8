"""What a worker does with an entry it leased, judged before it touches the thread (4.9, case 127)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from engine.checkpoints.model import CheckpointStatus

if TYPE_CHECKING:
    from engine.checkpoints.checkpointer import Checkpointer
    from engine.checkpoints.queue_model import QueueEntry


class Attempt(StrEnum):
    """The next step: START a run with the entry's input, RECOVER the run that stopped, or COMPLETE the entry."""

    START = "start"
    RECOVER = "recover"
    COMPLETE = "complete"


def judge_attempt(checkpointer: Checkpointer, entry: QueueEntry) -> Attempt:
    """Whether the entry's input still has to be admitted, by what its runs left behind.

    Nothing: no run of it ever got in, so START. A running checkpoint that is still the latest: RECOVER. Any
    other answer is COMPLETE: the run settled or waits for somebody, or something else ran since. Whoever deletes
    a thread cancels its entries (`RunQueue.cancel_thread`), or a START would bring it back.
    """
    found = checkpointer.latest_of_runs(entry.thread_id, entry.run_ids)
    if found is None:
        return Attempt.START
    latest = checkpointer.latest(entry.thread_id)
    unfinished = found.status is CheckpointStatus.RUNNING
    if unfinished and latest is not None and latest.checkpoint.id == found.id:
        return Attempt.RECOVER
    return Attempt.COMPLETE
