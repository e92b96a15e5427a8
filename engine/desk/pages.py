"""The two forms every listing's statement has: a page below its header, and a count below its cap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, literal, select, true

from engine.desk.sources import CLOCK
from engine.desk.views import MAX_COUNT, MAX_DRIVEN, Capped

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select


def header(rows: Any, *facts: ColumnElement[Any]) -> Select[Any]:
    """The clock and further facts, joined to the rows of a page: an empty page has its header as well."""
    return select(CLOCK.c.now, *facts, rows).select_from(CLOCK.outerjoin(rows, true()))


def counting(matching: Select[Any], looked: ColumnElement[Any]) -> Select[Any]:
    """A count of rows that stops one past the cap, beside how many the bounded set they stand in holds."""
    capped = matching.limit(MAX_COUNT + 1).subquery("capped")
    return select(func.count().label("number"), looked.label("looked")).select_from(capped)


def count(connection: Connection, statement: Select[Any], values: dict[str, Any]) -> Capped:
    """Run a `counting` statement."""
    found = connection.execute(statement, values).one()
    return Capped(min(found.number, MAX_COUNT), found.number > MAX_COUNT or found.looked > MAX_DRIVEN)


def size_of(bounded: Any) -> ColumnElement[Any]:
    """How many rows a bounded set holds."""
    return select(func.count()).select_from(bounded).scalar_subquery()


NOTHING_BOUNDED: ColumnElement[Any] = literal(0)
"""The size of the set where no source stands in one."""
