"""What becomes of due reservations that nobody is asked about: settled whole, operations at what is recorded.

No fenced row is ever touched (ruling 39). A page locks its reservations first and never waits for one that somebody
else is about to settle; then it takes its days, each once, by date. Who holds a day waits for no reservation, and
other pages take days in the same order, so no two wait for each other.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, select, update

from engine.clock import to_ns
from engine.database.columns import check_id
from engine.database.constructs import Each
from engine.database.statement import Statement
from engine.errors import StoreFailure
from engine.spend.day import days
from engine.spend.day.expired import BEHIND, MOST, ORDER
from engine.spend.day.reservations import AT, ID, NO_LEASE
from engine.spend.day.tables import OPEN, reservation

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Connection

_R = reservation.c
_DEFAULT = func.coalesce(_R.recorded_micro, _R.micro)
_UNFENCED = (OPEN, _R.require_fence.is_(False), _R.due_at <= AT)
_TAKE = Statement(
    select(_R.id, _R.due_at, _R.day, _R.micro, _DEFAULT.label("figure"))
    .where(*_UNFENCED, BEHIND)
    .order_by(*ORDER)
    .limit(MOST)
    .with_for_update(skip_locked=True)
)
_TAKEN = Each(bindparam("ids")).table_valued("value").alias("taken")
_SETTLE_TAKEN = Statement(
    update(reservation)
    .where(_R.id.in_(select(_TAKEN.c.value)))
    .values(settled_micro=_DEFAULT, settled_at=AT, **NO_LEASE)
)
_SETTLE_ONE = Statement(
    update(reservation)
    .where(_R.id == ID, *_UNFENCED)
    .values(settled_micro=_DEFAULT, settled_at=AT, **NO_LEASE)
    .returning(_R.day, _R.micro, _R.settled_micro)
)


def settle_default(connection: Connection, reservation_id: str, at: datetime) -> bool:
    """Settle one reservation that is due and unfenced; False, and no change, for any other."""
    settled = _SETTLE_ONE.one(connection, which=check_id("reservation_id", reservation_id), moment=to_ns(at))
    if settled is not None:
        days.settle(connection, settled.day, settled.micro, settled.settled_micro)
    return settled is not None


def settle_defaults(
    connection: Connection, at: datetime, place: tuple[int, str], limit: int
) -> tuple[int, tuple[int, str] | None]:
    """Settle a page of them behind `place`: how many, and the place to go on from, None after the last page."""
    moment = to_ns(at)
    due, behind = place
    rows = _TAKE.all(connection, moment=moment, due=due, behind=behind, most=limit)
    if not rows:
        return 0, None
    _count(connection, rows)
    ids = json.dumps([row.id for row in rows])
    if _SETTLE_TAKEN.count(connection, ids=ids, moment=moment) != len(rows):
        raise StoreFailure("sweep", "locked rows were gone; nothing of the page was settled: sweep again")
    return len(rows), (rows[-1].due_at, rows[-1].id)


def _count(connection: Connection, rows: Sequence[Any]) -> None:
    """Move the page's amounts in the totals of its days, by date."""
    held, figures = Counter[str](), Counter[str]()
    for row in rows:
        held[row.day] += row.micro
        figures[row.day] += row.figure
    for day in sorted(held):
        days.settle(connection, day, held[day], figures[day])
