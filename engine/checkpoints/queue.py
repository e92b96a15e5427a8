"""The run queue's verbs but the lease itself: what should run, and which runs are evidence (4.9, ruling 73)."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BindParameter, bindparam, func, insert, null, select, update

from engine.checkpoints.queue_model import QueueEntry, QueueState
from engine.checkpoints.records import Undecodable, instant_of
from engine.checkpoints.tables import OPEN_ENTRY, queue_entry, queue_run
from engine.clock import from_ns, span_ns, to_ns
from engine.database.columns import Instant, check_id, check_optional_id
from engine.database.constructs import Each, Now
from engine.database.statement import Statement
from engine.errors import StaleLease, ValidationError
from engine.paging import check_limit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection

MAX_PAGE: Final = 1000
MAX_ATTEMPTS: Final = 2**31 - 1
MAX_SPAN: Final = timedelta(days=36525)
"""The longest lease or delay."""
MAX_ERROR: Final = 10_000
"""Characters of an error that are kept."""

_ENTRY: BindParameter[str] = bindparam("entry")
_SPAN = bindparam("span", type_=Instant)

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
_LOCK = Statement(select(queue_entry).where(queue_entry.c.id == _ENTRY).with_for_update())
_EXTEND = Statement(update(queue_entry).where(queue_entry.c.id == _ENTRY).values(lease_until=Now() + _SPAN))
MOVE = Statement(
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
_OPEN = Statement(
    select(queue_entry)
    .where(OPEN_ENTRY, queue_entry.c.thread_id == bindparam("thread"))
    .order_by(queue_entry.c.id)
    .limit(bindparam("most"))
    .with_for_update()
)
_ASKED = Each(bindparam("entries")).table_valued("value").alias("asked")
_RUNS = Statement(
    select(queue_run.c.entry_id, queue_run.c.run_id)
    .select_from(_ASKED)
    .join(queue_entry, queue_entry.c.id == _ASKED.c.value)
    .join(
        queue_run,
        (queue_run.c.thread_id == queue_entry.c.thread_id) & (queue_run.c.entry_id == queue_entry.c.id),
    )
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
    if not 1 <= max_attempts <= MAX_ATTEMPTS:
        raise ValidationError("max_attempts", (f"must lie between 1 and {MAX_ATTEMPTS}",))
    entry = str(uuid.uuid4())
    at = None if available_at is None else to_ns(available_at)
    _ADD.count(connection, entry=entry, thread=thread_id, owner=tenant, text=text, at=at, most=max_attempts)
    return entry


def check_ttl(ttl: timedelta) -> int:
    """Nanoseconds of a lease above zero and at most a hundred years."""
    if not timedelta(0) < ttl <= MAX_SPAN:
        raise ValidationError("ttl", ("must be above zero and at most a hundred years",))
    return span_ns(ttl)


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
    known = _runs_of(connection, [row]).get(entry_id, ())
    if check_id("run_id", run_id) not in known:
        _RECORD.count(connection, thread_id=row.thread_id, entry_id=entry_id, run_id=run_id, n=len(known) + 1)


def extend(connection: Connection, entry_id: str, token: int, ttl: timedelta) -> None:
    """Move the lease's end to `ttl` from now."""
    held(connection, entry_id, token)
    _EXTEND.count(connection, entry=entry_id, span=check_ttl(ttl))


def close(connection: Connection, entry_id: str, token: int, state: QueueState, error: str | None) -> None:
    """End the entry under its lease; an `error` is kept up to MAX_ERROR characters."""
    row = held(connection, entry_id, token)
    said = row.last_error if error is None else _storable(error)
    MOVE.count(connection, entry=entry_id, to=state.value, error=said)


def _storable(error: str) -> str:
    """An error's text in a form that any store can hold: a worker must get rid of its entry whatever it met."""
    return error.encode(errors="backslashreplace").decode().replace("\0", "\\0")[:MAX_ERROR]


def retry(connection: Connection, entry_id: str, token: int, delay: timedelta) -> None:
    """Give the entry back, due after `delay`; without an attempt left it is dead."""
    row = held(connection, entry_id, token)
    if not timedelta(0) <= delay <= MAX_SPAN:
        raise ValidationError("delay", ("must not be negative, and at most a hundred years",))
    if row.attempts >= row.max_attempts:
        MOVE.count(connection, entry=entry_id, to=QueueState.DEAD.value, error=row.last_error)
    else:
        _AGAIN.count(connection, entry=entry_id, span=span_ns(delay))


def cancel(connection: Connection, entry_id: str) -> None:
    """Close an open entry without a token; a closed one stays as it is."""
    row = _LOCK.one(connection, entry=check_id("entry_id", entry_id))
    if row is None:
        raise ValidationError("entry_id", (f"{entry_id!r} is not in the queue; list its entries",))
    if row.state in (QueueState.QUEUED.value, QueueState.LEASED.value):
        MOVE.count(connection, entry=entry_id, to=QueueState.CANCELLED.value, error=row.last_error)


def cancel_thread(connection: Connection, thread_id: str) -> list[str]:
    """Close the open entries of a thread, at most a page of them; their ids."""
    rows = _OPEN.all(connection, thread=check_id("thread_id", thread_id), most=MAX_PAGE)
    for row in rows:
        MOVE.count(connection, entry=row.id, to=QueueState.CANCELLED.value, error=row.last_error)
    return [row.id for row in rows]


def entries(
    connection: Connection, state: QueueState | None, after: str | None, limit: int
) -> list[QueueEntry]:
    """At most `limit` entries by id, behind the entry `after`."""
    bounds = {"after": check_id("after", after or ""), "most": check_limit(limit, MAX_PAGE)}
    if state is None:
        rows = _PAGE.all(connection, **bounds)
    else:
        rows = _PAGE_OF_STATE.all(connection, word=QueueState(state).value, **bounds)
    return entries_of(connection, rows)


def entries_of(connection: Connection, rows: Sequence[Any]) -> list[QueueEntry]:
    """Rows of `queue_entry` with their runs."""
    runs = _runs_of(connection, rows)
    return [entry_of(row, runs.get(row.id, ())) for row in rows]


def _runs_of(connection: Connection, rows: Sequence[Any]) -> dict[str, tuple[str, ...]]:
    """The runs of each entry, in the order of recording; entries without one are left out."""
    found: dict[str, tuple[str, ...]] = {}
    if rows:
        asked = json.dumps([row.id for row in rows])
        for run in _RUNS.all(connection, entries=asked):
            found[run.entry_id] = (*found.get(run.entry_id, ()), run.run_id)
    return found


def entry_of(row: Any, run_ids: tuple[str, ...]) -> QueueEntry:
    """A `queue_entry` row with its runs."""
    try:
        given, state = json.loads(row.input), QueueState(row.state)
    except ValueError as error:
        raise Undecodable(f"queue entry {row.id!r}: {error}") from error
    return QueueEntry(
        row.id,
        row.thread_id,
        row.tenant,
        given,
        state,
        from_ns(row.available_at),
        row.lease_owner,
        row.lease_token,
        instant_of(row.lease_until),
        row.attempts,
        row.max_attempts,
        row.last_error,
        run_ids,
    )
