"""`holdwatch overview` and `holdwatch changed`: the store at a glance, and what moved lately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from console import present
from console.command_line import (
    Exit,
    Store,
)
from console.present import Safe, own
from console.read import table
from console.read.options import AllTenants, AsJson, NoTenant, Tenant, tenancy
from console.read.output import print_document, print_lines
from console.read.store import opened
from console.spans import LATELY, span_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta
    from typing import Any

    from console.read.documents import Document

FAILED: Final = "failed"


def overview(
    store: Store,
    tenant: Tenant = None,
    no_tenant: NoTenant = False,
    all_tenants: AllTenants = False,
    as_json: AsJson = False,
) -> None:
    """Show the whole store at a glance; a part that cannot be read says so, and the exit code is 2."""
    whose = tenancy(tenant, no_tenant, all_tenants)
    with opened(store) as reads:
        found = reads.overview(whose)
    if as_json:
        print_document(found)
    else:
        print_lines(_text(found))
    if any(part is not None and FAILED in part for part in found.values()):
        raise typer.Exit(Exit.STORE_FAILURE)


def changed(
    store: Store,
    span: Annotated[str, typer.Argument(metavar="[SPAN]", help="How far back: 30s, 10m, 2h or 7d.")] = LATELY,
    tenant: Tenant = None,
    no_tenant: NoTenant = False,
    all_tenants: AllTenants = False,
    as_json: AsJson = False,
) -> None:
    """Count what changed within a span before now, by default five minutes."""
    whose, back = tenancy(tenant, no_tenant, all_tenants), _span(span)
    with opened(store) as reads:
        found = reads.changes(back, whose)
    if as_json:
        print_document(found)
        return
    said = [
        ("threads", _count(found["threads"])),
        ("claims expired", _count(found["claims_expired"])),
        ("deleted", _count(found["deleted"])),
        ("since", table.at(found["since"])),
    ]
    print_lines([*table.facts(said), own(f"-- as of {table.at(found['as_of'])}")])


def _span(text: str) -> timedelta:
    try:
        return span_of(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _count(found: Document | None) -> Safe:
    return own("not kept by tenant") if found is None else table.capped(found)


def _text(found: Document) -> Iterator[Safe]:
    """A line for each figure, named by its part; `?` where there is none."""
    yield from table.facts([line for name, part in found.items() for line in _lines(name, part)])


def _lines(name: str, part: Document | None) -> list[tuple[str, Safe]]:
    if part is None:
        return [(name, own("not kept by tenant"))]
    if FAILED in part:
        return [(name, own(f"NOT READ: {present.safe(part[FAILED]['message'], present.TEXT_LIMIT)}"))]
    return [(f"{name} {label}".rstrip(), text) for label, text in _figures("", part)]


def _figures(label: str, value: Any) -> list[tuple[str, Safe]]:
    """The scalars of a document, each behind the names that lead to it."""
    if isinstance(value, dict) and set(value) == {"count", "more"}:
        return [(label, table.capped(value))]
    if not isinstance(value, dict):
        return [(label, _scalar(value))]
    return [pair for key, each in value.items() for pair in _figures(_joined(label, key), each)]


def _joined(label: str, key: str) -> str:
    return f"{label} {key.removesuffix('_seconds').replace('_', ' ')}".strip()


def _scalar(value: Any) -> Safe:
    from datetime import datetime, timedelta

    match value:
        case datetime():
            return table.at(value)
        case timedelta():
            return table.length(value)
        case bool():
            return own("yes" if value else "no")
        case int():
            return present.number(value)
    return present.optional(value)
