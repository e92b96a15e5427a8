"""A database's catalogue as a table to select from: every column of every table that a plain name reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

if TYPE_CHECKING:
    from sqlalchemy.sql.selectable import TableValuedAlias

_SQLITE: Final = (
    "(SELECT t.name AS table_name, c.name AS column_name"
    " FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table')"
)
_POSTGRES: Final = (
    '(SELECT c.relname::text COLLATE "C" AS table_name, a.attname::text COLLATE "C" AS column_name'
    " FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
    " WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) AND has_table_privilege(c.oid, 'SELECT'))"
)


class _Columns(FunctionElement[str]):
    """The subquery that stands for it in a FROM list."""

    type = Text()
    inherit_cache = True
    name = "column_list"


@compiles(_Columns, "sqlite")
def _of_file(_element: _Columns, _compiler: Any, **_options: Any) -> str:
    return _SQLITE


@compiles(_Columns, "postgresql")
def _of_search_path(_element: _Columns, _compiler: Any, **_options: Any) -> str:
    return _POSTGRES


def columns_of_tables(alias: str) -> TableValuedAlias:
    """Rows (table_name, column_name), names in code-point order.

    On PostgreSQL the tables of the search path that this role may read.
    """
    return _Columns().table_valued("table_name", "column_name", name=alias)
