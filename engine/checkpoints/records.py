"""Row to record: the one place where stored text and numbers become what callers see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from engine.checkpoints.model import (
    FORMAT_VERSION,
    Checkpoint,
    CheckpointStatus,
    EffectRecord,
    EventRecord,
    Origin,
    PendingWrite,
)
from engine.clock import from_ns
from engine.errors import StoreFailure, UnsupportedCheckpointFormat

if TYPE_CHECKING:
    from datetime import datetime


_decode: Final = json.JSONDecoder().raw_decode


def loaded(text: str) -> Any:
    """`json.loads`, in half the time for a small text as `dump` makes it."""
    try:
        value, end = _decode(text)
    except (ValueError, TypeError):
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


class Undecodable(ValueError):
    """A stored row that is not what a store of this kind writes; the facade names the call and the store."""


def checkpoint_of(row: Any) -> Checkpoint:
    """A `checkpoint` row; UnsupportedCheckpointFormat for a format of another build, or none at all."""
    if row.format is None or not 1 <= row.format <= FORMAT_VERSION:
        raise UnsupportedCheckpointFormat(row.format or 0, FORMAT_VERSION)
    try:
        return Checkpoint(
            row.checkpoint_id,
            row.thread_id,
            row.run_id,
            CheckpointStatus(row.status),
            loaded(row.body),
            row.parent,
            instant_of(row.created_at),
            row.tenant,
            row.token,
            None if row.origin is None else Origin(row.origin),
            row.format,
        )
    except (ValueError, TypeError) as error:
        raise Undecodable(f"checkpoint {row.checkpoint_id!r} of thread {row.thread_id!r}: {error}") from error


def write_of(checkpoint_id: str, task_id: str, node_id: str, body: str) -> PendingWrite:
    """A `pending_write` row."""
    try:
        return PendingWrite(checkpoint_id, task_id, node_id, loaded(body))
    except (ValueError, TypeError) as error:
        raise Undecodable(f"pending write {task_id!r} of checkpoint {checkpoint_id!r}: {error}") from error


def event_of(row: Any) -> EventRecord:
    """An `event` row."""
    try:
        return EventRecord(
            row.thread_id,
            row.seq,
            row.kind,
            loaded(row.payload),
            row.run_id,
            row.checkpoint_id,
            row.task_id,
            row.node_id,
            instant_of(row.timestamp),
            row.token,
        )
    except (ValueError, TypeError) as error:
        raise Undecodable(f"event #{row.seq} of thread {row.thread_id!r}: {error}") from error


def effect_of(row: Any) -> EffectRecord:
    """An `effect` row."""
    try:
        return EffectRecord(row.key, loaded(row.value), row.run_id, row.token, from_ns(row.committed_at))
    except (ValueError, TypeError) as error:
        raise Undecodable(f"effect {row.key!r} of thread {row.thread_id!r}: {error}") from error


def instant_of(ns: int | None) -> datetime | None:
    """An optional instant."""
    return None if ns is None else from_ns(ns)


def undecodable(operation: str, error: Undecodable, store: str) -> StoreFailure:
    """The error a caller sees: the call, what did not decode, and in which store."""
    return StoreFailure(
        operation, f"a stored row does not decode in {store}: {error}; restore it from a backup"
    )
