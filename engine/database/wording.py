"""Parts of DDL as text, in the words of a dialect that is named or given (for those who write their own SQL)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateColumn, CreateIndex

from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Column, Dialect, Index, TableClause
    from sqlalchemy.sql import ClauseElement

_MAKERS: Final[tuple[Any, ...]] = (postgresql.dialect, sqlite.dialect)
_DIALECTS: Final[dict[str, Any]] = {each.name: each for each in (make() for make in _MAKERS)}


def dialect_of(dialect: str | Dialect) -> Dialect:
    """The dialect itself, or the one of this name; ValidationError for one that is neither of the two."""
    name = dialect if isinstance(dialect, str) else getattr(dialect, "name", "")
    if name not in _DIALECTS:
        raise ValidationError("dialect", (f"must be one of {', '.join(_DIALECTS)}, not {dialect!r:.60}",))
    return _DIALECTS[dialect] if isinstance(dialect, str) else dialect


def columns_ddl(columns: Iterable[Column[Any]], dialect: str | Dialect) -> list[str]:
    """Each column as it stands in a CREATE TABLE or after ADD COLUMN."""
    return [_text(CreateColumn(each), dialect) for each in columns]


def indexes_ddl(indexes: Iterable[Index], dialect: str | Dialect) -> list[str]:
    """A CREATE INDEX for each, without the semicolon."""
    return [_text(CreateIndex(each), dialect) for each in indexes]


def table_ddl(table: TableClause, dialect: str | Dialect) -> str:
    """The table's name, quoted where it has to be."""
    return str(dialect_of(dialect).identifier_preparer.format_table(table))


def _text(element: ClauseElement, dialect: str | Dialect) -> str:
    return str(element.compile(dialect=dialect_of(dialect))).strip()
