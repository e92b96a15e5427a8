"""The threads and tombstones that a policy would take something from, page by page (ruling 54)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.prune import cutoff_of
from engine.checkpoints.prune_preview import rows_of_threads, would_go
from engine.checkpoints.retention import RetentionPolicy, SweepPolicy
from engine.checkpoints.sweep import touched
from engine.checkpoints.tables import thread
from engine.database.statement import Statement
from engine.desk.plans.budget import BATCH
from engine.desk.plans.model import ItemKind, Line
from engine.desk.plans.sweep_asked import SweepPart
from engine.errors import PlanRefused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from engine.desk.plans.budget import Budget
    from engine.desk.plans.draft import Draft
    from engine.desk.plans.sweep_asked import SweepAsked

MOST_OF_ONE: Final = 5_000
"""Checkpoints of one thread that a plan names: the oldest ones; the rest is for the next plan."""
MOST_NAMED: Final = 100_000
"""Checkpoints that a plan names in all."""
_FROM: Final = Statement(
    select(thread.c.thread_id)
    .where(thread.c.thread_id >= bindparam("first"))
    .order_by(thread.c.thread_id)
    .limit(BATCH)
)
_BEHIND: Final = Statement(
    select(thread.c.thread_id)
    .where(thread.c.thread_id > bindparam("last"))
    .order_by(thread.c.thread_id)
    .limit(BATCH)
)


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


def sweep_threads(connection: Connection, asked: SweepAsked, draft: Draft, budget: Budget) -> ThreadSweep:
    """Items for all ids with the prefix that would lose something. What a guard protects is seen at execution."""
    found = ThreadSweep()
    policy = _policy(asked)
    cutoff = cutoff_of(connection, policy.retention)
    for ids in _pages(connection, asked.prefix, budget):
        work = touched(connection, policy, ids)
        rows = rows_of_threads(connection, [each.thread_id for each in work])
        for each in work:
            row = rows[each.thread_id]
            if each.empty:
                _bury(draft, row, found)
            else:
                _prune(connection, draft, row, policy.retention, cutoff, found, budget)
    for thread_id in found.more:
        draft.warn(f"{thread_id}: only its {MOST_OF_ONE} oldest checkpoints are planned; plan again for more")
    return found


def _policy(asked: SweepAsked) -> SweepPolicy:
    """The policy, less the parts that were not asked for."""
    threads, graves = SweepPart.THREADS in asked.parts, SweepPart.TOMBSTONES in asked.parts
    return SweepPolicy(
        asked.policy.retention if threads else RetentionPolicy.KEEP_ALL,
        asked.policy.tombstone_age if graves else None,
    )


def _pages(connection: Connection, prefix: str, budget: Budget) -> Iterator[Sequence[str]]:
    """The store's ids with this prefix, a page at a time."""
    rows = _FROM.all(connection, first=prefix)
    while rows:
        budget.check()
        ids = [row.thread_id for row in rows]
        mine = [each for each in ids if each.startswith(prefix)]
        if mine:
            yield mine
        if len(mine) < BATCH:
            return
        rows = _BEHIND.all(connection, last=ids[-1])


def _bury(draft: Draft, row: Any, found: ThreadSweep) -> None:
    found.tombstones += 1
    draft.add(ItemKind.TOMBSTONE, row.thread_id, {"deleted_at": row.deleted_at}, {"first": row.tomb_first})


def _prune(
    connection: Connection,
    draft: Draft,
    row: Any,
    policy: RetentionPolicy,
    cutoff: int,
    found: ThreadSweep,
    budget: Budget,
) -> None:
    going = would_go(connection, row, policy, cutoff, MOST_OF_ONE, budget.check)
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
    draft.add(ItemKind.RETENTION, row.thread_id, guard, note)
