"""The text of tables and indexes for a named dialect, and what of them a database has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, text

from engine.database.wording import dialect_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection, Engine
    from sqlalchemy.sql import ClauseElement

POSTGRESQL: Final = "postgresql"
_INDEXES: Final = {
    # Where the table is: that need not be the current schema, only one of the search path.
    POSTGRESQL: "SELECT i.indexname FROM pg_indexes i JOIN pg_namespace n ON n.nspname = i.schemaname"
    " JOIN pg_class c ON c.relnamespace = n.oid WHERE c.oid = to_regclass(:table) AND i.indexname IN :names",
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = :table AND name IN :names",
}
# Not from a SELECT *: PostgreSQL refuses a prepared one once the table has another column.
_COLUMNS: Final = {
    POSTGRESQL: text(
        "SELECT attname FROM pg_attribute"
        " WHERE attrelid = to_regclass(:table) AND attnum > 0 AND NOT attisdropped"
    ),
    "sqlite": text("SELECT name FROM pragma_table_info(:table)"),
}


def ddl_text(elements: Iterable[ClauseElement], dialect: str) -> str:
    """The statements, each with its semicolon; ValidationError for a dialect that is neither of the two."""
    spoken = dialect_of(dialect)
    return "\n\n".join(f"{_compiled(element, spoken)};" for element in elements) + "\n"


def text_on(engine: Engine, element: ClauseElement) -> str:
    """One statement as this engine's database gets it."""
    return _compiled(element, engine.dialect)


def _compiled(element: ClauseElement, dialect: Any) -> str:
    return str(element.compile(dialect=dialect)).strip()


def indexes_query(engine: Engine) -> str:
    """The text of the statement that `index_names` runs."""
    return _INDEXES[engine.dialect.name]


def index_names(connection: Connection, table: str, names: Sequence[str]) -> set[str]:
    """Those of the names that are indexes, in the table's schema on PostgreSQL, of the table on SQLite."""
    query = text(_INDEXES[connection.dialect.name]).bindparams(bindparam("names", expanding=True))
    return set(connection.execute(query, {"table": table, "names": list(names)}).scalars())


def column_names(connection: Connection, table: str) -> frozenset[str]:
    """The columns of a table, by its name in lower case; none where there is no such table."""
    return frozenset(connection.execute(_COLUMNS[connection.dialect.name], {"table": table}).scalars())
