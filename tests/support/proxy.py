"""A door before a server's unix socket that can be shut: the server is gone for whoever comes through it."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from sqlalchemy import make_url

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType
    from typing import Self

PATIENCE_SECONDS: Final = 5.0
CHUNK: Final = 65_536
MOST: Final = 64
"""Connections that one door lets through in its life."""


class Door:
    """Listens in a folder of its own on the server's port and passes bytes both ways, from `open` to `shut`."""

    def __init__(self, url: str, folder: Path) -> None:
        asked = make_url(url)
        host, port = str(asked.query["host"]), str(asked.query.get("port", "5432"))
        name = f".s.PGSQL.{port}"
        self._server, self._own = f"{host}/{name}", folder / name
        database, place = quote(asked.database or ""), quote(str(folder), safe="/")
        self.url = f"postgresql://{asked.username}@/{database}?host={place}&port={port}"
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener: socket.socket | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shut()

    def open(self) -> None:
        """Let connections through from now on."""
        self._own.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._own))
        self._listener.listen(8)
        self._start(self._admit, self._listener)

    def shut(self) -> None:
        """End every connection, and let none through."""
        if self._listener is None:
            return
        self._own.unlink(missing_ok=True)
        for end in (self._listener, *self._ends):
            with contextlib.suppress(OSError):  # hung up before
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        self._ends.clear()
        self._threads.clear()
        self._listener = None

    def _start(self, work: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _admit(self, listener: socket.socket) -> None:
        with listener:
            for _ in range(MOST):
                try:
                    guest, _ = listener.accept()
                except OSError:
                    return  # shut
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._ends += [guest, server]
                self._start(_pass, guest, server)


def _pass(one: socket.socket, other: socket.socket) -> None:
    """Bytes both ways until either side hangs up."""
    across = {one: other, other: one}
    with one, other, contextlib.suppress(OSError):  # a side that is gone reads as an error or as an end
        while True:
            ready, _, _ = select.select([one, other], [], [])
            for source in ready:
                data = source.recv(CHUNK)
                if not data:
                    return
                across[source].sendall(data)
