"""`holdwatch claims`: who holds what, and whether the holder may still be alive (console.md F9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from console import present
from console.claims_model import ClaimQuery, ClaimState, Stored
from console.command_line import Store  # noqa: TC001 - typer reads it at run time
from console.present import Safe, own
from console.read import table
from console.read.options import After, AllTenants, AsJson, Limit, NoTenant, Tenant, tenancy, word_of
from console.read.output import print_document, print_lines, refuse, show_page
from console.read.owners import check_tenant
from console.read.store import opened
from console.spans import span_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from console.gateway.scripts import Reads
    from console.model import Tenancy
    from console.read.documents import Document

CLAIMS: Final = (
    table.name("thread_id", "THREAD"),
    table.name("holder"),
    table.name("tenant"),
    table.number("token"),
    table.span("left", "LEFT"),
    table.moment("expires_at", "EXPIRES"),
    table.number("renewals"),
    table.name("status"),
    table.number("refusals", "LATE WRITERS"),
    table.name("verdict"),
    table.name("reason"),
)
HOLDERS: Final = (
    table.name("holder"),
    table.number("live"),
    table.number("expired"),
    table.moment("first_expiry", "FIRST EXPIRY"),
    table.moment("last_renewal", "LAST RENEWAL"),
)


def claims(
    store: Store,
    thread: Annotated[str | None, typer.Option(metavar="THREAD", help="Only the claim on this one.")] = None,
    state: Annotated[str | None, typer.Option(metavar="live|expired", help="Of this state.")] = None,
    holder: Annotated[str | None, typer.Option(metavar="H", help="Of this holder, by thread id.")] = None,
    expired_since: Annotated[
        str | None, typer.Option(metavar="SPAN", help="Over, and not for longer than 30s, 10m, 2h or 7d.")
    ] = None,
    claim_only: Annotated[
        bool, typer.Option("--claim-only", help="On ids that have no checkpoint yet.")
    ] = False,
    holders: Annotated[bool, typer.Option("--holders", help="Who holds claims, and how many.")] = False,
    totals: Annotated[bool, typer.Option("--totals", help="How many are live, how many are over.")] = False,
    tenant: Tenant = None,
    no_tenant: NoTenant = False,
    all_tenants: AllTenants = False,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List claims, live and expired, oldest expiry first, each with a verdict on its holder."""
    whose = tenancy(tenant, no_tenant, all_tenants)
    query = ClaimQuery(
        whose,
        None if state is None else word_of("--state", state, ClaimState),
        holder,
        Stored.CLAIM_ONLY if claim_only else None,
        None if expired_since is None else _span(expired_since),
    )
    alone = {"--thread": thread is not None, "--holders": holders, "--totals": totals}
    _check_alone([name for name, given in alone.items() if given], query)
    with opened(store) as reads:
        if thread is not None:
            _one(reads, thread, whose, as_json)
        elif holders:
            show_page(HOLDERS, reads.holders(after, limit), as_json)
        elif totals:
            _totals(reads.claim_totals(), as_json)
        else:
            show_page(CLAIMS, reads.claims(query, after, limit), as_json)


def _span(text: str) -> timedelta:
    try:
        return span_of(text)
    except ValueError as error:
        raise typer.BadParameter(f"--expired-since: {error}") from error


def _check_alone(given: list[str], query: ClaimQuery) -> None:
    """Three options ask for something else than a list: one at a time, and a filter of the list means nothing."""
    filtered = query != ClaimQuery(query.tenant if given == ["--thread"] else ClaimQuery().tenant)
    if len(given) > 1 or (given and filtered):
        raise typer.BadParameter(f"{given[0]} stands alone; leave the other options out")


def _one(reads: Reads, thread: str, whose: Tenancy, as_json: bool) -> None:
    found = reads.claim(thread)
    if found is None:
        refuse(f"nobody holds {thread!r}")
    check_tenant(f"claim on {thread!r}", found["row"]["tenant"], whose)
    if as_json:
        print_document(found)
    else:
        print_lines(_text(found))


def _text(found: Document) -> Iterator[Safe]:
    row, refusal = found["row"], found["refusal"]
    last = "none was turned away"
    if refusal is not None:
        verb = present.safe(refusal["last_verb"])
        last = f"{refusal['count']:,}, the last: {verb} with token {refusal['last_token']:,}"
    yield from table.facts(
        [
            ("thread", present.safe(row["thread_id"])),
            ("status", own("no checkpoint" if row["status"] is None else row["status"])),
            ("holder", present.safe(row["holder"])),
            ("tenant", present.optional(row["tenant"])),
            ("token", present.number(row["token"])),
            (
                "lease",
                own(f"{'live' if row['live'] else 'expired'}, {table.length(row['left_seconds'])} left"),
            ),
            ("expires", table.at(row["expires_at"])),
            ("granted", table.at(row["granted_at"])),
            ("renewed", own(f"{table.at(row['renewed_at'])}, {row['renewals']:,} times")),
            ("last seen", table.at(row["last_seen_at"])),
            ("next token", own(f"at least {found['next_token']:,}")),
            ("late writers", own(last)),
            ("verdict", own(row["verdict"])),
            ("why", own(row["reason"])),
        ]
    )
    yield own(f"-- as of {table.at(found['as_of'])}")


def _totals(found: Document, as_json: bool) -> None:
    if as_json:
        print_document(found)
        return
    said = [("live", table.capped(found["live"])), ("expired", table.capped(found["expired"]))]
    print_lines([*table.facts(said), own(f"-- as of {table.at(found['as_of'])}")])
