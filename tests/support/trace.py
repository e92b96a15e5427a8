"""A log of every statement that the drivers get, and of those that ran without a limit to their time."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self
from unittest.mock import patch

import psycopg
from psycopg.pq import TransactionStatus

from engine.database.writer import WriterConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_NO_QUERY: Final = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA", "LISTEN", "UNLISTEN", "SELECT pg_notify")
_FOR_GOOD: Final = "SET statement_timeout"
_OFFSET: Final = re.compile(r"\bOFFSET\s+(\S+?)(?=[\s)]|$)", re.IGNORECASE)
_LIMIT: Final = "SET LOCAL statement_timeout"


@dataclass(slots=True)
class Trace:
    """`ran` is all of it; `unlimited` are the queries that nothing would have ended, `skipping` those that pass over
    rows by their number.
    """

    ran: list[str] = field(default_factory=list)
    unlimited: list[str] = field(default_factory=list)
    skipping: list[str] = field(default_factory=list)
    _bounded: set[int] = field(default_factory=set)
    _for_good: set[int] = field(default_factory=set)

    def note(self, connection: Any, statement: str, values: Any, *, bounded: bool) -> None:
        """A statement is about to run."""
        if statement.startswith("BEGIN"):
            (self._bounded.add if _LIMIT in statement else self._bounded.discard)(id(connection))
        elif statement.startswith(_FOR_GOOD):
            self._for_good.add(id(connection))
        elif not statement.startswith(_NO_QUERY):
            self.ran.append(statement)
            if not bounded:
                self.unlimited.append(statement)
            if _skips(statement, values):
                self.skipping.append(statement)

    def limited(self, connection: Any) -> bool:
        """Whether the server was given a limit for the transaction that a connection is in, or for all of its time."""
        within = connection.info.transaction_status == TransactionStatus.INTRANS
        return (within and id(connection) in self._bounded) or id(connection) in self._for_good


def _skips(statement: str, values: Any) -> bool:
    """Whether it has an OFFSET; SQLAlchemy gives SQLite one of 0 with every LIMIT."""
    found = _OFFSET.finditer(statement)
    return any(each[1] != "?" or values[statement.count("?", 0, each.start(1))] != 0 for each in found)


@contextmanager
def tracing() -> Iterator[Trace]:
    """What any connection of this process runs meanwhile."""
    trace = Trace()
    with _postgresql(trace), _sqlite(trace):
        yield trace


@contextmanager
def _postgresql(trace: Trace) -> Iterator[None]:
    execute: Callable[..., Any] = psycopg.Cursor.execute

    def noted(cursor: Any, statement: Any, *given: Any, **options: Any) -> Any:
        text = statement if isinstance(statement, str) else repr(statement)
        trace.note(
            cursor.connection, text, given[0] if given else (), bounded=trace.limited(cursor.connection)
        )
        return execute(cursor, statement, *given, **options)

    with patch.object(psycopg.Cursor, "execute", noted):
        yield


@contextmanager
def _sqlite(trace: Trace) -> Iterator[None]:
    limits: set[int] = set()
    cursor, limiting = WriterConnection.cursor, WriterConnection.set_progress_handler

    class Noted(sqlite3.Cursor):
        def execute(self, statement: str, *given: Any) -> Self:
            trace.note(
                self.connection, statement, given[0] if given else (), bounded=id(self.connection) in limits
            )
            return super().execute(statement, *given)

    def limit(connection: WriterConnection, handler: Any, steps: int) -> None:
        (limits.discard if handler is None else limits.add)(id(connection))
        limiting(connection, handler, steps)

    with (
        patch.object(WriterConnection, "cursor", lambda connection: cursor(connection, Noted)),
        patch.object(WriterConnection, "set_progress_handler", limit),
    ):
        yield
