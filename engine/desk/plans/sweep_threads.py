"""The threads and tombstones that a policy would take something from, page by page (ruling 54)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, func, select

from engine.checkpoints.prune import cutoff_of
from engine.checkpoints.prune_preview import rows_of_threads, would_go
from engine.checkpoints.retention import RetentionPolicy, SweepPolicy
from engine.checkpoints.sweep import touched_between
from engine.checkpoints.tables import thread
from engine.database.statement import Statement
from engine.desk.plans.budget import BATCH
from engine.desk.plans.model import ItemKind, Line
from engine.desk.plans.sweep_asked import SweepPart
from engine.errors import PlanRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import ColumnElement, Connection

    from engine.checkpoints.sweep import Touched
    from engine.desk.plans.budget import Budget
    from engine.desk.plans.draft import Draft
    from engine.desk.plans.sweep_asked import SweepAsked

MOST_OF_ONE: Final = 5_000
"""Checkpoints of one thread that a plan names: the oldest ones; the rest is for the next plan."""
MOST_NAMED: Final = 100_000
"""Checkpoints that a plan names in all."""
PAGE: Final = 2_500
"""Ids that one statement looks at; between two of them the time is looked at."""
SHOWN: Final = 80
"""Characters of an id, or of a prefix, that a refusal names."""


def _bounds(where: ColumnElement[bool]) -> Statement:
    """The first and the last id of a page: the ids between them stay in the database."""
    ids = (
        select(thread.c.thread_id)
        .where(where)
        .order_by(thread.c.thread_id)
        .limit(bindparam("most"))
        .subquery()
    )
    first, last = func.min(ids.c.thread_id), func.max(ids.c.thread_id)
    return Statement(select(first.label("first"), last.label("last"), func.count().label("number")))


_FROM: Final = _bounds(thread.c.thread_id >= bindparam("first"))
_BEHIND: Final = _bounds(thread.c.thread_id > bindparam("last"))


@dataclass(slots=True)
class ThreadSweep:
    """What was found so far."""

    checkpoints: int = 0
    bytes: int = 0
    events: int = 0
    tombstones: int = 0
    threads: int = 0
    more: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows that go; an event's or a checkpoint's each, a tombstone's one."""
        return self.checkpoints + self.events + self.tombstones

    def lines(self) -> tuple[Line, ...]:
        """The table of what goes."""
        return (
            Line(
                "checkpoint",
                self.checkpoints,
                self.bytes,
                f"of {self.threads} thread{'' if self.threads == 1 else 's'}",
            ),
            Line("event", self.events, None if self.events else 0),
            Line("tombstone", self.tombstones, 0),
        )


@dataclass(slots=True)
class Looked:
    """How far the ids were looked at: the first and the last of those that were done with."""

    first: str | None = None
    last: str = ""

    def at(self, thread_id: str) -> None:
        """All up to this id was done with."""
        if self.first is None:
            self.first = thread_id
        self.last = thread_id

    def narrowed(self, refusal: PlanRefused) -> PlanRefused:
        """The refusal with a prefix that is sure to be narrow enough: all ids that have it were done with."""
        if self.first is None:
            return refusal
        shared = next(
            (n for n, pair in enumerate(zip(self.first, self.last, strict=False)) if len({*pair}) > 1), SHOWN
        )
        if shared >= SHOWN:
            return refusal
        prefix = self.first[: shared + 1]
        hint = f"by the beginning of the ids: {prefix!r} is narrow enough (it came as far as {self.last[:SHOWN]!r})"
        return PlanRefused(refusal.plan_id, refusal.why, f"{refusal.message} {hint}")


@dataclass(frozen=True, slots=True)
class _Planning:
    """A plan of threads in the making: what it is made by, and what it came to so far."""

    connection: Connection
    policy: SweepPolicy
    cutoff: int
    draft: Draft
    budget: Budget
    found: ThreadSweep = field(default_factory=ThreadSweep)
    looked: Looked = field(default_factory=Looked)

    def all(self, prefix: str) -> None:
        """Every id with the prefix."""
        for first, last in _pages(self.connection, prefix, self.budget):
            every = touched_between(self.connection, self.policy, first, last, PAGE)
            mine = [each for each in every if each.thread_id.startswith(prefix)]
            for start in range(0, len(mine), BATCH):
                self._some(mine[start : start + BATCH])
            self.looked.at(first)
            self.looked.at(last)

    def _some(self, work: Sequence[Touched]) -> None:
        rows = rows_of_threads(self.connection, [each.thread_id for each in work])
        for each in work:
            (self._bury if each.empty else self._prune)(rows[each.thread_id])
            self.looked.at(each.thread_id)

    def _bury(self, row: Any) -> None:
        self.found.tombstones += 1
        guard = {"deleted_at": row.deleted_at}
        self.draft.add(ItemKind.TOMBSTONE, row.thread_id, guard, {"first": row.tomb_first})

    def _prune(self, row: Any) -> None:
        keep, found = self.policy.retention, self.found
        going = would_go(self.connection, row, keep, self.cutoff, MOST_OF_ONE, self.budget.check)
        if not going.anything:
            return
        found.threads += 1
        found.checkpoints += len(going.checkpoints)
        found.bytes += going.bytes
        found.events += going.events
        if found.checkpoints > MOST_NAMED:
            raise PlanRefused(
                None, "too wide", f"more than {MOST_NAMED:,} checkpoints would go; narrow the filter"
            )
        if going.more:
            found.more.append(row.thread_id)
        guard = {"checkpoints": list(going.checkpoints), "floor": going.floor}
        note = {"checkpoint": len(going.checkpoints), "event": going.events, "bytes": going.bytes}
        self.draft.add(ItemKind.RETENTION, row.thread_id, guard, note)


def sweep_threads(connection: Connection, asked: SweepAsked, draft: Draft, budget: Budget) -> ThreadSweep:
    """Items for all ids with the prefix that would lose something. What a guard protects is seen at execution.

    Wants a SNAPSHOT. PlanRefused, why "too wide", names a beginning of the ids that is narrow enough.
    """
    policy = _policy(asked)
    planning = _Planning(connection, policy, cutoff_of(connection, policy.retention), draft, budget)
    try:
        planning.all(asked.prefix)
    except PlanRefused as refusal:
        raise planning.looked.narrowed(refusal) from None
    for thread_id in planning.found.more:
        draft.warn(f"{thread_id}: only its {MOST_OF_ONE} oldest checkpoints are planned; plan again for more")
    return planning.found


def _policy(asked: SweepAsked) -> SweepPolicy:
    """The policy, less the parts that were not asked for."""
    threads, graves = SweepPart.THREADS in asked.parts, SweepPart.TOMBSTONES in asked.parts
    return SweepPolicy(
        asked.policy.retention if threads else RetentionPolicy.KEEP_ALL,
        asked.policy.tombstone_age if graves else None,
    )


def _pages(connection: Connection, prefix: str, budget: Budget) -> Iterator[tuple[str, str]]:
    """The first and the last of the store's ids from the prefix on, a page at a time, while they have it."""
    row: Any = _FROM.one(connection, first=prefix, most=PAGE)
    while row.number and row.first.startswith(prefix):
        budget.check()
        yield row.first, row.last
        if row.number < PAGE or not row.last.startswith(prefix):
            return
        row = _BEHIND.one(connection, last=row.last, most=PAGE)
