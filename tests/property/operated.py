"""The rules of the operator's side over the model's threads (checkpoints-operations.md 2), with the run queue."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.checkpoints import (
    CascadeResult,
    Checkpoint,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    Fence,
    Origin,
    SweepResult,
    ThreadPage,
    ThreadStatus,
    ThreadSummary,
)
from engine.errors import EngineError, StaleClaim, TenantMismatch, ThreadBusy, ValidationError
from tests.property.model import SETTLED, Model
from tests.property.queued import QueueModel
from tests.property.retained import Numbered, retained
from tests.support.builders import TTL

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime, timedelta

    from engine.checkpoints import ChildRetention, RetentionPolicy, RunClaim, SweepPolicy
    from tests.property.model import Thread

NEW_MARK = "a mark nobody saw"
NOTHING: frozenset[str] = frozenset()


@dataclass
class Descent:
    """A walk down a tree: whose claim fences it, what it holds, what it has deleted."""

    fence: Fence
    request: ClaimRequest
    mark: str | None
    """The id of the deletion mark that the first child found calls for; None where no mark is made."""
    held: dict[str, int] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)


class Operated(Model):
    """All threads of one store and its queue, with what operators do to them."""

    def __init__(self, now: datetime, last_token: int) -> None:
        super().__init__(now, last_token)
        self.queue = QueueModel(lambda: self.now)

    def recorded_runs(self, t: str) -> set[str]:
        """See `Model`."""
        return self.queue.recorded(t)

    def prune(self, t: str, policy: RetentionPolicy, guarded: Collection[str] = NOTHING) -> tuple[int, int]:
        """2.5: how many checkpoints and events went."""
        thread = self.thread(t)
        log, before = thread.log, len(thread.history)
        numbered = None if log is None else Numbered(log.floor, log.next, log.times)
        protected = {*guarded, *self.recorded_runs(t)}
        kept = retained(thread.story, numbered, policy, self.now, protected)
        self.keep_checkpoints(thread, kept.ids)
        if log is None or kept.floor is None:
            return before - len(thread.history), 0
        events = kept.floor - log.floor
        log.drop_below(kept.floor)
        return before - len(thread.history), events

    def page(self, batch: int, after: str | None) -> list[str]:
        """The ids that a sweep's guard is asked about."""
        return [t for t in sorted(self.stored) if after is None or t > after][:batch]

    def sweep(
        self, policy: SweepPolicy, guard: Mapping[str, Collection[str]], after: str | None
    ) -> SweepResult:
        """2.6: one page."""
        page = self.page(policy.batch_size, after)
        if not page:
            return SweepResult(None)
        checkpoints = events = tombs = 0
        more = bool(self.page(1, page[-1]))
        for t in page:
            gone = self.prune(t, policy.retention, guard.get(t, NOTHING))
            checkpoints, events = checkpoints + gone[0], events + gone[1]
            if t not in guard and self._is_dead(self.thread(t), policy.tombstone_age):
                self.reclaim(t)
                tombs += 1
        return SweepResult(page[-1] if more else None, len(page), checkpoints, events, tombs)

    def _is_dead(self, thread: Thread, age: timedelta | None) -> bool:
        if age is None or thread.buried_at is None or thread.lease or thread.has_content:
            return False
        return self.now - thread.buried_at > age

    def children(self, parent: str, after: str | None, limit: int) -> list[str]:
        """2.1: a limit that asks for nothing is answered before the cursor is looked at."""
        if limit < 1:
            return []
        start = 0
        if after is not None:
            place = self.thread(after).parents.get(parent)
            if place is None:
                raise ValidationError("after", ())
            start = place
        return [t for place, t in self._brood(parent) if place > start][:limit]

    def _brood(self, parent: str) -> list[tuple[int, str]]:
        return sorted(
            (thread.parents[parent], t)
            for t, thread in self.stored.items()
            if thread.latest is not None and thread.latest.origin == Origin(parent)
        )

    def latest_of_runs(self, t: str, runs: Collection[str]) -> Checkpoint | None:
        """2.4: by place."""
        return next((each for each in reversed(self.thread(t).history) if each.run_id in runs), None)

    def threads(self, tenant: str | None, limit: int) -> ThreadPage:
        """2.2: newest first."""
        return self._listed(self._roots(tenant)[::-1], limit)

    def incomplete(self, tenant: str | None, limit: int) -> ThreadPage:
        """2.3: longest untouched first."""
        idle = [each for each in self._roots(tenant) if each.status is ThreadStatus.IDLE]
        return self._listed(idle, limit)

    def _listed(self, summaries: list[ThreadSummary], limit: int) -> ThreadPage:
        return ThreadPage.of(summaries[: limit + 1], limit)

    def _roots(self, tenant: str | None) -> list[ThreadSummary]:
        roots = [
            self._summary(t, thread, thread.latest)
            for t, thread in self.stored.items()
            if thread.latest is not None and thread.latest.origin is None and thread.latest.tenant == tenant
        ]
        return sorted(roots, key=lambda each: (each.updated_at, each.thread_id))

    def _summary(self, t: str, thread: Thread, latest: Checkpoint) -> ThreadSummary:
        assert thread.updated_at is not None
        assert thread.created_at is not None
        live = thread.lease is not None and self.now < thread.lease.expires_at
        status = ThreadStatus.DELETED
        if latest.status is CheckpointStatus.RUNNING:
            status = ThreadStatus.RUNNING if live else ThreadStatus.IDLE
        elif latest.status is not CheckpointStatus.DELETING:
            status = ThreadStatus(latest.status.value)
        pairs = dict(thread.metadata)
        times = (thread.updated_at, thread.created_at)
        return ThreadSummary(t, latest.tenant, status, live, *times, latest.id, latest.run_id, pairs)

    def cascade(self, t: str, run: str, tenant: str | None, mark: str | None) -> CascadeResult:
        """2.9, uninterrupted. `mark` is the id that the store's deletion mark got, if one is to be seen."""
        request = ClaimRequest(run, TTL, tenant)
        self._check_owner(t, tenant)
        claim = self._take(t, request)
        descent = Descent(Fence(t, claim.token), request, mark or NEW_MARK, {t: claim.token})
        try:
            self._delete_tree(descent, t)
        except EngineError:
            self._give_back(descent)
            raise
        return CascadeResult(descent.deleted)

    def retain_children(self, parent: str, token: int, policy: ChildRetention) -> list[str]:
        """2.10: settled children beyond the policy go, whoever cannot go is passed over."""
        latest = self.thread(parent).latest
        request = ClaimRequest("retention", TTL, None if latest is None else latest.tenant)
        deleted: list[str] = []
        for child in self._surplus(parent, policy):
            descent = Descent(Fence(parent, token), request, None, deleted=deleted)
            try:
                self._enter(descent, child, {parent})
                self._delete_tree(descent, child)
            except EngineError as stopped:
                self._give_back(descent)
                if isinstance(stopped, StaleClaim):
                    raise
        return deleted

    def _surplus(self, parent: str, policy: ChildRetention) -> list[str]:
        settled = [t for _, t in self._brood(parent) if self.thread(t).history[-1].status in SETTLED]
        keep = len(settled) if policy.keep_last is None else policy.keep_last
        newest = settled[max(0, len(settled) - keep) :]
        return [t for t in settled if t not in newest or self._settled_for_long(t, policy.max_age)]

    def _settled_for_long(self, t: str, age: timedelta | None) -> bool:
        updated = self.thread(t).updated_at
        return age is not None and updated is not None and self.now - updated > age

    def _give_back(self, descent: Descent) -> None:
        for t, token in descent.held.items():
            self.release(t, token)

    def _delete_tree(self, descent: Descent, t: str) -> None:
        """Descendants first, each under its own claim and the fence."""
        while brood := self._brood(t):
            if descent.mark is not None:
                self._mark(descent, t, descent.mark)
                descent.mark = None
            child = brood[0][1]
            self._enter(descent, child, {descent.fence.thread_id, *descent.held})
            self._delete_tree(descent, child)
        is_root = t == descent.fence.thread_id
        self.delete_thread(t, descent.held[t], None if is_root else descent.fence)
        del descent.held[t]
        descent.deleted.append(t)

    def _enter(self, descent: Descent, child: str, above: set[str]) -> None:
        if child in above:
            raise ValidationError("origin", ())
        descent.held[child] = self._take(child, descent.request).token
        self._check_owner(child, descent.request.tenant)

    def _take(self, t: str, request: ClaimRequest) -> RunClaim:
        """A claim under the next token; a stranger learns of the owner alone, busy or not."""
        try:
            return self.claim(t, request, self.last_token + 1)
        except ThreadBusy:
            self._check_owner(t, request.tenant)
            raise

    def _check_owner(self, t: str, tenant: str | None) -> None:
        latest = self.thread(t).latest
        if latest is not None and latest.tenant != tenant:
            raise TenantMismatch(t, tenant)

    def _mark(self, descent: Descent, t: str, name: str) -> None:
        latest, request = self.thread(t).latest, descent.request
        if latest is None or latest.status is CheckpointStatus.DELETING:
            return
        token = descent.held[t]
        made = Checkpoint(
            name,
            t,
            request.holder,
            CheckpointStatus.DELETING,
            {},
            latest.id,
            tenant=latest.tenant,
            fencing_token=token,
            origin=latest.origin,
        )
        self.commit(t, Commit(token, made))
