"""One id a change, stored in the transaction of its effect, so that a lost answer can be asked for (console.md F8)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, insert, select

from engine.clock import from_ns
from engine.database.columns import check_id, dump
from engine.database.constructs import Now
from engine.database.statement import Statement
from engine.database.upsert import insert_if_absent
from engine.desk.audit import chain
from engine.desk.audit.model import Phase, check_object_id
from engine.desk.tables import audit, operation
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import Connection

    from engine.desk.actor import Mandate
    from engine.desk.audit.model import Told


@dataclass(frozen=True, slots=True)
class KnownOutcome:
    """What became of a change that has an id. `result` is its JSON object, as the verb answered then."""

    operation_id: str
    kind: str
    object_kind: str
    object_id: str
    actor: str
    at: datetime
    result: Mapping[str, Any]


_ROW: Final[Mapping[str, Any]] = {
    "operation_id": bindparam("op"),
    "kind": bindparam("deed"),
    "object_kind": bindparam("what"),
    "object_id": bindparam("which"),
    "actor": bindparam("who"),
    "at": Now(),
    "result": bindparam("came_to"),
}
_ADD: Final = Statement(insert(operation).values(**_ROW))
_ADD_IF_ABSENT: Final = Statement(insert_if_absent(operation, **_ROW))
_BEGUN: Final = Statement(
    select(audit.c.seq).where(audit.c.operation_id == bindparam("op"), audit.c.phase == Phase.INTENT.value)
)
_USED: Final = (
    "a change was begun under it already: ask what became of that one, and give every change its own"
)
_ONE: Final = Statement(select(operation).where(operation.c.operation_id == bindparam("op")))


def intend(connection: Connection, mandate: Mandate, told: Told) -> None:
    """The intent, in a transaction of its own before the change.

    ValidationError for an id under which a change was begun already; of two at once the database refuses one.
    """
    if _BEGUN.one(connection, op=mandate.operation_id) is not None:
        raise ValidationError("operation_id", (_USED,))
    chain.append(connection, Phase.INTENT, mandate, told)


def conclude(connection: Connection, mandate: Mandate, told: Told, result: Mapping[str, Any]) -> None:
    """The change's operation and the audit's result entry: the last statements of the transaction that changed it."""
    note(connection, mandate, told, result)
    chain.append(connection, Phase.RESULT, mandate, told)


def note(connection: Connection, mandate: Mandate, told: Told, result: Mapping[str, Any]) -> None:
    """Only the operation; the caller adds the audit entries of several together (`chain.append_all`)."""
    _ADD.count(connection, **_row(mandate, told, result))


def note_if_absent(connection: Connection, mandate: Mandate, told: Told, result: Mapping[str, Any]) -> bool:
    """The same where the store holds none of that id yet; one whose commit is under way is waited for."""
    return bool(_ADD_IF_ABSENT.count(connection, **_row(mandate, told, result)))


def _row(mandate: Mandate, told: Told, result: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "op": mandate.operation_id,
        "deed": told.deed.value,
        "what": told.object_kind.value,
        "which": check_object_id(told.object_id),
        "who": mandate.actor.name,
        "came_to": dump("result", result),
    }


def outcome_of(connection: Connection, operation_id: str) -> KnownOutcome | None:
    """What the change came to; None where its effect is not in the store, and never will be by that attempt."""
    row: Any = _ONE.one(connection, op=check_id("operation_id", operation_id))
    if row is None:
        return None
    return KnownOutcome(
        row.operation_id,
        row.kind,
        row.object_kind,
        row.object_id,
        row.actor,
        from_ns(row.at),
        json.loads(row.result),
    )
