"""Where a test's store lives: files copied from a migrated one, or databases cloned from a migrated one."""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from typing import TYPE_CHECKING, Protocol

from sqlalchemy import NullPool, create_engine, make_url
from sqlalchemy.engine import URL

from engine import open_store

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Engine

    from engine.localpg import Server


class Storage(Protocol):
    """One kind of storage, shared by the tests of a process."""

    kind: str

    def migrated(self, home: Path) -> str:
        """The URL of a new store with the current schema and nothing in it."""
        ...

    def empty(self, home: Path) -> str:
        """The URL of a new storage without any schema."""
        ...

    def engine(self, url: str) -> Engine:
        """An engine of the test's own on that storage, keeping no connection."""
        ...

    def drop(self, url: str) -> None:
        """Throw that storage away."""
        ...


class SqliteFiles:
    """Files in each test's own folder."""

    kind = "sqlite"
    _scheme = "sqlite:///"

    def __init__(self, home: Path) -> None:
        self._template = home / "template.db"
        open_store(f"{self._scheme}{self._template}").close()
        connection = sqlite3.connect(self._template)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def migrated(self, home: Path) -> str:
        """See `Storage`."""
        url = self.empty(home)
        shutil.copyfile(self._template, url.removeprefix(self._scheme))
        return url

    def empty(self, home: Path) -> str:
        """See `Storage`; the file does not exist yet."""
        return f"{self._scheme}{home / f'{uuid.uuid4().hex}.db'}"

    def engine(self, url: str) -> Engine:
        """See `Storage`."""
        target = URL.create("sqlite+pysqlite", database=url.removeprefix(self._scheme))
        return create_engine(target, poolclass=NullPool)

    def drop(self, url: str) -> None:
        """Nothing to do: the file goes with the test's folder."""


class PostgresDatabases:
    """Databases on one throw-away server."""

    kind = "postgresql"
    _template = "holdwatch_template"

    def __init__(self, server: Server) -> None:
        self._server = server
        server.create(self._template)
        open_store(server.url(self._template)).close()

    def migrated(self, home: Path) -> str:
        """See `Storage`."""
        return self._create(template=self._template)

    def empty(self, home: Path) -> str:
        """See `Storage`."""
        return self._create(template=None)

    def engine(self, url: str) -> Engine:
        """See `Storage`."""
        target = make_url(url).set(drivername="postgresql+psycopg")
        return create_engine(target, poolclass=NullPool)

    def drop(self, url: str) -> None:
        """See `Storage`."""
        name = make_url(url).database
        assert name is not None
        self._server.drop(name)

    def _create(self, template: str | None) -> str:
        name = f"t_{uuid.uuid4().hex}"
        self._server.create(name, template=template)
        return self._server.url(name)
