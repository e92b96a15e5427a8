"""Threads with all their descendants, in the order in which they can be deleted (ruling 19)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, select

from engine.checkpoints.tables import CHILD, effect, thread
from engine.database.constructs import Each, Pairs
from engine.database.statement import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection

    from engine.desk.plans.budget import Budget

_KEYS: Final = (
    "thread_id",
    "tenant_key",
    "parent_id",
    "latest_id",
    "latest_status",
    "updated_at",
    "metadata_keys",
    "first_seq",
    "next_seq",
    "next_write",
    "floor_seq",
    "deleted_at",
    "claim_token",
    "claim_holder",
    "claim_expires_at",
)
_ASKED: Final = Each(bindparam("ids")).table_valued("value").alias("asked")
_EFFECT: Final = (
    select(effect.c.key).where(effect.c.thread_id == thread.c.thread_id).limit(1).scalar_subquery()
)
_SHOWN: Final = (*(thread.c[key] for key in _KEYS), _EFFECT.label("an_effect"))
_NAMED: Final = select(_ASKED.c.value).select_from(_ASKED)
_THREADS: Final = Statement(select(*_SHOWN).where(thread.c.thread_id.in_(_NAMED)))
# A scalar of each parent: driven by a list of them, SQLite may read every thread instead.
_MINE: Final = (
    select(thread.c.thread_id, thread.c.child_position)
    .where(thread.c.parent_id == _ASKED.c.value, CHILD)
    .order_by(thread.c.child_position)
    .limit(bindparam("most"))
    .correlate(_ASKED)
    .subquery("mine")
)
_CHILDREN: Final = Statement(
    select(
        select(Pairs(_MINE.c.thread_id, _MINE.c.child_position)).scalar_subquery().label("children")
    ).select_from(_ASKED)
)


@dataclass(slots=True)
class Node:
    """A thread's row and the nodes of its children; `depth` 0 where no ancestor of it is in the forest."""

    row: Any
    children: list[Node] = field(default_factory=list)
    depth: int = 0

    @property
    def thread_id(self) -> str:
        """Its id."""
        return str(self.row.thread_id)

    @property
    def empty(self) -> bool:
        """Whether nothing but a number and a claim is stored under the id."""
        row = self.row
        held = (row.latest_id, row.first_seq, row.an_effect)
        return all(each is None for each in held) and not row.metadata_keys


class Forest:
    """The threads that were named and everything below them."""

    def __init__(self, nodes: dict[str, Node]) -> None:
        self._nodes = nodes
        self._roots = list[Node]()
        for node in nodes.values():
            above = nodes.get(node.row.parent_id) if node.row.latest_id is not None else None
            (self._roots if above is None else above.children).append(node)

    def below_first(self) -> Iterator[Node]:
        """Every thread behind all of its descendants; those of a circle of ancestors are not among them."""
        for root in self._roots:
            yield from _post_order(root)

    def circles(self) -> list[str]:
        """Threads that are their own ancestors, or lie below such."""
        reached = {node.thread_id for node in self.below_first()}
        return [thread_id for thread_id in self._nodes if thread_id not in reached]

    def __contains__(self, thread_id: str) -> bool:
        return thread_id in self._nodes


def _post_order(root: Node) -> Iterator[Node]:
    waiting: list[tuple[Node, int]] = [(root, 0)]
    while waiting:
        node, seen = waiting.pop()
        if seen == len(node.children):
            yield node
            continue
        child = node.children[seen]
        child.depth = node.depth + 1
        waiting += [(node, seen + 1), (child, 0)]


def named(connection: Connection, ids: Sequence[str], budget: Budget) -> dict[str, Node]:
    """The rows of these ids, as far as there are any, in the order in which they were named."""
    found: dict[str, Node] = {}
    for batch in budget.batches(ids):
        rows = {row.thread_id: row for row in _THREADS.all(connection, ids=json.dumps(batch))}
        found |= {each: Node(rows[each]) for each in batch if each in rows}
    return found


def with_descendants(connection: Connection, nodes: dict[str, Node], budget: Budget) -> Forest:
    """These threads and all below them, level by level."""
    whole, level = dict(nodes), list(nodes)
    while level:
        level = [
            row.thread_id
            for row in children(connection, level, budget)
            if whole.setdefault(row.thread_id, Node(row)).row is row
        ]
        budget.check(len(whole))
    return Forest(whole)


def children(connection: Connection, ids: Sequence[str], budget: Budget) -> Iterable[Any]:
    """The rows of the direct children of these threads."""
    for batch in budget.batches(ids):
        below: list[str] = []
        for row in _CHILDREN.all(connection, ids=json.dumps(batch), most=budget.most + 1):
            places: dict[str, int] = json.loads(row.children or "{}")
            below += sorted(places, key=places.__getitem__)
        yield from (node.row for node in named(connection, below, budget).values())
