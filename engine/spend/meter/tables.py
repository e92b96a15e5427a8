"""The meter's two tables, whose names follow from a prefix (spend.md 1.2; ruling 35): instants in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import BigInteger, Boolean, CheckConstraint, Column, Index, MetaData, Table, Text, and_, text

from engine.spend.meter.prefix import DEFAULT_PREFIX, check_prefix

MOST_PREFIXES = 64
"""Prefixes whose tables are kept in memory."""


@dataclass(frozen=True, slots=True)
class MeterTables:
    """The tables of one prefix; `indexes` in the order in which they are created."""

    meter: Table
    reservations: Table
    indexes: tuple[Index, ...]


@lru_cache(maxsize=MOST_PREFIXES)
def meter_tables(prefix: str = DEFAULT_PREFIX) -> MeterTables:
    """The tables of a prefix; ValidationError for one that is none."""
    check_prefix(prefix)
    metadata = MetaData()
    meter = Table(
        f"{prefix}_meter",
        metadata,
        _text("account_id", primary_key=True),
        _text("period", primary_key=True),
        _int("allowance"),
        _int("used", server_default=text("0")),
        _int("reserved", server_default=text("0")),
        _int("updated_at"),
        CheckConstraint("used >= 0 AND reserved >= 0"),
    )
    reservations = Table(
        f"{prefix}_reservations",
        metadata,
        _text("operation_id", primary_key=True),
        _text("account_id"),
        _text("period"),
        _int("units"),
        _text("state"),
        Column("outcome", Text),
        _int("attempts", server_default=text("1")),
        _int("reserved_at"),
        _int("expires_at"),
        Column("settled_at", BigInteger),
        Column("usage_json", Text),
        Column("fenced", Boolean, nullable=False, server_default=text("false")),
        Column("evidence_json", Text),
        CheckConstraint("state IN ('reserved', 'consumed', 'released')"),
    )
    return MeterTables(meter, reservations, _indexes(prefix, reservations))


def _indexes(prefix: str, table: Table) -> tuple[Index, ...]:
    stem = "idx_spend_reservations" if prefix == DEFAULT_PREFIX else f"idx_{prefix}_reservations"
    fenced = and_(table.c.state == text("'reserved'"), table.c.fenced)
    return (
        Index(f"{stem}_due", table.c.state, table.c.expires_at),
        Index(f"{stem}_account", table.c.account_id, table.c.reserved_at),
        Index(f"{stem}_settled", table.c.settled_at, table.c.state),
        Index(
            f"{stem}_fenced",
            table.c.expires_at,
            table.c.operation_id,
            postgresql_where=fenced,
            sqlite_where=fenced,
        ),
    )


def _text(name: str, **options: Any) -> Column[str]:
    return Column(name, Text, nullable=False, **options)


def _int(name: str, **options: Any) -> Column[int]:
    return Column(name, BigInteger, nullable=False, **options)
