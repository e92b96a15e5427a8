"""Which planned threads stand above one another, and which children a thread still has."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.tables import CHILD, thread
from engine.database.backend import backend_of
from engine.database.statement import Statement
from engine.desk.plans.model import ItemKind
from engine.desk.tables import plan_item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import BindParameter, Connection

NAMED: Final = 5
"""Children that a refusal names."""
_ID: Final[BindParameter[str]] = bindparam("id")
_PLANNED: Final = Statement(
    select(plan_item.c.object_id, plan_item.c.guard).where(
        plan_item.c.plan_id == bindparam("plan"), plan_item.c.kind == ItemKind.THREAD.value
    )
)
_PARENT: Final = Statement(select(thread.c.parent_id).where(thread.c.thread_id == _ID))
_CHILDREN: Final = Statement(
    select(thread.c.thread_id)
    .where(thread.c.parent_id == _ID, CHILD)
    .order_by(thread.c.child_position)
    .limit(NAMED)
)

Guards = dict[str, dict[str, Any]]
"""The planned threads' guards by their ids."""


def planned_threads(connection: Connection, plan_id: str) -> Guards:
    """Every thread of the plan; a plan holds at most 10,000 items."""
    return {row.object_id: json.loads(row.guard) for row in _PLANNED.all(connection, plan=plan_id)}


def path_to(
    connection: Connection, thread_id: str, planned: Mapping[str, Any], known: Sequence[str] = ()
) -> list[str]:
    """The planned threads above, the topmost first, and the thread itself last.

    It ends where a parent was not planned, or where threads are each other's ancestors. `known` is such a path whose
    threads are all claimed by who asks, so that none of them has moved: where the way up meets it, it is not climbed.
    """
    path, seen = [thread_id], {thread_id}
    if thread_id in known:
        return list(_up_to(known, thread_id))
    for _ in range(len(planned)):
        row: Any = _PARENT.one(connection, id=path[-1])
        above = None if row is None else row.parent_id
        if above is None or above not in planned or above in seen:
            break
        if known and (known[-1] == above or above in known):
            return [*_up_to(known, above), *reversed(path)]
        path.append(above)
        seen.add(above)
    return path[::-1]


def _up_to(known: Sequence[str], thread_id: str) -> Sequence[str]:
    """A path's beginning, to this thread on it, which is most likely one of its last."""
    end = len(known)
    while known[end - 1] != thread_id:
        end -= 1
    return known[:end]


def children_left(connection: Connection, thread_id: str) -> list[str]:
    """Some of the children that the thread has, by an ordinary look."""
    return [row.thread_id for row in _CHILDREN.all(connection, id=thread_id)]


def hold_children(connection: Connection, thread_id: str) -> list[str]:
    """The same for good: until the transaction ends, nobody is adopted by the thread (ruling 7)."""
    backend_of(connection).lock_children(connection, thread_id)
    return children_left(connection, thread_id)
