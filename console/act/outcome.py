"""`holdwatch outcome`: what became of a change whose answer was lost (console.md F8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from console.act import options
from console.act.options import MaybeReason  # noqa: TC001 - typer reads it at run time
from console.act.sending import order, sent
from console.act.site import site, window
from console.acting import equivalent
from console.command_line import ConfigFile, Exit, Store
from console.present import safe
from console.read import table
from console.read.documents import document
from console.read.options import AsJson  # noqa: TC001 - typer reads it at run time
from console.read.output import print_document, print_lines, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.act.site import Site
    from console.acting.model import Outcome

_CLOSING: Final = "close intent"
"""The audit's word for it."""
Close = Annotated[
    bool,
    typer.Option(
        "--close", help="Write the end down where nobody told it; needs --reason. Nothing is done again."
    ),
]


def outcome(
    store: Store,
    operation: Annotated[
        str, typer.Argument(metavar="OPERATION", help="The id that was told before it was sent.")
    ],
    close: Close = False,
    reason: MaybeReason = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Tell what became of a change; exit code 1 where it was refused, or has no effect in the store."""
    with site(store, config) as site_found:
        if close:
            _show(_closed(site_found, operation, options.reason_of(reason or "")), as_json=as_json)
            return
        found = site_found.gateway.outcome(operation)
        if found is None:
            _refuse_unknown(site_found, operation)
    _show(found, as_json=as_json)
    if not found.applied:
        raise typer.Exit(Exit.REFUSED)


def _closed(site_found: Site, operation: str, why: str) -> Outcome:
    """The end of a change as it is written down now; what the store refuses ends the command with 1."""
    command = equivalent.closing(site_found.aim, operation, why)
    with window(site_found, _CLOSING, why, command) as acting:
        given = order(_CLOSING, why, command)
        return sent(
            site_found,
            given,
            lambda: acting.close_intent(operation, given),
            lambda: site_found.gateway.outcome(operation),
        )


def _refuse_unknown(site_found: Site, operation: str) -> NoReturn:
    """There is no such operation: whether it was begun, by whom, and what can be done about it."""
    entries = site_found.gateway.audit_of(operation)
    if not entries:
        refuse(
            f"operation {operation!r} has no effect in this store; one sent in the last 15 s may still land"
        )
    begun = entries[0]
    if begun.of_job:
        refuse(
            f"{operation} is a job that has not ended; {equivalent.running(site_found.aim, operation)} runs it"
        )
    what = safe(f"{begun.deed} {begun.object_kind} {begun.object_id}, begun by {begun.actor}", 600)
    refuse(
        f"operation {operation!r} ({what} at {table.at(begun.at)}) has no effect in this store: one sent in the last"
        f" 15 s may still land, else nothing was done; {equivalent.closing(site_found.aim, operation)} writes that down"
    )


def _show(found: Outcome, *, as_json: bool) -> None:
    if as_json:
        print_document(document(found))
    else:
        print_lines(table.facts([(label, safe(text, 2_000)) for label, text in _facts(found)]))


def _facts(found: Outcome) -> Iterator[tuple[str, str]]:
    yield "what", found.what
    yield "by", found.by
    yield "at", table.at(found.at)
    yield "applied" if found.applied else "REFUSED", found.told
