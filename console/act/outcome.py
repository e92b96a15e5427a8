"""`holdwatch outcome`: what became of a change whose answer was lost (console.md F8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from console.act import documents
from console.act.site import site
from console.command_line import ConfigFile, Exit, Store
from console.present import safe
from console.read import table
from console.read.options import AsJson  # noqa: TC001 - typer reads it at run time
from console.read.output import print_document, print_lines, refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.acting.model import Outcome


def outcome(
    store: Store,
    operation: Annotated[
        str, typer.Argument(metavar="OPERATION", help="The id that was told before it was sent.")
    ],
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Tell what became of a change; exit code 1 where it was refused, or has no effect in the store."""
    with site(store, config) as site_found:
        found = site_found.gateway.outcome(operation)
    if found is None:
        refuse(
            f"operation {operation!r} has no effect in this store; one sent in the last 15 s may still land"
        )
    if as_json:
        print_document(documents.outcome(found))
    else:
        print_lines(table.facts([(label, safe(text, 2_000)) for label, text in _facts(found)]))
    if not found.applied:
        raise typer.Exit(Exit.REFUSED)


def _facts(found: Outcome) -> Iterator[tuple[str, str]]:
    yield "what", found.what
    yield "by", found.by
    yield "at", table.at(found.at)
    yield "applied" if found.applied else "REFUSED", found.told
