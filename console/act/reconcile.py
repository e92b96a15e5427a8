"""`holdwatch plan reconcile`: a pass over what is due, with whoever is to answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from console.act import options
from console.act.making import filtered, make
from console.act.options import AboveRows, AboveUnits, AboveUsd, DryRun, MaybeReason  # noqa: TC001 - typer reads it at run time
from console.act.plan import Filter  # noqa: TC001 - typer reads it at run time
from console.act.site import site
from console.acting.plans import ReconcileWish, Source
from console.command_line import ConfigFile, Store  # noqa: TC001 - typer reads it at run time
from console.config.acting import AfterLease
from console.money_words import Address, Kind
from console.read.options import AsJson, word_of
from console.read.output import refuse

if TYPE_CHECKING:
    from console.act.site import Site
    from console.config import Config


def reconcile(
    store: Store,
    source: Annotated[
        str,
        typer.Option(
            metavar="default|resolver|ask", help="Who decides: the default, a resolver, or a person."
        ),
    ],
    rows: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ROW",
            help="day:ID or meter:PREFIX:ID instead of whole kinds; - reads them from standard input.",
        ),
    ] = None,
    by_filter: Filter = None,
    day: Annotated[bool, typer.Option("--day", help="All that is due in the day store.")] = False,
    meters: Annotated[bool, typer.Option("--meters", help="All that is due, of every meter.")] = False,
    meter: Annotated[
        list[str] | None, typer.Option(metavar="PREFIX", help="Of this meter; may be given again.")
    ] = None,
    after_lease: Annotated[
        str | None,
        typer.Option(metavar="release|consume", help="What the default makes of a meter's expired units."),
    ] = None,
    resolver: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the plan calls the resolver that is to answer.")
    ] = None,
    dry_run: DryRun = False,
    above_usd: AboveUsd = None,
    above_units: AboveUnits = None,
    above_rows: AboveRows = None,
    reason: MaybeReason = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Plan a pass over reservations that are due: of days and all meters, unless less is asked for.

    Each is looked at again when it is its turn.
    """
    who = word_of("--source", source, Source)
    fate = None if after_lease is None else word_of("--after-lease", after_lease, AfterLease)
    names = options.words(rows, "rows")
    kinds = _kinds(day=day, meters=meters or bool(meter))
    if sum((bool(names), bool(kinds), by_filter is not None)) > 1:
        raise typer.BadParameter("give only one of: --day and --meter or --meters, rows, --filter")
    if not names and by_filter is None:
        kinds = kinds or frozenset({Kind.DAY, Kind.METER})
    addresses = tuple(map(_address, names))
    with site(store, config) as found:
        if by_filter is not None:
            addresses = _by_filter(found, by_filter)
        consume = _consume(found.config, who, fate)
        wish = ReconcileWish(who, kinds, tuple(meter or ()), addresses, resolver, consume)
        _check_fate(wish)
        bounds = options.bounds(found.config, above_usd, above_units, above_rows)
        make(found, wish, bounds, reason, dry=dry_run, as_json=as_json)


def _kinds(*, day: bool, meters: bool) -> frozenset[Kind]:
    return frozenset(kind for kind, meant in ((Kind.DAY, day), (Kind.METER, meters)) if meant)


def _by_filter(found: Site, text: str) -> tuple[Address, ...]:
    """The rows that a filter of the reservations' list means; tentative ones are their writers' to decide."""
    every = [each for each in filtered(found, "reservations", text) if isinstance(each, Address)]
    addresses = tuple(each for each in every if each.kind is not Kind.TENTATIVE)
    if not addresses:
        refuse(f"nothing that a pass may decide matches {text!r}: there is nothing to plan")
    return addresses


def _consume(config: Config, source: Source, fate: AfterLease | None) -> bool | None:
    """What the default makes of units: as asked, else as configured; nothing where no default decides."""
    if source is not Source.DEFAULT:
        return None
    said = fate or (None if config.after_lease is None else config.after_lease.value)
    return None if said is None else said is AfterLease.CONSUME


def _check_fate(wish: ReconcileWish) -> None:
    """No store knows what a default makes of a meter's units: it has to be said."""
    meters = Kind.METER in wish.kinds or any(each.kind is Kind.METER for each in wish.addresses)
    if wish.source is Source.DEFAULT and wish.consume is None and meters:
        raise typer.BadParameter(
            "--after-lease release|consume must be given: what becomes of a meter's expired units; or set "
            'after_lease = "release" in [reconcile] of the configuration, or give --day for days alone'
        )


def _address(name: str) -> Address:
    """The row that a name of plans and the audit stands for."""
    from console.acting.names import address_named

    address = address_named(name)
    if address is not None:
        return address
    raise typer.BadParameter(f"ROW: {name!r:.80} names no row; write day:ID or meter:PREFIX:ID")
