"""Which rows a reader sees (reserved.md, "Predicates"; ruling 33)."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from sqlalchemy import and_, or_

from engine.arguments import of_kind
from engine.clock import to_ns
from engine.reserved.convention import COMMITTED, RESERVED
from engine.reserved.names import source

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement, FromClause


class Weight(Enum):
    """What a tentative row costs others: PESSIMISTIC ones count at once, OPTIMISTIC ones when confirmed."""

    PESSIMISTIC = "pessimistic"
    OPTIMISTIC = "optimistic"


class VisibilityTier(Enum):
    """What a read is for: GUARD admits or refuses, ADVISORY helps to choose, ANALYTIC reports."""

    GUARD = "guard"
    ADVISORY = "advisory"
    ANALYTIC = "analytic"


def guard_predicate(table: FromClause | str, weight: Weight, now: datetime) -> ColumnElement[bool]:
    """Rows that count for admission: committed ones and, when pessimistic, reserved ones past `now`.

    A deadline equal to `now` has lapsed. `table` may be a table, an alias of one, or a name.
    """
    instant = to_ns(now)
    if of_kind("weight", weight, Weight) is Weight.OPTIMISTIC:
        return application_predicate(table)
    columns = source(table).c
    live = and_(columns["state"] == RESERVED, columns["reserve_deadline"] > instant)
    return or_(columns["state"] == COMMITTED, live)


def application_predicate(table: FromClause | str) -> ColumnElement[bool]:
    """Rows that are so: the committed ones, whatever the weight."""
    committed: ColumnElement[bool] = source(table).c["state"] == COMMITTED
    return committed


def predicate_for(
    table: FromClause | str, tier: VisibilityTier, weight: Weight, now: datetime
) -> ColumnElement[bool]:
    """The rows that a read of this tier may count: the one door for every read path (ruling 33)."""
    if of_kind("tier", tier, VisibilityTier) is VisibilityTier.ANALYTIC:
        of_kind("weight", weight, Weight)
        return application_predicate(table)
    return guard_predicate(table, weight, now)
