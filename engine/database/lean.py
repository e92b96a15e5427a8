"""A pooled connection for one statement on the driver's own cursor, without what a Connection costs (ruling 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

    from sqlalchemy import Connection, Dialect, Engine


class Lean:
    """What `Statement`, `hint` and `backend_of` ask of a Connection, and nothing else; never in a transaction.

    It holds the pool's own record. The proxy that a pool lends, with its guard against being forgotten, costs as
    much as the rest of a read; here the `with` block is that guard.
    """

    __slots__ = ("_options", "_pool", "connection", "dialect")

    connection: Any

    def __init__(self, engine: Engine) -> None:
        self._pool: Any = engine.pool
        self.dialect: Dialect = engine.dialect
        self._options: Mapping[str, Any] = engine.get_execution_options()

    def __enter__(self) -> Self:
        record = self.connection = self._pool._do_get()  # noqa: SLF001
        try:
            record.get_connection()
        except BaseException:
            self._give_back()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_back()

    def _give_back(self) -> None:
        self.connection.checkin(_fairy_was_created=False)

    @property
    def info(self) -> dict[str, Any]:
        """What rides on the driver's connection, such as hints."""
        return cast("dict[str, Any]", self.connection.info)

    def get_execution_options(self) -> Mapping[str, Any]:
        """Those of the engine it came from."""
        return self._options

    def in_transaction(self) -> bool:
        """The statement commits by itself."""
        return False

    def invalidate(self) -> None:
        """Throw the driver's connection away instead of giving it back."""
        self.connection.invalidate()


def lean(engine: Engine) -> AbstractContextManager[Connection]:
    """A `Lean` where a Connection is asked for; given back on exit."""
    return cast("AbstractContextManager[Connection]", Lean(engine))
