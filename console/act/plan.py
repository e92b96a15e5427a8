"""`holdwatch plan delete` and `holdwatch plan release`: plans about threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from console.act import options
from console.act.making import filtered, make
from console.act.options import AboveRows, AboveUnits, AboveUsd, DryRun, MaybeReason  # noqa: TC001 - typer reads it at run time
from console.act.site import Site, site
from console.acting.plans import DeleteWish, ReleaseWish
from console.command_line import ConfigFile, Store  # noqa: TC001 - typer reads it at run time
from console.read.options import AsJson, Tenant  # noqa: TC001 - typer reads it at run time
from console.read.output import refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.model import ThreadStory

Threads = Annotated[
    list[str] | None,
    typer.Argument(metavar="THREAD", help="Ids of threads; - reads them from standard input, one a line."),
]
Filter = Annotated[
    str | None,
    typer.Option(
        "--filter", metavar="WORDS", help="All that a filter of the console's list means, instead of ids."
    ),
]


def delete(
    store: Store,
    threads: Threads = None,
    by_filter: Filter = None,
    alone: Annotated[bool, typer.Option("--alone", help="The threads without those below them.")] = False,
    tenant: Tenant = None,
    dry_run: DryRun = False,
    above_usd: AboveUsd = None,
    above_units: AboveUnits = None,
    above_rows: AboveRows = None,
    reason: MaybeReason = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Plan the deletion of threads with all their descendants; nothing goes before it is executed."""
    ids = _asked(threads, by_filter)
    with site(store, config, tenant) as found:
        wish = DeleteWish(_threads(found, "threads", ids, by_filter, tenant), alone)
        bounds = options.bounds(found.config, above_usd, above_units, above_rows)
        make(found, wish, bounds, reason, dry=dry_run, as_json=as_json)


def release(
    store: Store,
    threads: Threads = None,
    by_filter: Filter = None,
    tenant: Tenant = None,
    dry_run: DryRun = False,
    above_usd: AboveUsd = None,
    above_units: AboveUnits = None,
    above_rows: AboveRows = None,
    reason: MaybeReason = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Plan the release of the claims on threads; a holder that renews meanwhile keeps its own."""
    ids = _asked(threads, by_filter)
    with site(store, config, tenant) as found:
        wish = ReleaseWish(_threads(found, "claims", ids, by_filter, tenant))
        bounds = options.bounds(found.config, above_usd, above_units, above_rows)
        make(found, wish, bounds, reason, dry=dry_run, as_json=as_json)


def _asked(threads: list[str] | None, by_filter: str | None) -> tuple[str, ...]:
    ids = options.words(threads, "threads")
    if bool(ids) == (by_filter is not None):
        raise typer.BadParameter("give either ids of threads, - for those of standard input, or --filter")
    return ids


def _threads(
    found: Site, screen: str, ids: tuple[str, ...], by_filter: str | None, tenant: str | None
) -> tuple[str, ...]:
    if by_filter is not None:
        named = tuple(map(str, filtered(found, screen, by_filter, tenant)))
        if not named:
            refuse(f"nothing matches {by_filter!r}: there is nothing to plan")
        return named
    if tenant is not None:
        _check_tenant(found.gateway.story, ids, tenant)
    return ids


def _check_tenant(story: Callable[[str], ThreadStory | None], ids: tuple[str, ...], tenant: str) -> None:
    """End the command where a thread is another tenant's; one that is gone is for the plan to tell apart.

    A child belongs to whom its root belongs to, and mostly names no tenant of its own.
    """
    for thread in ids:
        told = story(thread)
        row = None if told is None else told.row
        inherited = told is not None and told.parent is not None and row is not None and row.tenant is None
        if row is not None and row.tenant != tenant and not inherited:
            refuse(f"thread {thread!r} is not of tenant {tenant!r}; nothing was planned")
