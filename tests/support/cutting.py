"""A door before a server's unix socket that hangs up on a commit: before it is sent on, after that, or in its reply."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from sqlalchemy import make_url

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

CHUNK: Final = 65_536
PATIENCE_SECONDS: Final = 5.0
MOST: Final = 64
"""Connections that one door lets through in its life."""
COMMIT: Final = b"COMMIT\x00"
"""What a driver's commit has in it, as text or as a statement's."""


class Cut(StrEnum):
    """Where the connection dies, seen from a commit."""

    BEFORE_SEND = "before the commit is sent on"
    AFTER_SEND = "after it was sent on"
    AFTER_COMMIT = "after it was done, before any of the reply"
    DURING_REPLY = "within the reply"


class CuttingDoor:
    """Passes bytes both ways. Once armed, the n-th commit from then on is cut, and only that; new connections pass."""

    def __init__(self, url: str, folder: Path) -> None:
        asked = make_url(url)
        host, port = str(asked.query["host"]), str(asked.query.get("port", "5432"))
        name = f".s.PGSQL.{port}"
        self._server, self._own = f"{host}/{name}", folder / name
        database, place = quote(asked.database or ""), quote(str(folder), safe="/")
        self.url = f"postgresql://{asked.username}@/{database}?host={place}&port={port}"
        self.commits = 0
        self.cuts = 0
        self._at: int | None = None
        self._cut = Cut.BEFORE_SEND
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket(socket.AF_UNIX)

    def __enter__(self) -> Self:
        self._listener.bind(str(self._own))
        self._listener.listen(8)
        self._start(self._admit)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for end in (self._listener, *self._ends):
            with contextlib.suppress(OSError):  # hung up before
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        self._own.unlink(missing_ok=True)

    def arm(self, cut: Cut, at: int) -> None:
        """Cut the `at`-th commit from now on, counted from one."""
        with self._lock:
            self.commits, self._at, self._cut = 0, at, cut

    def _start(self, work: object, *arguments: socket.socket) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _admit(self) -> None:
        with self._listener as listener:
            for _ in range(MOST):
                try:
                    guest, _ = listener.accept()
                except OSError:
                    return  # shut
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._ends += [guest, server]
                self._start(self._pass, guest, server)

    def _pass(self, guest: socket.socket, server: socket.socket) -> None:
        with (
            guest,
            server,
            contextlib.suppress(OSError),
        ):  # a side that is gone reads as an error or as an end
            while True:
                ready, _, _ = select.select([guest, server], [], [])
                for source in ready:
                    data = source.recv(CHUNK)
                    if not data or (source is guest and self._dies(data, guest, server)):
                        return
                    (server if source is guest else guest).sendall(data)

    def _dies(self, data: bytes, guest: socket.socket, server: socket.socket) -> bool:
        """Whether the connection ends with these bytes of the client's."""
        if COMMIT not in data:
            return False
        with self._lock:
            self.commits += 1
            if self._at != self.commits:
                return False
            self._at = None
            self.cuts += 1
        if self._cut is Cut.BEFORE_SEND:
            return True
        server.sendall(data)
        if self._cut is Cut.AFTER_SEND:
            return True
        reply = server.recv(CHUNK)
        if self._cut is Cut.DURING_REPLY:
            guest.sendall(reply[: max(1, len(reply) // 2)])
        return True
