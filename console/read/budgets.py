"""`holdwatch accounts`, `account`, `days` and `day`: what may be spent, and what of it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from console import money, present
from console.budget_facts import WHY_WINDOW
from console.command_line import Store  # noqa: TC001 - typer reads it at run time
from console.present import Safe, own
from console.read import table
from console.read.options import After, AsJson, Cap, Limit, Meter, cap_of
from console.read.output import print_document, print_lines, refuse, show_page
from console.read.store import opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from console.read.documents import Document

BAR: Final = 30
"""Cells of a bar and its per cent."""


def _gauge(row: Mapping[str, Any]) -> Safe:
    if row["window"]:
        return own("rolling window")
    return money.gauge(row["used"], row["reserved"], row["allowance"], BAR).text


ACCOUNTS: Final = (
    table.name("prefix", "METER"),
    table.name("account_id", "ACCOUNT"),
    table.name("period"),
    table.number("used"),
    table.number("reserved"),
    table.number("allowance"),
    table.number("remaining"),
    table.Column("OF THE ALLOWANCE", _gauge),
    table.moment("updated_at", "CHANGED"),
)
MOST_METERS: Final = 64
"""Meters of one page at most."""


def _state(name: str) -> table.Column:
    return table.Column(name.upper(), lambda row: table.capped(row["counts"][name]), right=True)


METERS: Final = (
    table.name("prefix", "METER"),
    *map(_state, ("open", "expired", "fenced", "due")),
    table.Column("UNITS HELD", lambda row: table.capped(row["held_units"]), right=True),
    table.Column("ACCOUNT PERIODS", lambda row: table.capped(row["account_periods"]), right=True),
    table.name("fences"),
)
SourceMeter = Annotated[
    str | None,
    typer.Option(
        "--meter", metavar="PREFIX", help="Of the meter whose tables begin so, else the default one."
    ),
]
Edge = Annotated[str | None, typer.Option(metavar="YYYY-MM-DD", help="This day, and it is in the list.")]


def accounts(
    store: Store,
    meter: Meter = None,
    meters: Annotated[
        bool, typer.Option("--meters", help="The meters themselves, and what they hold.")
    ] = False,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List accounts and their periods: of every meter whose tables are found, or of one."""
    if meters and meter is not None:
        raise typer.BadParameter("--meters stands alone; leave --meter out")
    with opened(store) as reads:
        if meters:
            show_page(METERS, reads.meters(after, min(limit, MOST_METERS)), as_json)
        else:
            show_page(ACCOUNTS, reads.accounts(meter, after, limit), as_json)


def account(
    store: Store,
    account_id: Annotated[str, typer.Argument(metavar="ACCOUNT", help="Its id.")],
    meter: SourceMeter = None,
    as_json: AsJson = False,
) -> None:
    """Show one account of a meter: its periods, and what its reservations hold."""
    with opened(store) as reads:
        found = reads.account(meter, account_id)
    if found is None:
        refuse(f"the meter never saw account {account_id!r}; holdwatch accounts lists those it did")
    if as_json:
        print_document(found)
    else:
        print_lines(_account(found))


def _account(found: Document) -> Iterator[Safe]:
    held = money.counted(found["open_units"])
    said = f"{table.capped(found['open'])} open of {table.capped(found['reservations'])} hold {held}"
    yield from table.facts(
        [
            ("meter", present.safe(found["prefix"])),
            ("account", present.safe(found["account_id"])),
            ("reservations", own(said)),
        ]
    )
    if found["periods"]:
        yield own("")
        yield own(f"PERIODS{' (the first of more)' if found['more_periods'] else ''}")
        yield from table.lines(ACCOUNTS[2:], found["periods"])
    if any(period["window"] for period in found["periods"]):
        yield own(WHY_WINDOW)
    yield own(f"-- as of {table.at(found['as_of'])}")


# Days


def _usd(key: str) -> table.Column:
    return table.Column(f"{key.upper()} USD", lambda row: present.usd(row[f"{key}_micro"]), right=True)


DAYS: Final = (table.name("day"), _usd("settled"), _usd("reserved"), _usd("committed"))


def _of_cap(cap: int) -> table.Column:
    return table.Column(
        f"OF {present.usd(cap)}",
        lambda row: money.gauge(row["settled_micro"], row["reserved_micro"], cap, BAR).text,
    )


def _compared(row: Document, cap: int | None) -> Document:
    """The day with the cap beside it, if one was given."""
    if cap is None:
        return row
    return row | {"cap_micro": cap, "percent": money.percent(row["committed_micro"], cap)}


def days(
    store: Store,
    since: Edge = None,
    until: Edge = None,
    cap: Cap = None,
    limit: Limit = 50,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List the day store's totals, newest first."""
    micro = cap_of(cap)
    with opened(store) as reads:
        found = reads.days(since, until, after, limit)
    found["rows"] = [_compared(row, micro) for row in found["rows"]]
    show_page(DAYS if micro is None else (*DAYS, _of_cap(micro)), found, as_json)


def day(
    store: Store,
    name: Annotated[
        str | None, typer.Argument(metavar="[DAY]", help="A UTC day, YYYY-MM-DD; today by the store's clock.")
    ] = None,
    cap: Cap = None,
    as_json: AsJson = False,
) -> None:
    """Show one day's totals, and how many of its reservations are open."""
    micro = cap_of(cap)
    with opened(store) as reads:
        found = reads.day(name)
    found["row"] = _compared(found["row"], micro)
    if as_json:
        print_document(found)
    else:
        print_lines(_day(found, micro))


def _day(found: Document, cap: int | None) -> Iterator[Safe]:
    row = found["row"]
    parts = ("settled", "reserved", "committed")
    said = [("day", own(row["day"])), *((part, money.usd(row[f"{part}_micro"])) for part in parts)]
    if cap is not None:
        gauge = money.gauge(row["settled_micro"], row["reserved_micro"], cap, BAR)
        said.append(("of the cap", own(f"{money.usd(cap)}  {gauge.text}")))
    open_ones = f"{table.capped(found['open'])} of {table.capped(found['reservations'])} are open"
    said.append(("reservations", own(f"{open_ones}, {table.capped(found['fenced'])} of them fenced")))
    yield from table.facts(said)
    yield own(f"-- as of {table.at(found['as_of'])}")
