"""Other people's tables with tentative rows: the convention's adopters without the store's own plans.

A plan's items keep the convention too (ruling 55). They are no reservations that somebody holds, so no list of
money shows them; the sweeps collect them like all that has lapsed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from engine.desk.tables import plan_item
from engine.errors import ValidationError
from engine.reserved.adopters import adopters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from engine.reserved.adopters import Adopter, Adopters

_KEY: Final = tuple(plan_item.primary_key.columns.keys())


def adopted(connection: Connection) -> Adopters:
    """What `adopters` finds, less the plans' items."""
    known = adopters(connection)
    return replace(known, tables=tuple(each for each in known.tables if not _is_ours(each)))


def find_adopted(connection: Connection, name: str) -> Adopter:
    """The table of that name among those; its schema in front where two have it. ValidationError without one."""
    return _named(adopted(connection).tables, name)


def find_adopter(connection: Connection, name: str) -> Adopter:
    """The same among all that keep the convention, the plans' items with them: for sweeps."""
    return _named(adopters(connection).tables, name)


def _is_ours(adopter: Adopter) -> bool:
    return adopter.name == plan_item.name and adopter.key == _KEY


def _named(known: Iterable[Adopter], name: str) -> Adopter:
    tables = list(known)
    exactly = [each for each in tables if each.label == name]
    named = exactly or [each for each in tables if each.name == name]
    if len(named) == 1:
        return named[0]
    raise ValidationError(
        "table", (f"{name!r:.80} is not one table with the reserved-commit convention; list the adopters",)
    )
