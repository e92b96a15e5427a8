"""What a prune would take of a thread now, by the rules that prune itself follows; nothing is changed (ruling 54)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, bindparam, select

from engine.checkpoints.prune import GOING, floor_of, kept_of
from engine.checkpoints.tables import checkpoint, thread
from engine.database.constructs import Each, Size
from engine.database.statement import Statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy import Connection

    from engine.checkpoints.retention import RetentionPolicy

_ASKED = Each(bindparam("ids")).table_valued("value").alias("asked")
_ROWS: Final = Statement(
    select(thread).where(thread.c.thread_id.in_(select(_ASKED.c.value).select_from(_ASKED)))
)
_GOING: Final = Statement(
    select(checkpoint.c.checkpoint_id, Size(checkpoint.c.body).label("size"))
    .where(*GOING)
    .order_by(checkpoint.c.place)
    .limit(bindparam("most", type_=BigInteger))
)


@dataclass(frozen=True, slots=True)
class Going:
    """The oldest checkpoints that would go, their bytes, and the floor; `more`: others would go too.

    `floor` is None for a thread that never numbered an event; `events` lie below it and are stored yet.
    """

    checkpoints: tuple[str, ...]
    bytes: int
    floor: int | None
    events: int
    more: bool = False

    @property
    def anything(self) -> bool:
        """Whether the thread would lose anything at all."""
        return bool(self.checkpoints or self.events)


def rows_of_threads(connection: Connection, ids: Sequence[str]) -> dict[str, Any]:
    """The threads' rows, unlocked."""
    return {row.thread_id: row for row in _ROWS.all(connection, ids=json.dumps(list(ids)))}


def would_go(
    connection: Connection,
    row: Any,
    policy: RetentionPolicy,
    cutoff: int,
    most: int,
    go_on: Callable[[], None],
    protected: Iterable[str] = (),
) -> Going:
    """What the policy takes of one thread by its row; at most `most` checkpoints are named.

    `go_on` is called between two looks at a long log, and may raise.
    """
    kept = kept_of(connection, row.thread_id, policy, row.latest_place or 0, cutoff)
    floor = None
    if row.first_seq is not None:
        floor = _whole_floor(connection, row, policy, kept, cutoff, go_on)
    events = 0 if floor is None else floor - row.floor_seq
    if kept is None or kept.many >= kept.history:
        return Going((), 0, floor, events)
    gone = _GOING.all(
        connection,
        id=row.thread_id,
        latest=row.latest_place or 0,
        cutoff=cutoff,
        oldest=kept.oldest,
        runs=json.dumps(sorted(protected)),
        most=most + 1,
    )
    named = gone[:most]
    size = sum(int(each.size) for each in named)
    return Going(tuple(each.checkpoint_id for each in named), size, floor, events, len(gone) > most)


def _whole_floor(
    connection: Connection,
    row: Any,
    policy: RetentionPolicy,
    kept: Any,
    cutoff: int,
    go_on: Callable[[], None],
) -> int:
    """Where all steps of a prune would lead: each looks on from where the one before it ended."""
    floor = int(row.floor_seq)
    while floor < row.next_seq:
        go_on()
        following = floor_of(connection, row.thread_id, row._replace(floor_seq=floor), policy, kept, cutoff)
        if following == floor:
            break
        floor = following
    return floor
