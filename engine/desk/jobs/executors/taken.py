"""Rows that an item of many transactions has lost so far, kept in each of these transactions (console.md F8 and F10).

Each of them is an operation of its own beside the item's, so that a runner who was killed is counted with the one who
goes on: `job:n:000001`, `job:n:000002`, and so on, every one with the sum of those before it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, insert, select

from engine.database.columns import Identifier, dump
from engine.database.constructs import Now
from engine.database.statement import Statement
from engine.desk.audit.model import Deed
from engine.desk.jobs.executors.taking import job_holder
from engine.desk.jobs.whole import item_operation
from engine.desk.tables import operation

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.audit.model import ObjectKind
    from engine.desk.plans.model import Item

_BEHIND: Final = ":"
_END: Final = ";"
"""The character after the colon: in the order of ids, the end of all that begins with one."""
_LAST: Final = Statement(
    select(operation.c.operation_id, operation.c.result)
    .where(
        operation.c.operation_id > bindparam("first", type_=Identifier),
        operation.c.operation_id < bindparam("end", type_=Identifier),
    )
    .order_by(operation.c.operation_id.desc())
    .limit(1)
)
_ADD: Final = Statement(
    insert(operation).values(
        operation_id=bindparam("op"),
        kind=Deed.SWEEP.value,
        object_kind=bindparam("what"),
        object_id=bindparam("which"),
        actor=bindparam("who"),
        at=Now(),
        result=bindparam("came_to"),
    )
)


@dataclass(frozen=True, slots=True)
class Taken:
    """What an item has lost: `rows`, in so many `parts`."""

    job_id: str
    n: int
    parts: int = 0
    rows: int = 0

    @property
    def operation(self) -> str:
        """The item's own."""
        return item_operation(self.job_id, self.n)


def so_far(connection: Connection, job_id: str, n: int) -> Taken:
    """What the runners of the job have taken of its item with this number."""
    none = Taken(job_id, n)
    row: Any = _LAST.one(connection, first=none.operation + _BEHIND, end=none.operation + _END)
    if row is None:
        return none
    parts = int(row.operation_id.rpartition(_BEHIND)[2])
    return replace(none, parts=parts, rows=int(json.loads(row.result)["removed"]))


def noted(connection: Connection, before: Taken, item: Item, kind: ObjectKind, rows: int) -> Taken:
    """What it has lost with the rows of this transaction, in which that is written down; of two runners only one is."""
    if not rows:
        return before
    now = replace(before, parts=before.parts + 1, rows=before.rows + rows)
    _ADD.count(
        connection,
        op=f"{now.operation}{_BEHIND}{now.parts:06}",
        what=kind.value,
        which=item.object_id,
        who=job_holder(now.job_id),
        came_to=dump("result", {"removed": now.rows}),
    )
    return now
