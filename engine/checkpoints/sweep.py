"""A bounded page of retention over the whole store (checkpoints-operations.md 2.6, rulings 27, 70)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, bindparam, false, or_, select

from engine.checkpoints.prune import prune_free, prune_step
from engine.checkpoints.reclaim import LONGEST, bare_tombstone, reclaim
from engine.checkpoints.retention import SweepResult
from engine.checkpoints.tables import checkpoint, event, thread
from engine.clock import span_ns
from engine.database.columns import check_id
from engine.database.constructs import page_now
from engine.database.statement import Statement
from engine.errors import ReadOnlyStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from engine.checkpoints.prune import Pruned
    from engine.checkpoints.retention import SweepGuard, SweepPolicy
    from engine.database.transaction import Transactions

BUDGET_SECONDS: Final = 5.0  # of one call; it then answers where to go on
TOGETHER: Final = 16  # threads pruned in one transaction: their writers wait for as long as all of it takes

_FIRST = Statement(select(thread.c.thread_id).order_by(thread.c.thread_id).limit(bindparam("most")))
_NEXT = Statement(
    select(thread.c.thread_id)
    .where(thread.c.thread_id > bindparam("after"))
    .order_by(thread.c.thread_id)
    .limit(bindparam("most"))
)
# A subquery of its own, so that no condition on a tombstone's age takes another index than that of the ids.
_INSIDE = (
    select(thread)
    .where(thread.c.thread_id >= bindparam("first"), thread.c.thread_id <= bindparam("last"))
    .order_by(thread.c.thread_id)
    .limit(bindparam("most"))
    .subquery("page")
)
_AGE = bindparam("age", type_=thread.c.deleted_at.type)
_CUTOFF = page_now() - _AGE
_MINE = checkpoint.c.thread_id == _INSIDE.c.thread_id
# Beyond the newest so many there is another one: OFFSET here counts within one thread, it does not page.
_TOO_MANY = select(checkpoint.c.place).where(_MINE).limit(1).offset(bindparam("checkpoints")).exists()
# Scalars, not EXISTS, which PostgreSQL may answer by hashing a whole table for one page of threads.
_TOO_OLD = (
    select(checkpoint.c.place)
    .where(_MINE, checkpoint.c.place != _INSIDE.c.latest_place, checkpoint.c.committed_at < _CUTOFF)
    .limit(1)
    .scalar_subquery()
    .is_not(None)
)
_STALE_LOG = (
    select(event.c.committed_at)
    .where(event.c.thread_id == _INSIDE.c.thread_id, event.c.seq == _INSIDE.c.floor_seq)
    .scalar_subquery()
    < _CUTOFF
)
_LONG_LOG = _INSIDE.c.next_seq - _INSIDE.c.floor_seq > bindparam("events")
_DEAD = and_(
    bare_tombstone(_INSIDE), _INSIDE.c.deleted_at < page_now() - bindparam("buried", type_=_AGE.type)
)
_RULES = {
    "checkpoints": _TOO_MANY,
    "events": _LONG_LOG,
    "age": or_(_TOO_OLD, _STALE_LOG),
    "buried": _DEAD,
}


@dataclass(frozen=True, slots=True)
class Touched:
    """A thread that the policy could change; `empty` is one that has at most a tombstone to lose."""

    thread_id: str
    empty: bool


def _touched(rules: Iterable[str]) -> Statement:
    applied = or_(false(), *(_RULES[rule] for rule in rules))
    empty = and_(_INSIDE.c.latest_id.is_(None), _INSIDE.c.first_seq.is_(None))
    found = select(_INSIDE.c.thread_id, empty.label("empty")).where(applied)
    return Statement(found.order_by(_INSIDE.c.thread_id))


# One statement for each set of rules a policy can have: sixteen at most, built when first needed.
_STATEMENTS: dict[tuple[str, ...], Statement] = {}


def page_of(connection: Connection, after: str | None, size: int) -> tuple[list[str], bool]:
    """The next `size` ids the store holds, whatever they hold, and whether more follow."""
    if after is None:
        rows = _FIRST.all(connection, most=size + 1)
    else:
        rows = _NEXT.all(connection, after=check_id("after", after), most=size + 1)
    return [row.thread_id for row in rows[:size]], len(rows) > size


def touched(connection: Connection, policy: SweepPolicy, ids: Sequence[str]) -> list[Touched]:
    """Those of the page that the policy could change: only they get a transaction.

    Ids that came between them since the page was read are left to the next pass, as no guard was asked about
    them; so are the page's last ones where more came than it holds.
    """
    asked = frozenset(ids)
    found = touched_between(connection, policy, ids[0], ids[-1], 2 * len(ids))
    return [each for each in found if each.thread_id in asked]


def touched_between(
    connection: Connection, policy: SweepPolicy, first: str, last: str, most: int
) -> list[Touched]:
    """Those from one id to another that the policy could change, of the first `most` threads there."""
    bounds = _bounds(policy)
    rules = tuple(bounds)
    if not rules:
        return []
    statement = _STATEMENTS.setdefault(rules, _touched(rules))
    rows = statement.all(connection, first=first, last=last, most=most, **bounds)
    return [Touched(row.thread_id, bool(row.empty)) for row in rows]


def _bounds(policy: SweepPolicy) -> dict[str, Any]:
    keep = policy.retention
    given = {
        "checkpoints": keep.max_checkpoints,
        "events": keep.max_events,
        "age": None if keep.max_age is None else span_ns(keep.max_age),
        "buried": None if policy.tombstone_age is None else span_ns(policy.tombstone_age),
    }
    return {rule: min(value, LONGEST) for rule, value in given.items() if value is not None}


def sweep(
    transactions: Transactions, policy: SweepPolicy, guard: SweepGuard, after: str | None
) -> SweepResult:
    """One page: the guard is asked once for all of it; then what could change does, some together."""
    if transactions.read_only:
        raise ReadOnlyStore("sweep")
    ids, more = transactions.lean("sweep", page_of, after, policy.batch_size)
    if not ids:
        return SweepResult(None)
    protected = _answer_of(guard, ids)
    work = transactions.lean("sweep", touched, policy, ids)
    page = _Page(transactions, policy, protected)
    undone = page.run(work)
    if undone is None:
        return page.result(ids[-1] if more else None, len(ids))
    handled = ids.index(undone)
    # Where not even the first thread is done, the next call begins where this one did.
    return page.result(ids[handled - 1] if handled else after or "", handled)


def _answer_of(guard: SweepGuard, ids: Sequence[str]) -> dict[str, frozenset[str]]:
    """What the guard says of the page, checked before anything is changed."""
    answer = guard(list(ids))
    return {
        thread_id: frozenset(check_id("guard", run) for run in answer[thread_id])
        for thread_id in ids
        if thread_id in answer
    }


class _Page:
    """The threads of one page, and what was removed from them so far."""

    def __init__(
        self, transactions: Transactions, policy: SweepPolicy, protected: Mapping[str, frozenset[str]]
    ) -> None:
        self._tx, self._policy, self._protected = transactions, policy, protected
        self._checkpoints = self._events = self._tombstones = 0

    def run(self, work: Sequence[Touched]) -> str | None:
        """Tend some threads after the other; within the time budget, but for one step. The first one not done."""
        deadline = time.monotonic() + BUDGET_SECONDS
        for n in range(0, len(work), TOGETHER):
            if n and time.monotonic() > deadline:
                return work[n].thread_id
            undone = self._tend(work[n : n + TOGETHER], deadline)
            if undone is not None:
                return undone
        return None

    def _tend(self, some: Sequence[Touched], deadline: float) -> str | None:
        steps = self._prune_free([each.thread_id for each in some if not each.empty])
        for n, each in enumerate(some):
            step = steps.get(each.thread_id)
            if step is not None and step.done:
                continue
            begun = n > 0 or (step is not None and each.thread_id != "")
            if begun and time.monotonic() > deadline:
                return each.thread_id
            if each.empty:
                self._reclaim(each.thread_id)
            elif not self._prune(each.thread_id, deadline):
                return each.thread_id
        return None

    def _prune_free(self, ids: Sequence[str]) -> Mapping[str, Pruned]:
        """A step of each that no writer is busy with, together."""
        if not ids:
            return {}
        protected = {each: self._protected.get(each, frozenset()) for each in ids}
        steps = self._tx.write("sweep", prune_free, self._policy.retention, protected)
        for step in steps.values():
            self._count(step)
        return steps

    def _count(self, step: Pruned) -> None:
        self._checkpoints += step.checkpoints
        self._events += step.events

    def _prune(self, thread_id: str, deadline: float) -> bool:
        runs = self._protected.get(thread_id, frozenset())
        while True:
            step = self._tx.write("sweep", prune_step, thread_id, self._policy.retention, runs)
            self._count(step)
            # No cursor leads back to the empty id, as no id sorts before it: it is done to its end.
            if step.done or (time.monotonic() > deadline and thread_id):
                return step.done

    def _reclaim(self, thread_id: str) -> None:
        age = self._policy.tombstone_age
        if age is not None and thread_id not in self._protected:
            self._tombstones += self._tx.write("sweep", reclaim, thread_id, age)

    def result(self, following: str | None, visited: int) -> SweepResult:
        """The answer of the call."""
        return SweepResult(following, visited, self._checkpoints, self._events, self._tombstones)
