"""Meters and their accounts, as their tables tell: what a store knows without a meter's configuration (ruling 45)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, case, func, select, tuple_

from engine.checkpoints.listing import size_of
from engine.checkpoints.records import Undecodable
from engine.clock import from_ns
from engine.database.columns import check_id
from engine.desk.meters import MAX_METERS, find_meter, find_meters
from engine.desk.moment import look
from engine.desk.money_counts import state_counts
from engine.desk.money_meter import from_ms, meter_source
from engine.desk.money_stretch import Asked, stretch
from engine.desk.money_views import AccountDetail, AccountRow, MeterRow
from engine.desk.pages import capped
from engine.desk.views import MAX_COUNT, MAX_PAGE, MAX_PARTS, Capped, Page
from engine.paging import check_limit, decode_cursor, encode_cursor
from engine.spend.meter.prefix import check_prefix
from engine.spend.meter.tables import WINDOW, meter_tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select

    from engine.desk.meters import Meter

_ALL_OPEN: Final = Asked(None, fenced=False, parts={})


def meters(connection: Connection, after: str | None, limit: int) -> Page[MeterRow]:
    """The meters behind the cursor, by prefix: at most `limit` (1 to 64). Wants a SNAPSHOT."""
    check_limit(limit, MAX_METERS)
    at = look(connection)
    behind = "" if after is None else str(decode_cursor(after, str)[0])
    found = find_meters(connection, behind, limit)
    rows = tuple(_meter_row(connection, meter, at) for meter in found.found)
    return Page(rows, None if found.next is None else encode_cursor(found.next), from_ns(at))


def accounts(connection: Connection, prefix: str, after: str | None, limit: int) -> Page[AccountRow]:
    """At most `limit` (1 to 200) periods of accounts behind the cursor, by (account_id, period).

    ValidationError where there is no meter of that prefix. Wants a SNAPSHOT.
    """
    check_limit(limit, MAX_PAGE)
    at, _ = look(connection), find_meter(connection, prefix)
    c = meter_tables(prefix).meter.c
    rows = select(*c).order_by(c.account_id, c.period).limit(limit + 1)
    values: dict[str, Any] = {}
    if after is not None:
        rows = rows.where(tuple_(c.account_id, c.period) > tuple_(bindparam("account"), bindparam("period")))
        values = dict(zip(("account", "period"), decode_cursor(after, str, str), strict=True))
    found = connection.execute(rows, values).all()
    following = None
    if len(found) > limit:
        following = encode_cursor(found[limit - 1].account_id, found[limit - 1].period)
    return Page(tuple(account_row(prefix, row) for row in found[:limit]), following, from_ns(at))


def account(connection: Connection, prefix: str, account_id: str) -> AccountDetail | None:
    """One account with all its periods; None for one that never reserved. Wants a SNAPSHOT."""
    check_id("account_id", account_id)
    at, _ = look(connection), find_meter(connection, prefix)
    values = {"account": account_id}
    periods = connection.execute(_periods(prefix), values).all()
    held = connection.execute(_reservations(prefix), values).one()
    if not periods and not held.looked:
        return None
    return AccountDetail(
        prefix=prefix,
        account_id=account_id,
        periods=tuple(account_row(prefix, row) for row in periods[:MAX_PARTS]),
        more_periods=len(periods) > MAX_PARTS,
        open=capped(held.open, held.looked),
        open_units=int(held.units),
        reservations=capped(held.looked),
        as_of=from_ns(at),
    )


def account_of(connection: Connection, prefix: str, account_id: str, period: str) -> AccountRow | None:
    """One period of an account; None when it has no row."""
    c = meter_tables(check_prefix(prefix)).meter.c
    asked = select(*c).where(c.account_id == bindparam("account"), c.period == bindparam("period"))
    row = connection.execute(asked, {"account": account_id, "period": period}).first()
    return None if row is None else account_row(prefix, row)


def account_row(prefix: str, row: Any) -> AccountRow:
    """A row of the meter's first table."""
    window = row.period == WINDOW
    try:
        updated = from_ms(row.updated_at)
    except OverflowError as error:
        raise Undecodable(f"account {row.account_id!r} of {prefix!r}: {error}") from error
    return AccountRow(
        prefix=prefix,
        account_id=row.account_id,
        period=row.period,
        allowance=row.allowance,
        used=row.used,
        reserved=row.reserved,
        remaining=None if window else max(0, row.allowance - row.used - row.reserved),
        window=window,
        updated_at=updated,
    )


def _periods(prefix: str) -> Select[Any]:
    c = meter_tables(prefix).meter.c
    mine = select(*c).where(c.account_id == bindparam("account"))
    return mine.order_by(c.account_id.desc(), c.period.desc()).limit(MAX_PARTS + 1)


def _reservations(prefix: str) -> Select[Any]:
    """What the account's newest reservations are: how many were looked at, how many are open, what these hold."""
    c = meter_tables(prefix).reservations.c
    mine = select(c.state, c.units).where(c.account_id == bindparam("account"))
    newest = mine.order_by(c.account_id.desc(), c.reserved_at.desc()).limit(MAX_COUNT + 1).subquery("newest")
    held = newest.c.state == "reserved"
    return select(
        func.count().label("looked"),
        func.count(case((held, 1))).label("open"),
        func.coalesce(func.sum(case((held, newest.c.units))), 0).label("units"),
    ).select_from(newest)


def _meter_row(connection: Connection, meter: Meter, at: int) -> MeterRow:
    source = meter_source(meter.prefix, meter.fences)
    units = (source.columns["units"],)
    held = stretch(source, _ALL_OPEN, None, MAX_COUNT + 1, units).subquery("held")
    owned = meter_tables(meter.prefix).meter.c
    periods = select(owned.period).order_by(owned.account_id, owned.period).limit(MAX_COUNT + 1)
    found = connection.execute(
        select(
            func.coalesce(func.sum(held.c.units), 0).label("units"),
            func.count().label("open"),
            size_of(periods.subquery("periods")).label("periods"),
        ).select_from(held),
        {"at": at // source.tick},
    ).one()
    return MeterRow(
        prefix=meter.prefix,
        counts=state_counts(connection, source, at),
        account_periods=capped(found.periods),
        held_units=Capped(int(found.units), found.open > MAX_COUNT),
        fences=meter.fences,
    )
