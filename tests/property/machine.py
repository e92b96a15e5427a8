"""The state machine: any sequence of calls on a few threads, held against the model after every step."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.checkpoints import ClaimRequest, Fence, RunClaim
from engine.errors import StaleClaim
from tests.property.agreement import check, check_tables, check_thread, outcome
from tests.property.audit import Tables
from tests.property.operated import Operated
from tests.property.plans import (
    COMMITS,
    FENCES,
    FIRST,
    HOLDERS,
    STEPS,
    TENANTS,
    THREADS,
    TOKENS,
    CommitPlan,
    Token,
    token_of,
)
from tests.property.succession import Succession
from tests.support.builders import STEP, TTL

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable
    from datetime import timedelta

    from engine.checkpoints import Checkpointer
    from tests.property.subjects import Subject

THREAD = st.sampled_from(THREADS)
HOLDER = st.sampled_from(HOLDERS)
TENANT = st.sampled_from(TENANTS)
LEASE = st.sampled_from((TTL, TTL * 10, STEP))
THROUGH = st.sampled_from((0, 1))
"""Which of the stores over the storage makes the call; the other one reads."""
JUMP = st.sampled_from((STEP, TTL / 3, TTL, -TTL / 6))
PLACE = st.integers(-3, 12)
SEVERAL_COMMITS = st.lists(st.tuples(THREAD, COMMITS), min_size=1, max_size=4)
SEVERAL_STEPS = st.lists(STEPS, min_size=2, max_size=8)


class Threads(RuleBasedStateMachine):
    """Claim, renew, release, commit, compact, delete and reopen, in any order."""

    subject: Subject
    """Set by the test that runs the machine."""
    seen: Counter[str]
    """What happened over all runs of the test: by verb and result."""

    def __init__(self) -> None:
        super().__init__()
        self.subject.wipe()
        self.model = Operated(self.subject.clock.now(), self._last_token())
        self.succession = Succession()
        self._touched: dict[str, int] = {}

    @initialize(t=THREAD)
    def begin(self, t: str) -> None:
        """A first thread that is held and numbered, or most runs would be refusals."""
        self.commit_several([(t, FIRST)], 0)

    @rule(t=THREAD, holder=HOLDER, tenant=TENANT, ttl=LEASE, through=THROUGH)
    def claim(self, t: str, holder: str, tenant: str | None, ttl: timedelta, through: int) -> None:
        """2.1: granted on a free or lapsed thread, refused on a live one."""
        request = ClaimRequest(holder, ttl, tenant)
        actual = outcome(self._store(through).claim, t, request)
        token = actual.token if isinstance(actual, RunClaim) else None
        self._settle("claim", outcome(self.model.claim, t, request, token), actual, through, t)

    @rule(t=THREAD, holder=HOLDER, tenant=TENANT, through=THROUGH)
    def take_over(self, t: str, holder: str, tenant: str | None, through: int) -> None:
        """One step before the lease's end it is live; at the end it is not."""
        lease = self.model.thread(t).lease
        if lease is not None and lease.expires_at > self.model.now:
            self.advance(lease.expires_at - self.model.now - STEP)
            self.claim(t, holder, tenant, TTL, through)
            self.advance(STEP)
        self.claim(t, holder, tenant, TTL, through)

    @rule(t=THREAD, choice=TOKENS, ttl=LEASE, through=THROUGH)
    def renew(self, t: str, choice: Token, ttl: timedelta, through: int) -> None:
        """2.2."""
        self._call("renew", through, (t,), t, token_of(choice, self.model, t), ttl)

    @rule(t=THREAD, choice=TOKENS, through=THROUGH)
    def release(self, t: str, choice: Token, through: int) -> None:
        """2.3."""
        self._call("release", through, (t,), t, token_of(choice, self.model, t))

    @rule(t=THREAD, plan=COMMITS, through=THROUGH)
    def commit(self, t: str, plan: CommitPlan, through: int) -> None:
        """2.4, with anything in it and anything wrong with it, whether the thread is held or not."""
        threads = (t,) if plan.fence is None else (t, plan.fence)
        self._call("commit", through, threads, t, plan.resolve(self.model, t))

    @rule(plans=SEVERAL_COMMITS, through=THROUGH)
    def commit_several(self, plans: Iterable[tuple[str, CommitPlan]], through: int) -> None:
        """The same on threads that are held."""
        for t, plan in plans:
            if self.model.thread(t).lease is None:
                self.claim(t, HOLDERS[1], TENANTS[0], TTL, through)
            self.commit(t, plan, through)

    @rule(t=THREAD, plans=SEVERAL_STEPS)
    def work(self, t: str, plans: list[CommitPlan]) -> None:
        """Plain steps, most of which take the short form of a commit."""
        self.commit_several([(t, plan) for plan in plans], 0)

    @rule(t=THREAD, place=PLACE, through=THROUGH)
    def compact(self, t: str, place: int, through: int) -> None:
        """2.10, to a number around the floor."""
        self._call("compact_events", through, (t,), t, self.model.numbers(t)[2] + place)

    @rule(t=THREAD, choice=TOKENS, fence=FENCES, stale=st.booleans(), through=THROUGH)
    def delete(self, t: str, choice: Token, fence: str | None, stale: bool, through: int) -> None:
        """2.11; who is to succeed must hold the thread first."""
        if choice is Token.CURRENT and not stale and self.model.thread(t).lease is None:
            self.claim(t, HOLDERS[0], None, TTL, through)
        token, which = token_of(choice, self.model, t), Token.EARLIER if stale else Token.CURRENT
        other = None if fence is None else Fence(fence, token_of(which, self.model, fence))
        self._call("delete_thread", through, (t,), t, token, other)

    @rule(by=JUMP)
    def advance(self, by: timedelta) -> None:
        """Time passes, or the clock is set back a little."""
        self.subject.clock.advance(by)
        self.model.advance(by)

    @precondition(lambda self: self.subject.durable)
    @rule()
    def reopen(self) -> None:
        """Everything survives the end of every store on the storage (invariant 18)."""
        self.subject.reopen()
        self._touched = dict.fromkeys(THREADS, 0)

    @invariant()
    def agrees(self) -> None:
        """What the last step touched, through the store that did not write it; in the tables, everything."""
        touched, self._touched = self._touched, {}
        for t, through in touched.items():
            check_thread(self.model, self._store(1 - through), t)
        with self.subject.raw() as connection:
            tables = Tables(connection)
        check_tables(self.model, tables)
        self.succession.look(tables)

    def teardown(self) -> None:
        """Reading has changed nothing: every thread once more, through the first store."""
        for t in THREADS:
            check_thread(self.model, self._store(0), t)

    def _call(self, verb: str, through: int, threads: tuple[str, ...], *args: Any) -> None:
        expected = outcome(partial(getattr(self.model, verb), *args))
        actual = outcome(partial(getattr(self._store(through), verb), *args))
        self._settle(verb, expected, actual, through, *threads)

    def _settle(self, verb: str, expected: Any, actual: Any, through: int, *threads: str) -> None:
        check(expected, actual, verb)
        refused = isinstance(actual, Exception)
        if isinstance(expected, StaleClaim):
            self.model.observe(expected, verb)
        self.seen[f"{verb}: {type(actual).__name__ if refused else 'done'}"] += 1
        self._touched |= dict.fromkeys(threads, through)

    def _store(self, through: int) -> Checkpointer:
        stores = self.subject.checkpointers
        return stores[through % len(stores)]

    def _last_token(self) -> int:
        probe = self.subject.checkpointers[0].claim("probe", ClaimRequest("probe", STEP))
        self.subject.checkpointers[0].release("probe", probe.token)
        return probe.token
