"""A bounded page of retention over the whole store (checkpoints-operations.md 2.6, rulings 27 and 70)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, bindparam, exists, false, or_, select

from engine.checkpoints.prune import EVERYTHING, prune_step
from engine.checkpoints.reclaim import BARE_TOMBSTONE, reclaim
from engine.checkpoints.retention import SweepResult
from engine.checkpoints.tables import checkpoint, event, thread
from engine.clock import span_ns
from engine.database.constructs import page_now
from engine.database.statement import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from engine.checkpoints.retention import SweepGuard, SweepPolicy
    from engine.database.transaction import Transactions

BUDGET_SECONDS: Final = 5.0  # of one call; it then answers where to go on

_PAGE = Statement(
    select(thread.c.thread_id)
    .where(thread.c.thread_id > bindparam("after"))
    .order_by(thread.c.thread_id)
    .limit(bindparam("most"))
)
_AGE = bindparam("age", type_=thread.c.deleted_at.type)
_CUTOFF = page_now() - _AGE
_MINE = checkpoint.c.thread_id == thread.c.thread_id
# Beyond the newest so many there is another one: OFFSET here counts within one thread, it does not page.
_TOO_MANY = select(checkpoint.c.place).where(_MINE).limit(1).offset(bindparam("checkpoints")).exists()
_TOO_OLD = exists().where(
    _MINE, checkpoint.c.place != thread.c.latest_place, checkpoint.c.committed_at < _CUTOFF
)
_STALE_LOG = exists().where(
    event.c.thread_id == thread.c.thread_id, event.c.seq == thread.c.floor_seq, event.c.committed_at < _CUTOFF
)
_LONG_LOG = thread.c.next_seq - thread.c.floor_seq > bindparam("events")
_DEAD = and_(BARE_TOMBSTONE, thread.c.deleted_at < page_now() - bindparam("buried", type_=_AGE.type))
_RULES = {
    "checkpoints": _TOO_MANY,
    "events": _LONG_LOG,
    "age": or_(_TOO_OLD, _STALE_LOG),
    "buried": _DEAD,
}


def _touched(rules: Iterable[str]) -> Statement:
    applied = or_(false(), *(_RULES[rule] for rule in rules))
    inside = and_(thread.c.thread_id > bindparam("after"), thread.c.thread_id <= bindparam("last"))
    return Statement(select(thread.c.thread_id).where(inside, applied).order_by(thread.c.thread_id))


# One statement for each set of rules a policy can have: sixteen at most, built when first needed.
_STATEMENTS: dict[tuple[str, ...], Statement] = {}


def page_of(connection: Connection, after: str | None, size: int) -> tuple[list[str], bool]:
    """The next `size` ids the store holds, whatever they hold, and whether more follow."""
    rows = _PAGE.all(connection, after=after or "", most=size + 1)
    return [row.thread_id for row in rows[:size]], len(rows) > size


def touched(connection: Connection, policy: SweepPolicy, after: str | None, last: str) -> list[str]:
    """Those of the page that the policy could change: only they get a transaction."""
    bounds = _bounds(policy)
    rules = tuple(bounds)
    if not rules:
        return []
    statement = _STATEMENTS.setdefault(rules, _touched(rules))
    return [row.thread_id for row in statement.all(connection, after=after or "", last=last, **bounds)]


def _bounds(policy: SweepPolicy) -> dict[str, Any]:
    keep = policy.retention
    given = {
        "checkpoints": keep.max_checkpoints,
        "events": keep.max_events,
        "age": None if keep.max_age is None else span_ns(keep.max_age),
        "buried": None if policy.tombstone_age is None else span_ns(policy.tombstone_age),
    }
    return {rule: min(value, EVERYTHING) for rule, value in given.items() if value is not None}


def sweep(
    transactions: Transactions, policy: SweepPolicy, guard: SweepGuard, after: str | None
) -> SweepResult:
    """One page: the guard is asked once for all of it; then what could change does, a transaction each."""
    ids, more = transactions.read("sweep", page_of, after, policy.batch_size)
    if not ids:
        return SweepResult(None)
    protected = guard(ids)
    work = transactions.read("sweep", touched, policy, after, ids[-1])
    return _Page(transactions, policy, protected).run(ids, work, more=more)


class _Page:
    """The threads of one page, and what was removed from them so far."""

    def __init__(
        self, transactions: Transactions, policy: SweepPolicy, protected: Mapping[str, frozenset[str]]
    ) -> None:
        self._tx, self._policy, self._protected = transactions, policy, protected
        self._checkpoints = self._events = self._tombstones = 0

    def run(self, ids: Sequence[str], work: Sequence[str], *, more: bool) -> SweepResult:
        """Every thread of the page, or as many as the time budget allows; at least one."""
        deadline = time.monotonic() + BUDGET_SECONDS
        for thread_id in work:
            self._one(thread_id)
            if time.monotonic() > deadline and thread_id != ids[-1]:
                return self._result(thread_id, ids.index(thread_id) + 1)
        return self._result(ids[-1] if more else None, len(ids))

    def _one(self, thread_id: str) -> None:
        runs = self._protected.get(thread_id)
        done = False
        while not done:
            step = self._tx.write("sweep", prune_step, thread_id, self._policy.retention, runs or ())
            done = step.done
            self._checkpoints += step.checkpoints
            self._events += step.events
        age = self._policy.tombstone_age
        if age is not None and runs is None:
            self._tombstones += self._tx.write("sweep", reclaim, thread_id, age)

    def _result(self, following: str | None, visited: int) -> SweepResult:
        return SweepResult(following, visited, self._checkpoints, self._events, self._tombstones)
