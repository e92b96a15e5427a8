"""Looking at a SQLite file from outside the engine."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEME = "sqlite:///"


def path_of(url: str) -> Path:
    """The file that a URL names, verbatim (ruling 10)."""
    return Path(url.removeprefix(SCHEME))


def query(path: Path, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run one statement on a connection of its own and commit it; its rows."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return list(connection.execute(statement, values))


def dump(path: Path) -> list[str]:
    """Everything the file holds, as SQL."""
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """A write transaction of another program, rolled back at the end."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("ROLLBACK")


def open_descriptors(path: Path) -> int:
    """How many descriptors of this process are open on the file or on SQLite's own files beside it."""
    mine = [Path("/proc/self/fd") / name for name in _descriptors()]
    return sum(str(target).startswith(str(path)) for target in map(_target, mine))


def _descriptors() -> list[str]:
    return [entry.name for entry in Path("/proc/self/fd").iterdir()]


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:  # The descriptor that listed the folder is gone by now.
        return ""
