"""The three event numbers of an id: F first, N next, E floor (checkpoints.md 1.5, ruling 14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from engine.checkpoints.tables import meta
from engine.database.statement import Statement

if TYPE_CHECKING:
    from sqlalchemy import Connection

_MARK = Statement(select(meta.c.reclamation_mark))


@dataclass(frozen=True, slots=True)
class Numbers:
    """F <= E <= N. `fixed` once an event was committed in this incarnation."""

    first: int
    next: int
    floor: int
    fixed: bool


def numbers_of(connection: Connection, row: Any) -> Numbers:
    """The numbers of a locked or read `thread` row, None for an id without one.

    Until the first event they are the tombstone's, or the store's reclamation mark as it stands; that mark
    must be read after the row was locked, or a sweep in between could reuse a number.
    """
    if row is not None and row.first_seq is not None:
        return Numbers(row.first_seq, row.next_seq, row.floor_seq, fixed=True)
    start = row.tomb_first if row is not None and row.tomb_first is not None else mark(connection)
    return Numbers(start, start, start, fixed=False)


def mark(connection: Connection) -> int:
    """The store's reclamation mark: 1 until a sweep reclaims a tombstone."""
    row = _MARK.one(connection)
    return 1 if row is None else int(row.reclamation_mark)
