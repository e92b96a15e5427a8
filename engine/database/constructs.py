"""The two expressions in which the dialects differ inside a statement: the clock and the counters (rulings 4 and 6)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, bindparam, literal_column, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.functions import FunctionElement

_SERVER_NS = "(EXTRACT(epoch FROM clock_timestamp()) * 1000000)::BIGINT * 1000"


class Counter(StrEnum):
    """Store-wide numbers that only rise. Events are not here: their position is drawn by the INSERT itself."""

    TOKEN = "token"
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
    column = "last_token" if Counter.TOKEN.value in compiler.process(element.clauses, **options) else "last_child"
    return f"(SELECT {column} + 1 FROM meta)"
