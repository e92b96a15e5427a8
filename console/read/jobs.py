"""`holdwatch jobs` and `holdwatch job`: plans that are carried out, and what became of each of their items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from console import present
from console.acting.jobs import ItemOutcome, JobState
from console.command_line import Store  # noqa: TC001 - typer reads it at run time
from console.present import Safe, own, several
from console.read import table
from console.read.groups import LIST, Listing
from console.read.options import After, AsJson, Limit, word_of
from console.read.output import print_document, print_lines, refuse, show_page
from console.read.store import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from console.read.documents import Document

JOBS: Final = (
    table.name("job_id", "JOB"),
    table.name("deed"),
    table.name("state"),
    table.name("interrupted"),
    table.name("environment"),
    table.number("next_n", "NEXT"),
    table.number("total"),
    table.number("applied"),
    table.number("skipped"),
    table.number("failed"),
    table.name("owner", "RUNNER"),
    table.moment("lease_until", "LEASE"),
    table.moment("created_at", "MADE"),
)
ITEMS: Final = (
    table.number("n", "ITEM"),
    table.name("object_id", "OBJECT"),
    table.name("outcome"),
    table.Column("WHY", lambda row: present.optional(row["detail"].get("why"))),
    table.name("operation_id", "OPERATION"),
    table.moment("at"),
)
GROUP: Final = typer.Typer(
    cls=Listing, help="List jobs, newest first (the default), or act on one.", rich_markup_mode=None
)
"""The commands that begin with `jobs`."""


@GROUP.command(LIST)
def jobs(
    store: Store,
    state: Annotated[
        str | None,
        typer.Option(
            metavar="S", help="ready, running (interrupted ones as well), paused, cancelled, stopped, done."
        ),
    ] = None,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List jobs, newest first."""
    wanted = None if state is None else word_of("--state", state, JobState)
    if wanted is JobState.INTERRUPTED:
        raise typer.BadParameter(
            "--state: interrupted jobs are among the running ones, with a lease that is over"
        )
    with opened(store) as reads:
        show_page(JOBS, reads.jobs(wanted, after, limit), as_json)


def job(
    store: Store,
    job: Annotated[str, typer.Argument(metavar="JOB", help="Its id.")],
    outcome: Annotated[
        str | None, typer.Option(metavar="O", help="Only items that came to: applied, skipped, failed.")
    ] = None,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """Show how far a job is, and what became of its items."""
    wanted = None if outcome is None else word_of("--outcome", outcome, ItemOutcome)
    with opened(store) as reads:
        found = reads.job(job)
        if found is None:
            refuse(f"there is no job {job!r}; holdwatch jobs lists them")
        items = reads.job_items(job, wanted, after, limit)
    if as_json:
        print_document({**found, "items": items})
    else:
        print_lines((*_text(found), own(""), *table.page(ITEMS, items, "no item has such a result")))


def _text(found: Document) -> Iterator[Safe]:
    gone = ", its runner is gone" if found["interrupted"] else ""
    yield from table.facts(
        [
            ("job", present.safe(found["job_id"])),
            ("plan", present.safe(found["plan_id"])),
            ("deed", own(f"{found['deed'].value} on {present.safe(found['environment'])}")),
            ("state", own(f"{found['state'].value}{gone}")),
            ("runner", present.optional(found["owner"])),
            ("lease", table.at(found["lease_until"])),
            ("done", own(f"{found['done']:,} of {found['total']:,}")),
            *_at_hand(found),
            ("applied", present.number(found["applied"])),
            ("skipped", present.number(found["skipped"])),
            ("failed", present.number(found["failed"])),
            ("rate", own(f"{found['rate']:,} items a second at most" if found["rate"] else "no limit")),
            ("pace", own(f"{found['per_minute']:,} items in a minute")),
            ("left", table.length(found["left_seconds"])),
            ("made", table.at(found["created_at"])),
        ]
    )


def _at_hand(found: Document) -> Iterator[tuple[str, Safe]]:
    """What has gone of an item that takes more than one transaction."""
    if found["rows_of_item"]:
        yield "item", own(f"{several(found['rows_of_item'], 'row')} of item {found['next_n']:,} so far")
