"""A commit serialised once, before any lock, for either form of the statement (checkpoints.md 2.4)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from engine.arguments import of_kind
from engine.checkpoints.model import Commit, EventRecord
from engine.checkpoints.tables import tenant_key
from engine.clock import EPOCH
from engine.database.columns import dump

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from engine.checkpoints.model import Checkpoint

_MICROSECOND: Final = timedelta(microseconds=1)
# Half of what json.loads costs for a small text, which here is one that `dump` has just made.
_decoded: Final = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Drafts:
    """A commit and what of it had to be made text or number; its rows are still without place, number and time."""

    commit: Commit
    checkpoint: dict[str, Any] | None
    bodies: list[str]
    payloads: list[str]
    timestamps: list[int | None]
    effects: list[tuple[str, str]]

    @classmethod
    def of(cls, commit: Commit) -> Drafts:
        """Serialise; ValidationError for a body that is not plain JSON."""
        of_kind("commit", commit, Commit)
        return cls(
            commit,
            None if commit.checkpoint is None else _checkpoint(commit.checkpoint),
            [dump("write.body", write.body) for write in commit.writes],
            [dump("event.payload", draft.payload) for draft in commit.events],
            [_ns(draft.timestamp) for draft in commit.events],
            [(effect.key, dump("effect.value", effect.value)) for effect in commit.effects],
        )

    def write_rows(self, thread_id: str, place: int, first: int) -> Iterator[dict[str, Any]]:
        """Rows of `pending_write`, numbered from `first`."""
        for n, (write, body) in enumerate(zip(self.commit.writes, self.bodies, strict=True), first):
            yield {
                "thread_id": thread_id,
                "place": place,
                "n": n,
                "task_id": write.task_id,
                "node_id": write.node_id,
                "body": body,
            }

    def event_rows(self, thread_id: str, first: int, at: int) -> Iterator[dict[str, Any]]:
        """Rows of `event`, numbered from `first` and committed at `at` (nanoseconds)."""
        token, parts = self.commit.token, zip(self.commit.events, self.timestamps, self.payloads, strict=True)
        for seq, (draft, timestamp, payload) in enumerate(parts, first):
            yield {
                "thread_id": thread_id,
                "seq": seq,
                "kind": draft.kind,
                "run_id": draft.run_id,
                "checkpoint_id": draft.checkpoint_id,
                "task_id": draft.task_id,
                "node_id": draft.node_id,
                "timestamp": timestamp,
                "committed_at": at,
                "token": token,
                "payload": payload,
            }

    def records(self, thread_id: str, first: int) -> list[EventRecord]:
        """What events_after will answer for the events from `first` on: decoded anew, nothing is shared."""
        token = self.commit.token
        return [
            EventRecord(
                thread_id,
                seq,
                draft.kind,
                _decoded(payload)[0],
                draft.run_id,
                draft.checkpoint_id,
                draft.task_id,
                draft.node_id,
                draft.timestamp,
                token,
            )
            for seq, (draft, payload) in enumerate(zip(self.commit.events, self.payloads, strict=True), first)
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
    """`to_ns` of an instant whose range was checked when its record was built."""
    return None if instant is None else (instant - EPOCH) // _MICROSECOND * 1000
