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
        self._bound: tuple[Any, int] | None = None

    def begin_immediate(self, patience: float | None = None) -> None:
        """See `WriterConnection`."""
        self._began = True
        try:
            self._shared.begin_immediate(patience)
        except BaseException:
            self._began = False
            raise
        if self._bound is not None:
            self._shared.set_progress_handler(*self._bound)

    def commit(self) -> None:
        """See `WriterConnection`."""
        self._unbind()
        self._shared.commit()
        self._began = False

    def rollback(self) -> None:
        """See `WriterConnection`."""
        self._unbind()
        self._shared.rollback()
        self._began = False

    def close(self) -> None:
        """End the turn."""
        if self._began:
            self.rollback()

    def set_progress_handler(self, ask: Any, steps: int) -> None:
        """Bound the next transaction by `ask`, and no other: before it begins, another thread's may be running.

        SQLite's own lock is held by whoever runs a statement, and Python's by whoever sets a handler: each would wait
        for the other.
        """
        self._unbind()
        self._bound = None if ask is None else (ask, steps)

    def _unbind(self) -> None:
        if self._bound is not None and self._began:
            self._shared.set_progress_handler(None, self._bound[1])

    def create_function(self, *_definition: Any, **_options: Any) -> None:
        """Nothing: SQLAlchemy's REGEXP is not needed, and SQLite adds no function while statements run."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shared, name)
