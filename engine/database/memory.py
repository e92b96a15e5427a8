"""The one connection of a store in memory, as each of its users sees it: whoever closed it would end the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.database.writer import WriterConnection


class SharedConnection:
    """One user's turn at the only connection. Closing it, as an interrupted call does, undoes its own transaction.

    That is enough: SQLite is never left in the middle of something, as an interrupt is raised between two calls of it.
    """

    def __init__(self, shared: WriterConnection) -> None:
        self._shared = shared
        self._began = False

    def begin_immediate(self, patience: float | None = None) -> None:
        """See `WriterConnection`."""
        self._began = True
        try:
            self._shared.begin_immediate(patience)
        except BaseException:
            self._began = False
            raise

    def commit(self) -> None:
        """See `WriterConnection`."""
        self._shared.commit()
        self._began = False

    def rollback(self) -> None:
        """See `WriterConnection`."""
        self._shared.rollback()
        self._began = False

    def close(self) -> None:
        """End the turn."""
        if self._began:
            self.rollback()

    def create_function(self, *_definition: Any, **_options: Any) -> None:
        """Nothing: SQLAlchemy's REGEXP is not needed, and SQLite adds no function while statements run."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shared, name)
