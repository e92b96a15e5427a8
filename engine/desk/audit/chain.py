"""Writing the audit: each entry holds the hash of the one before it (ruling 56).

The head's row is locked last in a transaction, so that changes that have nothing to do with each other wait for each
other only for the time of two short statements.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, insert, select, update

from engine.database.columns import dump
from engine.database.constructs import Now
from engine.database.statement import Statement
from engine.desk.audit.model import check_object_id
from engine.desk.tables import audit, audit_head
from engine.errors import StoreFailure

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.desk.actor import Mandate
    from engine.desk.audit.model import Phase, Told

FIELDS: Final = (
    "prev_hash",
    "seq",
    "operation_id",
    "phase",
    "at",
    "actor",
    "route",
    "object_kind",
    "object_id",
    "body",
)
"""What a hash covers, in this order, as a JSON array."""

_HEAD: Final = Statement(select(audit_head.c.seq, audit_head.c.hash).with_for_update())
_NOW: Final = Statement(select(Now().label("at")))
_ADD: Final = Statement(insert(audit).values({name: bindparam(name) for name in (*FIELDS, "hash")}))
_MOVE: Final = Statement(update(audit_head).values(seq=bindparam("last"), hash=bindparam("link")))


def append(connection: Connection, phase: Phase, mandate: Mandate, told: Told) -> int:
    """Add an entry as the last thing that a transaction does; its number."""
    return append_all(connection, [(phase, mandate, told)])


def append_all(connection: Connection, entries: list[tuple[Phase, Mandate, Told]]) -> int:
    """Add entries in this order as the last thing that a transaction does; the last one's number."""
    bodies = [_row(*entry) for entry in entries]
    head = _HEAD.one(connection)
    if head is None:
        raise StoreFailure("audit", "the audit's head is gone; restore it before anything is changed")
    seq, link, at = head.seq, head.hash, _NOW.one(connection).at  # type: ignore[union-attr]
    for row in bodies:
        seq += 1
        row |= {"seq": seq, "at": at, "prev_hash": link}
        link = row["hash"] = hash_of(row)
        _ADD.count(connection, **row)
    _MOVE.count(connection, last=seq, link=link)
    return int(seq)


def hash_of(row: dict[str, Any]) -> str:
    """SHA-256 over the fields of an entry, in hexadecimal."""
    return hashlib.sha256(dump("audit", [row[name] for name in FIELDS]).encode()).hexdigest()


def _row(phase: Phase, mandate: Mandate, told: Told) -> dict[str, Any]:
    body = {
        "deed": told.deed.value,
        "actor": mandate.actor.facts(),
        "reason": mandate.reason,
        "command": mandate.command,
        **told.facts,
    }
    return {
        "operation_id": mandate.operation_id,
        "phase": phase.value,
        "actor": mandate.actor.name,
        "route": mandate.route.value,
        "object_kind": told.object_kind.value,
        "object_id": check_object_id(told.object_id),
        "body": dump("audit", body),
    }
