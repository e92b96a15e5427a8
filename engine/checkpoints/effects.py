"""Side effects recorded under a claim: the first value under a key stays (checkpoints.md 2.12, ruling 17)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, insert, select

from engine.checkpoints.records import effect_of
from engine.checkpoints.tables import effect as effects
from engine.database.columns import check_id
from engine.database.statement import Statement
from engine.errors import InvalidCommit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from engine.checkpoints.model import EffectRecord

_FIND = Statement(
    select(effects).where(effects.c.thread_id == bindparam("id"), effects.c.key == bindparam("name"))
)
_ADD = Statement(insert(effects))


def effect(connection: Connection, thread_id: str, key: str) -> EffectRecord | None:
    """What the thread recorded under `key`, or None."""
    row = _FIND.one(connection, id=check_id("thread_id", thread_id), name=check_id("key", key))
    return None if row is None else effect_of(row)


def _canonical(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


def record_effects(
    connection: Connection,
    thread_id: str,
    drafts: Sequence[tuple[str, str]],
    run_id: str,
    token: int,
    now: int,
) -> None:
    """Add each draft (key, JSON text) once; InvalidCommit for a key twice or stored with another value."""
    if len({key for key, _ in drafts}) != len(drafts):
        raise InvalidCommit(thread_id, "an effect key stands in it twice")
    for key, value in drafts:
        stored = _FIND.one(connection, id=thread_id, name=key)
        if stored is None:
            common = {"thread_id": thread_id, "run_id": run_id, "token": token, "committed_at": now}
            _ADD.count(connection, key=key, value=value, **common)
        elif _canonical(stored.value) != _canonical(value):
            raise InvalidCommit(thread_id, f"effect {key!r} is already recorded with another value")
