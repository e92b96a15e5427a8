"""What is said of a day's money and of an account's units: what is committed, of how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from console import money, present
from console.facts import Fact, fact, grid
from console.present import Cell, Tone, own

if TYPE_CHECKING:
    from console.jsontext import Line
    from console.money_model import AccountRow, AccountStory, DayRow, DayStory
    from console.present import Safe

NO_CAP: Final = own("the store keeps no cap; :cap 60 compares each day with one")
WHY_WINDOW: Final = (
    "remaining is unknown: the account counts over a rolling window, whose length the store does not keep, and "
    "nothing ages out of `used`"
)
GAUGE: Final = 60
"""Cells of the widest bar in a pane."""
_PERIODS: Final = 6
"""Periods of an account that the pane below the list shows."""


def day_lines(day: DayRow, cap: int | None, room: int, uncapped: Safe = NO_CAP) -> tuple[Line, ...]:
    """A day's totals, and a bar against the operator's cap; without one `uncapped` is said."""
    told = (
        fact("settled", money.usd(day.settled)),
        fact("reserved", money.usd(day.reserved)),
        fact("committed", money.usd(day.committed), Tone.STRONG),
        Fact(own("of the cap"), Cell(uncapped, Tone.MUTED) if cap is None else Cell(money.usd(cap))),
    )
    if cap is None:
        return (*grid(told[:3], room), (told[3].value,))
    return (*grid(told, room, most=2), _bar(day.settled, day.reserved, cap, room))


def day_cell(day: DayRow, cap: int | None, cells: int) -> Cell:
    """The bar of a day in a list."""
    if cap is None:
        return Cell(own("no cap (:cap 60)"), Tone.MUTED)
    return money.gauge(day.settled, day.reserved, cap, cells)


def account_lines(account: AccountRow, room: int) -> tuple[Line, ...]:
    """An account's figures, and a bar against its allowance; of a window, why there is none."""
    told = (
        fact("used", present.number(account.used)),
        fact("reserved", present.number(account.reserved)),
        fact("allowance", present.number(account.allowance)),
        Fact(own("remaining"), remaining(account)),
    )
    lines = grid(told, room, most=2)
    if account.window:
        return (*lines, *((Cell(line, Tone.WARN),) for line in present.wrap(own(WHY_WINDOW), room)))
    return (*lines, _bar(account.used, account.reserved, account.allowance, room))


def account_cell(account: AccountRow, cells: int) -> Cell:
    """The bar of an account in a list."""
    if account.window:
        return Cell(own("rolling window"), Tone.MUTED)
    return money.gauge(account.used, account.reserved, account.allowance, cells)


def remaining(account: AccountRow) -> Cell:
    """What may still be reserved; not known of a window."""
    if account.remaining is None:
        return Cell(own("unknown"), Tone.MUTED)
    return Cell(present.number(account.remaining), Tone.STRONG if account.remaining else Tone.BAD)


def _bar(settled: int, held: int, whole: int, room: int) -> Line:
    gauge = money.gauge(settled, held, whole, min(room, GAUGE))
    return gauge, Cell(own("  # spent  = held"), Tone.MUTED)


def of_account(account: AccountRow, story: AccountStory | None, room: int) -> tuple[Line, ...]:
    """The pane below the accounts; `story` once it has been fetched."""
    told = (
        fact("account", present.safe(account.account), Tone.STRONG),
        fact("meter", present.safe(account.meter)),
        fact("period", present.safe(account.period)),
        fact("last changed", present.instant(account.updated_at)),
    )
    return (*grid(told, room, most=2), *account_lines(account, room), *_of_story(account, story))


def _of_story(account: AccountRow, story: AccountStory | None) -> tuple[Line, ...]:
    if story is None:
        return ()
    held = money.counted(story.open_units)
    said = f"{present.counted(story.open)} open of {present.counted(story.all)} reservations hold {held}"
    others = [each for each in story.periods if each.period != account.period]
    if not others:
        return ((Cell(own(said)),),)
    shown = ", ".join(present.safe(each.period) for each in others[:_PERIODS])
    more = ", .." if story.more_periods or len(others) > _PERIODS else ""
    return (Cell(own(said)),), (Cell(own("other periods  "), Tone.MUTED), Cell(own(f"{shown}{more}")))


def of_day(day: DayRow, story: DayStory | None, cap: int | None, room: int) -> tuple[Line, ...]:
    """The pane below the days; `story` once it has been fetched."""
    lines = (
        (Cell(own("day "), Tone.MUTED), Cell(present.safe(day.day), Tone.STRONG)),
        *day_lines(day, cap, room),
    )
    if story is None:
        return lines
    said = f"{present.counted(story.open)} of {present.counted(story.all)} reservations are open"
    return (*lines, (Cell(own(f"{said}, {present.counted(story.fenced)} of them fenced")),))
