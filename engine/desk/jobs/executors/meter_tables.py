"""A meter's tables as they are, found on the connection of the transaction that changes them (ruling 35)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.database.ddl import column_names
from engine.spend.meter.tables import FENCE_COLUMNS, bare_tables, meter_tables

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from engine.spend.meter.tables import MeterTables


def tables_of(connection: Connection, prefix: str) -> MeterTables | None:
    """The tables with fences, or without where nobody added them; None where there are none.

    ValidationError for a prefix that is none.
    """
    tables = meter_tables(prefix)
    columns = column_names(connection, tables.reservations.name)
    if not columns:
        return None
    return tables if columns >= FENCE_COLUMNS else bare_tables(prefix)
