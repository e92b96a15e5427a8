"""What may be spent, and what of it is: the accounts of every meter, and the day store's days."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

from console import budget_facts, filters, money, present
from console.commands import ShowList
from console.lists.sorting import Served
from console.lists.view import Extra, Question, Tally, View
from console.present import Cell, Safe, Tone, middle, own
from console.widgets.columns import Column

if TYPE_CHECKING:
    from console.jsontext import Line
    from console.money_model import AccountQuery, AccountRow, AccountStory, DayRow, DayStory
    from console.reading import Gateway
    from console.widgets.columns import Scene


def _gauge(account: AccountRow, _scene: Scene, cells: int) -> Cell:
    return budget_facts.account_cell(account, cells)


def _share_used(account: AccountRow) -> Fraction | None:
    """Of a rolling window no share is known."""
    return None if account.window or not account.allowance else Fraction(account.committed, account.allowance)


def _nothing(_row: object, _scene: Scene) -> Cell:
    """What a column says that is drawn for its width."""
    return Cell(own(""))


def _number(value: int) -> Cell:
    return Cell(present.number(value), Tone.PLAIN if value else Tone.MUTED)


ACCOUNT_COLUMNS: Final[tuple[Column[AccountRow], ...]] = (
    Column(
        own("ACCOUNT"),
        12,
        lambda row, _: Cell(present.safe(row.account), Tone.STRONG),
        most=36,
        shorten=middle,
    ),
    Column(own("METER"), 13, lambda row, _: Cell(present.safe(row.meter)), most=24, leaves=1, shorten=middle),
    Column(own("PERIOD"), 10, lambda row, _: Cell(present.safe(row.period)), most=16, shorten=middle),
    Column(own("USED"), 7, lambda row, _: _number(row.used), most=12, right=True, by=lambda row: row.used),
    Column(
        own("RESERVED"),
        8,
        lambda row, _: _number(row.reserved),
        most=12,
        right=True,
        by=lambda row: row.reserved,
    ),
    Column(
        own("ALLOWANCE"),
        9,
        lambda row, _: _number(row.allowance),
        most=12,
        right=True,
        leaves=2,
        by=lambda row: row.allowance,
    ),
    Column(
        own("REMAINING"),
        9,
        lambda row, _: budget_facts.remaining(row),
        most=12,
        right=True,
        by=lambda row: row.remaining,
    ),
    Column(own("OF THE ALLOWANCE"), 16, _nothing, most=40, drawn=_gauge, by=_share_used),
)


def _account_facts(row: AccountRow, story: AccountStory | None, _scene: Scene, room: int) -> tuple[Line, ...]:
    return budget_facts.of_account(row, story, room)


def _of_account(row: AccountRow) -> ShowList:
    return ShowList("reservations", f"meter:{row.meter} owner:{filters.quoted(row.account)}")


ACCOUNTS: Final[View[AccountRow]] = View(
    title=own("Accounts"),
    order=own("by meter and account"),
    none=own("no meter has an account here; tab shows the days of the day store"),
    columns=ACCOUNT_COLUMNS,
    key=lambda row: json.dumps([row.meter, row.account, row.period]),
    facts=_account_facts,
    opens=_of_account,
    copies=lambda row: row.account,
    extra=Extra(
        lambda gateway, row: gateway.account(row.meter, row.account), lambda row: (row.used, row.reserved)
    ),
    ids="accounts",
)


def _usd(micro: int, tone: Tone = Tone.PLAIN) -> Cell:
    return Cell(present.usd(micro), tone if micro else Tone.MUTED)


def _days(cap: int | None) -> View[DayRow]:
    """The days, each compared with the operator's cap."""

    def gauge(row: DayRow, _scene: Scene, cells: int) -> Cell:
        return budget_facts.day_cell(row, cap, cells)

    def facts(row: DayRow, story: DayStory | None, _scene: Scene, room: int) -> tuple[Line, ...]:
        return budget_facts.of_day(row, story, cap, room)

    return View(
        title=own("Days"),
        order=own("newest first"),
        none=own("the day store has no day yet; tab shows the accounts of meters"),
        columns=(
            Column(own("DAY (UTC)"), 10, lambda row, _: Cell(present.safe(row.day), Tone.STRONG)),
            Column(
                own("SETTLED USD"),
                13,
                lambda row, _: _usd(row.settled),
                most=20,
                right=True,
                by=lambda row: row.settled,
            ),
            Column(
                own("RESERVED USD"),
                13,
                lambda row, _: _usd(row.reserved),
                most=20,
                right=True,
                by=lambda row: row.reserved,
            ),
            Column(
                own("COMMITTED USD"),
                13,
                lambda row, _: _usd(row.committed, Tone.STRONG),
                most=20,
                right=True,
                by=lambda row: row.committed,
            ),
            Column(own(_cap_title(cap)), 18, _nothing, most=46, drawn=gauge, by=lambda row: row.committed),
        ),
        key=lambda row: row.day,
        facts=facts,
        opens=lambda row: ShowList("reservations", f"day:{row.day}"),
        extra=Extra(lambda gateway, row: gateway.day(row.day), lambda row: (row.settled, row.reserved)),
        ids="days",
        served=Served("DAY (UTC)", falling=True),
    )


def _cap_title(cap: int | None) -> str:
    return "OF THE CAP" if cap is None else f"OF {money.usd(cap)}"


def accounts(query: AccountQuery, cap: int | None) -> Question[AccountRow]:
    """The accounts of a meter, or of every one."""
    return Question(
        ACCOUNTS,
        lambda gateway, after, limit: gateway.accounts(query, after, limit),
        partial(_today, cap=cap),
    )


def days(cap: int | None) -> Question[DayRow]:
    """The days, newest first; the store keeps no count of them."""
    return Question(
        _days(cap), lambda gateway, after, limit: gateway.days(after, limit), partial(_today, cap=cap)
    )


def _today(gateway: Gateway, cap: int | None) -> Tally:
    """What today has committed, above either list."""
    today = gateway.day(None).row
    tone = Tone.PLAIN if cap is None else money.tone(today.committed, cap)
    said = f"  today {money.usd(today.committed)} committed{_share(today.committed, cap)}"
    return Tally(None, (Cell(own(said), tone),))


def _share(committed: int, cap: int | None) -> Safe:
    return own("" if cap is None else f", {money.percent(committed, cap):,}% of the cap")
