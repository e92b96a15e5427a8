"""`holdwatch events`: the newest events of a store or of a thread, or every one as it comes (ruling 23)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from console import present, targets
from console.command_line import Exit, Store  # noqa: TC001 - typer reads it at run time
from console.model import EventQuery
from console.present import Safe, own, pad
from console.read import table
from console.read.documents import as_json as json_line
from console.read.options import AllTenants, AsJson, NoTenant, Tenant, tenancy
from console.read.output import print_lines, refusals, warn
from console.stopping import stoppable

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from console.gateway.events import EventReads, Following
    from console.read.documents import Document

MOST_EVENTS: Final = 500
"""Events of one read at most (ruling 58)."""
QUICK, SLOW = 0.25, 2.0
"""Seconds between two looks of a follower: at first, and at most while nothing comes."""
PATIENCE: Final = 1.0
"""Seconds that a list waits for commits under way before it shows what there is."""
_KIND: Final = 20
_NUMBER: Final = 7


def events(
    store: Store,
    thread: Annotated[str | None, typer.Option(metavar="THREAD", help="Of this thread.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="K", help="Of this kind; may be given again.")
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(metavar="POSITION", help="The next ones behind an event's `position`, none left out."),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what comes, until ctrl-C.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=MOST_EVENTS, metavar="N", help="Events at most.")] = 50,
    tenant: Tenant = None,
    no_tenant: NoTenant = False,
    all_tenants: AllTenants = False,
    as_json: AsJson = False,
) -> None:
    """Print the newest events, oldest first; with --json one document a line."""
    from console.gateway.events import event_reads

    whose = tenancy(tenant, no_tenant, all_tenants)
    query = EventQuery(thread, whose, frozenset(kind) if kind else None)
    show = _json_lines if as_json else _text_lines
    with refusals(), event_reads(targets.url_of(store)) as reads:
        if follow:
            raise typer.Exit(_follow(reads, query, after, limit, show))
        if after is None:
            found, held = reads.newest(query, limit, PATIENCE)
        else:
            following = reads.follow(query, after)
            found, held = following.read(limit), following.held
        print_lines(show(found))
        _say_held(held)


def _follow(
    reads: EventReads,
    query: EventQuery,
    after: str | None,
    limit: int,
    show: Callable[[Sequence[Document]], Sequence[str]],
) -> Exit:
    """Print what comes until told to stop; nothing is passed over, however slow the reader is."""
    with stoppable() as stop:
        if after is None:
            found, _ = reads.newest(query, limit, PATIENCE)
            print_lines(show(found))
            after = found[-1]["position"] if found else reads.end(query)
        _go_on(reads.follow(query, after), stop.event, show)
    return stop.code


def _go_on(
    following: Following, stop: threading.Event, show: Callable[[Sequence[Document]], Sequence[str]]
) -> None:
    pause, said = QUICK, None
    while not stop.is_set():
        found = following.read(MOST_EVENTS)
        print_lines(show(found))
        if following.held != said:
            said = following.held
            _say_held(said)
        if following.more:
            continue
        pause = QUICK if found else min(2 * pause, SLOW)
        stop.wait(pause)


def _say_held(held: str | None) -> None:
    if held is not None:
        warn(held)


def _json_lines(found: Sequence[Document]) -> list[str]:
    return [json_line(event) for event in found]


def _text_lines(found: Sequence[Document]) -> list[str]:
    return [_line(event) for event in found]


def _line(event: Document) -> Safe:
    """One event; its payload last, cut where a line would be endless."""
    stored = event["payload"].text if "payload" in event else event["payload_text"]
    parts = (
        table.at(event["committed_at"]),
        present.safe(event["thread_id"]),
        pad(own(f"#{event['seq']:,}"), _NUMBER, right=True),
        pad(present.safe(event["kind"]), _KIND),
        own(f"token {event['token']:,}"),
        present.safe(stored, present.TEXT_LIMIT),
    )
    return own("  ".join(parts))
