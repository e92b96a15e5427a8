"""Where the contenders work: databases of one durable server, and files in one folder."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine import localpg, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.localpg import Server

SETTINGS = {"fsync": "on", "max_wal_size": "4GB", "shared_buffers": "128MB"}


@dataclass(frozen=True, slots=True)
class Places:
    """New, empty places of either kind; all gone at the end."""

    server: Server
    folder: Path
    threads: int
    """Threads of the large store."""
    events: int = 0
    """Events of the store that the console looks at."""
    stores: tuple[str, ...] = ()
    """Stores for the console to look at, in the place of new ones."""

    def database(self, name: str) -> str:
        """The URL of a new database without tables."""
        return self.server.create(name)

    def migrated(self, name: str) -> str:
        """The URL of a new database with the engine's tables: a floor pays for the same indexes."""
        url = self.database(name)
        open_store(url).close()
        return url

    def file(self, name: str) -> Path:
        """A path at which nothing is."""
        return self.folder / f"{name}.db"

    def migrated_file(self, name: str) -> Path:
        """A SQLite file with the engine's tables."""
        path = self.file(name)
        open_store(f"sqlite:///{path}").close()
        return path


@contextmanager
def places(threads: int, events: int = 0, stores: tuple[str, ...] = ()) -> Iterator[Places]:
    """A server that waits for its disk, and a folder on the disk the server uses."""
    with tempfile.TemporaryDirectory(prefix="holdwatch-bench-") as folder, localpg.start(SETTINGS) as server:
        yield Places(server, Path(folder), threads, events, stores)
