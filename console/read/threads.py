"""`holdwatch threads`, `incomplete`, `children` and `tombstones`: pages of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from console.command_line import Store  # noqa: TC001 - typer reads it at run time
from console.model import ThreadQuery, ThreadState, TombstoneQuery
from console.read import table
from console.read.options import After, AllTenants, AsJson, Limit, NoTenant, Tenant, tenancy, word_of
from console.read.output import print_document, print_lines, show_page
from console.read.owners import check_owner
from console.read.store import opened
from console.spans import span_of

if TYPE_CHECKING:
    from datetime import timedelta

    from console.model import MetadataPair

THREADS: Final = (
    table.name("thread_id", "THREAD"),
    table.name("status"),
    table.name("tenant"),
    table.name("holder"),
    table.span("lease_left", "LEASE LEFT"),
    table.number("token"),
    table.number("events"),
    table.moment("updated_at", "UPDATED"),
    table.span("age", "AGE"),
)
TOMBSTONES: Final = (
    table.name("thread_id", "THREAD"),
    table.number("continues_at", "NUMBERING CONTINUES AT"),
    table.moment("deleted_at", "DELETED"),
    table.span("age", "AGE"),
    table.name("reused"),
    table.number("refusals", "LATE WRITERS"),
)


def threads(
    store: Store,
    status: Annotated[
        list[str] | None, typer.Option(metavar="S", help="Of this status; may be given again.")
    ] = None,
    prefix: Annotated[
        str | None, typer.Option(metavar="ID", help="Ids that begin so, in their order.")
    ] = None,
    holder: Annotated[str | None, typer.Option(metavar="H", help="Claimed by this holder.")] = None,
    since: Annotated[
        str | None, typer.Option(metavar="SPAN", help="Changed in the last 30s, 10m, 2h or 7d.")
    ] = None,
    metadata: Annotated[str | None, typer.Option(metavar="KEY=VALUE", help="With this pair.")] = None,
    count: Annotated[bool, typer.Option("--count", help="Only count them, up to 10,000.")] = False,
    tenant: Tenant = None,
    no_tenant: NoTenant = False,
    all_tenants: AllTenants = False,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List threads, newest first; a tenant's are its root threads."""
    query = ThreadQuery(
        tenant=tenancy(tenant, no_tenant, all_tenants),
        states=frozenset(word_of("--status", each, ThreadState) for each in status) if status else None,
        prefix=prefix,
        holder=holder,
        since=None if since is None else _span(since),
        metadata=None if metadata is None else _pair(metadata),
    )
    with opened(store) as reads:
        if not count:
            show_page(THREADS, reads.threads(query, after, limit), as_json)
            return
        found = reads.count_threads(query)
        if as_json:
            print_document(found)
        else:
            print_lines([table.capped(found)])


def incomplete(
    store: Store,
    tenant: Tenant = None,
    no_tenant: NoTenant = False,
    all_tenants: AllTenants = False,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List threads that stopped half-way, longest untouched first."""
    whose = tenancy(tenant, no_tenant, all_tenants)
    with opened(store) as reads:
        show_page(THREADS, reads.incomplete(whose, after, limit), as_json)


def children(
    store: Store,
    parent: Annotated[str, typer.Argument(metavar="THREAD", help="The id of the parent.")],
    tenant: Tenant = None,
    no_tenant: NoTenant = False,
    all_tenants: AllTenants = False,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List a thread's direct children, earliest adopted first."""
    whose = tenancy(tenant, no_tenant, all_tenants)
    with opened(store) as reads:
        check_owner(reads, parent, whose)
        show_page(THREADS, reads.children(parent, after, limit), as_json)


def tombstones(
    store: Store,
    since: Annotated[
        str | None, typer.Option(metavar="SPAN", help="Deleted in the last 30s, 10m, 2h or 7d.")
    ] = None,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List deleted ids, last deleted first; a tombstone belongs to no tenant."""
    query = TombstoneQuery(None if since is None else _span(since))
    with opened(store) as reads:
        show_page(TOMBSTONES, reads.tombstones(query, after, limit), as_json)


def _span(text: str) -> timedelta:
    try:
        return span_of(text)
    except ValueError as error:
        raise typer.BadParameter(f"--since: {error}") from error


def _pair(text: str) -> MetadataPair:
    key, equals, value = text.partition("=")
    if not equals:
        raise typer.BadParameter(f"--metadata: {text!r} is no pair; write KEY=VALUE")
    return key, value
