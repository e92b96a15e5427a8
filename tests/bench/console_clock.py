"""Time that the databases' drivers spend: waiting for a server, or inside SQLite. Not what is made of the rows."""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from engine.database.hot import HotConnection
from engine.database.writer import WriterConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Stopwatch:
    """`seconds` of all driver calls since it was set to nought; for one thread."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timing(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, timed."""

        def timed(*given: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return call(*given, **options)
            finally:
                self.seconds += time.perf_counter() - start

        return timed


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Time what connections of the engine do meanwhile, those included that stand already."""
    watch = Stopwatch()
    names = ("execute", "fetchone", "fetchmany", "fetchall")
    timed = type(
        "Timed", (sqlite3.Cursor,), {each: watch.timing(getattr(sqlite3.Cursor, each)) for each in names}
    )
    cursor, wait = WriterConnection.cursor, HotConnection.wait
    with (
        patch.object(WriterConnection, "cursor", lambda connection: cursor(connection, timed)),
        patch.object(HotConnection, "wait", watch.timing(wait)),
    ):
        yield watch
