"""How often a console that nobody touches asks its store: traced from inside, and counted by a server."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import psycopg

from engine.database.writer import WriterConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BOUNDS = ("BEGIN", "COMMIT", "ROLLBACK")
"""A transaction's beginning and its end are no queries."""


@contextmanager
def traced() -> Iterator[list[str]]:
    """The statements that the engine's connections run meanwhile."""
    seen: list[str] = []
    with (
        patch.object(WriterConnection, "cursor", _noting_sqlite(seen)),
        patch("psycopg.Cursor.execute", _noting(psycopg.Cursor.execute, seen)),
    ):
        yield seen


def _noting_sqlite(seen: list[str]) -> Callable[[WriterConnection], sqlite3.Cursor]:
    plain = WriterConnection.cursor
    kind = type("Noted", (sqlite3.Cursor,), {"execute": _noting(sqlite3.Cursor.execute, seen)})
    return lambda connection: plain(connection, kind)


def _noting(execute: Callable[..., Any], seen: list[str]) -> Callable[..., Any]:
    def noted(cursor: Any, statement: Any, *given: Any, **options: Any) -> Any:
        if not str(statement).startswith(_BOUNDS):
            seen.append(str(statement))
        return execute(cursor, statement, *given, **options)

    return noted


def statements_of_an_idle_console(url: str, settled: float, seconds: float) -> float:
    """Statements a second of one console in this process, once it has stood for `settled` seconds."""
    from console.app import HoldwatchApp
    from console.calls import Calls
    from console.gateway import EngineGateway
    from console.session import Session

    async def watch(seen: list[str]) -> float:
        gateway = EngineGateway(url)
        app = HoldwatchApp(Session(gateway, Calls(), time.monotonic))
        async with app.run_test(size=(120, 40)):
            await asyncio.sleep(settled)
            before = len(seen)
            await asyncio.sleep(seconds)
            return (len(seen) - before) / seconds

    with traced() as seen:
        found = asyncio.run(watch(seen))
    if not seen:
        raise AssertionError("nothing was traced: the statements do not pass where they are looked for")
    return found


def commits(url: str) -> int:
    """Transactions of a server's database so far, as the server itself counts them."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SELECT pg_stat_clear_snapshot()")
        row = connection.execute(
            "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return int(row[0])
