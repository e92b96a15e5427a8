"""The facade of durable threads: each method binds one verb to one transaction (design rule 2)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from engine.arguments import of_kind, whole
from engine.checkpoints import (
    children,
    claims,
    commits,
    deletion,
    effects,
    events,
    history,
    prune,
    registry,
    sweep,
    waiting,
)
from engine.checkpoints.child_states import child_states
from engine.checkpoints.drafts import Drafts
from engine.checkpoints.model import ANY
from engine.checkpoints.plain_commit import is_plain, plain_commit
from engine.checkpoints.plain_steps import plain_steps
from engine.checkpoints.prefix import threads_with_prefix
from engine.checkpoints.records import Undecodable, undecodable
from engine.checkpoints.refusals import RefusalThrottle, record_refusal
from engine.checkpoints.retention import RetentionPolicy, SweepPolicy
from engine.checkpoints.runs import NO_RUNS, asked_runs, latest_of_runs
from engine.checkpoints.tail import EventTail, TailFilter
from engine.checkpoints.tombs import list_tombstones
from engine.database.columns import check_id
from engine.database.wakeups import EVERY_THREAD
from engine.errors import EngineError, StaleClaim, StoreFailure

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

    from engine.checkpoints.child_states import ChildState
    from engine.checkpoints.model import (
        Checkpoint,
        ClaimRequest,
        Commit,
        EffectRecord,
        EventRecord,
        Fence,
        RunClaim,
        StoredCheckpoint,
        Tenancy,
    )
    from engine.checkpoints.registry_model import ThreadPage, ThreadQuery, Tombstone
    from engine.checkpoints.retention import SweepGuard, SweepResult
    from engine.database.transaction import Transactions
    from engine.database.wakeups import Waiter

    P = ParamSpec("P")
    T = TypeVar("T")

UNIQUE_VIOLATION = "23505"


class Checkpointer:
    """Durable threads of one store. Safe to share between threads; every call is one transaction."""

    def __init__(self, transactions: Transactions, store: str, *, wakeups: bool = True) -> None:
        self._tx = transactions
        self._store = store
        self._wakeups = wakeups
        self._wait = waiting.wait_for_hints if wakeups else waiting.wait_by_polling
        self._throttle = RefusalThrottle()

    def claim(self, thread_id: str, request: ClaimRequest) -> RunClaim:
        """Take the thread, or raise ThreadBusy while a live claim stands."""
        return self._tx.write("claim", claims.claim, thread_id, request)

    def renew(self, thread_id: str, token: int, ttl: timedelta) -> RunClaim:
        """Move the lease's end to `ttl` from now; StaleClaim once another token is stored."""
        return self._fenced("renew", claims.renew, thread_id, token, ttl)

    def release(self, thread_id: str, token: int) -> None:
        """Give the claim back; a token that is not current changes nothing."""
        self._tx.write("release", claims.release, thread_id, token)

    def commit(self, thread_id: str, commit: Commit) -> list[EventRecord]:
        """Write everything of `commit` or nothing; answer its events with their numbers."""
        check_id("thread_id", thread_id)
        drafts = Drafts.of(commit)
        if is_plain(commit):
            first = self._plain(thread_id, drafts)
            if first is not None:
                return drafts.records(thread_id, first)
        return self._fenced("commit", commits.commit_drafts, thread_id, drafts)

    def latest(self, thread_id: str) -> StoredCheckpoint | None:
        """The newest checkpoint with the writes pending on it, from one snapshot; None without one."""
        try:
            return self._tx.lean("latest", history.latest, thread_id)
        except Undecodable as error:
            raise undecodable("latest", error, self._store) from error

    def checkpoint(self, thread_id: str, checkpoint_id: str) -> Checkpoint | None:
        """One checkpoint by id, or None."""
        return self._decoded("checkpoint", history.checkpoint, thread_id, checkpoint_id)

    def history(self, thread_id: str, *, before: str | None = None, limit: int = 100) -> list[Checkpoint]:
        """At most `limit` checkpoints, newest first, strictly older than `before`."""
        try:
            return self._tx.read("history", history.history, thread_id, before, limit)
        except Undecodable as error:
            raise undecodable("history", error, self._store) from error

    def events_after(
        self, thread_id: str, after_seq: int, limit: int, *, cancel: threading.Event | None = None
    ) -> list[EventRecord]:
        """At most `limit` events numbered above `after_seq`."""
        try:
            return self._tx.read_until(
                "events_after", cancel, events.events_after, thread_id, after_seq, limit
            )
        except Undecodable as error:
            raise undecodable("events_after", error, self._store) from error

    def await_events_after(
        self,
        thread_id: str,
        after_seq: int,
        limit: int,
        timeout: timedelta,
        cancel: threading.Event | None = None,
    ) -> list[EventRecord]:
        """`events_after`, waiting up to `timeout` for a commit where it would answer nothing.

        A set `cancel` ends it with WaitCancelled and stays set. A limit below 1 is answered [] at once.
        """
        self._tx.check_open(waiting.OPERATION)
        of_kind("timeout", timeout, timedelta)
        if whole("limit", limit) < 1:
            return []

        def read() -> list[EventRecord]:
            try:
                return self._tx.read_until(
                    waiting.OPERATION, cancel, events.events_after, thread_id, after_seq, limit
                )
            except Undecodable as error:
                raise undecodable(waiting.OPERATION, error, self._store) from error

        return self._wait(self._tx, read, thread_id, timeout, cancel)

    def tail(
        self,
        *,
        after: str | None = None,
        tenant: Tenancy = ANY,
        kinds: Iterable[str] | None = None,
        recent: int = 0,
    ) -> EventTail:
        """A reader over the events of every thread, from now on or after a position; see `EventTail`."""
        return EventTail(self._tx, self._store, TailFilter.of(tenant, kinds), after=after, recent=recent)

    def changes(self, cancel: threading.Event | None = None) -> AbstractContextManager[Waiter]:
        """Something to sleep on until any thread changes; a store without wake-ups only sleeps."""
        signals = self._tx.backend.signals
        return signals.waiting(EVERY_THREAD, cancel) if self._wakeups else signals.sleeping(cancel)

    def compact_events(self, thread_id: str, before_seq: int) -> None:
        """Raise the replay floor to `before_seq` at most and drop what lies below it, in bounded steps."""
        while not self._tx.write("compact_events", events.compact_events, thread_id, before_seq):
            pass

    def delete_thread(self, thread_id: str, token: int, fence: Fence | None = None) -> None:
        """Remove the claimed thread and leave a tombstone where it numbered events, in bounded steps."""
        while not self._fenced("delete_thread", deletion.delete_thread, thread_id, token, fence):
            pass

    def prune(self, thread_id: str, policy: RetentionPolicy) -> None:
        """Remove what `policy` lets go of one thread; a long log goes in bounded steps."""
        of_kind("policy", policy, RetentionPolicy)
        while not self._tx.write("prune", prune.prune_step, thread_id, policy).done:
            pass

    def sweep(self, policy: SweepPolicy, guard: SweepGuard, *, after: str | None = None) -> SweepResult:
        """One bounded page of retention over the whole store; go on from the result's `next` until it is None.

        What the guard raises is raised here, with the page untouched.
        """
        return sweep.sweep(self._tx, of_kind("policy", policy, SweepPolicy), guard, after)

    def effect(self, thread_id: str, key: str) -> EffectRecord | None:
        """What the thread recorded under `key`, or None."""
        return self._decoded("effect", effects.effect, thread_id, key)

    def children(self, parent: str, *, after: str | None = None, limit: int = 100) -> list[str]:
        """At most `limit` direct children, earliest adopted first, behind the child `after`."""
        return self._tx.lean("children", children.children, parent, after, limit)

    def child_states(self, parent: str, *, after: int = 0, limit: int = 100) -> list[ChildState]:
        """At most `limit` children with status and age, earliest adopted first, behind the place `after`."""
        return self._tx.lean("child_states", child_states, parent, after, limit)

    def threads(self, query: ThreadQuery) -> ThreadPage:
        """One owner's root threads, newest first, each judged by the store's clock at one moment."""
        return self._decoded("threads", registry.threads, query)

    def incomplete(self, tenant: str | None, *, after: str | None = None, limit: int = 100) -> ThreadPage:
        """The owner's IDLE threads, longest untouched first: for people, not for a worker's recovery."""
        return self._decoded("incomplete", registry.incomplete, tenant, after, limit)

    def find_threads(
        self, tenant: str | None, prefix: str, *, after: str | None = None, limit: int = 100
    ) -> list[str]:
        """The owner's root threads whose id begins with `prefix`, by id; see `prefix.find_threads`."""
        return self._tx.lean("find_threads", threads_with_prefix, tenant, prefix, after, limit)

    def latest_of_runs(self, thread_id: str, run_ids: Iterable[str]) -> Checkpoint | None:
        """The thread's newest checkpoint that one of the runs committed, or None; no runs: None at once."""
        runs = asked_runs(run_ids)
        return None if runs == NO_RUNS else self._decoded("latest_of_runs", latest_of_runs, thread_id, runs)

    def tombstones(self, *, after: str | None = None, limit: int = 100) -> list[Tombstone]:
        """The whole store's tombstones, longest deleted first; see `tombs.tombstones`."""
        return self._tx.lean("tombstones", list_tombstones, after, limit)

    def _plain(self, thread_id: str, drafts: Drafts) -> int | None:
        backend = self._tx.backend
        if not backend.capabilities.one_statement_commit:
            return self._tx.write_shared(
                "commit", lambda connection: plain_steps(connection, thread_id, drafts)
            )

        def verb(connection: Connection) -> int | None:
            return plain_commit(connection, thread_id, drafts, backend.now())

        try:
            return self._tx.single_write("commit", verb)
        except StoreFailure as failed:
            # A checkpoint id used before: nothing was changed, and the ordinary form names the reason.
            if failed.sqlstate != UNIQUE_VIOLATION:
                raise
            return None

    def _decoded(
        self, name: str, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        try:
            return self._tx.lean(name, verb, *args, **options)
        except Undecodable as error:
            raise undecodable(name, error, self._store) from error

    def _fenced(
        self, name: str, verb: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        try:
            return self._tx.write(name, verb, *args, **options)
        except StaleClaim as refused:
            self._observe(refused, name)
            raise

    def _observe(self, refused: StaleClaim, verb: str) -> None:
        if not self._throttle.due(refused.thread_id):
            return
        try:
            self._tx.write("refusal", record_refusal, refused.thread_id, refused.token, verb)
        except EngineError:
            # The count is for the operator's eyes; the refusal itself is what the caller must learn.
            return
