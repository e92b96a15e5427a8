"""The expressions in which the dialects differ: the clock, the counters, JSON text (rulings 4 and 6)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import BigInteger, Text, bindparam, literal_column, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

if TYPE_CHECKING:
    from sqlalchemy.sql.elements import ColumnElement

_SERVER_NS = "(EXTRACT(epoch FROM clock_timestamp()) * 1000000)::BIGINT * 1000"


class Counter(StrEnum):
    """Store-wide numbers that only rise. Events are not here: the INSERT itself draws their position."""

    TOKEN = "token"  # noqa: S105 - a fencing token is no secret
    CHILD = "child_position"


class Now(FunctionElement[int]):
    """Nanoseconds by the store's clock: the bound `now`, else the server's clock at this very moment."""

    type = BigInteger()
    inherit_cache = True
    name = "now_ns"

    def __init__(self) -> None:
        super().__init__(bindparam("now", type_=BigInteger))


@compiles(Now)
def _now_bound(element: Now, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


@compiles(Now, "postgresql")
def _now_server(element: Now, compiler: Any, **options: Any) -> str:
    return f"coalesce({compiler.process(element.clauses, **options)}, {_SERVER_NS})"


def page_now() -> ColumnElement[int]:
    """One `Now` for a whole listing: a scalar subquery, or the planner leaves the index (ruling 4)."""
    return select(Now()).scalar_subquery()


class Size(FunctionElement[int]):
    """Bytes of an ASCII JSON text, without reading it where the back end knows its length."""

    type = BigInteger()
    inherit_cache = True
    name = "size"


@compiles(Size, "sqlite")
def _size_in_characters(element: Size, compiler: Any, **options: Any) -> str:
    return f"length({compiler.process(element.clauses, **options)})"


@compiles(Size, "postgresql")
def _size_in_octets(element: Size, compiler: Any, **options: Any) -> str:
    return f"octet_length({compiler.process(element.clauses, **options)})"


class Likely(FunctionElement[Any]):
    """A condition that most rows meet: SQLite would take an equality for a rare one, and sort what it finds."""

    type = NullType()
    inherit_cache = True
    name = "likely"


@compiles(Likely, "sqlite")
def _said_to_be_likely(element: Likely, compiler: Any, **options: Any) -> str:
    return f"likely({compiler.process(element.clauses, **options)})"


@compiles(Likely, "postgresql")
def _left_to_statistics(element: Likely, compiler: Any, **options: Any) -> str:
    return f"({compiler.process(element.clauses, **options)})"


class Pairs(FunctionElement[str]):
    """JSON text of an object made of the rows' keys and values: an aggregate, NULL or `{}` without rows."""

    type = Text()
    inherit_cache = True
    name = "pairs"


@compiles(Pairs, "sqlite")
def _pairs_as_object(element: Pairs, compiler: Any, **options: Any) -> str:
    return f"json_group_object({compiler.process(element.clauses, **options)})"


@compiles(Pairs, "postgresql")
def _pairs_as_text(element: Pairs, compiler: Any, **options: Any) -> str:
    return f"json_object_agg({compiler.process(element.clauses, **options)})::TEXT"


class Each(FunctionElement[str]):
    """A row for each string of a JSON array's text, under the column `value`."""

    type = Text()
    inherit_cache = True
    name = "each"


@compiles(Each, "sqlite")
def _each_of_json(element: Each, compiler: Any, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(Each, "postgresql")
def _each_of_elements(element: Each, compiler: Any, **options: Any) -> str:
    return f"json_array_elements_text(CAST({compiler.process(element.clauses, **options)} AS JSON))"


class Next(FunctionElement[int]):
    """The next number of a counter, to be followed by `Backend.advance` once it is used."""

    type = BigInteger()
    inherit_cache = True
    name = "next_number"

    def __init__(self, counter: Counter) -> None:
        super().__init__(literal_column(f"'{counter.value}'"))


@compiles(Next, "postgresql")
def _next_of_sequence(element: Next, compiler: Any, **options: Any) -> str:
    return f"nextval({compiler.process(element.clauses, **options)})"


@compiles(Next, "sqlite")
def _next_of_meta(element: Next, compiler: Any, **options: Any) -> str:
    column = (
        "last_token" if Counter.TOKEN.value in compiler.process(element.clauses, **options) else "last_child"
    )
    return f"(SELECT {column} + 1 FROM meta)"  # noqa: S608 - one of two constants
