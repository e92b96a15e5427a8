"""The meters of a database, found by their tables in its catalogue: any prefix, whoever made them (ruling 35)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BindParameter, Text, bindparam, exists, func, select

from engine.database.column_list import columns_of_tables
from engine.database.statement import Statement
from engine.errors import ValidationError
from engine.spend.meter.prefix import DEFAULT_PREFIX, check_prefix
from engine.spend.meter.tables import FENCE_COLUMNS, bare_tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

MAX_METERS: Final = 64
"""Meters that one look takes; more are found behind them by prefix."""
_BARE: Final = bare_tables(DEFAULT_PREFIX)
_SUFFIX: Final = "_reservations"
_NEEDED: Final = {
    "_meter": frozenset(_BARE.meter.c.keys()),
    _SUFFIX: frozenset(_BARE.reservations.c.keys()),
}
_AFTER: Final[BindParameter[str]] = bindparam("after", type_=Text())

_kept, _counted = columns_of_tables("kept"), columns_of_tables("counted")
_prefix = func.substr(_kept.c.table_name, 1, func.length(_kept.c.table_name) - len(_SUFFIX))
_twin = exists().where(_counted.c.table_name == _prefix + "_meter", _counted.c.column_name == "allowance")
_PAIRS: Final = Statement(
    select(_prefix.label("prefix"))
    .where(
        _kept.c.table_name.like("%\\" + _SUFFIX, escape="\\"),
        _kept.c.column_name == "operation_id",
        _prefix > _AFTER,
        _twin,
    )
    .order_by(_prefix)
    .limit(bindparam("most"))
)
_columns = columns_of_tables("shape")
_SHAPES: Final = select(_columns.c.table_name, _columns.c.column_name).where(
    _columns.c.table_name.in_(bindparam("tables", expanding=True))
)


@dataclass(frozen=True, slots=True)
class Meter:
    """A prefix whose two tables are there; `fences`: with the two fence columns."""

    prefix: str
    fences: bool


_NAMED: Final = 8
"""Meters that are named to whoever asked for one that is not there."""


@dataclass(frozen=True, slots=True)
class Meters:
    """Some meters by prefix; `next` is set where the catalogue has more behind them."""

    found: tuple[Meter, ...]
    next: str | None


def find_meters(connection: Connection, after: str = "", most: int = MAX_METERS) -> Meters:
    """The next pairs of tables that are named and shaped like a meter's, by prefix; at most `most` pairs."""
    pairs: list[Any] = [row.prefix for row in _PAIRS.all(connection, after=after, most=most + 1)]
    found = _shaped(connection, pairs[:most])
    return Meters(found, pairs[most - 1] if len(pairs) > most else None)


def find_meter(connection: Connection, prefix: str) -> Meter:
    """The meter of a prefix; ValidationError where this database has none."""
    found = _shaped(connection, [check_prefix(prefix)])
    if found:
        return found[0]
    known = ", ".join(meter.prefix for meter in find_meters(connection, most=_NAMED).found)
    there = f"there are {known}" if known else "it has none at all"
    raise ValidationError("prefix", (f"there is no meter {prefix!r} in this database; {there}",))


def _shaped(connection: Connection, prefixes: Iterable[str]) -> tuple[Meter, ...]:
    named = [prefix for prefix in prefixes if _is_prefix(prefix)]
    if not named:
        return ()
    tables = [prefix + suffix for prefix in named for suffix in _NEEDED]
    columns: dict[str, set[str]] = {table: set() for table in tables}
    for table, column in connection.execute(_SHAPES, {"tables": tables}):
        columns[table].add(column)
    return tuple(
        Meter(prefix, columns[prefix + _SUFFIX] >= FENCE_COLUMNS)
        for prefix in named
        if all(columns[prefix + suffix] >= needed for suffix, needed in _NEEDED.items())
    )


def _is_prefix(text: str) -> bool:
    try:
        check_prefix(text)
    except ValidationError:
        return False
    return True
