"""Durable threads: fenced claims, atomic commits, an event log, deletion that late writers cannot undo."""

from engine.checkpoints.checkpointer import Checkpointer
from engine.checkpoints.model import (
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

__all__ = [
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
    "Fence",
    "HolderKind",
    "Origin",
    "PendingWrite",
    "RunClaim",
    "StoredCheckpoint",
]
