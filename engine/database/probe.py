"""The look that makes a lost hint cost at most a second (ruling 21)."""

from __future__ import annotations

from typing import Any

import psycopg

from engine.database.snapshot import BOUNDARY, OLDEST

# A sequence is read as it stands now, so the boundary must be read after it.
_DRAWN = "SELECT last_value, is_called FROM event_position"
_SNAPSHOT = f"SELECT {OLDEST}, {BOUNDARY}"
_BURIED = (
    "SELECT deleted_at, thread_id FROM thread WHERE deleted_at IS NOT NULL"
    " ORDER BY deleted_at DESC, thread_id DESC LIMIT 1"
)


class Probe:
    """Tells whether an event or a delete may have been committed since the last look; three short reads.

    A position is drawn before its commit lands. So after a move every look says "maybe" until all
    transactions that could have made it have ended.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._seen: tuple[Any, ...] | None = None
        self._boundary: int | None = None

    def moved(self) -> bool:
        """Whether readers should look; True at the first call, and where this role may not look itself."""
        try:
            return self._look()
        except psycopg.ProgrammingError:
            return True

    def _look(self) -> bool:
        seen = (self._row(_DRAWN), self._row(_BURIED))
        oldest, boundary = self._row(_SNAPSHOT) or (0, 0)
        if seen != self._seen:
            self._seen, self._boundary = seen, boundary
            return True
        if self._boundary is None:
            return False
        if oldest >= self._boundary:
            self._boundary = None
        return True

    def _row(self, statement: str) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._connection.execute(statement).fetchone()
        return row
