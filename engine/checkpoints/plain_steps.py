"""The plain commit in five short statements, for a back end that has no data-modifying CTEs (see `plain_commit`).

The first one is the guard: it changes the thread's row only if everything that `plain_commit` asks of it holds, and
the others follow from what it returns. No row means "not done" and nothing else, with nothing changed: the ordinary
form then decides and names the reason (ruling 2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, exists, insert, literal_column, null, or_, update
from sqlalchemy.types import Text

from engine.checkpoints.model import CheckpointStatus
from engine.checkpoints.tables import checkpoint, event, pending_write, thread
from engine.database.constructs import Now
from engine.database.hints import hint
from engine.database.statement import Statement

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.checkpoints.drafts import Drafts
    from engine.checkpoints.model import Commit

_ID = bindparam("id")
_DELETING = literal_column(f"'{CheckpointStatus.DELETING.value}'")
_N_WRITES, _N_EVENTS = bindparam("n_writes"), bindparam("n_events")
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


def plain_steps(connection: Connection, thread_id: str, commit: Commit, drafts: Drafts) -> int | None:
    """Run them in the caller's transaction; the first event's number, or None for "not done"."""
    head = _guard(connection, thread_id, commit, drafts)
    if head is None:
        return None
    first = int(head.next_seq) - len(drafts.events)
    if drafts.checkpoint is not None:
        _replace_latest(connection, thread_id, drafts.checkpoint, head, first)
    _add_writes(connection, thread_id, drafts, head)
    _add_events(connection, thread_id, commit.token, drafts, head.at, first)
    return first


def _guard(connection: Connection, thread_id: str, commit: Commit, drafts: Drafts) -> Any:
    counts = {"n_writes": len(drafts.writes), "n_events": len(drafts.events)}
    if drafts.checkpoint is None:
        latest = commit.writes[0].checkpoint_id if commit.writes else None
        return _APPEND.one(connection, id=thread_id, held=commit.token, latest=latest, **counts)
    return _ADVANCE.one(connection, id=thread_id, held=commit.token, **counts, **drafts.checkpoint)


def _replace_latest(
    connection: Connection, thread_id: str, draft: dict[str, Any], head: Any, first: int
) -> None:
    place = head.latest_place
    _ADD_CHECKPOINT.count(
        connection, thread_id=thread_id, place=place, committed_at=head.at, first_seq=first, **draft
    )
    _DROP_WRITES.count(connection, id=thread_id, before=place)


def _add_writes(connection: Connection, thread_id: str, drafts: Drafts, head: Any) -> None:
    place, first = head.latest_place, head.next_write - len(drafts.writes)
    rows = ({"thread_id": thread_id, "place": place, "n": n, **w} for n, w in enumerate(drafts.writes, first))
    _ADD_WRITE.many(connection, rows)


def _add_events(
    connection: Connection, thread_id: str, token: int, drafts: Drafts, at: int, first: int
) -> None:
    if not drafts.events:
        return
    common = {"thread_id": thread_id, "committed_at": at, "token": token}
    _ADD_EVENT.many(
        connection, ({**common, "seq": seq, **row} for seq, row in enumerate(drafts.events, first))
    )
    hint(connection, thread_id)
