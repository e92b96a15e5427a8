"""What open day reservations hold of each thread of a page (ruling 42): the index over a thread's open ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import Text, bindparam, case, cast, func, literal_column, select

from engine.database.columns import check_id
from engine.database.constructs import Each
from engine.database.statement import Statement
from engine.desk.views import MAX_PAGE
from engine.errors import ValidationError
from engine.spend.day.tables import OPEN, reservation

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection

MAX_HELD: Final = 200
"""Open reservations of one thread that are added up."""
_BLANK: Final = literal_column("' '", Text)
_ASKED: Final = Each(bindparam("ids")).table_valued("value").alias("asked")
_MINE: Final = (
    select(reservation.c.micro, reservation.c.require_fence)
    .where(OPEN, reservation.c.thread_id == _ASKED.c.value)
    .limit(literal_column(str(MAX_HELD + 1)))
    .correlate(_ASKED)
    .subquery("mine")
)
_SUMS: Final = (
    func.count(),
    func.count(case((_MINE.c.require_fence, 1))),
    func.coalesce(func.sum(_MINE.c.micro), 0),
)
# Three figures as one text: each thread's rows are read once, where three scalars would read them three times.
_FIGURES: Final = select(
    cast(_SUMS[0], Text) + _BLANK + cast(_SUMS[1], Text) + _BLANK + cast(_SUMS[2], Text)
).select_from(_MINE)
_HELD: Final = Statement(
    select(_ASKED.c.value.label("thread_id"), _FIGURES.correlate(_ASKED).scalar_subquery().label("figures"))
)


@dataclass(frozen=True, slots=True)
class HeldMoney:
    """A thread's open day reservations: how many, how many of them fenced, and what they hold in micro-dollars.

    `more`: it has more than 200, and the figures are those of 200 or so of them. A thread with none has zeros.
    """

    micro: int
    open: int
    fenced: int
    more: bool = False


def held(connection: Connection, thread_ids: Collection[str]) -> dict[str, HeldMoney]:
    """An entry for each id, known or not; ValidationError for more than 200 ids, or what cannot be one."""
    if isinstance(thread_ids, str) or len(thread_ids) > MAX_PAGE:
        raise ValidationError("thread_ids", (f"must be at most {MAX_PAGE} ids; ask page by page",))
    names = list(dict.fromkeys(check_id("thread_ids", each) for each in thread_ids))
    if not names:
        return {}
    found = {row.thread_id: row.figures for row in _HELD.all(connection, ids=json.dumps(names))}
    return {name: _read(found[name]) for name in names}


def _read(figures: str) -> HeldMoney:
    open_ones, fenced, micro = map(int, figures.split(" "))
    return HeldMoney(micro, open_ones, fenced, open_ones > MAX_HELD)
