"""What an account holds now (spend.md 2B.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.spend.meter import window
from engine.spend.meter.counters import counters
from engine.spend.meter.model import MeterSnapshot

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.meter.tables import MeterTables


def snapshot(
    connection: Connection, tables: MeterTables, account: str, period: str, allowance: int, since: int | None
) -> MeterSnapshot:
    """By the account's row, or with `since` by the rows of the window that began then.

    `allowance` is the product's answer, for an account without a row.
    """
    row = counters(tables).read(connection, account, period)
    limit = allowance if row is None else row.allowance
    if since is not None:
        held = window.held(connection, tables, account, since)
        used, reserved = held.used, held.reserved
    else:
        used, reserved = (0, 0) if row is None else (row.used, row.reserved)
    return MeterSnapshot(account, period, limit, used, reserved, max(0, limit - used - reserved))
