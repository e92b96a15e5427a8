"""`holdwatch serve`: the console in a browser of this machine (console.md 4.1, "Web")."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from console.command_line import ConfigFile, ContextOrStore  # noqa: TC001 - typer reads them
from console.config import Asked
from console.read.options import Cap, Tenant, cap_of
from console.stopping import stoppable
from console.web import USUAL

if TYPE_CHECKING:
    from console.stopping import Stop
    from console.web.listening import Endpoint
    from console.web.wish import Wish

MISSING: Final = "the browser needs the extra `web`: pip install 'holdwatch[web]'"


def serve(
    store: ContextOrStore = None,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="A loopback address; port 0 takes any free one.")
    ] = USUAL,
    cap: Cap = None,
    tenant: Tenant = None,
    config: ConfigFile = None,
) -> None:
    """Show the console in a browser of this machine, read-only."""
    import asyncio

    from console.starting import opener_of, usual_context
    from console.targets import target_of
    from console.web.listening import endpoint_of
    from console.web.wish import Wish

    try:
        endpoint = endpoint_of(listen)
    except ValueError as error:
        raise typer.BadParameter(f"--listen: {error}") from error
    _check_installed()
    opener = opener_of(config, Asked(tenant=tenant, read_only=True))
    word = store or usual_context(opener)
    target_of(word, opener.config)
    where = None if config is None else str(Path(config).absolute())
    with stoppable() as stop:
        asyncio.run(_serve(Wish(word, cap_of(cap), tenant, config=where), endpoint, stop))
    raise typer.Exit(stop.code)


async def _serve(wish: Wish, endpoint: Endpoint, stop: Stop) -> None:
    import asyncio

    from console.web.server import serving

    async with serving(wish, endpoint) as address:
        typer.echo(f"the console is at {address}\nread-only, for this machine alone; ctrl-C ends it")
        await asyncio.to_thread(stop.event.wait)


def _check_installed() -> None:
    try:
        import aiohttp  # noqa: F401
        import textual_serve  # noqa: F401
    except ImportError as error:
        raise typer.TyperException(MISSING) from error


def register(app: Any) -> None:
    """Add the command to the command line."""
    app.command()(serve)
