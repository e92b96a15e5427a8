"""The one connection of a store in memory: whoever throws it away would throw the store away."""

from __future__ import annotations

from typing import Any

from engine.database.writer import WriterConnection


class KeptConnection(WriterConnection):
    """A connection that only its store's end closes. An interrupted call's own transaction is undone instead.

    SQLite is never left in the middle of something: an interrupt is raised between two calls of the library.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._functions: set[str] = set()

    def create_function(self, name: str, *definition: Any, **options: Any) -> None:
        """Once: SQLAlchemy adds its own to what it takes for a new connection, while other threads' statements run."""
        if name not in self._functions:
            super().create_function(name, *definition, **options)
            self._functions.add(name)

    def close(self) -> None:
        """Undo what the calling thread had begun; other threads use the connection too."""
        self.give_up()

    def end(self) -> None:
        """Close it for good."""
        super().close()
