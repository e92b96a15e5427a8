"""Counts below a cap; the pages they belong to have the form of `listing.header`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from engine.checkpoints.listing import MAX_DRIVEN
from engine.desk.views import MAX_COUNT, Capped

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select


def counting(matching: Select[Any], looked: ColumnElement[Any]) -> Select[Any]:
    """A count of rows that stops one past the cap, beside how many the bounded set they stand in holds."""
    capped = matching.limit(MAX_COUNT + 1).subquery("capped")
    return select(func.count().label("number"), looked.label("looked")).select_from(capped)


def count(connection: Connection, statement: Select[Any], values: dict[str, Any]) -> Capped:
    """Run a `counting` statement."""
    found = connection.execute(statement, values).one()
    return capped(found.number, found.looked)


def capped(number: int, looked: int = 0) -> Capped:
    """A count of at most one past the cap, found among `looked` rows of a bounded set."""
    return Capped(min(number, MAX_COUNT), number > MAX_COUNT or looked > MAX_DRIVEN)


def together(*parts: Capped) -> Capped:
    """Several counts as one, which stops at the same cap."""
    number = sum(part.count for part in parts)
    return Capped(min(number, MAX_COUNT), number > MAX_COUNT or any(part.more for part in parts))
