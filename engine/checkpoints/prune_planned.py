"""Retention of one thread as it was planned: exactly those checkpoints and that floor, or less (ruling 54)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, select

from engine.checkpoints.claims import LOCK
from engine.checkpoints.events import COMPACT_STEP, raise_floor
from engine.checkpoints.prune import EVIDENCE, Pruned
from engine.checkpoints.tables import checkpoint
from engine.database.columns import check_id
from engine.database.constructs import Each
from engine.database.statement import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection

_PLANNED = Each(bindparam("ids")).table_valued("value").alias("planned")
# What was committed after the plan is another checkpoint, be its id the same.
_REMOVE = Statement(
    delete(checkpoint)
    .where(checkpoint.c.thread_id == bindparam("id"))
    .where(checkpoint.c.checkpoint_id.in_(select(_PLANNED.c.value).select_from(_PLANNED)))
    .where(checkpoint.c.place != bindparam("latest"), checkpoint.c.committed_at <= bindparam("planned_at"))
    .where(checkpoint.c.place.not_in(EVIDENCE))
)


def raise_towards(connection: Connection, thread_id: str, floor: int) -> Pruned:
    """One step of the floor towards the planned one, where more than a step is left; `done` where it is not.

    The last step belongs to the transaction of `remove_planned`.
    """
    row: Any = LOCK.one(connection, id=check_id("thread_id", thread_id))
    if row is None or row.first_seq is None:
        return Pruned(done=True)
    target = min(floor, row.next_seq)
    if target - row.floor_seq <= COMPACT_STEP:
        return Pruned(done=True)
    raise_floor(connection, thread_id, row.floor_seq, target)
    return Pruned(done=False, events=COMPACT_STEP)


def remove_planned(
    connection: Connection,
    row: Any,
    checkpoints: Sequence[str],
    floor: int | None,
    planned_at: int,
    protected: Iterable[str] = (),
) -> Pruned:
    """Remove of a thread whose row is locked the checkpoints of these ids, and raise the floor to the planned one.

    The newest stays, as does the evidence of open queue entries and of the `protected` runs, and whatever was
    committed after `planned_at` (ns). A floor that is higher by now stays as it is.
    """
    removed = _REMOVE.count(
        connection,
        id=row.thread_id,
        ids=json.dumps(list(checkpoints)),
        latest=row.latest_place or 0,
        planned_at=planned_at,
        runs=json.dumps(sorted(protected)),
    )
    target = row.floor_seq
    if floor is not None and row.first_seq is not None:
        target = max(row.floor_seq, min(floor, row.next_seq))
        raise_floor(connection, row.thread_id, row.floor_seq, target)
    return Pruned(done=True, checkpoints=removed, events=(target or 0) - (row.floor_seq or 0))
