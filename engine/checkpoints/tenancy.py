"""One owner's view: each verb checks whose thread it is (checkpoints-operations.md 2.12, ruling 48)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from engine.checkpoints.cascade import DEFAULT_TTL, delete_thread_cascade
from engine.database.columns import check_optional_id
from engine.errors import CheckpointNotFound, TenantMismatch, ValidationError

if TYPE_CHECKING:
    from datetime import timedelta

    from engine.checkpoints.cascade import CascadeResult
    from engine.checkpoints.checkpointer import Checkpointer
    from engine.checkpoints.model import Checkpoint
    from engine.checkpoints.registry_model import ThreadPage, ThreadQuery
    from engine.checkpoints.retention import RetentionPolicy


class TenantThreads:
    """The threads of `tenant`, None being an owner of its own. A foreign thread raises TenantMismatch.

    An id without a checkpoint belongs to nobody yet: it reads as empty, and prune and delete of it succeed.
    """

    def __init__(self, checkpointer: Checkpointer, tenant: str | None) -> None:
        self._checkpointer = checkpointer
        self.tenant = check_optional_id("tenant", tenant)

    def threads(self, query: ThreadQuery) -> ThreadPage:
        """The query's page, for this owner whatever tenant the query names."""
        return self._checkpointer.threads(replace(query, tenant=self.tenant))

    def incomplete(self, *, after: str | None = None, limit: int = 100) -> ThreadPage:
        """The owner's threads that stopped half-way, longest untouched first."""
        return self._checkpointer.incomplete(self.tenant, after=after, limit=limit)

    def children(self, parent: str, *, after: str | None = None, limit: int = 100) -> list[str]:
        """The children of the owner's thread, earliest adopted first; [] for an unknown parent."""
        _at_least_one(limit)
        if self._latest(parent) is None:
            return []
        return self._checkpointer.children(parent, after=after, limit=limit)

    def history(self, thread_id: str, *, before: str | None = None, limit: int = 100) -> list[Checkpoint]:
        """At most `limit` checkpoints, newest first; each of them is checked, as owners may have changed."""
        _at_least_one(limit)
        if self._latest(thread_id) is None:
            if before is not None:
                raise CheckpointNotFound(thread_id, before)
            return []
        found = self._checkpointer.history(thread_id, before=before, limit=limit)
        return [self._own(thread_id, each) for each in found]

    def checkpoint(self, thread_id: str, checkpoint_id: str) -> Checkpoint | None:
        """One checkpoint by id, or None; the thread's owner is checked before the id is looked up."""
        if self._latest(thread_id) is None:
            return None
        found = self._checkpointer.checkpoint(thread_id, checkpoint_id)
        return None if found is None else self._own(thread_id, found)

    def prune(self, thread_id: str, policy: RetentionPolicy) -> None:
        """Apply the policy to the owner's thread; an unknown one succeeds."""
        self._latest(thread_id)
        self._checkpointer.prune(thread_id, policy)

    def delete(self, thread_id: str, *, run_id: str, ttl: timedelta = DEFAULT_TTL) -> CascadeResult:
        """Delete the owner's thread and its descendants, claiming them for `run_id`; see the cascade."""
        return delete_thread_cascade(
            self._checkpointer, thread_id, run_id=run_id, tenant=self.tenant, ttl=ttl
        )

    def _latest(self, thread_id: str) -> Checkpoint | None:
        stored = self._checkpointer.latest(thread_id)
        return None if stored is None else self._own(thread_id, stored.checkpoint)

    def _own(self, thread_id: str, found: Checkpoint) -> Checkpoint:
        if found.tenant != self.tenant:
            raise TenantMismatch(thread_id, self.tenant)
        return found


def _at_least_one(limit: int) -> None:
    if limit < 1:
        raise ValidationError("limit", (f"must be at least 1, not {limit}",))
