"""Pooled connections for verbs that run `Statement`s only, at half the cost of a Connection (ruling 13)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from engine.database.hints import drop_hints

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlalchemy import Connection, Dialect, Engine, PoolProxiedConnection

    from engine.database.writer import WriterConnection


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


class LeanWrite(Lean):
    """The same with a transaction on SQLite, which begins with the first statement."""

    __slots__ = ("_driver", "_patience")

    def __init__(self, engine: Engine, patience: float | None) -> None:
        super().__init__(engine)
        self._driver = cast("WriterConnection", self.connection.driver_connection)
        self._patience = patience

    def in_transaction(self) -> bool:
        """Whether it has begun and not ended."""
        return self.connection.is_valid and self._driver.in_transaction

    def begin(self) -> None:
        """Take the writer lock, within the patience that is left, and begin."""
        self._driver.begin_immediate(self._patience)

    def commit(self) -> None:
        """Commit and free the lock."""
        self._driver.commit()

    def rollback(self) -> None:
        """Undo, free the lock, and tell nobody."""
        drop_hints(self.info)
        self._driver.rollback()


@contextmanager
def lean(engine: Engine) -> Iterator[Connection]:
    """A `Lean` where a Connection is asked for; given back on exit."""
    taken = Lean(engine)
    try:
        yield cast("Connection", taken)
    finally:
        taken.connection.close()


@contextmanager
def lean_write(engine: Engine, patience: float | None) -> Iterator[Connection]:
    """A `LeanWrite` where a Connection is asked for; on exit what was not committed is undone."""
    taken = LeanWrite(engine, patience)
    try:
        yield cast("Connection", taken)
    finally:
        if taken.in_transaction():
            taken.rollback()
        taken.connection.close()
