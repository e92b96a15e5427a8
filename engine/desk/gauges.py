"""A store in figures, for monitoring: one read, each count capped and each age the head of an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, literal_column, select

from engine.checkpoints.listing import NOW, size_of
from engine.checkpoints.model import ANY, ThreadStatus
from engine.checkpoints.tables import BURIED, queue_entry, thread
from engine.clock import from_span
from engine.database.address import follow_whole_indexes
from engine.database.statement import Statement
from engine.desk.claims import claim_totals
from engine.desk.filters import ThreadFilter
from engine.desk.incomplete import incomplete
from engine.desk.money_counts import reservation_totals
from engine.desk.pages import capped
from engine.desk.queue_entry import queue_depth
from engine.desk.threads import count_threads
from engine.desk.views import MAX_COUNT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from sqlalchemy import ColumnElement, Connection

    from engine.desk.claim_views import ClaimTotals
    from engine.desk.money_views import ReservationTotals
    from engine.desk.queue_views import QueueDepth
    from engine.desk.views import Capped

_ONE: Final[ColumnElement[int]] = literal_column("1")
_DEAD: Final = queue_entry.c.state == literal_column("'dead'")


def _number(*order: ColumnElement[Any], where: ColumnElement[bool]) -> ColumnElement[Any]:
    """A capped count in an index's order, or PostgreSQL might read the whole table to find enough."""
    return size_of(select(_ONE).where(where).order_by(*order).limit(MAX_COUNT + 1).subquery())


# The smallest instant of an index is its head: a minimum costs one row.
_LEFT_BEHIND: Final = Statement(
    select(
        NOW.label("now"),
        _number(thread.c.deleted_at, thread.c.thread_id, where=BURIED).label("tombstones"),
        select(func.min(thread.c.deleted_at)).where(BURIED).scalar_subquery().label("first_deleted"),
        _number(queue_entry.c.id, where=_DEAD).label("dead"),
    )
)


@dataclass(frozen=True, slots=True)
class Gauges:
    """What a store holds at one moment; each count up to 10,000, children and all owners included.

    An age is that of the oldest one, None where there is none: of IDLE threads since their last checkpoint or
    metadata, of tombstones since the delete. `dead` are queue entries that were given up and wait for a person.
    `money` has the reservations of all kinds by state, and what those of the days hold.
    """

    threads: Mapping[ThreadStatus, Capped]
    claims: ClaimTotals
    oldest_incomplete: timedelta | None
    tombstones: Capped
    oldest_tombstone: timedelta | None
    queue: QueueDepth
    dead: Capped
    money: ReservationTotals
    as_of: datetime


def gauges(connection: Connection) -> Gauges:
    """Read them; wants a SNAPSHOT. The oldest IDLE thread skips at most every live claim."""
    follow_whole_indexes(connection)
    counts = {
        status: count_threads(connection, ThreadFilter(statuses=frozenset({status})))
        for status in ThreadStatus
    }
    waiting = incomplete(connection, ANY, None, 1).rows
    left: Any = _LEFT_BEHIND.one(connection)
    depth = queue_depth(connection)
    first = left.first_deleted
    return Gauges(
        threads=counts,
        claims=claim_totals(connection),
        oldest_incomplete=waiting[0].age if waiting else None,
        tombstones=capped(left.tombstones),
        oldest_tombstone=None if first is None else from_span(left.now - first),
        queue=depth,
        dead=capped(left.dead),
        money=reservation_totals(connection),
        as_of=depth.as_of,
    )
