"""The plain commit in five short statements, for a back end that has no data-modifying CTEs (see `plain_commit`).

The first one is the guard: it changes the thread's row only if everything that `plain_commit` asks of it holds, and
the others follow from what it returns. No row means "not done" and nothing else, with nothing changed: the ordinary
form then decides and names the reason (ruling 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, delete, exists, insert, literal_column, null, or_, update
from sqlalchemy.types import Text

from engine.checkpoints.model import CheckpointStatus
from engine.checkpoints.tables import checkpoint, event, pending_write, thread
from engine.database.constructs import Now
from engine.database.hints import hint
from engine.database.statement import Statement

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, ColumnClause, Connection

    from engine.checkpoints.drafts import Drafts

_ID: Final[BindParameter[str]] = bindparam("id")
_DELETING: Final[ColumnClause[str]] = literal_column(f"'{CheckpointStatus.DELETING.value}'")
_N_WRITES: Final[BindParameter[int]] = bindparam("n_writes")
_N_EVENTS: Final[BindParameter[int]] = bindparam("n_events")
_NUMBERED = (
    thread.c.thread_id == _ID,
    thread.c.claim_token == bindparam("held"),
    thread.c.next_seq.is_not(None),
    thread.c.created_at.is_not(None),
)
_RETURNED = (thread.c.latest_place, thread.c.next_write, thread.c.next_seq, Now().label("at"))
_ADVANCE = Statement(
    update(thread)
    .where(
        *_NUMBERED,
        thread.c.metadata_keys == 0,
        thread.c.latest_id.is_not_distinct_from(bindparam("parent", type_=Text)),
        thread.c.latest_status.is_distinct_from(_DELETING),
        thread.c.parent_id.is_not_distinct_from(bindparam("origin", type_=Text)),
        ~exists().where(
            checkpoint.c.thread_id == _ID, checkpoint.c.checkpoint_id == bindparam("checkpoint_id")
        ),
    )
    .values(
        tenant_key=bindparam("tenant_key"),
        latest_id=bindparam("checkpoint_id"),
        latest_place=thread.c.last_place + 1,
        latest_status=bindparam("status"),
        latest_run_id=bindparam("run_id"),
        last_place=thread.c.last_place + 1,
        next_write=_N_WRITES,
        updated_at=Now(),
        next_seq=thread.c.next_seq + _N_EVENTS,
    )
    .returning(*_RETURNED)
)
_APPEND = Statement(
    update(thread)
    .where(
        *_NUMBERED,
        or_(
            bindparam("latest", type_=Text).is_(null()),
            thread.c.latest_id == bindparam("latest", type_=Text),
        ),
    )
    .values(next_write=thread.c.next_write + _N_WRITES, next_seq=thread.c.next_seq + _N_EVENTS)
    .returning(*_RETURNED)
)
_ADD_CHECKPOINT = Statement(insert(checkpoint))
_DROP_WRITES = Statement(
    delete(pending_write).where(pending_write.c.thread_id == _ID, pending_write.c.place < bindparam("before"))
)
_ADD_WRITE = Statement(insert(pending_write))
_ADD_EVENT = Statement(insert(event))


def plain_steps(connection: Connection, thread_id: str, drafts: Drafts) -> int | None:
    """Run them in the caller's transaction; the first event's number, or None for "not done"."""
    head = _guard(connection, thread_id, drafts)
    if head is None:
        return None
    first = int(head.next_seq) - len(drafts.payloads)
    if drafts.checkpoint is not None:
        _replace_latest(connection, thread_id, drafts.checkpoint, head, first)
    writes = drafts.write_rows(thread_id, head.latest_place, head.next_write - len(drafts.bodies))
    _ADD_WRITE.many(connection, writes)
    if drafts.payloads:
        _ADD_EVENT.many(connection, drafts.event_rows(thread_id, first, head.at))
        hint(connection, thread_id)
    return first


def _guard(connection: Connection, thread_id: str, drafts: Drafts) -> Any:
    held, writes = drafts.commit.token, drafts.commit.writes
    counts = {"n_writes": len(writes), "n_events": len(drafts.payloads)}
    if drafts.checkpoint is None:
        latest = writes[0].checkpoint_id if writes else None
        return _APPEND.one(connection, id=thread_id, held=held, latest=latest, **counts)
    return _ADVANCE.one(connection, id=thread_id, held=held, **counts, **drafts.checkpoint)


def _replace_latest(
    connection: Connection, thread_id: str, draft: dict[str, Any], head: Any, first: int
) -> None:
    place = head.latest_place
    _ADD_CHECKPOINT.count(
        connection, thread_id=thread_id, place=place, committed_at=head.at, first_seq=first, **draft
    )
    _DROP_WRITES.count(connection, id=thread_id, before=place)
