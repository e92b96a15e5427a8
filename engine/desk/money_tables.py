"""Tables that keep the reserved-commit convention as sources of the lists of money (ruling 34): nanoseconds.

Rows are paged by (reserve_deadline, primary key); the convention's index has the deadline, so rows of the very
same deadline are sorted by their key. A key is shown as text, several columns as a JSON list of texts. A row
without a deadline, which no verb of the convention makes, is in no list.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Text, bindparam, case, cast, column, false, literal, select, true
from sqlalchemy.exc import DataError
from sqlalchemy.types import NullType

from engine.checkpoints.listing import size_of
from engine.checkpoints.records import Undecodable, instant_of
from engine.clock import from_ns, from_span
from engine.desk.adopted import find_adopted
from engine.desk.moment import left_until
from engine.desk.money_source import Source, state_of
from engine.desk.money_views import (
    DefaultFate,
    ReservationDetail,
    ReservationKind,
    ReservationRow,
    ReservationState,
)
from engine.desk.pages import capped
from engine.desk.views import MAX_COUNT
from engine.errors import ValidationError
from engine.reserved.adopters import MAX_KEY
from engine.reserved.convention import RESERVED

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, TableClause

    from engine.desk.views import Capped
    from engine.reserved.adopters import Adopter

_DUE: Final = "reserve_deadline"
_CONFIRMED: Final = "confirmed"


def is_listed(adopter: Adopter) -> bool:
    """Whether its rows can be paged by a key; else only their counts are known."""
    return 0 < len(adopter.key) <= MAX_KEY


def table_source(adopter: Adopter) -> Source:
    """The source of one table; without a key it only counts."""
    table = adopter.table
    held = table.c["state"] == RESERVED
    keys: dict[str, ColumnElement[Any]] = (
        {f"key_{n}": column(name) for n, name in enumerate(adopter.key)} if is_listed(adopter) else {}
    )
    due = table.c[_DUE]
    texts = [cast(each, Text).label(f"text_{n}") for n, each in enumerate(keys.values())]
    return Source(
        kind=ReservationKind.TENTATIVE,
        name=adopter.label,
        columns={_DUE: due, "owner": table.c["txn_id"], **keys},
        shown=(*_shown(table), *(each.label(name) for name, each in keys.items()), *texts),
        due=_DUE,
        key=tuple(keys),
        tick=1,
        open=held & due.is_not(None),
        fenced=None,
        row=partial(table_row, adopter.label, len(keys)),
        key_text=partial(_key_text, len(keys)),
        key_values=partial(_key_values, len(keys)),
        narrow="owner",
    )


def _shown(table: TableClause) -> tuple[ColumnElement[Any], ...]:
    c = table.c
    return (
        c[_DUE],
        c["txn_id"].label("owner"),
        case((c["state"] == RESERVED, true()), else_=false()).label("held"),
        false().label("fenced"),
        left_until(c[_DUE]).label("due_in"),
    )


def table_row(name: str, keys: int, row: Any) -> ReservationRow:
    """A row of a source's `shown` columns."""
    shown = _texts(keys, row)
    reservation_id = shown[0] if keys == 1 else json.dumps(shown, ensure_ascii=False)
    held = bool(row.held)
    try:
        due_at = instant_of(row.reserve_deadline)
        return ReservationRow(
            kind=ReservationKind.TENTATIVE,
            source=name,
            reservation_id=reservation_id,
            state=_state(row) if held else ReservationState.SETTLED,
            owner=row.owner,
            micro=None,
            units=None,
            period=None,
            operation_id=None,
            attempt=None,
            recorded_micro=None,
            lease_run=None,
            lease_until=None,
            created_at=None,
            age=None,
            expires_at=due_at,
            due_at=due_at,
            due_in=from_span(row.due_in) if held and row.due_in is not None else None,
            fenced=False,
            next_check_at=None,
            deferrals=None,
            thread_id=None,
            outcome=None if held else _CONFIRMED,
        )
    except (OverflowError, TypeError) as error:
        raise Undecodable(f"row {reservation_id!r} of {name!r}: {error}") from error


def _state(row: Any) -> ReservationState:
    return state_of(due=row.due_in is not None and row.due_in <= 0, fenced=False)


def tentative_detail(connection: Connection, name: str, key: str, at: int) -> ReservationDetail | None:
    """One row by its key as lists show it; None when there is none, or it was never tentative."""
    adopter = find_adopted(connection, name)
    source = table_source(adopter)
    if not source.key:
        raise ValidationError("source", (f"{adopter.label} has no key to find a row by; read its counts",))
    parts = source.key_values(key) if len(source.key) > 1 else (key,)
    columns = [source.columns[part] for part in source.key]
    same = [each == literal(part, NullType()) for each, part in zip(columns, parts, strict=True)]
    asked = select(*source.shown).where(*same)
    try:
        found = connection.execute(asked, {"at": at}).first()
    except DataError as error:
        raise ValidationError("reservation_id", (f"is no key of {adopter.label}",)) from error
    if found is None or found.owner is None:
        return None
    return ReservationDetail(
        row=source.row(found),
        guard=None,
        fate=DefaultFate.DELETED if found.held else DefaultFate.ALREADY_SETTLED,
        evidence=None,
        usage=None,
        runs=(),
        more_runs=False,
        day=None,
        account=None,
        txn_rows=_rows_of_txn(connection, adopter, found.owner),
        as_of=from_ns(at),
    )


def _rows_of_txn(connection: Connection, adopter: Adopter, txn_id: str) -> Capped:
    c = adopter.table.c
    mine = select(c["txn_id"]).where(c["state"] == RESERVED, c["txn_id"] == bindparam("txn"))
    number = select(size_of(mine.limit(MAX_COUNT + 1).subquery("mine")))
    return capped(connection.execute(number, {"txn": txn_id}).scalar_one())


def _texts(keys: int, row: Any) -> list[str]:
    return [str(getattr(row, f"text_{n}")) for n in range(keys)]


def _key_text(keys: int, row: Any) -> str:
    return json.dumps(_texts(keys, row), ensure_ascii=False)


def _key_values(keys: int, text: str) -> tuple[str, ...]:
    """The key's columns again; ValidationError unless they are as many texts."""
    try:
        parts = json.loads(text)
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list) or len(parts) != keys or not all(isinstance(each, str) for each in parts):
        raise ValidationError("key", (f"must be a JSON list of the key's {keys} columns, as texts",))
    return tuple(parts)
