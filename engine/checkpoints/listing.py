"""What listings of threads are built of: one clock, one index range for each status, keyset order (rulings 4, 24).

A `Source` is a table or a bounded set of its rows, with the conditions that pick the listing's rows from it. The
conditions repeat those of the partial indexes word by word, or the planners would not use the indexes. Every
statement here is shared by the registry of one tenant and the operator's lists of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import and_, bindparam, false, func, literal, literal_column, or_, select, true, tuple_

from engine.checkpoints.model import CheckpointStatus, ThreadStatus
from engine.checkpoints.registry_model import EVERY_STATUS
from engine.checkpoints.tables import CLAIMED, thread
from engine.database.constructs import Now

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import CTE, ColumnElement, Select

    Conditions = tuple[ColumnElement[bool], ...]

MAX_DRIVEN: Final = 10_000
"""Live claims, rows of one metadata pair, or ids of one prefix, that one page looks through at most (ruling 24)."""
BEYOND: Final = 2**63 - 1
"""Newer than every instant: where a first page starts, so that all pages are one statement."""

# One "now" for all of a statement; as a scalar subquery it is no reason to leave an index (ruling 4).
CLOCK: Final = select(Now().label("now")).cte("clock")
NOW: Final[ColumnElement[int]] = select(CLOCK.c.now).scalar_subquery()

SETTLED: Final = {
    ThreadStatus.SUSPENDED: CheckpointStatus.SUSPENDED,
    ThreadStatus.COMPLETED: CheckpointStatus.COMPLETED,
    ThreadStatus.FAILED: CheckpointStatus.FAILED,
    ThreadStatus.DELETED: CheckpointStatus.DELETING,
}
"""The statuses that the latest checkpoint alone decides."""
LIVE: Final = (
    select(thread)
    .where(CLAIMED, thread.c.claim_expires_at > NOW)
    .order_by(thread.c.claim_expires_at.desc(), thread.c.thread_id.desc())
    .limit(MAX_DRIVEN + 1)
    .cte("driven")
)
"""The threads with a live claim, one past the bound at most."""


@dataclass(frozen=True, slots=True)
class Source:
    """Rows under `columns` for which all `conditions` hold; `driven` is the bounded set they stand in, if any."""

    columns: Any
    conditions: Conditions
    driven: CTE | None = None


def status_sources(
    statuses: frozenset[ThreadStatus], owned: Callable[[Any], Conditions]
) -> list[Source]:
    """Sources whose rows together are the threads of these statuses, each in one of them.

    `owned` gives the conditions besides the status. Both statuses of a running checkpoint are its whole index
    range; IDLE alone skips the live claims in it; RUNNING alone comes from the live claims.
    """
    if statuses == EVERY_STATUS:
        return [Source(thread.c, owned(thread.c))]
    found = [_range(SETTLED[each], owned) for each in sorted(statuses & SETTLED.keys())]
    if {ThreadStatus.RUNNING, ThreadStatus.IDLE} <= statuses:
        found.append(_range(CheckpointStatus.RUNNING, owned))
    elif ThreadStatus.IDLE in statuses:
        found.append(_range(CheckpointStatus.RUNNING, owned, unheld(thread.c)))
    elif ThreadStatus.RUNNING in statuses:
        found.append(Source(LIVE.c, (stored(LIVE.c, CheckpointStatus.RUNNING), *owned(LIVE.c)), LIVE))
    return found


def _range(
    status: CheckpointStatus, owned: Callable[[Any], Conditions], *more: ColumnElement[bool]
) -> Source:
    return Source(thread.c, (stored(thread.c, status), *more, *owned(thread.c)))


def stored(c: Any, status: CheckpointStatus) -> ColumnElement[bool]:
    """The latest checkpoint's status, as a literal of its own."""
    equal: ColumnElement[bool] = c.latest_status == literal_column(f"'{status.value}'")
    return equal


def unheld(c: Any) -> ColumnElement[bool]:
    """No claim, or one that is over."""
    return or_(c.claim_token.is_(None), c.claim_expires_at <= NOW)


def judged(c: Any, statuses: frozenset[ThreadStatus]) -> ColumnElement[bool]:
    """`judge`, said in SQL: for rows that some other bound already holds together."""
    return or_(false(), *(_judged(c, status) for status in sorted(statuses)))


def _judged(c: Any, status: ThreadStatus) -> ColumnElement[bool]:
    if status in SETTLED:
        return stored(c, SETTLED[status])
    held = c.claim_expires_at > NOW if status is ThreadStatus.RUNNING else unheld(c)
    return and_(stored(c, CheckpointStatus.RUNNING), held)


def newest(source: Source, shown: list[ColumnElement[Any]], most: ColumnElement[int] | int) -> Select[Any]:
    """The source's rows behind the position (:updated, :id), newest first, in the order of its index."""
    c = source.columns
    start = tuple_(c.updated_at, c.thread_id) < tuple_(bindparam("updated"), bindparam("id"))
    return (
        select(*shown)
        .where(*source.conditions, start)
        .order_by(c.updated_at.desc(), c.thread_id.desc())
        .limit(most)
    )


def driven_size(found: list[Source]) -> ColumnElement[Any]:
    """How many rows the sources' bounded set holds, one past its bound at most; 0 where none stands in one."""
    for source in found:
        if source.driven is not None:
            return select(func.count()).select_from(source.driven).scalar_subquery().label("driven")
    return literal(0).label("driven")


def header(size: ColumnElement[Any], rows: Any) -> Select[Any]:
    """The clock and a bounded set's size, joined to the rows of a page, which may be none."""
    return select(CLOCK.c.now, size, rows).select_from(CLOCK.outerjoin(rows, true()))
