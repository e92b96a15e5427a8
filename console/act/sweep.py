"""`holdwatch plan sweep`: what a retention policy would take away, frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from console.act import options
from console.act.making import make
from console.act.options import AboveRows, AboveUnits, AboveUsd, DryRun, MaybeReason  # noqa: TC001 - typer reads it at run time
from console.act.site import site
from console.acting.observed import seen_at
from console.acting.plans import SweepPart, SweepWish
from console.command_line import ConfigFile, Store  # noqa: TC001 - typer reads it at run time
from console.read.options import AsJson  # noqa: TC001 - typer reads it at run time

if TYPE_CHECKING:
    from datetime import datetime

Tables = Annotated[
    list[str] | None,
    typer.Argument(metavar="TABLE", help="Of --lapsed: these tables instead of all that have such rows."),
]
MaxAge = Annotated[
    str | None, typer.Option(metavar="SPAN", help="Remove checkpoints and events older than 30m, 12h or 90d.")
]
MaxCheckpoints = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Remove a thread's checkpoints beyond its newest N, and the events from before those.",
    ),
]
MaxEvents = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Remove a thread's events beyond its newest N.")
]


def sweep(
    store: Store,
    tables: Tables = None,
    max_age: MaxAge = None,
    max_checkpoints: MaxCheckpoints = None,
    max_events: MaxEvents = None,
    tombstones: Annotated[
        str | None, typer.Option(metavar="SPAN", help="Forget threads deleted longer ago.")
    ] = None,
    lapsed: Annotated[bool, typer.Option("--lapsed", help="Tentative rows whose time is over.")] = False,
    meters_before: Annotated[
        str | None,
        typer.Option(
            metavar="TIME|SPAN", help="What meters settled before that time, or longer ago than 90d."
        ),
    ] = None,
    meter: Annotated[
        list[str] | None, typer.Option(metavar="PREFIX", help="Only this meter; may be given again.")
    ] = None,
    prefix: Annotated[str, typer.Option(metavar="ID", help="Only threads whose ids begin so.")] = "",
    guard: Annotated[
        str | None, typer.Option(metavar="MODULE:FUNCTION", help="Says which runs of a page's threads stay.")
    ] = None,
    dry_run: DryRun = False,
    above_usd: AboveUsd = None,
    above_units: AboveUnits = None,
    above_rows: AboveRows = None,
    reason: MaybeReason = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Plan a sweep: of threads, tombstones, lapsed rows and old rows of meters.

    Each limit removes by itself: none protects what another one removes. A limit that is not given removes nothing.
    """
    keeps = (options.span("--max-age", max_age), options.count(max_checkpoints, "--max-checkpoints"),
             options.count(max_events, "--max-events"))  # fmt: skip
    buried = options.span("--tombstones", tombstones)
    chosen = {
        SweepPart.THREADS: any(each is not None for each in keeps),
        SweepPart.TOMBSTONES: buried is not None,
        SweepPart.LAPSED: lapsed,
        SweepPart.METERS: meters_before is not None,
    }
    _check(chosen, tables, meter)
    parts = frozenset(part for part, meant in chosen.items() if meant)
    with site(store, config) as found:
        before = None if meters_before is None else _before(meters_before, found.now())
        wish = SweepWish(
            parts, *keeps, buried, prefix, tuple(tables or ()), tuple(meter or ()), before, guard
        )
        bounds = options.bounds(found.config, above_usd, above_units, above_rows)
        make(found, wish, bounds, reason, dry=dry_run, as_json=as_json)


def _check(chosen: dict[SweepPart, bool], tables: list[str] | None, meter: list[str] | None) -> None:
    if not any(chosen.values()):
        raise typer.BadParameter(
            "say what may go: --max-age, --max-checkpoints, --max-events, --tombstones, --lapsed, --meters-before"
        )
    if tables and not chosen[SweepPart.LAPSED]:
        raise typer.BadParameter(f"{tables[0]!r}: tables belong to --lapsed")
    if meter and not chosen[SweepPart.METERS]:
        raise typer.BadParameter("--meter belongs to --meters-before")


def _before(text: str, now: datetime) -> datetime:
    """An instant as it stands, or so long before the store's now."""
    typed = text if "-" in text else f"{text} ago"
    at: datetime = options.value("--meters-before", lambda: seen_at(typed, now))
    return at
