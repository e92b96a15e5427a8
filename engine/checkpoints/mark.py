"""The deletion mark: a DELETING checkpoint over the latest tells everybody that a delete has begun (ruling 17)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from engine.checkpoints.model import Checkpoint, CheckpointStatus

if TYPE_CHECKING:
    from engine.checkpoints.model import Origin


def mark_over(
    thread_id: str, parent: str, *, run_id: str, token: int, tenant: str | None, origin: Origin | None
) -> Checkpoint:
    """The mark over checkpoint `parent`; it keeps the origin, so the thread stays a child (ruling 72)."""
    return Checkpoint(
        id=f"deleting/{uuid.uuid4()}",
        thread_id=thread_id,
        run_id=run_id,
        status=CheckpointStatus.DELETING,
        snapshot={},
        parent=parent,
        tenant=tenant,
        fencing_token=token,
        origin=origin,
    )
