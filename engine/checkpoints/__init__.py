"""Durable threads: fenced claims, atomic commits, an event log, deletion that late writers cannot undo."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

# Their modules have the same names, which would be found in their place.
from engine.checkpoints.watch import watch
from engine.checkpoints.watch_all import watch_all

if TYPE_CHECKING:
    from engine.checkpoints.attempts import Attempt, judge_attempt
    from engine.checkpoints.cascade import CascadeResult, delete_thread_cascade
    from engine.checkpoints.checkpointer import Checkpointer
    from engine.checkpoints.child_retention import ChildRetention, retain_children
    from engine.checkpoints.metadata import set_metadata
    from engine.checkpoints.metered import MeteredCheckpointer
    from engine.checkpoints.model import (
        ANY,
        BusyHolder,
        Checkpoint,
        CheckpointStatus,
        ClaimRequest,
        Commit,
        EffectDraft,
        EffectRecord,
        EventDraft,
        EventRecord,
        Fence,
        HolderKind,
        Origin,
        PendingWrite,
        RunClaim,
        StoredCheckpoint,
        ThreadStatus,
    )
    from engine.checkpoints.prefix import find_threads
    from engine.checkpoints.queue_model import QueueEntry, QueueState
    from engine.checkpoints.registry_model import MAX_LIMIT, ThreadPage, ThreadQuery, ThreadSummary, Tombstone
    from engine.checkpoints.retention import RetentionPolicy, SweepGuard, SweepPolicy, SweepResult
    from engine.checkpoints.run_queue import RunQueue
    from engine.checkpoints.tail import EventTail, Held
    from engine.checkpoints.tenancy import TenantThreads
    from engine.checkpoints.tombs import tombstones

__all__ = [
    "ANY",
    "MAX_LIMIT",
    "Attempt",
    "BusyHolder",
    "CascadeResult",
    "Checkpoint",
    "CheckpointStatus",
    "Checkpointer",
    "ChildRetention",
    "ClaimRequest",
    "Commit",
    "EffectDraft",
    "EffectRecord",
    "EventDraft",
    "EventRecord",
    "EventTail",
    "Fence",
    "Held",
    "HolderKind",
    "MeteredCheckpointer",
    "Origin",
    "PendingWrite",
    "QueueEntry",
    "QueueState",
    "RetentionPolicy",
    "RunClaim",
    "RunQueue",
    "StoredCheckpoint",
    "SweepGuard",
    "SweepPolicy",
    "SweepResult",
    "TenantThreads",
    "ThreadPage",
    "ThreadQuery",
    "ThreadStatus",
    "ThreadSummary",
    "Tombstone",
    "delete_thread_cascade",
    "find_threads",
    "judge_attempt",
    "retain_children",
    "set_metadata",
    "tombstones",
    "watch",
    "watch_all",
]

_HOMES: Final = {
    "engine.checkpoints.attempts": (
        "Attempt",
        "judge_attempt",
    ),
    "engine.checkpoints.cascade": (
        "CascadeResult",
        "delete_thread_cascade",
    ),
    "engine.checkpoints.checkpointer": ("Checkpointer",),
    "engine.checkpoints.child_retention": (
        "ChildRetention",
        "retain_children",
    ),
    "engine.checkpoints.metadata": ("set_metadata",),
    "engine.checkpoints.metered": ("MeteredCheckpointer",),
    "engine.checkpoints.model": (
        "ANY",
        "BusyHolder",
        "Checkpoint",
        "CheckpointStatus",
        "ClaimRequest",
        "Commit",
        "EffectDraft",
        "EffectRecord",
        "EventDraft",
        "EventRecord",
        "Fence",
        "HolderKind",
        "Origin",
        "PendingWrite",
        "RunClaim",
        "StoredCheckpoint",
        "ThreadStatus",
    ),
    "engine.checkpoints.prefix": ("find_threads",),
    "engine.checkpoints.queue_model": (
        "QueueEntry",
        "QueueState",
    ),
    "engine.checkpoints.registry_model": (
        "MAX_LIMIT",
        "ThreadPage",
        "ThreadQuery",
        "ThreadSummary",
        "Tombstone",
    ),
    "engine.checkpoints.retention": (
        "RetentionPolicy",
        "SweepGuard",
        "SweepPolicy",
        "SweepResult",
    ),
    "engine.checkpoints.run_queue": ("RunQueue",),
    "engine.checkpoints.tail": (
        "EventTail",
        "Held",
    ),
    "engine.checkpoints.tenancy": ("TenantThreads",),
    "engine.checkpoints.tombs": ("tombstones",),
}
_HOME: Final = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Each name is loaded when it is first asked for: the console's first rows need few of these modules.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
