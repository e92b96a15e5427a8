"""`holdwatch thread`: all that is stored of one id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from console import present
from console.command_line import Store  # noqa: TC001 - typer reads it at run time
from console.present import Safe, own
from console.read import table
from console.read.options import AllTenants, AsJson, NoTenant, Tenant, tenancy
from console.read.output import print_document, print_lines, refuse
from console.read.owners import check_tenant
from console.read.queue import ENTRIES
from console.read.store import opened
from console.read.threads import THREADS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.read.documents import Document

CHECKPOINTS: Final = (
    table.name("checkpoint_id", "CHECKPOINT"),
    table.name("status"),
    table.name("run_id", "RUN"),
    table.number("token"),
    table.moment("committed_at", "COMMITTED"),
    table.number("size", "BYTES"),
)
WRITES: Final = (
    table.number("n", "N"),
    table.name("task_id", "TASK"),
    table.name("node_id", "NODE"),
    table.number("size", "BYTES"),
)
EFFECTS: Final = (
    table.name("key"),
    table.name("run_id", "RUN"),
    table.number("token"),
    table.moment("committed_at", "COMMITTED"),
    table.number("size", "BYTES"),
)


def thread(
    store: Store,
    thread_id: Annotated[str, typer.Argument(metavar="THREAD", help="Its id.")],
    tenant: Tenant = None,
    no_tenant: NoTenant = False,
    all_tenants: AllTenants = False,
    as_json: AsJson = False,
) -> None:
    """Show all that is stored of one thread: claim, checkpoints, writes, effects, children, queue."""
    whose = tenancy(tenant, no_tenant, all_tenants)
    with opened(store) as reads:
        found = reads.thread(thread_id)
    if found is None:
        refuse(f"nothing is stored of {thread_id!r}; holdwatch threads --prefix lists what begins so")
    row = found["row"]
    check_tenant(f"thread {thread_id!r}", row and row["tenant"], whose, known=row is not None)
    if as_json:
        print_document(found)
    else:
        print_lines(_text(found))


def _text(found: Document) -> Iterator[Safe]:
    yield from table.facts(
        [*_head(found), *_claim(found["claim"]), *_refusal(found["refusal"]), *_log(found)]
    )
    for key, value in sorted(found["metadata"].items()):
        yield own(f"metadata  {present.safe(key)} = {present.safe(value)}")
    for title, columns, rows, more in _sections(found):
        if rows:
            yield own("")
            yield own(f"{title}{' (the first of more)' if more else ''}")
            yield from table.lines(columns, rows)
    yield own(f"-- as of {table.at(found['as_of'])}")


def _head(found: Document) -> list[tuple[str, Safe]]:
    row = found["row"]
    said = [("thread", present.safe(found["thread_id"])), ("parent", present.optional(found["parent"]))]
    if row is None:
        return [*said, ("status", own("no checkpoint"))]
    return [
        *said,
        ("tenant", present.optional(row["tenant"])),
        ("status", own(row["status"])),
        ("updated", table.at(row["updated_at"])),
        ("checkpoint", present.safe(row["latest_id"])),
        ("run", present.safe(row["latest_run_id"])),
    ]


def _claim(claim: Document | None) -> list[tuple[str, Safe]]:
    if claim is None:
        return [("claim", own("nobody holds it"))]
    state = "live" if claim["live"] else "expired"
    return [
        ("claim", own(f"{state}, {table.length(claim['left_seconds'])} left")),
        ("holder", present.safe(claim["holder"])),
        ("token", present.number(claim["token"])),
        ("granted", table.at(claim["granted_at"])),
        ("renewed", own(f"{table.at(claim['renewed_at'])}, {claim['renewals']} times")),
        ("expires", table.at(claim["expires_at"])),
    ]


def _refusal(refusal: Document | None) -> list[tuple[str, Safe]]:
    if refusal is None:
        return []
    last = f"the last: {present.safe(refusal['last_verb'])} with token {refusal['last_token']:,}"
    return [("late writers", own(f"{refusal['count']:,}, {last} at {table.at(refusal['last_at'])}"))]


def _log(found: Document) -> list[tuple[str, Safe]]:
    said = []
    if found["next_seq"] is not None:
        kept = f"#{found['floor_seq']:,} to #{found['next_seq'] - 1:,}"
        said.append(("events", own(kept if found["next_seq"] > found["floor_seq"] else "none kept")))
    tomb = found["tombstone"]
    if tomb is not None:
        said.append(("deleted", table.at(tomb["deleted_at"])))
        said.append(("numbering", own(f"continues at #{tomb['next_first_seq']:,}")))
    return said


def _sections(found: Document) -> list[tuple[str, Any, Any, bool]]:
    children, queue = found["children"], found["queue"]
    return [
        ("CHECKPOINTS", CHECKPOINTS, found["checkpoints"], found["more_checkpoints"]),
        ("PENDING WRITES", WRITES, found["writes"], found["more_writes"]),
        ("EFFECTS", EFFECTS, found["effects"], found["more_effects"]),
        ("CHILDREN", THREADS, children["rows"], children["next"] is not None),
        (
            "QUEUE",
            ENTRIES,
            [] if queue is None else queue["rows"],
            queue is not None and queue["next"] is not None,
        ),
    ]
