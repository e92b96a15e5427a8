"""A pooled connection for one statement on the driver's own cursor, at half the cost of a Connection (ruling 13)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Dialect, Engine, PoolProxiedConnection


class Lean:
    """What `Statement`, `hint` and `backend_of` ask of a Connection, and nothing else; never in a transaction."""

    __slots__ = ("_options", "connection", "dialect")

    def __init__(self, engine: Engine) -> None:
        self.connection: PoolProxiedConnection = engine.raw_connection()
        self.dialect: Dialect = engine.dialect
        self._options: Mapping[str, Any] = engine.get_execution_options()

    @property
    def info(self) -> dict[str, Any]:
        """What rides on the driver's connection, such as hints."""
        return self.connection.info

    def get_execution_options(self) -> Mapping[str, Any]:
        """Those of the engine it came from."""
        return self._options

    def in_transaction(self) -> bool:
        """The statement commits by itself."""
        return False

    def invalidate(self) -> None:
        """Throw the driver's connection away instead of giving it back."""
        self.connection.invalidate()


@contextmanager
def lean(engine: Engine) -> Iterator[Connection]:
    """A `Lean` where a Connection is asked for; given back on exit."""
    taken = Lean(engine)
    try:
        yield cast("Connection", taken)
    finally:
        taken.connection.close()
