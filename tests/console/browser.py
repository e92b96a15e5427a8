"""A headless Chromium, told what to do through its debugging protocol. Only for pages of this machine."""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import aiohttp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE_SECONDS: Final = 30.0
STEP_SECONDS: Final = 0.05
_QUIET: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--window-size=1100,800", "--remote-debugging-port=0", "about:blank",
)  # fmt: skip


def program() -> str | None:
    """The browser that is installed, if any."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Tab:
    """One tab. `requests` are all addresses it asked for, `complaints` what it could not do."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.requests: list[str] = []
        self.complaints: list[Any] = []
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    async def ask(self, method: str, **params: Any) -> Any:
        """One command of the protocol; its result."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        return await asyncio.wait_for(self._answers[number], PATIENCE_SECONDS)

    async def value(self, expression: str) -> Any:
        """What a JavaScript expression is in the page."""
        found = await self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return found["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait for an expression to be true; AssertionError after the patience."""
        for _ in range(int(PATIENCE_SECONDS / STEP_SECONDS)):
            if await self.value(expression):
                return
            await asyncio.sleep(STEP_SECONDS)
        raise AssertionError(f"never: {expression}; {self.complaints}")

    async def end(self) -> None:
        """Stop listening."""
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        async for message in self._socket:
            self._take(message.json())

    def _take(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Network.webSocketCreated":
                self.requests.append(params["url"])
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                self.complaints.append(params["entry"])
            case "Runtime.exceptionThrown":
                self.complaints.append(params["exceptionDetails"])
            case None if (waiting := self._answers.pop(message["id"], None)) is not None:
                waiting.set_result(message.get("result", {}))


@asynccontextmanager
async def browsing(program_path: str, home: Path) -> AsyncIterator[Tab]:
    """A browser with one empty tab, until left."""
    process = await asyncio.create_subprocess_exec(
        program_path, f"--user-data-dir={home}", *_QUIET,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(PATIENCE_SECONDS), aiohttp.ClientSession() as session:
            where = await _address(process)
            async with session.get(f"http://{where}/json") as answer:
                (page,) = [each for each in await answer.json() if each["type"] == "page"]
            async with session.ws_connect(page["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                tab = Tab(socket)
                for domain in ("Network", "Log", "Runtime", "Page"):
                    await tab.ask(f"{domain}.enable")
                yield tab
                await tab.ask("Browser.close")
                await tab.end()
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        found = re.search(rb"listening on ws://([^/]+)/", line)
        if found:
            return found[1].decode()
    raise AssertionError("the browser did not start")
