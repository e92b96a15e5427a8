"""PostgreSQL connections on which hot statements run without psycopg's cursors: a quarter of a commit (ruling 13).

A `Prepared` statement is prepared once on each connection. Nothing relies on that: where statements are not to be
prepared (behind a pooler, ruling 8), it runs like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import generators, pq
from psycopg.errors import error_from_result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg.pq.abc import PGresult

    from engine.database.prepared import Prepared

_FATAL = pq.ExecStatus.FATAL_ERROR


class HotConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that knows what it has prepared, and keeps one cursor for its `Statement`s."""

    _hot_cursor: psycopg.Cursor[tuple[Any, ...]] | None = None

    def kept_cursor(self) -> psycopg.Cursor[tuple[Any, ...]]:
        """One cursor, again and again; what it held of the statement before is gone."""
        if self._hot_cursor is None:
            self._hot_cursor = self.cursor()
        return self._hot_cursor

    def number(self, statement: Prepared, values: Mapping[str, str | int | None]) -> int | None:
        """Run it; the number in its first row, or None without a row."""
        if self.prepare_threshold is None or self._prepared._to_flush:  # noqa: SLF001
            row = self.execute(statement.text, values).fetchone()
            return None if row is None else int(row[0])
        parameters = [_encoded(values[name]) for name in statement.parameters]
        with self.lock:
            self._prepare_once(statement)
            self.pgconn.send_query_prepared(statement.name, parameters)
            result = self._outcome()
        found = result.get_value(0, 0) if result.ntuples else None
        return None if found is None else int(found)

    def _prepare_once(self, statement: Prepared) -> None:
        # Kept among psycopg's own, which it deallocates, and forgets, after every ROLLBACK.
        known, key = self._prepared._names, (statement.numbered, ())  # noqa: SLF001
        if key not in known:
            self.pgconn.send_prepare(statement.name, statement.numbered)
            self._outcome()
            known[key] = statement.name

    def _outcome(self) -> PGresult:
        """Wait as a cursor does: interruptible, and with the server's error as psycopg's own."""
        result: PGresult = self.wait(generators.execute(self.pgconn))[-1]
        if result.status == _FATAL:
            raise error_from_result(result, encoding="utf-8")
        return result


def _encoded(value: str | int | None) -> bytes | None:
    return None if value is None else str(value).encode()
