"""The meter's two tables, whose names follow from a prefix (spend.md 1.2; ruling 35): instants in milliseconds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    MetaData,
    Table,
    Text,
    and_,
    literal_column,
    text,
    true,
)

from engine.spend.meter.prefix import DEFAULT_PREFIX, check_prefix

if TYPE_CHECKING:
    from sqlalchemy import ColumnClause
    from sqlalchemy.sql.elements import ColumnElement

MOST_PREFIXES: Final = 64
"""Prefixes whose tables and statements are kept in memory."""
FENCE_COLUMNS: Final = frozenset({"fenced", "evidence_json"})
WINDOW: Final = "window"
"""The period of every row of a window meter."""
# States stand in the statements' own text, or the partial index would not be used (design rule 6).
RESERVED: Final[ColumnClause[str]] = literal_column("'reserved'")
CONSUMED: Final[ColumnClause[str]] = literal_column("'consumed'")
RELEASED: Final[ColumnClause[str]] = literal_column("'released'")


@dataclass(frozen=True, slots=True, eq=False)
class MeterTables:
    """The tables of one prefix; `indexes` in the order in which they are created."""

    prefix: str
    meter: Table
    reservations: Table
    indexes: tuple[Index, ...]

    @property
    def has_fences(self) -> bool:
        """Whether the two columns of fences are there."""
        return set(self.reservations.c.keys()) >= FENCE_COLUMNS

    @property
    def unfenced(self) -> ColumnElement[bool]:
        """The condition that a default may settle a row: always so where nothing can be fenced."""
        return ~self.reservations.c.fenced if self.has_fences else true()


@lru_cache(maxsize=MOST_PREFIXES)
def meter_tables(prefix: str = DEFAULT_PREFIX) -> MeterTables:
    """The tables of a prefix; ValidationError for one that is none."""
    return _tables(prefix, Column("fenced", Boolean, nullable=False, server_default=text("false")),
                   Column("evidence_json", Text))  # fmt: skip


@lru_cache(maxsize=MOST_PREFIXES)
def bare_tables(prefix: str) -> MeterTables:
    """The tables of a prefix as other implementations made them: without the columns of fences (ruling 35)."""
    return _tables(prefix)


def _tables(prefix: str, *fences: Column[Any]) -> MeterTables:
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
        *fences,
        CheckConstraint("state IN ('reserved', 'consumed', 'released')"),
    )
    return MeterTables(prefix, meter, reservations, _indexes(prefix, reservations))


def _indexes(prefix: str, table: Table) -> tuple[Index, ...]:
    stem = "idx_spend_reservations" if prefix == DEFAULT_PREFIX else f"idx_{prefix}_reservations"
    named = (
        Index(f"{stem}_due", table.c.state, table.c.expires_at),
        Index(f"{stem}_account", table.c.account_id, table.c.reserved_at),
        Index(f"{stem}_settled", table.c.settled_at, table.c.state),
    )
    if "fenced" not in table.c:
        return named
    fenced = and_(table.c.state == RESERVED, table.c.fenced)
    last = Index(
        f"{stem}_fenced",
        table.c.expires_at,
        table.c.operation_id,
        postgresql_where=fenced,
        sqlite_where=fenced,
    )
    return (*named, last)


def _text(name: str, **options: Any) -> Column[str]:
    return Column(name, Text, nullable=False, **options)


def _int(name: str, **options: Any) -> Column[int]:
    return Column(name, BigInteger, nullable=False, **options)
