"""Where rows of anybody's table are stored: for statements that choose a bounded number of them, then delete them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import column, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Select, TableClause

_KEY = text(
    "SELECT i.name FROM pragma_table_list(:name) AS l JOIN pragma_table_info(:name, coalesce(:schema, 'main')) AS i"
    " WHERE l.wr AND l.schema = coalesce(:schema, 'main') AND i.pk > 0 ORDER BY i.pk"
)
_FOLLOW = text(
    "SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true),"
    " set_config('enable_incremental_sort', :partly, true), set_config('jit', 'off', true)"
)


class Address(FunctionElement[Any]):
    """Of the one table in a statement, the place of each row: it holds to the end of that statement."""

    type = NullType()
    inherit_cache = True
    name = "address"


@compiles(Address, "sqlite")
def _row_number(_element: Address, _compiler: Any, **_options: Any) -> str:
    return "_rowid_"


@compiles(Address, "postgresql")
def _tuple_id(_element: Address, _compiler: Any, **_options: Any) -> str:
    return "ctid"


class Among(FunctionElement[Any]):
    """Whether the row is at one of the addresses that a subquery answers; the subquery runs once.

    PostgreSQL may run the subquery of an IN again for each row, and then takes more than its LIMIT (design 6).
    An array is made once, and fetched from directly.
    """

    type = NullType()  # a Boolean would be compared with 1 on SQLite, which then goes through the whole table
    inherit_cache = True
    name = "among"

    def __init__(self, addresses: Select[Any]) -> None:
        super().__init__(addresses.scalar_subquery())


@compiles(Among, "sqlite")
def _in_list(element: Among, compiler: Any, **options: Any) -> str:
    return f"_rowid_ IN {compiler.process(next(iter(element.clauses)), **options)}"


@compiles(Among, "postgresql")
def _in_array(element: Among, compiler: Any, **options: Any) -> str:
    return f"ctid = ANY(ARRAY{compiler.process(next(iter(element.clauses)), **options)})"


def key_in_place_of_address(connection: Connection, table: TableClause) -> Sequence[ColumnElement[Any]]:
    """The key of a table whose rows have no address (WITHOUT ROWID on SQLite); empty for any other."""
    if connection.dialect.name != "sqlite":
        return ()
    found = connection.execute(_KEY, {"name": str(table.name), "schema": table.schema})
    return [column(name) for name in found.scalars()]


def follow_indexes(connection: Connection) -> None:
    """To the transaction's end, take rows in an index's order from that index.

    Without statistics PostgreSQL expects so few rows that it collects and sorts all of them for each batch. Nor
    does it compile then: counts that stop early are estimated as if they did not, and compiling takes longer.
    """
    _follow(connection, partly="on")


def follow_whole_indexes(connection: Connection) -> None:
    """The same for statements of which an index has the whole order.

    Of an index that begins with the same column PostgreSQL might otherwise read and sort all that it has of a value.
    """
    _follow(connection, partly="off")


def _follow(connection: Connection, partly: str) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(_FOLLOW, {"partly": partly})
