"""The run queue's verbs: who should run next, and which runs are evidence (4.9, rulings 26 and 73)."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BindParameter, bindparam, exists, func, insert, literal_column, null, select, update

from engine.checkpoints.queue_model import QueueEntry, QueueState
from engine.checkpoints.records import Undecodable, instant_of
from engine.checkpoints.tables import queue_entry, queue_run
from engine.clock import from_ns, span_ns, to_ns
from engine.database.backend import Fault, backend_of
from engine.database.columns import Instant, check_id, check_optional_id
from engine.database.constructs import Now, page_now
from engine.database.statement import Statement
from engine.errors import StaleLease, ValidationError
from engine.paging import check_limit

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from sqlalchemy import Connection

MAX_PAGE: Final = 1000
MAX_TRIES: Final = 100
"""Entries looked at by one lease: each either is taken, is closed as dead, or was taken by somebody else."""
NO_ATTEMPTS_LEFT: Final = "its last lease ended without a word and no attempt is left"

_ENTRY: BindParameter[str] = bindparam("entry")
_SPAN = bindparam("span", type_=Instant)
_QUEUED = queue_entry.c.state == literal_column("'queued'")
_LEASED = queue_entry.c.state == literal_column("'leased'")
_OTHER = queue_entry.alias("other")
_ORDER = (queue_entry.c.available_at, queue_entry.c.id)

_ADD = Statement(
    insert(queue_entry).values(
        id=_ENTRY,
        thread_id=bindparam("thread"),
        tenant=bindparam("owner"),
        input=bindparam("text"),
        state=QueueState.QUEUED.value,
        available_at=func.coalesce(bindparam("at", type_=Instant), Now()),
        lease_token=0,
        attempts=0,
        max_attempts=bindparam("most"),
    )
)
_BUSY_THREAD = exists().where(
    _OTHER.c.thread_id == queue_entry.c.thread_id, _OTHER.c.state == literal_column("'leased'")
)
_FIRST_QUEUED = Statement(
    select(queue_entry)
    .where(_QUEUED, queue_entry.c.available_at <= page_now(), ~_BUSY_THREAD)
    .order_by(*_ORDER)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_FIRST_LAPSED = Statement(
    select(queue_entry)
    .where(_LEASED, queue_entry.c.lease_until <= page_now())
    .order_by(queue_entry.c.lease_until, queue_entry.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_TAKE = Statement(
    update(queue_entry)
    .where(queue_entry.c.id == _ENTRY)
    .values(
        state=QueueState.LEASED.value,
        lease_owner=bindparam("worker"),
        lease_token=queue_entry.c.lease_token + 1,
        lease_until=Now() + _SPAN,
        attempts=queue_entry.c.attempts + 1,
    )
    .returning(queue_entry)
)
_LOCK = Statement(select(queue_entry).where(queue_entry.c.id == _ENTRY).with_for_update())
_EXTEND = Statement(update(queue_entry).where(queue_entry.c.id == _ENTRY).values(lease_until=Now() + _SPAN))
_MOVE = Statement(
    update(queue_entry)
    .where(queue_entry.c.id == _ENTRY)
    .values(state=bindparam("to"), lease_owner=null(), lease_until=null(), last_error=bindparam("error"))
)
_AGAIN = Statement(
    update(queue_entry)
    .where(queue_entry.c.id == _ENTRY)
    .values(
        state=QueueState.QUEUED.value,
        available_at=Now() + _SPAN,
        lease_owner=null(),
        lease_until=null(),
    )
)
_RUNS = Statement(
    select(queue_run.c.run_id)
    .where(queue_run.c.entry_id == _ENTRY, queue_run.c.thread_id == bindparam("thread"))
    .order_by(queue_run.c.n)
)
_RECORD = Statement(insert(queue_run))
_PAGE = Statement(
    select(queue_entry)
    .where(queue_entry.c.id > bindparam("after"))
    .order_by(queue_entry.c.id)
    .limit(bindparam("most"))
)
_PAGE_OF_STATE = Statement(
    select(queue_entry)
    .where(queue_entry.c.state == bindparam("word"), queue_entry.c.id > bindparam("after"))
    .order_by(queue_entry.c.id)
    .limit(bindparam("most"))
)


def enqueue(
    connection: Connection,
    thread_id: str,
    text: str,
    tenant: str | None,
    available_at: datetime | None,
    max_attempts: int,
) -> str:
    """Add an entry whose input is this JSON text; its id."""
    check_id("thread_id", thread_id)
    check_optional_id("tenant", tenant)
    if max_attempts < 1:
        raise ValidationError("max_attempts", ("must be at least 1",))
    entry = str(uuid.uuid4())
    at = None if available_at is None else to_ns(available_at)
    _ADD.count(connection, entry=entry, thread=thread_id, owner=tenant, text=text, at=at, most=max_attempts)
    return entry


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
            _MOVE.count(connection, entry=found.id, to=QueueState.DEAD.value, error=NO_ATTEMPTS_LEFT)
            continue
        taken = _take(connection, found.id, worker, span)
        if taken is not None:
            return entry_of(connection, taken)
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
    due = [row for row in (_FIRST_QUEUED.one(connection), _FIRST_LAPSED.one(connection)) if row is not None]
    return min(due, key=lambda row: (row.available_at, row.id), default=None)


def check_ttl(ttl: timedelta) -> int:
    """Nanoseconds of a lease above zero."""
    span = span_ns(ttl)
    if span <= 0:
        raise ValidationError("ttl", ("must be above zero",))
    return span


def held(connection: Connection, entry_id: str, token: int) -> Any:
    """The entry's row, locked; StaleLease unless `token` holds it. A lapse alone revokes nothing."""
    row = _LOCK.one(connection, entry=check_id("entry_id", entry_id))
    current = row.lease_token if row is not None and row.state == QueueState.LEASED.value else None
    if current != token:
        raise StaleLease(entry_id, token, current)
    return row


def record_run(connection: Connection, entry_id: str, token: int, run_id: str) -> None:
    """Note the attempt's run id before the run is asked to start, so that its evidence is kept from then on."""
    row = held(connection, entry_id, token)
    known = _run_ids(connection, row)
    if check_id("run_id", run_id) not in known:
        _RECORD.count(connection, thread_id=row.thread_id, entry_id=entry_id, run_id=run_id, n=len(known) + 1)


def extend(connection: Connection, entry_id: str, token: int, ttl: timedelta) -> None:
    """Move the lease's end to `ttl` from now."""
    held(connection, entry_id, token)
    _EXTEND.count(connection, entry=entry_id, span=check_ttl(ttl))


def close(connection: Connection, entry_id: str, token: int, state: QueueState, error: str | None) -> None:
    """End the entry under its lease."""
    row = held(connection, entry_id, token)
    _MOVE.count(
        connection, entry=entry_id, to=state.value, error=error if error is not None else row.last_error
    )


def retry(connection: Connection, entry_id: str, token: int, delay: timedelta) -> None:
    """Give the entry back, due after `delay`; without an attempt left it is dead."""
    row = held(connection, entry_id, token)
    if span_ns(delay) < 0:
        raise ValidationError("delay", ("must not be negative",))
    if row.attempts >= row.max_attempts:
        _MOVE.count(connection, entry=entry_id, to=QueueState.DEAD.value, error=row.last_error)
    else:
        _AGAIN.count(connection, entry=entry_id, span=span_ns(delay))


def cancel(connection: Connection, entry_id: str) -> None:
    """Close an open entry without a token; a closed one stays as it is."""
    row = _LOCK.one(connection, entry=check_id("entry_id", entry_id))
    if row is None:
        raise ValidationError("entry_id", (f"{entry_id!r} is not in the queue; list its entries",))
    if row.state in (QueueState.QUEUED.value, QueueState.LEASED.value):
        _MOVE.count(connection, entry=entry_id, to=QueueState.CANCELLED.value, error=row.last_error)


def entries(
    connection: Connection, state: QueueState | None, after: str | None, limit: int
) -> list[QueueEntry]:
    """At most `limit` entries by id, behind the entry `after`."""
    bounds = {"after": check_id("after", after or ""), "most": check_limit(limit, MAX_PAGE)}
    if state is None:
        rows = _PAGE.all(connection, **bounds)
    else:
        rows = _PAGE_OF_STATE.all(connection, word=state.value, **bounds)
    return [entry_of(connection, row) for row in rows]


def entry_of(connection: Connection, row: Any) -> QueueEntry:
    """A `queue_entry` row with its runs."""
    try:
        given = json.loads(row.input)
    except ValueError as error:
        raise Undecodable(f"queue entry {row.id!r}: {error}") from error
    return QueueEntry(
        row.id,
        row.thread_id,
        row.tenant,
        given,
        QueueState(row.state),
        from_ns(row.available_at),
        row.lease_owner,
        row.lease_token,
        instant_of(row.lease_until),
        row.attempts,
        row.max_attempts,
        row.last_error,
        _run_ids(connection, row),
    )


def _run_ids(connection: Connection, row: Any) -> tuple[str, ...]:
    return tuple(found.run_id for found in _RUNS.all(connection, entry=row.id, thread=row.thread_id))
