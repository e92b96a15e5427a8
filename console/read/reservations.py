"""`holdwatch reservations`, `reservation` and `fences`: what is held, and what no default may settle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from console import addresses, money, money_story, present
from console.command_line import Store  # noqa: TC001 - typer reads it at run time
from console.money_model import FenceQuery, ReservationQuery
from console.money_words import HoldState, Kind
from console.present import Safe, own
from console.read import table
from console.read.options import After, AsJson, Limit, Meter, word_of
from console.read.output import print_document, print_lines, refuse, show_page
from console.read.store import opened
from console.widgets.columns import Scene

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from console.gateway.scripts import Reads
    from console.money_model import ReservationStory
    from console.money_words import Address
    from console.read.documents import Document

ROOM: Final = 100
"""Cells of a line of prose."""
_STATES: Final = ("open", "expired", "fenced", "due")
_WORDS: Final = "|".join(HoldState)


def _source(row: Mapping[str, Any]) -> Safe:
    return present.safe(row["source"] or addresses.NO_SOURCE)


def _amount(row: Mapping[str, Any]) -> Safe:
    return money.words(row["micro"], row["units"])


RESERVATIONS: Final = (
    table.name("kind"),
    table.Column("SOURCE", _source),
    table.name("reservation_id", "ID"),
    table.name("state"),
    table.Column("AMOUNT", _amount, right=True),
    table.name("owner"),
    table.name("period"),
    table.number("attempt"),
    table.span("due_in", "DUE IN"),
    table.moment("due_at", "DUE"),
    table.number("deferrals", "DEFERRED"),
    table.name("thread_id", "THREAD"),
)
_SHOWN: Final = tuple(column for column in RESERVATIONS if column.title not in {"PERIOD", "THREAD"})


def _of_row(column: table.Column) -> table.Column:
    """The column of a reservation, for a fence that has one."""
    return table.Column(column.title, lambda fence: column.text(fence["row"]), column.right)


def _evidence(fence: Mapping[str, Any]) -> Safe:
    stored = fence["evidence"] if "evidence" in fence else fence["evidence_text"]
    return present.NOTHING if stored is None else present.safe(getattr(stored, "text", stored))


FENCES: Final = (*map(_of_row, _SHOWN), table.Column("EVIDENCE", _evidence))

KindOption = Annotated[
    str | None, typer.Option("--kind", metavar="K", help=f"Only these: {', '.join(Kind)}.")
]
Owner = Annotated[
    str | None, typer.Option(metavar="O", help="A day's kind word, a meter's account, or a transaction.")
]
Thread = Annotated[str | None, typer.Option(metavar="THREAD", help="Held for this thread.")]


def reservations(
    store: Store,
    kind: KindOption = None,
    state: Annotated[str | None, typer.Option(metavar=_WORDS, help="In this state.")] = None,
    owner: Owner = None,
    day: Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="Of this UTC day.")] = None,
    thread: Thread = None,
    meter: Meter = None,
    in_table: Annotated[
        str | None, typer.Option("--table", metavar="TABLE", help="Tentative rows of this table.")
    ] = None,
    leased: Annotated[bool, typer.Option("--leased", help="Operations that a run holds now.")] = False,
    count: Annotated[bool, typer.Option("--count", help="Only count them, up to 10,000.")] = False,
    totals: Annotated[
        bool, typer.Option("--totals", help="How many in which state, and what days hold.")
    ] = False,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List what is reserved: by days, by meters, in tables of tentative rows; first due first."""
    query = ReservationQuery(
        kind=None if kind is None else word_of("--kind", kind, Kind),
        state=None if state is None else word_of("--state", state, HoldState),
        owner=owner,
        day=day,
        thread=thread,
        meter=meter,
        table=in_table,
        leased=leased,
    )
    if totals and (count or query != ReservationQuery()):
        raise typer.BadParameter("--totals stands alone; leave the other options out")
    with opened(store) as reads:
        if totals:
            _totals(reads.reservation_totals(), as_json)
        elif count:
            _count(reads, query, as_json)
        else:
            show_page(RESERVATIONS, reads.reservations(query, after, limit), as_json)


def _count(reads: Reads, query: ReservationQuery, as_json: bool) -> None:
    found = reads.count_reservations(query)
    if as_json:
        print_document(found)
    else:
        print_lines([table.capped(found)])


def _totals(found: Document, as_json: bool) -> None:
    if as_json:
        print_document(found)
        return
    said = [(kind.value, _states(found[kind.value])) for kind in Kind]
    said.append(("days hold", money.usd(found["held_micro"])))
    print_lines([*table.facts(said), own(f"-- as of {table.at(found['as_of'])}")])


def _states(counts: Document) -> Safe:
    return own(", ".join(f"{table.capped(counts[state])} {state}" for state in _STATES))


_NO_CAP = own("the store keeps no cap that this day could be compared with")


def reservation(
    store: Store,
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"{', '.join(Kind)}.")],
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A meter's prefix, a table, or - for the day store.")
    ],
    reservation_id: Annotated[str, typer.Argument(metavar="ID", help="Its id; a meter's operation.")],
    as_json: AsJson = False,
) -> None:
    """Show the whole story of one reservation, and what a pass without a resolver does with it."""
    try:
        address = addresses.made(word_of("KIND", kind, Kind), source, reservation_id)
    except addresses.AddressError as error:
        raise typer.BadParameter(str(error)) from error
    with opened(store) as reads:
        if as_json:
            print_document(_there(reads.reservation(address), address))
        else:
            print_lines(_text(_there(reads.reservation_story(address), address)))


def _there(found: Any, address: Address) -> Any:
    if found is None:
        refuse(f"there is no {addresses.address_of(address)}; holdwatch reservations lists them")
    return found


def _text(story: ReservationStory) -> Iterator[Safe]:
    scene = Scene(story.as_of)
    yield present.safe(addresses.address_of(story.row.address), present.TEXT_LIMIT)
    for line in (
        *money_story.head(story, scene, ROOM),
        (),
        *money_story.body(story, None, scene, ROOM, _NO_CAP),
    ):
        yield own("".join(cell.text for cell in line).rstrip())
    yield own(f"-- as of {table.at(story.as_of)}")


def fences(
    store: Store,
    kind: KindOption = None,
    state: Annotated[str | None, typer.Option(metavar="fenced|due", help="In this state.")] = None,
    owner: Owner = None,
    thread: Thread = None,
    meter: Meter = None,
    deferred: Annotated[
        bool | None,
        typer.Option("--deferred/--never-deferred", help="With evidence, or without any yet."),
    ] = None,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List what no default may settle: with its evidence, first check first."""
    query = FenceQuery(
        kind=None if kind is None else word_of("--kind", kind, Kind),
        state=None if state is None else word_of("--state", state, HoldState),
        owner=owner,
        thread=thread,
        meter=meter,
        deferred=deferred,
    )
    with opened(store) as reads:
        show_page(FENCES, reads.fences(query, after, limit), as_json)
