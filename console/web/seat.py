"""One console behind one browser tab: a process of its own, spoken to in the packets of Textual's web driver."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Final

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

from console.web.wish import SERVER_VARIABLE, WISH_VARIABLE

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from aiohttp import web

    from console.web.wish import Wish

LEAVE_SECONDS: Final = 3.0
"""A console that has not left by then is killed."""
MOST_COLUMNS: Final = 500
MOST_ROWS: Final = 200
_PIPE: Final = asyncio.subprocess.PIPE


class Seat(AppService):
    """The console of one tab. Its process ends with the tab, with the server, or by the operator's `q`."""

    def __init__(self, wish: Wish, socket: web.WebSocketResponse) -> None:
        super().__init__(
            "",
            write_bytes=socket.send_bytes,
            write_str=socket.send_str,
            close=self._close,
            download_manager=DownloadManager(),
        )
        self._wish = wish
        self._socket = socket

    async def serve(self, columns: int, rows: int) -> None:
        """Run the console until either side ends it."""
        try:
            await self.start(_within(columns, MOST_COLUMNS), _within(rows, MOST_ROWS))
            assert self._task is not None
            self._task.add_done_callback(lambda _: asyncio.ensure_future(self._close()))
            async for message in self._socket:
                await self._obey(message.data)
        finally:
            await self.stop()

    async def stop(self) -> None:
        """Ask the console to leave, and see to it that it does."""
        task, process = self._task, self._process
        if task is None or process is None:
            return
        self._task = None
        await self.send_meta({"type": "quit"})
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                await asyncio.shield(task)
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):  # it has just left
                process.kill()
            await process.wait()
            await task

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """The console in a session of its own: ctrl-C is for the server, which ends it in order."""
        told = {WISH_VARIABLE: self._wish.text, SERVER_VARIABLE: str(os.getpid())}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "console.web.served",
            stdin=_PIPE,
            stdout=_PIPE,
            stderr=None,
            env=self._build_environment(width, height) | told,
            start_new_session=True,
        )
        self._stdin = self._process.stdin
        # What it has to complain of goes where the server's own complaints go, and is not kept until its end.
        self._process.stderr = asyncio.StreamReader()
        self._process.stderr.feed_eof()
        return self._process

    async def _obey(self, text: object) -> None:
        """One message of the page; what is none of its own is passed over."""
        match _read(text):
            case ["stdin", str(typed)]:
                await self.send_bytes(typed.encode("utf-8", "replace"))
            case ["resize", {"width": int(columns), "height": int(rows)}]:
                await self.set_terminal_size(_within(columns, MOST_COLUMNS), _within(rows, MOST_ROWS))
            case ["ping", stamp]:
                await self._socket.send_json(["pong", stamp])
            case ["blur", *_]:
                await self.blur()
            case ["focus", *_]:
                await self.focus()

    async def _close(self) -> None:
        await self._socket.close()


def _read(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _within(cells: int, most: int) -> int:
    return min(max(cells, 1), most)
