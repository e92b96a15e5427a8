"""Retention of finished children, each delete fenced by the parent's claim (checkpoints-operations.md 2.10)."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from engine.checkpoints.cascade import DEFAULT_TTL, Walk
from engine.checkpoints.model import SETTLED, Fence
from engine.errors import EngineError, StaleClaim, ThreadBusy, ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.checkpoints.checkpointer import Checkpointer
    from engine.checkpoints.child_states import ChildState

PAGE: Final = 100
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChildRetention:
    """Of the settled children the newest `keep_last` stay, and those settled no longer than `max_age` ago."""

    keep_last: int | None = None
    max_age: timedelta | None = None

    def __post_init__(self) -> None:
        problems = []
        if self.keep_last is not None and self.keep_last < 0:
            problems.append("keep_last must be at least 0")
        if self.max_age is not None and self.max_age <= timedelta(0):
            problems.append("max_age must be above zero")
        if problems:
            raise ValidationError("retention", tuple(problems))


KEEP_CHILDREN: Final = ChildRetention()


def retain_children(checkpointer: Checkpointer, parent: str, token: int, policy: ChildRetention) -> list[str]:
    """Delete the settled children the policy lets go, with their descendants; what was deleted, in order.

    Run it under the parent's claim, after its commit. StaleClaim of the parent stops the pass; a busy child is
    skipped, any other failure of a child is logged and the pass goes on.
    """
    if policy == KEEP_CHILDREN:
        return []
    stored = checkpointer.latest(parent)
    tenant = None if stored is None else stored.checkpoint.tenant
    deleted: list[str] = []
    for child in _surplus(_settled(checkpointer, parent), policy):
        walk = Walk(
            checkpointer,
            Fence(parent, token),
            run_id=f"retention/{uuid.uuid4()}",
            tenant=tenant,
            ttl=DEFAULT_TTL,
        )
        try:
            walk.delete_child(child)
        except ThreadBusy:
            log.info("child %r of %r is busy: left for the next pass", child, parent)
        except StaleClaim as refused:
            if refused.thread_id == parent:
                raise
            log.info("child %r of %r was taken over: left for the next pass", child, parent)
        except EngineError:
            log.warning("child %r of %r could not be deleted", child, parent, exc_info=True)
        deleted.extend(walk.deleted)
    return deleted


def _settled(checkpointer: Checkpointer, parent: str) -> list[ChildState]:
    """Every settled child, earliest adopted first."""
    found: list[ChildState] = []
    after = 0
    while page := checkpointer.child_states(parent, after=after, limit=PAGE):
        found.extend(child for child in page if child.status in SETTLED)
        after = page[-1].place
    return found


def _surplus(settled: Sequence[ChildState], policy: ChildRetention) -> list[str]:
    if policy.keep_last is None:
        beyond: Sequence[ChildState] = ()
    else:
        beyond = settled[: max(0, len(settled) - policy.keep_last)]
    old = [child for child in settled if policy.max_age is not None and child.age > policy.max_age]
    gone = {child.thread_id for child in (*beyond, *old)}
    return [child.thread_id for child in settled if child.thread_id in gone]
