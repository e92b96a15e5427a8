"""The rules of durable threads once more, over plain dictionaries: what the stores are held against.

Written from checkpoints.md 1.5 and 2 and rulings 14, 16, 17, 20, 71 and 75, not from the engine: it shares only the
records and the errors. What operators do to threads is added in `operated`. A refusal is raised, a result returned,
as a store would; `InvalidCommit.reason` here is a piece of text that the store's own words must hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.checkpoints import (
    BusyHolder,
    Checkpoint,
    CheckpointStatus,
    ClaimRequest,
    Commit,
    EffectRecord,
    EventRecord,
    Fence,
    HolderKind,
    PendingWrite,
    RunClaim,
    StoredCheckpoint,
)
from engine.errors import (
    CheckpointConflict,
    CheckpointNotFound,
    InvalidCommit,
    ReplayUnavailable,
    StaleClaim,
    ThreadBusy,
    ThreadDeleted,
    ValidationError,
)
from tests.property.retained import Landed, evidence

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime, timedelta

SETTLED = (CheckpointStatus.COMPLETED, CheckpointStatus.FAILED)


@dataclass
class Lease:
    """The claim now stored for a thread."""

    holder: str
    tenant: str | None
    token: int
    expires_at: datetime


@dataclass
class Log:
    """One incarnation's events: numbers `first` to `next` - 1, of which those from `floor` on are kept."""

    first: int
    next: int
    floor: int
    records: list[EventRecord] = field(default_factory=list)
    times: dict[int, datetime] = field(default_factory=dict)
    """When each kept event was committed."""

    def drop_below(self, floor: int) -> None:
        """Raise the floor to this number, which lies within the log or just behind it."""
        self.floor = floor
        self.records = [record for record in self.records if record.seq >= floor]
        self.times = {record.seq: self.times[record.seq] for record in self.records}


@dataclass
class Refusals:
    """Late writers of a thread: how many were seen, and the last of them (ruling 20)."""

    count: int
    token: int
    verb: str
    at: datetime


@dataclass
class Thread:
    """Everything an id holds. `log` is None until the first event, `tomb` until a log was deleted."""

    lease: Lease | None = None
    history: list[Checkpoint] = field(default_factory=list)
    writes: list[PendingWrite] = field(default_factory=list)
    log: Log | None = None
    tomb: int | None = None
    buried_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    landed: dict[str, Landed] = field(default_factory=dict)
    """Of each checkpoint of the history, what retention judges by."""
    effects: dict[str, EffectRecord] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    parents: dict[str, int] = field(default_factory=dict)
    """Every thread this one was adopted by, and its place there, which stays as long as the tombstone."""
    refusals: Refusals | None = None

    @property
    def latest(self) -> Checkpoint | None:
        """The newest checkpoint."""
        return self.history[-1] if self.history else None

    @property
    def latest_id(self) -> str | None:
        """Its id: the thread's version."""
        return self.history[-1].id if self.history else None

    @property
    def token(self) -> int | None:
        """The token now stored."""
        return self.lease.token if self.lease else None

    @property
    def has_content(self) -> bool:
        """Whether the thread holds more than a claim and a tombstone."""
        return bool(self.history or self.log or self.effects or self.metadata)

    @property
    def story(self) -> list[Landed]:
        """The history as retention sees it, oldest first."""
        return [self.landed[each.id] for each in self.history]

    @property
    def stored(self) -> bool:
        """Whether a store keeps a row for the id at all (2.3, ruling 75)."""
        return bool(self.lease or self.tomb or self.has_content)


class Model:
    """All threads of one store. `now` moves by `advance`; tokens are told by the store, and must rise."""

    def __init__(self, now: datetime, last_token: int) -> None:
        self.now = now
        self.last_token = last_token
        self.mark = 1
        self.issued: dict[str, list[int]] = {}
        self._threads: dict[str, Thread] = {}
        self._adopted = 0

    def thread(self, t: str) -> Thread:
        """What the id holds: nothing, if it was never used."""
        return self._threads.setdefault(t, Thread())

    @property
    def stored(self) -> dict[str, Thread]:
        """The ids of which a store keeps a row."""
        return {t: thread for t, thread in self._threads.items() if thread.stored}

    def recorded_runs(self, t: str) -> set[str]:
        """The runs that open queue entries ask about; there is no queue yet."""
        return set()

    def advance(self, by: timedelta) -> None:
        """Move the clock, also back."""
        self.now += by

    def claim(self, t: str, request: ClaimRequest, issued: int | None) -> RunClaim:
        """2.1, with the token that the store issued, if it did."""
        thread = self.thread(t)
        before = thread.lease
        if before is not None and self.now < before.expires_at:
            named = before.tenant == request.tenant
            holder = BusyHolder(HolderKind.RUN, before.holder) if named else BusyHolder(HolderKind.UNNAMED)
            raise ThreadBusy(t, thread.latest_id, holder)
        assert issued is not None, "the store refused a claim on a free thread"
        assert issued > self.last_token, "tokens of a store only rise"
        self.last_token = issued
        self.issued.setdefault(t, []).append(issued)
        lease = thread.lease = Lease(request.holder, request.tenant, issued, self.now + request.ttl)
        same_tenant = before is not None and before.tenant == request.tenant
        taken_from = before.holder if before is not None and same_tenant else None
        return RunClaim(t, request.holder, issued, lease.expires_at, taken_from)

    def renew(self, t: str, token: int, ttl: timedelta) -> RunClaim:
        """2.2: expiry alone revokes nothing."""
        lease = self._held(t, token)
        lease.expires_at = self.now + ttl
        return RunClaim(t, lease.holder, token, lease.expires_at)

    def release(self, t: str, token: int) -> None:
        """2.3: a token that is not current changes nothing."""
        thread = self.thread(t)
        if thread.token == token:
            thread.lease = None
            if not thread.has_content:
                thread.created_at = thread.updated_at = None
            if not thread.stored:
                self._threads[t] = Thread()

    def commit(self, t: str, commit: Commit) -> list[EventRecord]:
        """2.4: all checks, then all writes."""
        thread = self.thread(t)
        lease = self._held(t, commit.token)
        self._fenced(commit.fence)
        self._check_commit(t, thread, commit)
        thread.created_at = thread.created_at or self.now
        if commit.checkpoint is not None:
            if commit.retract_turn:
                self._retract(thread, self.recorded_runs(t) - {commit.checkpoint.run_id})
            self._append(thread, commit.checkpoint, self.numbers(t)[1])
        thread.writes += commit.writes
        self._record_effects(thread, lease, commit)
        self._merge(thread, commit)
        return self._number(t, thread, commit)

    def compact_events(self, t: str, before_seq: int) -> None:
        """2.10: the floor only rises, and never past the next number."""
        log = self.thread(t).log
        if log is not None:
            log.drop_below(max(log.floor, min(before_seq, log.next)))

    def delete_thread(self, t: str, token: int, fence: Fence | None) -> None:
        """2.11: a deleted log leaves a tombstone that skips one number."""
        self._held(t, token)
        self._fenced(fence)
        old = self.thread(t)
        tomb = old.tomb if old.log is None else old.log.next + 1
        kept = Thread(tomb=tomb, buried_at=self.now, parents=old.parents, refusals=old.refusals)
        self._threads[t] = kept if tomb else Thread()

    def observe(self, refused: StaleClaim, verb: str) -> None:
        """Ruling 20: a late writer is counted if its token was ever issued and the thread is known."""
        thread = self.thread(refused.thread_id)
        if thread.stored and 1 <= refused.token <= self.last_token:
            count = thread.refusals.count if thread.refusals else 0
            thread.refusals = Refusals(count + 1, refused.token, verb, self.now)

    def reclaim(self, t: str) -> int:
        """What a sweep does to a tombstone that holds nothing else; the new mark."""
        tomb = self._threads.pop(t).tomb
        assert tomb is not None
        self.mark = max(self.mark, tomb)
        return self.mark

    def latest(self, t: str) -> StoredCheckpoint | None:
        """2.5."""
        thread = self.thread(t)
        return None if thread.latest is None else StoredCheckpoint(thread.latest, list(thread.writes))

    def checkpoint(self, t: str, checkpoint_id: str) -> Checkpoint | None:
        """2.6."""
        return next((each for each in self.thread(t).history if each.id == checkpoint_id), None)

    def history(self, t: str, before: str | None, limit: int) -> list[Checkpoint]:
        """2.7: the page's start is looked at before its length."""
        newest_first = self.thread(t).history[::-1]
        start = 0
        if before is not None:
            ids = [each.id for each in newest_first]
            if before not in ids:
                raise CheckpointNotFound(t, before)
            start = ids.index(before) + 1
        return newest_first[start:][: max(0, limit)]

    def numbers(self, t: str) -> tuple[int, int, int]:
        """F, N and E of 1.5."""
        thread = self.thread(t)
        if thread.log is not None:
            return thread.log.first, thread.log.next, thread.log.floor
        start = thread.tomb or self.mark
        return start, start, start

    def events_after(self, t: str, after_seq: int, limit: int) -> list[EventRecord]:
        """2.8: a cursor is judged before the limit."""
        if after_seq < 0:
            raise ValidationError("after_seq", ())
        first, _, floor = self.numbers(t)
        if 0 < after_seq < first - 1:
            raise ThreadDeleted(t)
        start = first - 1 if after_seq == 0 else after_seq
        if start + 1 < floor:
            raise ReplayUnavailable(t, floor)
        log = self.thread(t).log
        kept = log.records if log is not None else []
        return [record for record in kept if record.seq > start][: max(0, limit)]

    def effect(self, t: str, key: str) -> EffectRecord | None:
        """2.12."""
        return self.thread(t).effects.get(key)

    def _held(self, t: str, token: int) -> Lease:
        lease = self.thread(t).lease
        if lease is None or lease.token != token:
            raise StaleClaim(t, token, None if lease is None else lease.token)
        return lease

    def _fenced(self, fence: Fence | None) -> None:
        if fence is not None:
            self._held(fence.thread_id, fence.token)

    def _check_commit(self, t: str, thread: Thread, commit: Commit) -> None:
        new = commit.checkpoint
        if new is not None:
            if new.parent != thread.latest_id:
                raise CheckpointConflict(t, new.parent, thread.latest_id)
            going = CheckpointStatus.DELETING
            if thread.latest is not None and thread.latest.status is going and new.status is not going:
                raise ThreadDeleted(t)
            if self.checkpoint(t, new.id) is not None:
                raise InvalidCommit(t, repr(new.id))
        target = thread.latest_id if new is None else new.id
        for write in commit.writes:
            if write.checkpoint_id != target:
                raise InvalidCommit(t, repr(write.task_id))
        if commit.retract_turn and new is None:
            raise InvalidCommit(t, "retract_turn")
        keys = [draft.key for draft in commit.effects]
        for draft in commit.effects:
            stored = thread.effects.get(draft.key)
            if keys.count(draft.key) > 1 or (stored is not None and stored.value != draft.value):
                raise InvalidCommit(t, "effect")

    def _retract(self, thread: Thread, recorded: set[str]) -> None:
        """All after the newest settled checkpoint goes but the newest of each recorded run (rulings 16, 71)."""
        stays = evidence(thread.story, recorded)
        settled = [n for n, each in enumerate(thread.history) if each.status in SETTLED]
        closed = settled[-1] + 1 if settled else 0
        stays |= {each.id for each in thread.history[:closed]}
        self.keep_checkpoints(thread, stays)

    def keep_checkpoints(self, thread: Thread, ids: Collection[str]) -> None:
        """Drop every other one."""
        thread.history = [each for each in thread.history if each.id in ids]
        thread.landed = {each: thread.landed[each] for each in thread.landed if each in ids}

    def _append(self, thread: Thread, new: Checkpoint, following: int) -> None:
        thread.history.append(new)
        thread.landed[new.id] = Landed(new.id, new.run_id, self.now, following)
        thread.writes = []
        thread.updated_at = self.now
        if new.origin is not None and new.origin.parent not in thread.parents:
            self._adopted += 1
            thread.parents[new.origin.parent] = self._adopted

    def _record_effects(self, thread: Thread, lease: Lease, commit: Commit) -> None:
        for draft in commit.effects:
            made = EffectRecord(draft.key, draft.value, lease.holder, commit.token, self.now)
            thread.effects.setdefault(draft.key, made)

    def _merge(self, thread: Thread, commit: Commit) -> None:
        if commit.metadata:
            thread.updated_at = self.now
        for key, value in (commit.metadata or {}).items():
            if value is None:
                thread.metadata.pop(key, None)
            else:
                thread.metadata[key] = value

    def _number(self, t: str, thread: Thread, commit: Commit) -> list[EventRecord]:
        if not commit.events:
            return []
        first, following, floor = self.numbers(t)
        log = thread.log = thread.log or Log(first, following, floor)
        made = [
            EventRecord(
                thread_id=t,
                seq=seq,
                kind=draft.kind,
                payload=draft.payload,
                run_id=draft.run_id,
                checkpoint_id=draft.checkpoint_id,
                task_id=draft.task_id,
                node_id=draft.node_id,
                timestamp=draft.timestamp,
                fencing_token=commit.token,
            )
            for seq, draft in enumerate(commit.events, log.next)
        ]
        log.next += len(made)
        log.records += made
        log.times |= dict.fromkeys((record.seq for record in made), self.now)
        return made
