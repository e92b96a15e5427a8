"""INSERT … ON CONFLICT for both back ends: SQLite took the clause over from PostgreSQL, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects.postgresql import insert

if TYPE_CHECKING:
    from sqlalchemy import Table
    from sqlalchemy.dialects.postgresql import Insert


def insert_if_absent(table: Table, **values: Any) -> Insert:
    """Add the row, or pass over one that has its primary key: then no row counts as changed."""
    return insert(table).values(**values).on_conflict_do_nothing(index_elements=list(table.primary_key))


def insert_unless_taken(table: Table, key: str, **values: Any) -> Insert:
    """Add the row, or pass over one that has the same in this unique column: then no row counts as changed."""
    return insert(table).values(**values).on_conflict_do_nothing(index_elements=[key])


def insert_or_set(table: Table, columns: tuple[str, ...], **values: Any) -> Insert:
    """Add the row, or give these columns of the one that has its primary key the new values."""
    made = insert(table).values(**values)
    return made.on_conflict_do_update(
        index_elements=list(table.primary_key), set_={name: made.excluded[name] for name in columns}
    )
