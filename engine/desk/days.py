"""The totals of days, newest first, and what one day still has open (spend.md 2A, 2C)."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, case, func, select

from engine.clock import from_ns
from engine.database.columns import Identifier
from engine.database.statement import Statement
from engine.desk.moment import look
from engine.desk.money_views import DayDetail, DayRow
from engine.desk.pages import capped
from engine.desk.views import MAX_COUNT, MAX_PAGE, Page
from engine.errors import ValidationError
from engine.paging import check_limit, decode_cursor, encode_cursor
from engine.spend.day.tables import OPEN, reservation, spend_day

if TYPE_CHECKING:
    from sqlalchemy import BindParameter, Connection

_DAY: Final[BindParameter[str]] = bindparam("day", type_=Identifier)
_TOTALS: Final = Statement(select(*spend_day.c).where(spend_day.c.day == _DAY))
_LOOKED: Final = (
    select(reservation.c.require_fence, OPEN.label("is_open"))
    .where(reservation.c.day == _DAY)
    .limit(MAX_COUNT + 1)
    .subquery("looked")
)
_HELD: Final = Statement(
    select(
        func.count().label("looked"),
        func.count(case((_LOOKED.c.is_open, 1))).label("open"),
        func.count(case((_LOOKED.c.is_open & _LOOKED.c.require_fence, 1))).label("fenced"),
    ).select_from(_LOOKED)
)


def days(
    connection: Connection, since: str | None, until: str | None, after: str | None, limit: int
) -> Page[DayRow]:
    """At most `limit` (1 to 200) days behind the cursor, newest first; both ends of the range are in it.

    ValidationError for what is no day, and for a limit or cursor out of bounds. Wants a SNAPSHOT.
    """
    check_limit(limit, MAX_PAGE)
    at, c = look(connection), spend_day.c
    asked = select(*c).order_by(c.day.desc()).limit(limit + 1)
    if since is not None:
        asked = asked.where(c.day >= check_day("since", since))
    if until is not None:
        asked = asked.where(c.day <= check_day("until", until))
    if after is not None:
        asked = asked.where(c.day < decode_cursor(after, str)[0])
    found = connection.execute(asked).all()
    following = encode_cursor(found[limit - 1].day) if len(found) > limit else None
    return Page(tuple(map(day_row, found[:limit])), following, from_ns(at))


def day(connection: Connection, wanted: str | None) -> DayDetail:
    """One day, by default today by the store's clock. Wants a SNAPSHOT."""
    at = look(connection)
    name = from_ns(at).date().isoformat() if wanted is None else check_day("day", wanted)
    held: Any = _HELD.one(connection, day=name)
    return DayDetail(
        row=day_of(connection, name) or DayRow(name, 0, 0),
        open=capped(held.open, held.looked),
        fenced=capped(held.fenced, held.looked),
        reservations=capped(held.looked),
        as_of=from_ns(at),
    )


def day_of(connection: Connection, name: str) -> DayRow | None:
    """The totals of a day; None when it has no row."""
    row = _TOTALS.one(connection, day=name)
    return None if row is None else day_row(row)


def day_row(row: Any) -> DayRow:
    """A row of the totals' table."""
    return DayRow(row.day, row.reserved_micro, row.settled_micro)


def check_day(field: str, text: str) -> str:
    """The day itself; ValidationError unless it is one, written `YYYY-MM-DD`."""
    try:
        named = date.fromisoformat(text).isoformat()
    except (TypeError, ValueError) as error:
        raise _bad(field, text) from error
    if named != text:
        raise _bad(field, text)
    return named


def _bad(field: str, text: object) -> ValidationError:
    return ValidationError(field, (f"must be a UTC day like 2026-10-12, not {text!r:.40}",))
