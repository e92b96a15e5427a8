"""A commit serialised once, before any lock, for either form of the statement (checkpoints.md 2.4)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.checkpoints.model import EventRecord
from engine.checkpoints.tables import tenant_key
from engine.clock import to_ns
from engine.database.columns import dump

if TYPE_CHECKING:
    from datetime import datetime

    from engine.checkpoints.model import Checkpoint, Commit


@dataclass(frozen=True, slots=True)
class Drafts:
    """Column values of a commit's rows, still without place, numbers and time."""

    checkpoint: dict[str, Any] | None
    writes: list[dict[str, Any]]
    events: list[dict[str, Any]]
    effects: list[tuple[str, str]]

    @classmethod
    def of(cls, commit: Commit) -> Drafts:
        """Serialise; ValidationError for a body that is not plain JSON."""
        return cls(
            None if commit.checkpoint is None else _checkpoint(commit.checkpoint),
            [
                {"task_id": write.task_id, "node_id": write.node_id, "body": dump("write.body", write.body)}
                for write in commit.writes
            ],
            [
                {
                    "kind": draft.kind,
                    "run_id": draft.run_id,
                    "checkpoint_id": draft.checkpoint_id,
                    "task_id": draft.task_id,
                    "node_id": draft.node_id,
                    "timestamp": _ns(draft.timestamp),
                    "payload": dump("event.payload", draft.payload),
                }
                for draft in commit.events
            ],
            [(effect.key, dump("effect.value", effect.value)) for effect in commit.effects],
        )

    def records(self, commit: Commit, thread_id: str, first: int) -> list[EventRecord]:
        """What events_after will answer for the events from `first` on: decoded anew, nothing is shared."""
        return [
            EventRecord(
                thread_id,
                seq,
                draft.kind,
                json.loads(row["payload"]),
                draft.run_id,
                draft.checkpoint_id,
                draft.task_id,
                draft.node_id,
                draft.timestamp,
                commit.token,
            )
            for seq, (draft, row) in enumerate(zip(commit.events, self.events, strict=True), first)
        ]


def _checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "checkpoint_id": checkpoint.id,
        "run_id": checkpoint.run_id,
        "status": checkpoint.status.value,
        "parent": checkpoint.parent,
        "tenant": checkpoint.tenant,
        "token": checkpoint.fencing_token,
        "origin": None if checkpoint.origin is None else checkpoint.origin.parent,
        "created_at": _ns(checkpoint.created_at),
        "format": checkpoint.format_version,
        "body": dump("checkpoint.snapshot", checkpoint.snapshot),
        "tenant_key": tenant_key(checkpoint.tenant),
    }


def _ns(instant: datetime | None) -> int | None:
    return None if instant is None else to_ns(instant)
