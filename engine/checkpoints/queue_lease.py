"""Leasing: which entry of the run queue is next, and who has it (4.9, rulings 26 and 73)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, BindParameter, bindparam, exists, literal_column, select, tuple_, update

from engine.checkpoints.queue import MOVE, check_ttl, entries_of
from engine.checkpoints.queue_model import QueueEntry, QueueState
from engine.checkpoints.tables import queue_entry
from engine.database.backend import Fault, backend_of
from engine.database.columns import Identifier, Instant, check_id
from engine.database.constructs import Likely, Now, page_now
from engine.database.statement import Statement

if TYPE_CHECKING:
    from datetime import timedelta

    from sqlalchemy import Connection

MAX_TRIES: Final = 100
"""Entries looked at by one lease: each either is taken, is closed as dead, or was taken by somebody else."""
BEYOND: Final = 2**63 - 1
"""Due after every other entry."""
NO_ATTEMPTS_LEFT: Final = "its last lease ended without a word and no attempt is left"

_ENTRY: BindParameter[str] = bindparam("entry")
_QUEUED = queue_entry.c.state == literal_column("'queued'")
_LEASED = queue_entry.c.state == literal_column("'leased'")
_OTHER = queue_entry.alias("other")
_ORDER = (queue_entry.c.available_at, queue_entry.c.id)

_BUSY_THREAD = exists().where(
    _OTHER.c.thread_id == queue_entry.c.thread_id, _OTHER.c.state == literal_column("'leased'")
)
_FIRST_QUEUED = Statement(
    select(queue_entry)
    .where(Likely(_QUEUED), queue_entry.c.available_at <= page_now(), ~_BUSY_THREAD)
    .where(tuple_(*_ORDER) < tuple_(bindparam("at", type_=BigInteger), bindparam("before", type_=Identifier)))
    .order_by(*_ORDER)
    .limit(1)
    .with_for_update(skip_locked=True)
)
# Few leases are over at a time, at most as many as there are workers: they are sorted, not looked up in order.
_LAPSED = (
    select(queue_entry).where(_LEASED, queue_entry.c.lease_until <= page_now()).order_by(*_ORDER).limit(1)
)
_PEEK_LAPSED = Statement(_LAPSED)
_FIRST_LAPSED = Statement(_LAPSED.with_for_update(skip_locked=True))
_TAKE = Statement(
    update(queue_entry)
    .where(queue_entry.c.id == _ENTRY)
    .values(
        state=QueueState.LEASED.value,
        lease_owner=bindparam("worker"),
        lease_token=queue_entry.c.lease_token + 1,
        lease_until=Now() + bindparam("span", type_=Instant),
        attempts=queue_entry.c.attempts + 1,
    )
    .returning(queue_entry)
)


def lease(connection: Connection, worker: str, ttl: timedelta) -> QueueEntry | None:
    """Take the first entry that is due, by (available_at, id); None when there is none.

    A lapsed lease counts as due: taken with a higher token and one attempt more, or closed as dead without one
    left. The unique index on leased threads is what keeps two entries of a thread from running at once.
    """
    check_id("worker", worker)
    span = check_ttl(ttl)
    for _ in range(MAX_TRIES):
        found = _first(connection)
        if found is None:
            return None
        if found.attempts >= found.max_attempts:
            MOVE.count(connection, entry=found.id, to=QueueState.DEAD.value, error=NO_ATTEMPTS_LEFT)
            continue
        taken = _take(connection, found.id, worker, span)
        if taken is not None:
            return entries_of(connection, [taken])[0]
    return None


def _take(connection: Connection, entry_id: str, worker: str, span: int) -> Any | None:
    """The entry under its new lease; None where another entry of its thread was leased in the meantime."""
    try:
        with connection.begin_nested():
            return _TAKE.one(connection, entry=entry_id, worker=worker, span=span)
    except Exception as error:
        if backend_of(connection).classify(error) is not Fault.DUPLICATE:
            raise
        return None


def _first(connection: Connection) -> Any | None:
    """The first entry that is due, locked, and no other one: what is passed over stays free for other workers."""
    lapsed = _PEEK_LAPSED.one(connection)
    at, before = (BEYOND, "") if lapsed is None else (lapsed.available_at, lapsed.id)
    queued = _FIRST_QUEUED.one(connection, at=at, before=before)
    if queued is not None or lapsed is None:
        return queued
    # Another worker may be at it already: then nothing stands before the rest of the queue.
    return _FIRST_LAPSED.one(connection) or _FIRST_QUEUED.one(connection, at=BEYOND, before="")
