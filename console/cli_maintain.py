"""The commands that keep a store in the background: `holdwatch maintain` and `holdwatch metrics` (ruling 49)."""

from __future__ import annotations

import json
import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from console import stores, targets
from console.command_line import Exit, Store
from console.model import GatewayError
from console.spans import span_of
from console.stopping import stoppable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import timedelta

    from console.gateway.upkeep import Report, Upkeep
    from console.stopping import Stop

LISTEN: Final = "127.0.0.1:9187"
BUSY: Final = "another process maintains this store: holdwatch/maintenance is claimed; try again later"
_CODES: Final = {"validation": Exit.USAGE, "guard": Exit.REFUSED}
"""What errors of the engine mean for the exit code; any other is a failure of the store."""


def maintain(
    store: Store,
    interval: Annotated[str, typer.Option(metavar="SPAN", help="Between two passes.")] = "10m",
    max_age: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Remove checkpoints and events older than 30m, 12h or 90d."),
    ] = None,
    max_checkpoints: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Remove a thread's checkpoints beyond its newest N, and the events from before those.",
        ),
    ] = None,
    max_events: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Remove a thread's events beyond its newest N."),
    ] = None,
    tombstone_age: Annotated[
        str | None, typer.Option(metavar="SPAN", help="Forget threads deleted longer ago.")
    ] = None,
    meter_age: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="Forget what meters settled longer ago; longer than your longest rolling window.",
        ),
    ] = None,
    guard: Annotated[
        str | None, typer.Option(metavar="MODULE:FUNCTION", help="Says which runs of a page's threads stay.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Make one pass and leave.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print each pass as a line of JSON.")] = False,
) -> None:
    """Sweep a store and its lapsed reserved rows every so often, while no other process does.

    Each limit removes by itself: none protects what another one removes. A limit that is not given removes nothing.
    """
    from console.gateway.upkeep import Upkeep

    upkeep = Upkeep(
        interval=_span("--interval", interval),
        max_age=_optional("--max-age", max_age),
        max_checkpoints=max_checkpoints,
        max_events=max_events,
        tombstone_age=_optional("--tombstone-age", tombstone_age),
        guard=guard,
        meter_age=_optional("--meter-age", meter_age),
    )
    keep = _once if once else _on_and_on
    with stoppable() as stop, _background():
        keep(targets.url_of(store), upkeep, stop, _as_json if as_json else _as_text)
    raise typer.Exit(stop.code)


def metrics(
    store: Store,
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where Prometheus reads it.")] = LISTEN,
) -> None:
    """Serve a store's figures for Prometheus."""
    from console.gateway.upkeep import serving_metrics

    url = targets.url_of(store)
    with stoppable() as stop, _background(), serving_metrics(url, listen) as where:
        typer.echo(f"{stores.label_of(url).address} is measured at {where}")
        stop.event.wait()
    raise typer.Exit(stop.code)


def _once(url: str, upkeep: Upkeep, stop: Stop, tell: Callable[[Report], None]) -> None:
    from console.gateway.upkeep import maintain_once

    done = maintain_once(url, upkeep, stop.event)
    if done is None:
        typer.echo(f"holdwatch: {BUSY}", err=True)
        raise typer.Exit(Exit.REFUSED)
    tell(done)


def _on_and_on(url: str, upkeep: Upkeep, stop: Stop, tell: Callable[[Report], None]) -> None:
    from console.gateway.upkeep import maintain as keep

    keep(url, upkeep, stop.event, tell)


def _as_json(done: Report) -> None:
    typer.echo(json.dumps(done))


def _as_text(done: Report) -> None:
    removed = (
        f"{done['checkpoints_removed']} checkpoints, {done['events_removed']} events and "
        f"{done['tombstones_reclaimed']} tombstones removed"
    )
    visited = f"{_many(done['visited'], 'thread')} visited in {_many(done['pages'], 'page')}"
    typer.echo(f"{visited}: {removed}")
    if done["reserved_examined"] or done["reserved_errors"]:
        typer.echo(_reserved_text(done))
    if done["units_purged"] or done["accounts_purged"] or done["meter_errors"]:
        typer.echo(_meters_text(done))


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _reserved_text(done: Report) -> str:
    text = f"{done['reserved_collected']} of {done['reserved_examined']} reserved rows had lapsed and were removed"
    failed = done["reserved_errors"]
    return f"{text}; {failed} tables could not be swept" if failed else text


def _meters_text(done: Report) -> str:
    text = f"{done['units_purged']} settled reservations and {done['accounts_purged']} idle accounts of meters removed"
    failed = done["meter_errors"]
    return f"{text}; {failed} meters could not be purged" if failed else text


def _span(option: str, text: str) -> timedelta:
    try:
        return span_of(text)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}") from error


def _optional(option: str, text: str | None) -> timedelta | None:
    return None if text is None else _span(option, text)


@contextmanager
def _background() -> Iterator[None]:
    """Warnings go to standard error with the time; what the engine refuses becomes an exit code."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    try:
        yield
    except GatewayError as error:
        code = _CODES.get(error.code, Exit.STORE_FAILURE)
        typer.echo(f"holdwatch: {error}", err=True)
        raise typer.Exit(code) from error


def register(app: Any) -> None:
    """Add the commands to the command line."""
    app.command()(maintain)
    app.command()(metrics)
