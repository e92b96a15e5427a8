"""The console in a browser: who may look, what the page asks for, and how it all ends."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import aiohttp
import pytest

from console import cli, cli_serve
from console.command_line import Exit
from console.web import assets, server
from console.web.listening import Endpoint, endpoint_of
from console.web.served import session_of
from console.web.wish import Wish
from engine import open_store
from tests.console import browser
from tests.console.test_terminal import step
from tests.support.background import until
from tests.tidy.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

SECONDS: Final = 30.0
ANYWHERE: Final = "127.0.0.1:0"
LOADS: Final = re.compile(
    r"""(?:src|href|action|data-[\w-]+-url)\s*=\s*["']?([^"'\s>]+)|url\(\s*["']?([^"')]+)"""
)
COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store in which one thread has begun."""
    found = tmp_path / "fleet.db"
    with open_store(f"sqlite:///{found}") as store:
        step(store, "thr_one")
    return found


class Served:
    """`holdwatch serve` as a process; `address` is what it printed."""

    def __init__(self, store: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "console", "serve", str(store), "--listen", ANYWHERE],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        assert found is not None
        self.address = found[0]

    @property
    def site(self) -> str:
        """Scheme, host and port alone."""
        return f"http://{urlsplit(self.address).netloc}"

    @property
    def socket(self) -> str:
        """Where a tab's console is spoken to."""
        return self.address.replace("http", "ws") + "ws?width=100&height=30"

    def children(self) -> list[int]:
        """The processes that it has started and that live."""
        found = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False
        )
        return [int(word) for word in found.stdout.split()]

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        """Send a signal: exit code, and the rest of what it says on each stream."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


@pytest.fixture
def served(path: Path) -> Iterator[Served]:
    """The store, served."""
    found = Served(path)
    yield found
    if found.process.poll() is None:
        found.end(signal.SIGINT)  # in order: it ends the consoles it has started


def talk(scene: Callable[[aiohttp.ClientSession], Awaitable[None]]) -> None:
    """Run a scene with an HTTP client."""

    async def play() -> None:
        async with asyncio.timeout(SECONDS), aiohttp.ClientSession() as client:
            await scene(client)

    asyncio.run(play())


async def receive(socket: aiohttp.ClientWebSocketResponse, wanted: bytes) -> bytes:
    """What the console draws until something stands in it."""
    drawn = b""
    while wanted not in drawn:
        message = await socket.receive(SECONDS)
        assert message.type is aiohttp.WSMsgType.BINARY, f"{message!r} after {drawn!r}"
        drawn += message.data
    return drawn


def loaded(text: str) -> set[str]:
    """The addresses that a page or a stylesheet loads or opens."""
    return {one or other for one, other in LOADS.findall(COMMENT.sub("", text))}


def test_the_page_and_its_files_name_no_other_host(served: Served) -> None:
    async def scene(client: aiohttp.ClientSession) -> None:
        async with client.get(served.address) as answer:
            page, policy = await answer.text(), answer.headers["Content-Security-Policy"]
        host = urlsplit(served.address).netloc
        assert f"connect-src ws://{host};" in policy
        assert "default-src 'none'" in policy
        assert "http" not in policy
        asked = loaded(page)
        for name in assets.names():
            async with client.get(f"{served.site}/assets/{name}") as answer:
                assert answer.status == 200, name
                body = await answer.read()
            if name.endswith(".css"):
                assert b"@import" not in body
                asked |= loaded(body.decode())
            elif name.endswith(".js"):
                assert re.findall(rb"(?:https?|wss?)://\w[\w.-]*", body) == []
        files = {f"/assets/{name}" for name in assets.names()}
        assert asked == files | {"data:,", served.socket.partition("?")[0]}

    talk(scene)


def test_a_tab_shows_the_store_takes_keys_and_ends(served: Served) -> None:
    async def scene(client: aiohttp.ClientSession) -> None:
        async with client.ws_connect(served.socket) as socket:
            first = await socket.receive(SECONDS)
            assert first.data.startswith(b"\x1b[?1049h")
            await receive(socket, b"thr_one")
            for nonsense in ("", "{", "[]", '["stdin"]', '["stdin", 4]', '["resize", {"width": "x"}]'):
                await socket.send_str(nonsense)
            await socket.send_json(["resize", {"width": 10**9, "height": -5}])
            await socket.send_json(["resize", {"width": 80, "height": 24}])
            await socket.send_json(["stdin", "\x1a"])  # there is no shell to go back to
            await socket.send_json(["stdin", "W"])
            await receive(socket, b"read-only by command line")
            await socket.send_json(["ping", 7])
            await socket.send_json(["stdin", "q"])
            said = [message async for message in socket]
            assert '["pong", 7]' in [message.data for message in said]
            assert socket.close_code == 1000
        await asyncio.to_thread(until, lambda: served.children() == [], "its process has ended")

    talk(scene)


def test_ctrl_c_ends_every_console_and_the_server(served: Served) -> None:
    async def scene(client: aiohttp.ClientSession) -> None:
        async with client.ws_connect(served.socket) as one, client.ws_connect(served.socket) as other:
            await receive(one, b"thr_one")
            await receive(other, b"thr_one")
            children = served.children()
            assert len(children) == 2
            code, _, err = await asyncio.to_thread(served.end, signal.SIGINT)
            assert (code, err) == (Exit.INTERRUPTED, "")
            await asyncio.to_thread(until, lambda: not any(map(lives, children)), "they have ended")

    talk(scene)


def lives(process: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_console_does_not_outlive_a_server_that_was_killed(served: Served) -> None:
    async def scene(client: aiohttp.ClientSession) -> None:
        async with client.ws_connect(served.socket) as socket:
            await receive(socket, b"thr_one")
            (child,) = served.children()
            assert (await asyncio.to_thread(served.end, signal.SIGKILL))[0] == -signal.SIGKILL
            await asyncio.to_thread(until, lambda: not lives(child), "it has ended")

    talk(scene)


def test_nobody_looks_without_the_key_or_from_another_page(served: Served) -> None:
    async def status(client: aiohttp.ClientSession, address: str, **headers: str) -> int:
        async with client.get(address, headers=headers) as answer:
            return answer.status

    async def scene(client: aiohttp.ClientSession) -> None:
        strange = f"{served.site}/{'x' * 22}/"
        assert await status(client, strange) == 403
        assert await status(client, strange + "ws") == 403
        assert await status(client, served.site) == 404
        assert await status(client, f"{served.site}/assets/..%2fseat.py") == 404
        assert await status(client, served.address, Host="evil.example") == 403
        assert await status(client, served.address, Origin="http://evil.example") == 403
        assert await status(client, served.address, Origin="null") == 403
        assert await status(client, served.address.replace("127.0.0.1", "localhost")) == 200
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await client.ws_connect(served.socket, headers={"Origin": "http://evil.example"})
        assert served.children() == []

    talk(scene)


def test_no_more_consoles_than_there_are_seats(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_SEATS", 0)

    async def play() -> None:
        async with (
            server.serving(Wish(str(path)), endpoint_of(ANYWHERE)) as address,
            aiohttp.ClientSession() as client,
            client.get(f"{address}ws") as answer,
        ):
            assert answer.status == 503

    asyncio.run(play())


def test_a_served_console_is_read_only_for_good(path: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'read_only = false\n[contexts.fleet]\nurl = "sqlite:///{path}"\nread_only = false\n')
    session = session_of(Wish("fleet", config=str(config)))
    assert session.contexts.opens is not None
    for each in (session, session.contexts.opens("fleet")):
        assert not each.writable
        assert each.forbids_writing == "read-only by command line --read-only"
        each.gateway.close()


@pytest.mark.parametrize(
    ("listen", "why"),
    [
        ("0.0.0.0:8080", "only this machine may look"),
        ("[::]:8080", "only this machine may look"),
        ("10.0.0.7:8080", "only this machine may look"),
        ("somewhere.example:8080", "write an address in figures"),
        ("127.0.0.1", "write host:port"),
        ("127.0.0.1:65536", "write host:port"),
    ],
)
def test_any_other_address_is_refused_with_the_reason(
    path: Path, listen: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["serve", str(path), "--listen", listen]) == Exit.USAGE
    said = capsys.readouterr().err
    assert why in said
    assert listen in said


def test_addresses_that_no_other_machine_reaches() -> None:
    assert endpoint_of("localhost:1") == Endpoint("127.0.0.1", 1)
    assert endpoint_of("127.9.9.9:0") == Endpoint("127.9.9.9", 0)
    assert str(endpoint_of("[::1]:80")) == "[::1]:80"


def test_without_the_extra_it_says_what_to_install(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    assert cli.run(["serve", str(path)]) == Exit.USAGE
    assert capsys.readouterr().err == f"holdwatch: {cli_serve.MISSING}\n"


def test_a_port_that_is_taken_and_a_store_that_is_not_there(
    served: Served, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = urlsplit(served.address).netloc
    assert cli.run(["serve", str(path), "--listen", taken]) == Exit.REFUSED
    assert f"{taken}: Address already in use" in capsys.readouterr().err
    assert cli.run(["serve", str(path.with_name("none.db"))]) == Exit.STORE_FAILURE
    assert "there is no store" in capsys.readouterr().err


@pytest.mark.skipif(browser.program() is None, reason="no Chromium is installed")
def test_in_a_browser(served: Served, tmp_path: Path) -> None:
    async def play() -> None:
        async with browser.browsing(browser.program() or "", tmp_path / "profile") as tab:
            await tab.ask("Page.navigate", url=served.address)
            await tab.until("document.body.classList.contains('-first-byte')")
            await tab.ask("Input.dispatchKeyEvent", type="keyDown", text="q", key="q")
            await tab.until("document.body.classList.contains('-closed')")
            assert await tab.value("getComputedStyle(document.getElementById('ended')).display") == "flex"
            assert {urlsplit(each).netloc for each in tab.requests if not each.startswith("data:")} == {
                urlsplit(served.address).netloc
            }
            assert [each for each in tab.requests if each.startswith("ws:")] != []
            assert tab.complaints == []

    asyncio.run(play())
