"""Durable threads: fenced claims, atomic commits, an event log, deletion that late writers cannot undo."""

from engine.checkpoints.checkpointer import Checkpointer
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
)
from engine.checkpoints.tail import EventTail, Held
from engine.checkpoints.watch import watch
from engine.checkpoints.watch_all import watch_all

__all__ = [
    "ANY",
    "BusyHolder",
    "Checkpoint",
    "CheckpointStatus",
    "Checkpointer",
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
    "Origin",
    "PendingWrite",
    "RunClaim",
    "StoredCheckpoint",
    "watch",
    "watch_all",
]
