"""What the overview says of money and of the run queue."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from console import money, money_filters, present
from console.cards import Mark, said
from console.commands import ShowList
from console.overview_facts import more_sources, number, since
from console.present import Cell, Tone, own

if TYPE_CHECKING:
    from console.cards import Item
    from console.overview_facts import Lines
    from console.overview_model import MoneyNow, QueueNow

LATE: Final = timedelta(minutes=1)
"""How long a due entry may wait for a worker before the overview points at it."""


def of_money(now: MoneyNow, cap: int | None) -> Lines:
    """What is held, what today comes to, and what nobody has settled in time."""
    totals = now.totals
    counts = totals.all
    held = said(
        "held",
        Mark.NOTE,
        "",
        ShowList("reservations", "kind:day"),
        Cell(money.usd(totals.held_micro), Tone.STRONG),
        Cell(own(" held by day reservations")),
    )
    open_ones = said(
        "open",
        Mark.NOTE,
        f"{present.counted(counts.open)} open  {present.counted(counts.fenced)} fenced  "
        f"{present.counted(counts.due)} due",
        ShowList("reservations", ""),
    )
    return (_expired(now), held, _today(now, cap), open_ones, *more_sources(totals.more_sources))


def _expired(now: MoneyNow) -> tuple[Item, ...]:
    listed = ShowList("reservations", "state:expired")
    count = now.totals.all.expired
    if not count.count:
        return said("expired", Mark.FINE, "no reservation expired", listed)
    kinds = ", ".join(f"{kind.value} {present.age(span)}" for kind, span in now.expired_for.items())
    text = (
        f"{present.counted(count)} expired: {kinds}" if kinds else f"{number(count, 'reservation')} expired"
    )
    return said("expired", Mark.BAD, text, listed)


def _today(now: MoneyNow, cap: int | None) -> tuple[Item, ...]:
    days, committed = ShowList("budgets", money_filters.DAYS), now.today.committed
    text = f"{money.usd(committed)} committed today (UTC)"
    if cap is None:
        return said("today", Mark.NOTE, text, days)
    over = Mark.BAD if committed >= cap else Mark.LOOK if committed * 100 >= cap * money.NEARLY else Mark.FINE
    return said("today", over, f"{text}, {money.percent(committed, cap):,}% of the cap", days)


def of_queue(now: QueueNow) -> Lines:
    """What waits for a worker, what a worker has lost, and what was given up."""
    depth = now.depth
    queued, leased = ShowList("queue", "state:queued"), ShowList("queue", "state:leased")
    if depth.due.count:
        late = depth.oldest_due is not None and depth.oldest_due > LATE
        text = f"{present.counted(depth.due)} due of {present.counted(depth.queued)} queued"
        due = said(
            "due", Mark.LOOK if late else Mark.NOTE, f"{text}{since(depth.oldest_due, 'first')}", queued
        )
    else:
        due = said("due", Mark.FINE, f"none due of {present.counted(depth.queued)} queued", queued)
    if depth.lapsed.count:
        text = f"{number(depth.lapsed, 'lease')} lapsed of {present.counted(depth.leased)}"
        at_work = said("leased", Mark.BAD, f"{text}{since(depth.oldest_lapsed, 'first')}", leased)
    else:
        at_work = said("leased", Mark.FINE, f"{present.counted(depth.leased)} leased, none lapsed", leased)
    dead = ShowList("queue", "state:dead")
    if now.dead.count:
        given_up = said("dead", Mark.BAD, f"{number(now.dead, 'run')} dead: given up, for a person", dead)
    else:
        given_up = said("dead", Mark.FINE, "no run was given up", dead)
    return due, at_work, given_up
