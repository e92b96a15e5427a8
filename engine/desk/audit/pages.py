"""Reading the audit: newest first, of one object, of one actor, and the intents that nothing came of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import exists, select

from engine.checkpoints.records import Undecodable
from engine.clock import from_ns
from engine.database.columns import check_id, check_optional_id
from engine.desk.audit.model import AuditEntry, Phase, check_object_id
from engine.desk.moment import moment
from engine.desk.tables import audit, audit_head
from engine.desk.views import MAX_PAGE, Page
from engine.errors import ValidationError
from engine.paging import MAX_NUMBER, check_limit, decode_cursor, encode_cursor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Select

LOOKED: Final = 10_000
"""Entries from the end among which open intents are looked for."""
_C = audit.c
_RESULTS = audit.alias("results")


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """One object (both words), one actor by name, one operation; each is served by an index.

    `other_kind` is a second kind under which the object's id is told: a claim is named by its thread.
    """

    object_kind: str | None = None
    object_id: str | None = None
    actor: str | None = None
    operation_id: str | None = None
    other_kind: str | None = None

    def __post_init__(self) -> None:
        for name in ("object_kind", "actor", "operation_id", "other_kind"):
            check_optional_id(name, getattr(self, name))
        if self.object_id is not None:
            check_object_id(self.object_id)
        if (self.object_kind is None) != (self.object_id is None):
            raise ValidationError("object", ("needs its kind and its id",))

    def conditions(self) -> list[Any]:
        """As the statement has them."""
        named = ("object_id", "actor", "operation_id")
        given = ((name, getattr(self, name)) for name in named)
        kinds = [kind for kind in (self.object_kind, self.other_kind) if kind is not None]
        of_kind = [_C.object_kind.in_(kinds)] if kinds else []
        return [*of_kind, *(_C[name] == value for name, value in given if value is not None)]


EVERYTHING: Final = AuditFilter()


def entries(
    connection: Connection, wanted: AuditFilter = EVERYTHING, after: str | None = None, limit: int = 100
) -> Page[AuditEntry]:
    """At most `limit` (1 to 200) entries, newest first."""
    check_limit(limit, MAX_PAGE)
    before = MAX_NUMBER if after is None else decode_cursor(after, int)[0]
    asked = _newest().where(*wanted.conditions(), _C.seq < before).limit(limit + 1)
    return _page(connection, connection.execute(asked).all(), limit)


def entry(connection: Connection, seq: int) -> AuditEntry | None:
    """One entry by its number."""
    row = connection.execute(select(audit).where(_C.seq == seq)).first()
    return None if row is None else entry_of(row)


def together(connection: Connection, operation_id: str) -> tuple[AuditEntry, ...]:
    """Intent and result of one operation, as many of the two as there are, in order."""
    asked = select(audit).where(_C.operation_id == check_id("operation_id", operation_id)).order_by(_C.seq)
    return tuple(entry_of(row) for row in connection.execute(asked))


def open_intents(
    connection: Connection, actor: str | None = None, after: str | None = None, limit: int = 100
) -> Page[AuditEntry]:
    """Intents without a result among the last 10,000 entries, newest first: begun, and never told how it ended."""
    check_limit(limit, MAX_PAGE)
    before = MAX_NUMBER if after is None else decode_cursor(after, int)[0]
    ended = exists().where(_RESULTS.c.operation_id == _C.operation_id, _RESULTS.c.phase == Phase.RESULT.value)
    newest = select(audit_head.c.seq).scalar_subquery()
    asked = _newest().where(_C.phase == Phase.INTENT.value, ~ended, _C.seq < before, _C.seq > newest - LOOKED)
    if actor is not None:
        asked = asked.where(_C.actor == check_id("actor", actor))
    return _page(connection, connection.execute(asked.limit(limit + 1)).all(), limit)


def entry_of(row: Any) -> AuditEntry:
    """A stored row as a record; Undecodable for one that this build did not write."""
    try:
        return _read(row)
    except (ValueError, TypeError) as error:
        raise Undecodable(f"audit entry {row.seq}: {error}") from error


def _read(row: Any) -> AuditEntry:
    return AuditEntry(
        seq=row.seq,
        operation_id=row.operation_id,
        phase=Phase(row.phase),
        at=from_ns(row.at),
        actor=row.actor,
        route=row.route,
        object_kind=row.object_kind,
        object_id=row.object_id,
        body=json.loads(row.body),
        hash=row.hash,
        prev_hash=row.prev_hash,
    )


def _newest() -> Select[Any]:
    return select(audit).order_by(_C.seq.desc())


def _page(connection: Connection, rows: Sequence[Any], limit: int) -> Page[AuditEntry]:
    following = encode_cursor(rows[limit - 1].seq) if len(rows) > limit else None
    return Page(tuple(entry_of(row) for row in rows[:limit]), following, from_ns(moment(connection)))
