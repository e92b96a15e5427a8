"""`holdwatch queue`: who should run next, and what became of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from console import present
from console.command_line import Store  # noqa: TC001 - typer reads it at run time
from console.present import Safe, own
from console.queue_model import QueueState
from console.read import table
from console.read.options import After, AllTenants, AsJson, Limit, NoTenant, Tenant, tenancy, word_of
from console.read.output import print_document, print_lines, refuse, show_page
from console.read.owners import check_tenant
from console.read.store import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.gateway.scripts import Reads
    from console.model import Tenancy
    from console.read.documents import Document

ENTRIES: Final = (
    table.name("entry_id", "ENTRY"),
    table.name("thread_id", "THREAD"),
    table.name("state"),
    table.name("tenant"),
    table.moment("available_at", "DUE"),
    table.span("waiting", "WAITING"),
    table.name("lease_owner", "WORKER"),
    table.span("lease_left", "LEASE LEFT"),
    table.number("attempts"),
    table.number("max_attempts", "OF"),
    table.name("last_error", "LAST ERROR"),
)


def queue(
    store: Store,
    entry: Annotated[str | None, typer.Option(metavar="ID", help="Only this entry, with its runs.")] = None,
    state: Annotated[
        str | None, typer.Option(metavar="S", help="queued, leased, done, dead, cancelled.")
    ] = None,
    thread: Annotated[str | None, typer.Option(metavar="THREAD", help="Of this thread.")] = None,
    depth: Annotated[
        bool, typer.Option("--depth", help="How many are open and due, and for how long.")
    ] = False,
    tenant: Tenant = None,
    no_tenant: NoTenant = False,
    all_tenants: AllTenants = False,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List run-queue entries: queued ones by the time they are due, leased ones by their lease's end."""
    whose = tenancy(tenant, no_tenant, all_tenants)
    wanted = None if state is None else word_of("--state", state, QueueState)
    given = [name for name, value in (("--entry", entry is not None), ("--depth", depth)) if value]
    if len(given) > 1 or (given and (wanted, thread) != (None, None)):
        raise typer.BadParameter(f"{given[0]} stands alone; leave the other options out")
    with opened(store) as reads:
        if entry is not None:
            _one(reads, entry, whose, as_json)
        elif depth:
            _depth(reads.queue_depth(), as_json)
        else:
            show_page(ENTRIES, reads.queue(wanted, thread, whose, after, limit), as_json)


def _one(reads: Reads, entry: str, whose: Tenancy, as_json: bool) -> None:
    found = reads.queue_entry(entry)
    if found is None:
        refuse(f"there is no queue entry {entry!r}; list them without --entry")
    check_tenant(f"queue entry {entry!r}", found["row"]["tenant"], whose)
    if as_json:
        print_document(found)
    else:
        print_lines(_text(found))


def _text(found: Document) -> Iterator[Safe]:
    row = found["row"]
    runs = ", ".join(map(str, found["run_ids"])) or "none"
    stored = row["input"].text if "input" in row else row["input_text"]
    yield from table.facts(
        [
            ("entry", present.safe(row["entry_id"])),
            ("thread", present.safe(row["thread_id"])),
            ("tenant", present.optional(row["tenant"])),
            ("state", own(row["state"])),
            ("due", own(f"{table.at(row['available_at'])}, waiting {table.length(row['waiting_seconds'])}")),
            ("worker", present.optional(row["lease_owner"])),
            ("lease", own(f"token {row['lease_token']:,}, {table.length(row['lease_left_seconds'])} left")),
            ("attempts", own(f"{row['attempts']:,} of {row['max_attempts']:,}")),
            ("last error", present.optional(row["last_error"], present.TEXT_LIMIT)),
            ("runs", present.safe(f"{'.. ' if found['more_runs'] else ''}{runs}", present.TEXT_LIMIT)),
            ("input", present.safe(stored, present.TEXT_LIMIT)),
        ]
    )
    yield own(f"-- as of {table.at(found['as_of'])}")


def _depth(found: Document, as_json: bool) -> None:
    if as_json:
        print_document(found)
        return
    said = [(name, table.capped(found[name])) for name in ("queued", "due", "leased", "lapsed")]
    said += [("oldest due", table.length(found["oldest_due_seconds"]))]
    said += [("oldest lapsed", table.length(found["oldest_lapsed_seconds"]))]
    print_lines([*table.facts(said), own(f"-- as of {table.at(found['as_of'])}")])
