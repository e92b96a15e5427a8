"""The state machine with the operator's side: retention, trees of threads, and the run queue."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    ChildRetention,
    QueueEntry,
    RetentionPolicy,
    SweepPolicy,
    delete_thread_cascade,
    retain_children,
)
from tests.property.agreement import check, check_operated, outcome
from tests.property.machine import HOLDER, TENANT, THREAD, THROUGH, Threads
from tests.property.plans import (
    FIRST,
    HOLDERS,
    STEPS,
    THREADS,
    TOKENS,
    CheckpointPlan,
    CommitPlan,
    Token,
    token_of,
)
from tests.support.builders import STEP, TTL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta

    from engine.checkpoints import RunQueue, StoredCheckpoint

AGES = (STEP, TTL / 3, TTL)
RETENTION = st.builds(
    RetentionPolicy,
    max_age=st.none() | st.sampled_from(AGES),
    max_checkpoints=st.none() | st.integers(1, 3),
    max_events=st.none() | st.integers(0, 4),
)
SWEEPS = st.builds(
    SweepPolicy,
    retention=RETENTION,
    tombstone_age=st.none() | st.sampled_from(AGES),
    batch_size=st.integers(1, len(THREADS) + 1),
)
GUARDS = st.dictionaries(THREAD, st.frozensets(HOLDER, max_size=2), max_size=1)
SETTLED = st.sampled_from((CheckpointStatus.COMPLETED, CheckpointStatus.FAILED, CheckpointStatus.RUNNING))
CHILD_RETENTION = st.builds(
    ChildRetention, keep_last=st.none() | st.integers(0, 1), max_age=st.none() | st.sampled_from(AGES)
)
TREES = st.permutations(THREADS).flatmap(
    lambda ids: st.tuples(st.just(ids), st.sampled_from(("chain", "siblings")))
)
LEASES = st.sampled_from((TTL, STEP))
ATTEMPTS = st.integers(1, 3)
NOT_YET = "not yet"
ENDS = st.sampled_from((NOT_YET, "complete", "kill", "retry", "extend"))
WHICH = st.integers(0, 5)
"""Which of the entries a call is about, by id."""


class GuardFailed(Exception):
    """What a guard says that cannot answer."""


class Operations(Threads):
    """Prune, sweep, adopt, cascade, retain children, and the queue, in any order with all the rest."""

    def __init__(self) -> None:
        super().__init__()
        self._turn = 0
        self._swept: str | None = None
        """Where the next page of a sweep begins."""

    @initialize(t=THREAD, runs=st.permutations(HOLDERS), end=ENDS, tree=TREES, forget=st.booleans())
    def operate(
        self, t: str, runs: Sequence[str], end: str, tree: tuple[Sequence[str], str], forget: bool
    ) -> None:
        """A little of everything, or a run that draws few of the rules would come across nothing else."""
        self.attempt(t, runs, 1, end, 0)
        self.work_and_sweep(t, runs, 1, 1)
        self.grow_and_fell(tree, None, None, forget)

    @rule(t=THREAD, policy=RETENTION, through=THROUGH)
    def prune(self, t: str, policy: RetentionPolicy, through: int) -> None:
        """2.5: what goes is checked by everything that can be read afterwards."""
        actual = outcome(self._store(through).prune, t, policy)
        removed = self.model.prune(t, policy)
        self._settle("prune", None, actual, through, t)
        self.seen["prune: checkpoints"] += removed[0]
        self.seen["prune: events"] += removed[1]

    @rule(t=THREAD, plans=st.lists(STEPS, min_size=3, max_size=6), policy=RETENTION, through=THROUGH)
    def work_and_prune(self, t: str, plans: list[CommitPlan], policy: RetentionPolicy, through: int) -> None:
        """The same where there is more to remove, and with a run on the thread."""
        self.work(t, plans)
        self.prune(t, policy, through)

    @rule(policy=SWEEPS, guard=GUARDS, through=THROUGH)
    def sweep(self, policy: SweepPolicy, guard: Mapping[str, frozenset[str]], through: int) -> None:
        """2.6: one page of a pass that goes on between all other steps."""
        asked: list[list[str]] = []

        def answer(ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
            asked.append(list(ids))
            return guard

        page = self.model.page(policy.batch_size, self._swept)
        actual = outcome(lambda: self._store(through).sweep(policy, answer, after=self._swept))
        expected = self.model.sweep(policy, guard, self._swept)
        self._settle("sweep", expected, actual, through, self._any())
        assert asked == ([page] if page else []), (asked, page)
        self._swept = expected.next
        self.seen["sweep: tombstones"] += expected.tombstones_reclaimed

    @rule(t=THREAD, runs=st.permutations(HOLDERS), named=st.integers(1, 2), through=THROUGH)
    def work_and_sweep(self, t: str, runs: Sequence[str], named: int, through: int) -> None:
        """A guard that names runs of a thread with more checkpoints than the policy keeps."""
        self.commit_several([(t, plan) for plan in _turns(runs)], 0)
        self._swept = None
        policy = SweepPolicy(RetentionPolicy(max_checkpoints=1), batch_size=len(THREADS))
        self.sweep(policy, {t: frozenset(runs[:named])}, through)

    @rule(policy=SWEEPS)
    def sweep_with_a_guard_that_fails(self, policy: SweepPolicy) -> None:
        """Its error comes out, and nothing of the page changes (invariant 15)."""

        def answer(ids: Sequence[str]) -> Mapping[str, frozenset[str]]:
            raise GuardFailed(ids)

        try:
            self._store(0).sweep(policy, answer)
        except GuardFailed:
            self._touched[self._any()] = 0
        else:
            assert not self.model.stored, "the guard was not asked"

    @rule(by=st.sampled_from(AGES))
    def reclaim(self, by: timedelta) -> None:
        """Every tombstone is old enough by now: those that hold nothing else go, and the mark rises over them."""
        self.advance(by + STEP)
        self._swept = None
        self.sweep(SweepPolicy(tombstone_age=by, batch_size=len(THREADS)), {}, 0)

    @rule(tree=TREES, tenant=TENANT, status=SETTLED)
    def grow(self, tree: tuple[Sequence[str], str], tenant: str | None, status: CheckpointStatus) -> None:
        """A tree of threads of one owner, nobody on them, as far as they are free."""
        ids, shape = tree
        for n, t in enumerate(ids):
            parent = None if n == 0 else ids[0 if shape == "siblings" else n - 1]
            made = CheckpointPlan(status, HOLDERS[n], tenant, parent, retract_turn=False)
            self.commit_several([(t, CommitPlan(made, 1, (n + 1) % 2, (), None, None, frozenset()))], 0)
            self.release(t, Token.CURRENT, 1)

    @rule(t=THREAD, holder=HOLDER, owned=st.integers(0, 4), tenant=TENANT, through=THROUGH)
    def cascade(self, t: str, holder: str, owned: int, tenant: str | None, through: int) -> None:
        """2.9: a whole tree goes, or as much of it as could, and the mark stays."""
        latest, store = self.model.thread(t).latest, self._store(through)
        owner = latest.tenant if latest and owned else tenant
        actual = outcome(lambda: delete_thread_cascade(store, t, run_id=holder, tenant=owner, ttl=TTL))
        found = store.latest(t)
        expected = outcome(self.model.cascade, t, holder, owner, _mark_of(found))
        self._settle("cascade", expected, actual, through, self._any())
        if not isinstance(actual, Exception):
            self.seen["cascade: descendants"] += len(actual.deleted) - 1

    @rule(tree=TREES, tenant=TENANT, held=st.none() | THREAD, forget=st.booleans())
    def grow_and_fell(
        self, tree: tuple[Sequence[str], str], tenant: str | None, held: str | None, forget: bool
    ) -> None:
        """The cascade where there is a tree, and perhaps somebody on it; the tombstones go, or stay a while."""
        self.grow(tree, tenant, CheckpointStatus.RUNNING)
        if held is not None:
            self.claim(held, HOLDERS[0], tenant, TTL, 0)
        self.cascade(tree[0][0], HOLDERS[1], 1, tenant, 1)
        if forget:
            self.reclaim(STEP)

    @rule(t=THREAD, choice=TOKENS, policy=CHILD_RETENTION, through=THROUGH)
    def retain(self, t: str, choice: Token, policy: ChildRetention, through: int) -> None:
        """2.10, under the parent's claim or one that was lost."""
        token = token_of(choice, self.model, t)
        actual = outcome(retain_children, self._store(through), t, token, policy)
        expected = outcome(self.model.retain_children, t, token, policy)
        # A parent's claim that is gone is noticed by the first delete that it fences.
        self._settle(
            "delete_thread" if isinstance(expected, Exception) else "retain",
            expected,
            actual,
            through,
            self._any(),
        )
        self.seen["retain: children"] += len(actual) if isinstance(actual, list) else 0

    @rule(tree=TREES, policy=CHILD_RETENTION)
    def finish_and_retain(self, tree: tuple[Sequence[str], str], policy: ChildRetention) -> None:
        """Children that have come to an end, under a parent that is held."""
        self.grow(tree, None, CheckpointStatus.COMPLETED)
        parent = tree[0][0]
        self.commit_several([(parent, FIRST)], 0)
        self.retain(parent, Token.CURRENT, policy, 0)

    @rule(t=THREAD, attempts=ATTEMPTS, delay=st.sampled_from((None, -TTL, STEP, TTL)), through=THROUGH)
    def enqueue(self, t: str, attempts: int, delay: timedelta | None, through: int) -> None:
        """4.9: of any thread, whatever it holds."""
        at = None if delay is None else self.model.now + delay
        made = self._queue(through).enqueue(t, {"n": attempts}, available_at=at, max_attempts=attempts)
        self.model.queue.enqueue(made, t, {"n": attempts}, at, attempts)

    @rule(holder=HOLDER, ttl=LEASES, through=THROUGH)
    def lease(self, holder: str, ttl: timedelta, through: int) -> None:
        """The first entry that is due, of a thread that no other entry runs on."""
        self._on_queue("lease", through, holder, ttl)

    @rule(t=THREAD, runs=st.permutations(HOLDERS), most=st.integers(1, 2), end=ENDS, through=THROUGH)
    def attempt(self, t: str, runs: Sequence[str], most: int, end: str, through: int) -> None:
        """What a worker does: lease, record the run, commit; others go on; all is pruned before it ends, and after."""
        self.enqueue(t, 2, -TTL, through)
        self.lease(HOLDERS[0], TTL, through)
        mine = [entry for entry in self.model.queue.open if entry.thread_id == t]
        for entry in mine:
            self._on_queue("record_run", through, entry.id, entry.lease_token, runs[0])
        self.commit_several([(t, plan) for plan in _turns(runs)], 0)
        self.prune(t, RetentionPolicy(max_checkpoints=most), through)
        found = self._store(1 - through).latest_of_runs(t, runs[:1])
        check(self.model.latest_of_runs(t, runs[:1]), found, ("evidence", t, runs[0]))
        for entry in mine:
            if end != NOT_YET:
                self._on_queue(end, through, entry.id, entry.lease_token, *_more(end, TTL))
        self.prune(t, RetentionPolicy(max_checkpoints=1), 1 - through)

    @rule(which=WHICH, run=HOLDER, through=THROUGH)
    def record(self, which: int, run: str, through: int) -> None:
        """Under the entry's token; see `call_stale` for others."""
        entry = self._entry(which)
        if entry is not None:
            self._on_queue("record_run", through, entry.id, entry.lease_token, run)

    @rule(
        which=WHICH,
        verb=st.sampled_from(("complete", "kill", "retry", "extend")),
        ttl=LEASES,
        through=THROUGH,
    )
    def settle_entry(self, which: int, verb: str, ttl: timedelta, through: int) -> None:
        """Whether or not it is leased now."""
        entry = self._entry(which)
        if entry is not None:
            self._on_queue(verb, through, entry.id, entry.lease_token, *_more(verb, ttl))

    @rule(which=WHICH, verb=st.sampled_from(("record_run", "complete", "kill", "retry", "extend")))
    def call_stale(self, which: int, verb: str) -> None:
        """The token of the lease before, which a lease that lapsed made stale."""
        entry = self._entry(which)
        if entry is not None:
            self._on_queue(verb, 0, entry.id, entry.lease_token - 1, *_more(verb, TTL))

    @rule(which=WHICH, through=THROUGH)
    def cancel(self, which: int, through: int) -> None:
        """An entry, or one that nobody made."""
        entry = self._entry(which)
        self._on_queue("cancel", through, entry.id if entry else "no entry")

    @rule(t=THREAD, through=THROUGH)
    def cancel_thread(self, t: str, through: int) -> None:
        """All of them."""
        self._on_queue("cancel_thread", through, t)

    @invariant()
    def operators_see(self) -> None:
        """The queue, the children, the evidence and the listings are the model's."""
        self._turn += 1
        check_operated(self.model, self.subject.stores[self._turn % len(self.subject.stores)], self._turn)

    def _on_queue(self, verb: str, through: int, *args: Any) -> None:
        expected = outcome(partial(getattr(self.model.queue, verb), *args))
        actual = outcome(partial(getattr(self._queue(through), verb), *args))
        self._settle(verb, expected, actual, through)

    def _any(self) -> str:
        """A thread to be read again in full, where any may have changed: the tables are looked at for all of them."""
        return THREADS[self._turn % len(THREADS)]

    def _entry(self, which: int) -> QueueEntry | None:
        known = self.model.queue.entries()
        return known[which % len(known)] if known else None

    def _queue(self, through: int) -> RunQueue:
        queues = self.subject.queues
        return queues[through % len(queues)]


def _turns(runs: Sequence[str]) -> list[CommitPlan]:
    """A checkpoint and an event of each run, one after the other."""
    made = [CheckpointPlan(CheckpointStatus.RUNNING, run, None, None, retract_turn=False) for run in runs]
    return [CommitPlan(each, 1, 1, (), None, None, frozenset()) for each in made]


def _mark_of(stored: StoredCheckpoint | None) -> str | None:
    """The id of a deletion mark that is to be seen."""
    latest: Checkpoint | None = None if stored is None else stored.checkpoint
    return latest.id if latest is not None and latest.status is CheckpointStatus.DELETING else None


def _more(verb: str, ttl: timedelta) -> tuple[Any, ...]:
    """What the verb takes behind the token."""
    return {"complete": (), "kill": ("it broke",), "record_run": (HOLDERS[0],)}.get(verb, (ttl,))
