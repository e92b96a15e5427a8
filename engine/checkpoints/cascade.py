"""Deleting a thread with all its descendants, so that no late writer brings any of it back (2.9, ruling 19).

Descendants go before their parents, each claimed, its tenant checked under the claim, and its delete fenced by
the root's claim. Whatever stops the walk, the mark on the root stays and a later call carries on.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from engine.checkpoints.mark import mark_over
from engine.checkpoints.model import (
    BusyHolder,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    Fence,
    HolderKind,
    Origin,
)
from engine.errors import EngineError, StoreFailure, TenantMismatch, ThreadBusy, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.checkpoints.checkpointer import Checkpointer
    from engine.checkpoints.model import RunClaim

DEFAULT_TTL: Final = timedelta(seconds=30)
RENEWALS: Final = 3
"""Renewals within one lease."""
MAX_DEPTH: Final = 10_000
"""Claims held at once: a tree deeper than this is refused, and deleted from further down first."""


@dataclass(frozen=True, slots=True)
class CascadeResult:
    """What was deleted, in order: descendants first, the root last."""

    deleted: list[str]


def delete_thread_cascade(
    checkpointer: Checkpointer,
    thread_id: str,
    *,
    run_id: str,
    tenant: str | None,
    ttl: timedelta = DEFAULT_TTL,
) -> CascadeResult:
    """Claim `thread_id` for `run_id` and delete it with its descendants. An unknown thread succeeds.

    TenantMismatch for another owner's thread, busy or not; ThreadBusy for the root or a descendant somebody
    holds; StaleClaim once a claim on the way was taken over; ValidationError for threads that are their own
    ancestors.
    """
    _check_owner(checkpointer, thread_id, tenant)
    claim = _claim(checkpointer, thread_id, ClaimRequest(run_id, ttl, tenant))
    walk = Walk(checkpointer, Fence(thread_id, claim.token), run_id=run_id, tenant=tenant, ttl=ttl)
    return CascadeResult(walk.delete_root(claim))


def _claim(checkpointer: Checkpointer, thread_id: str, request: ClaimRequest) -> RunClaim:
    """The claim; a refusal is explained by the owner first, so that busy never tells a stranger anything."""
    try:
        return checkpointer.claim(thread_id, request)
    except ThreadBusy as busy:
        try:
            _check_owner(checkpointer, thread_id, request.tenant)
        except StoreFailure as unread:
            raise ThreadBusy(thread_id, busy.latest, BusyHolder(HolderKind.UNNAMED)) from unread
        raise


def _check_owner(checkpointer: Checkpointer, thread_id: str, tenant: str | None) -> None:
    stored = checkpointer.latest(thread_id)
    if stored is not None and stored.checkpoint.tenant != tenant:
        raise TenantMismatch(thread_id, tenant)


class Walk:
    """A post-order walk over a tree of threads, holding a claim on every thread of the path it is on."""

    def __init__(
        self, checkpointer: Checkpointer, fence: Fence, *, run_id: str, tenant: str | None, ttl: timedelta
    ) -> None:
        self._checkpointer = checkpointer
        self._fence = fence
        self._request = ClaimRequest(run_id, ttl, tenant)
        self._path: list[RunClaim] = []
        self._above = {fence.thread_id}
        self._marked = False
        self._renewed = time.monotonic()
        self.deleted: list[str] = []

    def delete_root(self, claim: RunClaim) -> list[str]:
        """Delete the thread of the fence itself, last of all; its claim is given back on failure.

        Its mark is committed before its first descendant goes; a thread without any needs none.
        """
        with self._letting_go():
            self._path.append(claim)
            _check_owner(self._checkpointer, claim.thread_id, self._request.tenant)
            self._descend()
        return self.deleted

    def delete_child(self, thread_id: str) -> list[str]:
        """Delete a child of the fence's thread with its descendants; no mark, as the fence's thread stays."""
        self._marked = True
        with self._letting_go():
            self._enter(thread_id, self._fence.thread_id)
            self._descend()
        return self.deleted

    def _descend(self) -> None:
        while self._path:
            self._renew()
            top = self._path[-1]
            below = self._checkpointer.children(top.thread_id, limit=1)
            if not below:
                self._delete(top)
                continue
            if not self._marked:
                self._mark(top)
            self._enter(below[0], top.thread_id)

    def _enter(self, thread_id: str, parent: str) -> None:
        """Claim a child and step down to it, unless it left its parent before it was claimed."""
        if thread_id in self._above:
            problem = f"thread {thread_id!r} is its own ancestor; commit a checkpoint with another origin"
            raise ValidationError("origin", (problem,))
        if len(self._path) >= MAX_DEPTH:
            problem = f"the tree is more than {MAX_DEPTH} threads deep; delete {thread_id!r} first"
            raise ValidationError("depth", (problem,))
        claim = _claim(self._checkpointer, thread_id, self._request)
        self._path.append(claim)
        self._above.add(thread_id)
        stored = self._checkpointer.latest(thread_id)
        if stored is None or stored.checkpoint.origin != Origin(parent):
            self._leave(claim)
            self._checkpointer.release(thread_id, claim.token)
        elif stored.checkpoint.tenant != self._request.tenant:
            raise TenantMismatch(thread_id, self._request.tenant)

    def _delete(self, claim: RunClaim) -> None:
        fence = None if claim.thread_id == self._fence.thread_id else self._fence
        self._checkpointer.delete_thread(claim.thread_id, claim.token, fence)
        self._leave(claim)
        self.deleted.append(claim.thread_id)

    def _leave(self, claim: RunClaim) -> None:
        self._path.pop()
        self._above.discard(claim.thread_id)

    def _mark(self, claim: RunClaim) -> None:
        self._marked = True
        stored = self._checkpointer.latest(claim.thread_id)
        if stored is None or stored.checkpoint.status is CheckpointStatus.DELETING:
            return
        latest = stored.checkpoint
        mark = mark_over(
            claim.thread_id,
            latest.id,
            run_id=claim.holder,
            token=claim.token,
            tenant=latest.tenant,
            origin=latest.origin,
        )
        self._checkpointer.commit(claim.thread_id, Commit(claim.token, mark))

    def _renew(self) -> None:
        if time.monotonic() - self._renewed < self._request.ttl.total_seconds() / RENEWALS:
            return
        for held in self._path:
            self._checkpointer.renew(held.thread_id, held.token, self._request.ttl)
        self._renewed = time.monotonic()

    @contextmanager
    def _letting_go(self) -> Iterator[None]:
        """Give every claim of the path back where the walk ends early."""
        try:
            yield
        except BaseException:
            for held in reversed(self._path):
                # The error under way is the one to learn of; a claim not given back ends with its lease.
                with suppress(EngineError):
                    self._checkpointer.release(held.thread_id, held.token)
            raise
