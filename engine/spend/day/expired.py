"""Which open reservations are due: past their expiry, their next check and their lease (spend.md 2A.6, ruling 65)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import BigInteger, BindParameter, bindparam, func, select, tuple_

from engine.clock import to_ns
from engine.database.columns import Identifier, check_id
from engine.database.statement import Statement
from engine.errors import ValidationError
from engine.paging import check_limit
from engine.spend.day.model import MAX_PAGE, PAGE, ExpiredReservation, expired_of
from engine.spend.day.reservations import AT, ID
from engine.spend.day.tables import FENCED, OPEN, reservation

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

_R = reservation.c
ORDER: Final = (_R.due_at, _R.id)
MOST: BindParameter[int] = bindparam("most")
BEHIND: Final = tuple_(*ORDER) > tuple_(
    bindparam("due", type_=BigInteger), bindparam("behind", type_=Identifier)
)
"""Rows behind the place (due, behind) in the order of being due."""
START: Final = (-(2**63), "")
"""The place before every row."""

_PAGE = Statement(
    select(
        _R.id,
        _R.kind,
        _R.micro,
        _R.recorded_micro,
        _R.created_at,
        _R.expires_at,
        _R.require_fence,
        _R.evidence,
        _R.deferrals,
        _R.operation_id,
        _R.thread_id,
    )
    .where(OPEN, _R.due_at <= AT, BEHIND)
    .order_by(*ORDER)
    .limit(MOST)
)
_PLACE = Statement(select(_R.due_at).where(_R.id == ID))
_FENCED = Statement(select(func.count().label("n")).select_from(reservation).where(FENCED, _R.due_at <= AT))


def expired_reservations(
    connection: Connection, at: datetime, *, after: str | None = None, limit: int = PAGE
) -> list[ExpiredReservation]:
    """At most `limit` open reservations that are due at `at`, by (due time, id) behind the reservation `after`.

    Where `after` was itself put off to later than `at`, its place is lost and the listing starts anew.
    """
    moment, most = to_ns(at), check_limit(limit, MAX_PAGE)
    due, behind = START if after is None else _place(connection, check_id("after", after), moment)
    rows = _PAGE.all(connection, moment=moment, due=due, behind=behind, most=most)
    return [expired_of(row) for row in rows]


def _place(connection: Connection, after: str, moment: int) -> tuple[int, str]:
    row = _PLACE.one(connection, which=after)
    if row is None:
        raise ValidationError("after", (f"{after!r} is no reservation; start again without one",))
    return (row.due_at, after) if row.due_at <= moment else START


def fenced_and_due(connection: Connection, at: datetime) -> int:
    """How many rows wait for an answer that a default may not give."""
    row = _FENCED.one(connection, moment=to_ns(at))
    return 0 if row is None else int(row.n)
