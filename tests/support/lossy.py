"""A unix socket between a store and its PostgreSQL server that can lose one answer (ruling 3)."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sqlalchemy import make_url

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

SOCKET = ".s.PGSQL.5432"
IDLE = b"I"
CHUNK = 65536


class LossyLink:
    """Passes everything through until `arm`ed; then loses one answer together with its connection.

    The answer lost is the first whose command tag satisfies the condition and after which the server is idle
    again, outside any transaction: what it did has been committed.
    """

    def __init__(self, url: str) -> None:
        parsed = make_url(url)
        folder = parsed.query["host"]
        assert isinstance(folder, str), "the test server listens on a unix socket"
        self._server = str(Path(folder) / SOCKET)
        self._folder = Path(tempfile.mkdtemp(prefix="lossy-"))
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._folder / SOCKET))
        self._listener.listen()
        self._condition: Callable[[bytes], bool] | None = None
        self._lock = threading.Lock()
        self.lost = 0
        self.url = parsed.update_query_dict({"host": str(self._folder)}).render_as_string(hide_password=False)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # Wakes the thread in accept(), which closing alone would not.
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        shutil.rmtree(self._folder)

    def arm(self, condition: Callable[[bytes], bool]) -> None:
        """Lose the next answer for whose command tag the condition holds."""
        self._condition = condition

    def loses(self, tag: bytes) -> bool:
        """Whether this answer is the one to lose; says so once."""
        with self._lock:
            if self._condition is None or not self._condition(tag):
                return False
            self._condition = None
            self.lost += 1
            return True

    def _accept(self) -> None:
        with suppress(OSError):  # The listener was shut down.
            while True:
                client, _ = self._listener.accept()
                _Relay(self, client, self._server).start()


class _Relay:
    """One connection: two threads that copy bytes, of which the server's are read as messages."""

    def __init__(self, link: LossyLink, client: socket.socket, server: str) -> None:
        self._link, self._client = link, client
        self._server = socket.socket(socket.AF_UNIX)
        self._server.connect(server)
        self._tag = b""

    def start(self) -> None:
        for copy in (self._upwards, self._downwards):
            threading.Thread(target=self._until_closed, args=(copy,), daemon=True).start()

    def _until_closed(self, copy: Callable[[], None]) -> None:
        with suppress(OSError):  # One end hung up.
            copy()
        for end in (self._client, self._server):
            with suppress(OSError):  # It may be gone already.
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _upwards(self) -> None:
        while data := self._client.recv(CHUNK):
            self._server.sendall(data)

    def _downwards(self) -> None:
        pending = bytearray()
        while data := self._server.recv(CHUNK):
            pending += data
            while (message := _take(pending)) is not None:
                if self._ends_idle(message):
                    return
                self._client.sendall(message)

    def _ends_idle(self, message: bytes) -> bool:
        """ReadyForQuery: the request is answered. True when this is the answer to lose."""
        if message[:1] == b"C":
            self._tag = message[5:].rstrip(b"\0")
        if message[:1] != b"Z":
            return False
        tag, self._tag = self._tag, b""
        return message[5:6] == IDLE and self._link.loses(tag)


def _take(pending: bytearray) -> bytes | None:
    """The first whole message: a type byte, and a length that counts itself."""
    if len(pending) < 5:
        return None
    size = 1 + int.from_bytes(pending[1:5], "big")
    if len(pending) < size:
        return None
    message = bytes(pending[:size])
    del pending[:size]
    return message
