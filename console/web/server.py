"""The server behind `holdwatch serve`: one page, its files, and a websocket for each tab's console.

A page of another site that is open in the same browser can reach loopback too, and so can every user of this
machine. So the address holds a key that is drawn anew each time, and a request must have been made to this server's own
name and, where the browser tells, from its own page.
"""

from __future__ import annotations

import asyncio
import secrets
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from aiohttp import web

from console.web import assets
from console.web.listening import Endpoint
from console.web.seat import Seat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from console.web.wish import Wish

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

MOST_SEATS: Final = 8
"""Consoles at once: each is a process with connections of its own."""
KEY_BYTES: Final = 16
HEARTBEAT_SECONDS: Final = 15.0
LARGEST_MESSAGE: Final = 1 << 20
CLOSE_SECONDS: Final = 1.0


class Site:
    """Everything that is served at one endpoint."""

    def __init__(self, wish: Wish, endpoint: Endpoint, key: str) -> None:
        self._wish = wish
        self._endpoint = endpoint
        self._key = key
        self._seats: set[Seat] = set()

    def application(self) -> web.Application:
        """The routes, behind the one check of who asks."""
        application = web.Application(middlewares=[self._check])
        application.router.add_get("/assets/{name}", self._asset)
        application.router.add_get("/{key}/", self._page)
        application.router.add_get("/{key}/ws", self._socket)
        application.on_shutdown.append(self._end)
        return application

    @web.middleware
    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        names = self._endpoint.names
        origin = request.headers.get("Origin")
        if request.host not in names or (origin is not None and origin.partition("://")[2] not in names):
            raise web.HTTPForbidden(text="this page answers to its own address only\n")
        key = request.match_info.get("key")
        if key is not None and not secrets.compare_digest(key.encode(), self._key.encode()):
            raise web.HTTPForbidden(text="open the whole address that holdwatch serve has printed\n")
        return await handler(request)

    async def _page(self, request: web.Request) -> web.Response:
        headers = {
            "Content-Security-Policy": assets.policy(request.host),
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }
        return web.Response(
            text=assets.page(request.host, self._key), content_type="text/html", headers=headers
        )

    async def _asset(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        try:
            body = assets.asset(name)
        except KeyError as error:
            raise web.HTTPNotFound(text=f"there is no {name!r} here\n") from error
        return web.Response(
            body=body, content_type=assets.kind_of(name), headers={"X-Content-Type-Options": "nosniff"}
        )

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        if len(self._seats) >= MOST_SEATS:
            raise web.HTTPServiceUnavailable(text=f"{MOST_SEATS} consoles are open; close a tab first\n")
        answer = web.WebSocketResponse(heartbeat=HEARTBEAT_SECONDS, max_msg_size=LARGEST_MESSAGE)
        seat = Seat(self._wish, answer)
        self._seats.add(seat)
        try:
            await answer.prepare(request)
            await seat.serve(_cells(request, "width", 80), _cells(request, "height", 24))
        finally:
            self._seats.discard(seat)
        return answer

    async def _end(self, _application: web.Application) -> None:
        """End every console before the server goes."""
        await asyncio.gather(*(seat.stop() for seat in self._seats))


def _cells(request: web.Request, name: str, otherwise: int) -> int:
    text = request.query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else otherwise


@asynccontextmanager
async def serving(wish: Wish, asked: Endpoint) -> AsyncIterator[str]:
    """Serve until left; yields the address to open. OSError where the endpoint cannot be had."""
    listening = _listening(asked)
    endpoint = Endpoint(asked.host, listening.getsockname()[1])
    key = secrets.token_urlsafe(KEY_BYTES)
    runner = web.AppRunner(
        Site(wish, endpoint, key).application(), access_log=None, shutdown_timeout=CLOSE_SECONDS
    )
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield f"http://{endpoint}/{key}/"
    finally:
        await runner.cleanup()


def _listening(endpoint: Endpoint) -> socket.socket:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    try:
        return socket.create_server((endpoint.host, endpoint.port), family=family)
    except OSError as error:
        raise OSError(error.errno, f"{endpoint}: {error.strerror}") from error
