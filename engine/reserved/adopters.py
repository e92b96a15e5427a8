"""Whoever keeps the convention in a store's database, found by the three columns (ruling 34)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Text, cast, column, func, literal, select, tuple_
from sqlalchemy.types import NullType

from engine.clock import from_ns
from engine.database.catalogue import tables_with
from engine.database.constructs import page_now
from engine.errors import ValidationError
from engine.paging import check_limit, decode_cursor, encode_cursor
from engine.reserved.convention import RESERVED
from engine.reserved.names import can_be_named, shown, table_named

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, Connection, TableClause

MAX_ADOPTERS: Final = 100
"""Tables that are looked for; of a store with more, the first by name."""
MAX_PAGE: Final = 1000
MAX_COUNT: Final = 10_000
"""Up to which reserved rows are counted one by one."""
MAX_KEY: Final = 8
"""Columns of a key that rows are paged by."""


@dataclass(frozen=True, slots=True)
class Adopter:
    """A table with the convention's columns. Its names are whatever its maker chose: escape them when shown.

    `key` is its primary key; a table without one shows counts only.
    """

    schema: str | None
    name: str
    key: tuple[str, ...]

    @property
    def table(self) -> TableClause:
        """For the verbs of this package, which quote its names."""
        return table_named(self.schema, self.name)

    @property
    def label(self) -> str:
        """How messages name it."""
        return shown(self.table)


@dataclass(frozen=True, slots=True)
class Adopters:
    """The tables found, by schema and name; `more`: there are others beyond MAX_ADOPTERS.

    `left_out` are those whose names would be taken for placeholders: they cannot be read until renamed.
    """

    tables: tuple[Adopter, ...]
    more: bool
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReservedCounts:
    """How many rows are reserved, and how many of those have lapsed; MAX_COUNT + 1 stands for more."""

    reserved: int
    lapsed: int


@dataclass(frozen=True, slots=True)
class ReservedRow:
    """A tentative row of somebody's table: its key as text, its owner, when it lapses, and whether it has."""

    key: tuple[str, ...]
    txn_id: str | None
    deadline: datetime
    lapsed: bool


@dataclass(frozen=True, slots=True)
class ReservedPage:
    """Rows by (deadline, key), and the cursor of the next page: None at the end."""

    rows: tuple[ReservedRow, ...]
    next: str | None


def adopters(connection: Connection) -> Adopters:
    """The tables of the connection's database that keep the convention: read-only, at most MAX_ADOPTERS."""
    found = tables_with(connection, ("txn_id", "state"), ("reserve_deadline",), MAX_ADOPTERS + 1)
    tables, left_out = list[Adopter](), list[str]()
    for each in found[:MAX_ADOPTERS]:
        key = each.key if can_be_named(*each.key) else ()
        adopter = Adopter(each.schema, each.name, key)
        if can_be_named(each.schema, each.name):
            tables.append(adopter)
        else:
            left_out.append(adopter.label)
    return Adopters(tuple(tables), len(found) > MAX_ADOPTERS, tuple(left_out))


def reserved_counts(connection: Connection, adopter: Adopter, now: int | None) -> ReservedCounts:
    """Count an adopter's reserved rows; `now` (ns) None stands for the server's clock."""
    return ReservedCounts(
        _capped(connection, adopter.table, now), _capped(connection, adopter.table, now, _lapsed)
    )


def reserved_page(
    connection: Connection, adopter: Adopter, now: int | None, *, after: str | None = None, limit: int = 100
) -> ReservedPage:
    """At most `limit` reserved rows behind the cursor, the one that lapses or lapsed first in front.

    ValidationError for a table without a key, for a limit outside 1 to MAX_PAGE, and for a cursor of another
    listing. Rows whose deadline is missing are counted and not listed.
    """
    size = check_limit(limit, MAX_PAGE)
    if not 0 < len(adopter.key) <= MAX_KEY:
        raise ValidationError("table", (f"{adopter.label} has no key to page by; read its counts",))
    query = _listing(adopter, None if after is None else _position(after, adopter)).limit(size + 1)
    rows = connection.execute(query, {"now": now}).all()
    kept = rows[:size]
    following = encode_cursor(kept[-1][0], *kept[-1][3:]) if len(rows) > size else None
    return ReservedPage(tuple(map(_row_of, kept)), following)


def _listing(adopter: Adopter, position: tuple[Any, ...] | None) -> Any:
    """The deadline, the owner, whether it has lapsed, then the key's columns as text."""
    table = adopter.table
    due = table.c["reserve_deadline"]
    keys: list[ColumnElement[Any]] = [column(name) for name in adopter.key]
    shown_keys = [cast(each, Text).label(f"key_{n}") for n, each in enumerate(keys)]
    query = select(due, table.c["txn_id"], _lapsed(due).label("lapsed"), *shown_keys)
    query = query.where(table.c["state"] == RESERVED, due.is_not(None)).order_by(due, *keys)
    if position is None:
        return query
    # Without a type the key's text is read as the column's own, whatever that is.
    values = [literal(position[0]), *(literal(part, NullType()) for part in position[1:])]
    return query.where(tuple_(due, *keys) > tuple_(*values))


def _position(after: str, adopter: Adopter) -> tuple[Any, ...]:
    return decode_cursor(after, int, *(str for _ in adopter.key))


def _row_of(row: Any) -> ReservedRow:
    due, txn_id, lapsed, *key = row
    return ReservedRow(tuple(map(str, key)), txn_id, from_ns(due), bool(lapsed))


def _lapsed(due: ColumnElement[int]) -> ColumnElement[bool]:
    return due <= page_now()


def _capped(connection: Connection, table: TableClause, now: int | None, *conditions: Any) -> int:
    state, due = table.c["state"], table.c["reserve_deadline"]
    limited = select(due).where(state == RESERVED, *(each(due) for each in conditions)).limit(MAX_COUNT + 1)
    counted = select(func.count()).select_from(limited.subquery())
    return int(connection.execute(counted, {"now": now} if conditions else {}).scalar_one())
