"""The account's row: what is used and reserved of an allowance in one period (spend.md 1.2, 2B.3 to 2B.5)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, ColumnElement, and_, bindparam, case, select, update

from engine.database.statement import Statement
from engine.database.upsert import insert_or_set
from engine.spend.meter.model import Outcome
from engine.spend.meter.tables import MOST_PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from engine.spend.meter.tables import MeterTables


class Counters:
    """The statements over one prefix's account rows. Each but `read` locks the row until the transaction ends."""

    def __init__(self, tables: MeterTables) -> None:
        meter = tables.meter
        key = and_(meter.c.account_id == bindparam("account"), meter.c.period == bindparam("label"))
        units, at = _number("units"), _number("at")
        row = {
            "account_id": bindparam("account"),
            "period": bindparam("label"),
            "allowance": _number("limit"),
            "updated_at": at,
        }
        taken = {"reserved": meter.c.reserved + units, "updated_at": at}
        held = (meter.c.allowance, meter.c.used, meter.c.reserved)
        self._declare = Statement(insert_or_set(meter, ("allowance",), **row))
        self._allow = Statement(insert_or_set(meter, ("allowance", "updated_at"), **row))
        self._take = Statement(
            update(meter)
            .where(key, meter.c.reserved + units <= meter.c.allowance - meter.c.used)
            .values(taken)
            .returning(*held)
        )
        self._hold = Statement(update(meter).where(key).values(taken))
        self._adjust = Statement(
            update(meter)
            .where(key)
            .values(
                reserved=_floored(meter.c.reserved + _number("more_reserved")),
                used=_floored(meter.c.used + _number("more_used")),
                updated_at=at,
            )
        )
        self._read = Statement(select(*held).where(key))

    def declare(self, connection: Connection, account: str, label: str, limit: int, at: int) -> None:
        """There is a row, and it has today's allowance."""
        self._declare.count(connection, account=account, label=label, limit=limit, at=at)

    def allow(self, connection: Connection, account: str, label: str, limit: int, at: int) -> None:
        """Set the allowance, and nothing else."""
        self._allow.count(connection, account=account, label=label, limit=limit, at=at)

    def take(self, connection: Connection, account: str, label: str, units: int, at: int) -> Any:
        """Reserve the units if they fit under the row's allowance; the row as it is now, or None."""
        return self._take.one(connection, account=account, label=label, units=units, at=at)

    def hold(self, connection: Connection, account: str, label: str, units: int, at: int) -> None:
        """Reserve the units whether they fit or not."""
        self._hold.count(connection, account=account, label=label, units=units, at=at)

    def adjust(self, connection: Connection, changes: Iterable[dict[str, Any]]) -> None:
        """Add `more_reserved` and `more_used`, never below 0; a row that is gone is passed over."""
        self._adjust.many(connection, changes)

    def read(self, connection: Connection, account: str, label: str) -> Any:
        """allowance, used and reserved, or None."""
        return self._read.one(connection, account=account, label=label)


def ended(account: str, label: str, units: int, outcome: Outcome, at: int) -> dict[str, Any]:
    """What reserved units that end so do to their account."""
    spent = units if outcome is Outcome.CONSUMED else 0
    return {"account": account, "label": label, "more_reserved": -units, "more_used": spent, "at": at}


def refunded(account: str, label: str, units: int, at: int) -> dict[str, Any]:
    """What used units that are withdrawn do to their account."""
    return {"account": account, "label": label, "more_reserved": 0, "more_used": -units, "at": at}


@lru_cache(maxsize=2 * MOST_PREFIXES)
def counters(tables: MeterTables) -> Counters:
    """The statements, built once for a prefix."""
    return Counters(tables)


def _number(name: str) -> Any:
    return bindparam(name, type_=BigInteger)


def _floored(number: ColumnElement[int]) -> ColumnElement[int]:
    return case((number > 0, number), else_=0)
