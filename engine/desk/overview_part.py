"""One part of the overview: a few bounded scalars, and what is made of them (console.md F6).

A part names its columns, so that one statement answers one part or all of them at one moment. Stretches of an
index that two parts need are shared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from sqlalchemy import bindparam, literal_column, select

from engine.checkpoints.listing import BEYOND, MAX_DRIVEN, size_of
from engine.database.columns import Identifier
from engine.desk.views import MAX_COUNT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import CTE, BindParameter, ColumnElement, Select

T = TypeVar("T")

TENANT: Final[BindParameter[str]] = bindparam("tenant", type_=Identifier)
ONE: Final[ColumnElement[int]] = literal_column("1")
EARLIEST: Final[ColumnElement[int]] = literal_column(str(-BEYOND))
"""Before every instant."""
NO_ID: Final[ColumnElement[str]] = literal_column("''", Identifier)
# Literals: the plan of a prepared statement is made without the values of its parameters.
COUNTED: Final[ColumnElement[int]] = literal_column(str(MAX_COUNT + 1))
DRIVEN: Final[ColumnElement[int]] = literal_column(str(MAX_DRIVEN + 1))


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """Columns whose names no other part has, and how a row of them is read; it has `now` (ns) as well."""

    columns: tuple[ColumnElement[Any], ...]
    read: Callable[[Any], T]


def number(rows: Select[Any]) -> ColumnElement[Any]:
    """How many rows a select in an index's order has, one past the cap at most."""
    return size_of(rows.limit(COUNTED).subquery())


def fields(one: CTE, *names: str) -> list[ColumnElement[Any]]:
    """The fields of a set of one row, or none, as scalars named `<set>_<field>`; NULL without a row."""
    return [select(one.c[name]).scalar_subquery().label(f"{one.name}_{name}") for name in names]
