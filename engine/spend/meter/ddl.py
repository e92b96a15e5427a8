"""The meter's DDL as text, for migrations and for `ensure_schema=False` (spend.md 1.2, ruling 35)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy.schema import CreateColumn, CreateIndex, CreateTable

from engine.database.ddl import POSTGRESQL, ddl_text
from engine.spend.meter.prefix import DEFAULT_PREFIX
from engine.spend.meter.tables import FENCE_COLUMNS, meter_tables

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy.sql import ClauseElement

    from engine.spend.meter.tables import MeterTables


def statements(tables: MeterTables) -> list[ClauseElement]:
    """Every CREATE … IF NOT EXISTS: two tables, then the indexes in their order."""
    made = [CreateTable(table, if_not_exists=True) for table in (tables.meter, tables.reservations)]
    return [*made, *(CreateIndex(index, if_not_exists=True) for index in tables.indexes)]


def spend_meter_ddl(prefix: str | None = None, dialect: str = POSTGRESQL) -> str:
    """The whole DDL of a prefix, None being the default one: two tables and four indexes, if they do not exist."""
    return ddl_text(statements(meter_tables(DEFAULT_PREFIX if prefix is None else prefix)), dialect)


SPEND_METER_DDL: Final = spend_meter_ddl()
"""The DDL of the default prefix, for PostgreSQL."""


def fence_ddl(prefix: str, present: Collection[str]) -> str:
    """The ALTER statements that give older tables the columns of fences that are not `present`."""
    table = meter_tables(prefix).reservations
    missing = [CreateColumn(table.c[name]) for name in sorted(FENCE_COLUMNS - set(present), reverse=True)]
    clauses = ddl_text(missing, POSTGRESQL).split("\n\n")
    return " ".join(f"ALTER TABLE {table.name} ADD COLUMN {clause.strip()}" for clause in clauses)
