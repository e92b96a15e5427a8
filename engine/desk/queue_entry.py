"""One entry of the run queue, and how full the queue is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, bindparam, literal_column, select

from engine.checkpoints.listing import CLOCK, NOW, size_of
from engine.checkpoints.tables import queue_entry, queue_run
from engine.clock import from_ns, from_span
from engine.database.columns import check_id
from engine.database.constructs import Likely
from engine.database.statement import Statement
from engine.desk.pages import capped
from engine.desk.queue_rows import queue_row, shown_of_entry
from engine.desk.queue_views import QueueDepth, QueueDetail
from engine.desk.views import MAX_COUNT, MAX_PARTS

if TYPE_CHECKING:
    from datetime import timedelta

    from sqlalchemy import Connection

_ENTRY: Final = Statement(
    select(CLOCK.c.now, *shown_of_entry(queue_entry.c)).where(queue_entry.c.id == bindparam("entry"))
)
_RUNS: Final = Statement(
    select(queue_run.c.run_id)
    .where(queue_run.c.thread_id == bindparam("thread"), queue_run.c.entry_id == bindparam("entry"))
    .order_by(queue_run.c.n.desc())
    .limit(MAX_PARTS + 1)
)
_QUEUED: Final = Likely(queue_entry.c.state == literal_column("'queued'"))
_LEASED: Final = Likely(queue_entry.c.state == literal_column("'leased'"))
# Each state's index is in the order of its time: what is due, or over, is its beginning.
_TIMES: Final = {
    "queued": (_QUEUED, queue_entry.c.available_at),
    "leased": (_LEASED, queue_entry.c.lease_until),
}


def _number(state: str, *, past: bool) -> ColumnElement[Any]:
    condition, time = _TIMES[state]
    asked = select(time).where(condition, time <= NOW) if past else select(time).where(condition)
    return size_of(asked.order_by(time).limit(MAX_COUNT + 1).subquery())


def _first(state: str) -> ColumnElement[Any]:
    condition, time = _TIMES[state]
    return select(time).where(condition).order_by(time).limit(1).scalar_subquery()


DEPTH: Final[tuple[ColumnElement[Any], ...]] = (
    _number("queued", past=False).label("queued"),
    _number("queued", past=True).label("due"),
    _number("leased", past=False).label("leased"),
    _number("leased", past=True).label("lapsed"),
    _first("queued").label("first_due"),
    _first("leased").label("first_over"),
)
"""What a `QueueDepth` is made of, beside `now`."""
_DEPTH: Final = Statement(select(NOW.label("now"), *DEPTH))


def queue_detail(connection: Connection, entry_id: str) -> QueueDetail | None:
    """The entry with its runs; None when there is none of that id. Wants a SNAPSHOT."""
    row = _ENTRY.one(connection, entry=check_id("entry_id", entry_id))
    if row is None:
        return None
    newest = _RUNS.all(connection, thread=row.thread_id, entry=entry_id)
    runs = tuple(run.run_id for run in reversed(newest[:MAX_PARTS]))
    return QueueDetail(queue_row(row), runs, len(newest) > MAX_PARTS, from_ns(row.now))


def queue_depth(connection: Connection) -> QueueDepth:
    """How many entries are open, due and over, and for how long the first of them has been so."""
    return depth_of(_DEPTH.one(connection))


def depth_of(row: Any) -> QueueDepth:
    """A row of the `DEPTH` columns and `now`."""
    return QueueDepth(
        queued=capped(row.queued),
        due=capped(row.due),
        leased=capped(row.leased),
        lapsed=capped(row.lapsed),
        oldest_due=_since(row.first_due, row.now),
        oldest_lapsed=_since(row.first_over, row.now),
        as_of=from_ns(row.now),
    )


def _since(at: int | None, now: int) -> timedelta | None:
    return None if at is None or at > now else from_span(now - at)
