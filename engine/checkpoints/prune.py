"""Retention of one thread: old checkpoints and events go, evidence stays (2.5, rulings 15, 18, 69)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import BindParameter, and_, bindparam, delete, func, or_, select

from engine.checkpoints.claims import LOCK
from engine.checkpoints.events import COMPACT_STEP, raise_floor
from engine.checkpoints.tables import OPEN_ENTRY, checkpoint, event, queue_entry, queue_run, thread
from engine.clock import span_ns
from engine.database.columns import check_id
from engine.database.constructs import Each, Now
from engine.database.statement import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

    from engine.checkpoints.retention import RetentionPolicy

EVERYTHING = 2**62  # more rows than a thread can hold
NEVER = -(2**62)  # an instant before every other

_ID: BindParameter[str] = bindparam("id")
_NOW = Statement(select(Now().label("at")))
_OLD = or_(checkpoint.c.place == bindparam("latest"), checkpoint.c.committed_at >= bindparam("cutoff"))
_YOUNG = (
    select(checkpoint.c.place, checkpoint.c.first_seq)
    .where(checkpoint.c.thread_id == _ID, _OLD)
    .order_by(checkpoint.c.place.desc())
    .limit(bindparam("most"))
    .subquery("kept")
)
# K of the specification by its oldest place: the newest `most` of what is young enough, and the latest.
_KEPT = Statement(
    select(
        func.min(_YOUNG.c.place).label("oldest"),
        func.count().label("many"),
        select(func.count())
        .select_from(checkpoint)
        .where(checkpoint.c.thread_id == _ID)
        .scalar_subquery()
        .label("history"),
    ).select_from(_YOUNG)
)
_FIRST_SEQ = Statement(
    select(checkpoint.c.first_seq).where(
        checkpoint.c.thread_id == _ID, checkpoint.c.place == bindparam("place")
    )
)
_OPEN_RUNS = (
    select(queue_run.c.run_id)
    .join(queue_entry, and_(queue_entry.c.id == queue_run.c.entry_id, OPEN_ENTRY))
    .where(queue_run.c.thread_id == _ID)
)
_GUARDED = Each(bindparam("runs")).table_valued("value").alias("guarded")
EVIDENCE = (
    select(func.max(checkpoint.c.place))
    .where(
        checkpoint.c.thread_id == _ID,
        or_(
            checkpoint.c.run_id.in_(_OPEN_RUNS),
            checkpoint.c.run_id.in_(select(_GUARDED.c.value).select_from(_GUARDED)),
        ),
    )
    .group_by(checkpoint.c.run_id)
)
"""X: the places of the newest checkpoint of every run that an open queue entry or the guard (`runs`) names."""
GOING = (
    checkpoint.c.thread_id == _ID,
    ~and_(_OLD, checkpoint.c.place >= bindparam("oldest")),
    checkpoint.c.place.not_in(EVIDENCE),
)
"""What of a history is neither in K nor in X, of K's `oldest` place, the `latest` one, a `cutoff` and `runs`."""
_REMOVE = Statement(delete(checkpoint).where(*GOING))
_ASKED = Each(bindparam("ids")).table_valued("value").alias("asked")
# Whoever holds one row already may not wait for the next: that would deadlock with a writer who holds it.
_LOCK_FREE = Statement(
    select(thread)
    .where(thread.c.thread_id.in_(select(_ASKED.c.value).select_from(_ASKED)))
    .order_by(thread.c.thread_id)
    .with_for_update(skip_locked=True)
)
# The age rule looks one step ahead: where that step is all too old, the next one looks on from there.
_YOUNG_EVENT = Statement(
    select(event.c.seq)
    .where(event.c.thread_id == _ID, event.c.committed_at >= bindparam("cutoff"))
    .where(event.c.seq >= bindparam("floor"), event.c.seq < bindparam("beyond"))
    .order_by(event.c.seq)
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class Pruned:
    """One transaction's work; `done` once the whole policy was applied."""

    done: bool
    checkpoints: int = 0
    events: int = 0


def prune_step(
    connection: Connection, thread_id: str, policy: RetentionPolicy, protected: Iterable[str] = ()
) -> Pruned:
    """Apply the policy in one transaction, or the first step of it where more events than a step must go.

    The floor rises before any checkpoint goes, so an interrupted prune is finished by the next one.
    `protected` are runs whose newest checkpoint stays besides those of open queue entries; neither touches
    the floor.
    """
    row = LOCK.one(connection, id=check_id("thread_id", thread_id))
    if row is None:
        return Pruned(done=True)
    return prune_row(connection, row, policy, cutoff_of(connection, policy), protected)


def prune_free(
    connection: Connection, policy: RetentionPolicy, protected: Mapping[str, Iterable[str]]
) -> dict[str, Pruned]:
    """`prune_step` of each thread named in `protected` whose row nobody holds, in one transaction.

    A thread that is not in the answer, or not done by it, needs a transaction of its own: its row was held,
    does not exist, or the events dropped before its turn were a whole step.
    """
    done: dict[str, Pruned] = {}
    dropped = 0
    rows = _LOCK_FREE.all(connection, ids=json.dumps(list(protected)))
    cutoff = cutoff_of(connection, policy)
    for row in rows:
        if dropped >= COMPACT_STEP:
            break
        step = prune_row(connection, row, policy, cutoff, protected[row.thread_id])
        done[row.thread_id] = step
        dropped += step.events
    return done


def prune_row(
    connection: Connection, row: Any, policy: RetentionPolicy, cutoff: int, protected: Iterable[str]
) -> Pruned:
    """The step on a thread whose row is locked; what was committed before `cutoff` is too old."""
    thread_id = row.thread_id
    if row.latest_id is None and row.first_seq is None:
        return Pruned(done=True)
    latest = row.latest_place or 0
    kept = kept_of(connection, thread_id, policy, latest, cutoff)
    gone, arrived = 0, True
    if row.first_seq is not None:
        target = floor_of(connection, thread_id, row, policy, kept, cutoff)
        arrived = raise_floor(connection, thread_id, row.floor_seq, target)
        gone = min(target, row.floor_seq + COMPACT_STEP) - row.floor_seq
    if not arrived:
        return Pruned(done=False, events=gone)
    removed = 0
    if kept is not None and kept.many < kept.history:
        runs = json.dumps(sorted(protected))
        removed = _REMOVE.count(
            connection, id=thread_id, latest=latest, cutoff=cutoff, oldest=kept.oldest, runs=runs
        )
    return Pruned(done=True, checkpoints=removed, events=gone)


def cutoff_of(connection: Connection, policy: RetentionPolicy) -> int:
    """What was committed earlier is too old; the clock is read after the rows are locked (ruling 4)."""
    if policy.max_age is None:
        return NEVER
    row: Any = _NOW.one(connection)
    return max(NEVER, int(row.at) - span_ns(policy.max_age))


def kept_of(
    connection: Connection, thread_id: str, policy: RetentionPolicy, latest: int, cutoff: int
) -> Any | None:
    """K's oldest place and size, and the history's size; None where nothing of the history can go."""
    if not latest or (policy.max_age is None and policy.max_checkpoints is None):
        return None
    most = EVERYTHING if policy.max_checkpoints is None else min(policy.max_checkpoints, EVERYTHING)
    return _KEPT.one(connection, id=thread_id, latest=latest, cutoff=cutoff, most=most)


def floor_of(
    connection: Connection, thread_id: str, row: Any, policy: RetentionPolicy, kept: Any | None, cutoff: int
) -> int:
    """Ruling 69: the highest floor any rule asks for, never lower than it is, never past the next number."""
    floors = [row.floor_seq]
    if kept is not None and kept.many < kept.history:
        oldest: Any = _FIRST_SEQ.one(connection, id=thread_id, place=kept.oldest)
        floors.append(oldest.first_seq)
    if policy.max_events is not None:
        floors.append(row.next_seq - policy.max_events)
    if policy.max_age is not None:
        floors.append(_by_age(connection, thread_id, row.floor_seq, cutoff, row.next_seq))
    return int(min(max(floors), row.next_seq))


def _by_age(connection: Connection, thread_id: str, floor: int, cutoff: int, following: int) -> int:
    """The first event young enough, `following` without one, or a number beyond this transaction's step."""
    beyond = floor + COMPACT_STEP + 1
    found: Any = _YOUNG_EVENT.one(connection, id=thread_id, cutoff=cutoff, floor=floor, beyond=beyond)
    return int(found.seq) if found is not None else min(beyond, following)
