"""Registry metadata: small strings merged into a thread, shown in lists (checkpoints-operations.md 2.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, insert, select

from engine.checkpoints.model import MAX_METADATA_KEYS, Commit
from engine.checkpoints.tables import thread_metadata
from engine.database.statement import Statement
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import BindParameter, Connection

    from engine.checkpoints.checkpointer import Checkpointer

_ID: BindParameter[str] = bindparam("id")
_READ = Statement(
    select(thread_metadata.c.key, thread_metadata.c.value).where(thread_metadata.c.thread_id == _ID)
)
_CLEAR = Statement(delete(thread_metadata).where(thread_metadata.c.thread_id == _ID))
_ADD = Statement(insert(thread_metadata))


def set_metadata(
    checkpointer: Checkpointer, thread_id: str, token: int, changes: Mapping[str, str | None]
) -> None:
    """Merge `changes` into the claimed thread's metadata, None removing a key; moves its `updated_at`.

    StaleClaim unless the token is current; ValidationError past the limits. A thread is listed with it once
    it has a checkpoint.
    """
    checkpointer.commit(thread_id, Commit(token, metadata=changes))


def metadata_of(connection: Connection, thread_id: str) -> dict[str, str]:
    """Every pair of the thread."""
    return {row.key: row.value for row in _READ.all(connection, id=thread_id)}


def merged_metadata(
    connection: Connection, thread_id: str, changes: Mapping[str, str | None]
) -> dict[str, str]:
    """The thread's pairs after `changes`, where None removes; ValidationError past the number of keys."""
    merged = {**metadata_of(connection, thread_id), **changes}
    kept = {key: value for key, value in merged.items() if value is not None}
    if len(kept) > MAX_METADATA_KEYS:
        raise ValidationError(
            "metadata", (f"would hold {len(kept)} keys; at most {MAX_METADATA_KEYS} are allowed",)
        )
    return kept


def rewrite_metadata(
    connection: Connection, thread_id: str, pairs: Mapping[str, str], owner: str | None, now: int
) -> None:
    """Store exactly these pairs; each row repeats the owner and the time by which its listing is sorted.

    `owner` is None for a thread that the registry does not list: its rows must not stand in the way there.
    """
    _CLEAR.count(connection, id=thread_id)
    common = {"thread_id": thread_id, "tenant_key": owner, "updated_at": now}
    _ADD.many(connection, ({**common, "key": key, "value": value} for key, value in pairs.items()))
