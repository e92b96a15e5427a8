"""What the overview says of each part: what is bad by word and sign, what is fine in a word, what is not known.

Every line leads to the list that it counts, filtered the same way.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from console import filters, present
from console.cards import Item, Mark, said
from console.commands import OpenThread, ShowList
from console.overview_filters import written
from console.present import Cell, Safe, Tone, own, safe

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.model import Counted
    from console.overview_filters import OverviewQuery
    from console.overview_model import (
        CascadesNow,
        Changes,
        ClaimsNow,
        EventsNow,
        FencesNow,
        IncompleteNow,
        Oldest,
        SweepNow,
        ThreadsNow,
        TombstonesNow,
    )

Lines = tuple[tuple[Item, ...], ...]

WHOLE_STORE: Final = ShowList("overview", "")
TITLES: Final = {
    "claims": own("Claims"),
    "incomplete": own("Stuck"),
    "fences": own("Fences"),
    "cascades": own("Deletes"),
    "money": own("Money"),
    "queue": own("Queue"),
    "threads": own("Threads"),
    "events": own("Events"),
    "changed": own("Changed"),
    "tombstones": own("Tombstones"),
    "contexts": own("Contexts"),
    "sweep": own("Sweep"),
}
"""The cards, in their order: what may need somebody comes first."""
TALL: Final = {
    "claims": 3,
    "incomplete": 2,
    "fences": 2,
    "cascades": 2,
    "money": 4,
    "queue": 3,
    "threads": 3,
    "events": 2,
    "changed": 3,
    "tombstones": 1,
    "contexts": 3,
    "sweep": 2,
}
"""Lines of a card in which everything that can be said is said."""
BRIEF: Final = timedelta(minutes=1)
"""A thread that stopped less long ago than that may just be between two workers."""
SAME_MOMENT: Final = timedelta(seconds=1)
A_LINE: Final = 2
"""States that share a line."""


def number(count: Counted, word: str, words: str | None = None) -> str:
    """A capped count and what is counted."""
    one = count.count == 1 and not count.more
    return f"{present.counted(count)} {word if one else words or f'{word}s'}"


def since(first: timedelta | None, word: str) -> str:
    """For how long the first of them has been so, behind what is said of them all."""
    return "" if first is None else f", {word} {present.age(first)}"


def _thread(oldest: Oldest) -> Item:
    """The first of its kind, which Enter opens."""
    holder = "" if oldest.holder is None else f"  of {safe(oldest.holder)}"
    words = (
        Cell(own(f"first: {present.age(oldest.age)}  "), Tone.MUTED),
        Cell(safe(oldest.thread), Tone.STRONG),
    )
    return said("oldest", Mark.NOTE, "", OpenThread(oldest.thread), *words, Cell(own(holder), Tone.MUTED))[0]


def claims(now: ClaimsNow, _query: OverviewQuery) -> Lines:
    """Those that are over, the first of them, and those that live."""
    over = ShowList("claims", "state:expired")
    live = said("live", Mark.NOTE, number(now.live, "live claim"), ShowList("claims", "state:live"))
    if not now.expired.count:
        return said("expired", Mark.FINE, "nothing expired", over), live
    first = None if now.oldest is None else now.oldest.age
    text = f"{number(now.expired, 'claim')} expired, not released{since(first, 'oldest')}"
    told = said("expired", Mark.BAD, text, over)
    return (told, live) if now.oldest is None else (told, (_thread(now.oldest),), live)


def incomplete(now: IncompleteNow, query: OverviewQuery) -> Lines:
    """How many stopped half-way, and which was left alone for longest."""
    stuck = ShowList("threads", f"{filters.STUCK}{query.suffix}")
    if not now.count.count and not now.count.more:
        return (said("stuck", Mark.FINE, "no thread stopped half-way", stuck),)
    first = None if now.oldest is None else now.oldest.age
    text = f"{number(now.count, 'thread')} stuck (IDLE){since(first, 'untouched')}"
    brief = first is not None and first < BRIEF
    told = said("stuck", Mark.NOTE if brief else Mark.LOOK, text, stuck)
    if now.oldest is not None:
        return told, (_thread(now.oldest),)
    return told, said("oldest", Mark.UNKNOWN, "which is the first: not known, too many are held", stuck)


def cascades(now: CascadesNow, query: OverviewQuery) -> Lines:
    """Deletes under way, and those that nobody carries on."""
    listed = ShowList("threads", f"status:deleted{query.suffix}")
    if not now.begun.count:
        return (said("begun", Mark.FINE, "no delete is half done", listed),)
    if not now.interrupted.count and not now.interrupted.more:
        return (
            said("begun", Mark.NOTE, f"{number(now.begun, 'delete')} under way, none interrupted", listed),
        )
    first = None if now.oldest is None else now.oldest.age
    text = f"{number(now.interrupted, 'delete')} interrupted of {present.counted(now.begun)} begun"
    told = said("begun", Mark.BAD, f"{text}{since(first, 'first')}", listed)
    return (told,) if now.oldest is None else (told, (_thread(now.oldest),))


def fences(now: FencesNow, _query: OverviewQuery) -> Lines:
    """Whether somebody must answer, and how many wait for their check."""
    due = ShowList("fences", "state:due")
    if now.overdue.count:
        text = f"{number(now.overdue, 'fence')} overdue of {present.counted(now.due)} due"
        told = said("due", Mark.BAD, f"{text}{since(now.oldest_due, 'first')}", due)
    elif now.due.count:
        text = f"{number(now.due, 'fence')} due{since(now.oldest_due, 'first')}"
        told = said("due", Mark.LOOK, text, due)
    else:
        told = said("due", Mark.FINE, "no fence is due", due)
    waiting = said(
        "waiting",
        Mark.NOTE,
        f"{number(now.waiting, 'fence')} waiting for a check",
        ShowList("fences", "state:fenced"),
    )
    return (told, waiting, *more_sources(now.more_sources))


def more_sources(more: bool) -> Lines:
    """That a figure leaves something out."""
    if not more:
        return ()
    text = "not every meter and table was looked at"
    return (said("sources", Mark.UNKNOWN, text, ShowList("reservations", "")),)


def threads(now: ThreadsNow, query: OverviewQuery) -> Lines:
    """Each state with its number."""
    items = []
    for state, mark in present.STATES.items():
        count = now.by_state[state]
        words = Cell(own(f"{mark.glyph} {state.value:<9}"), mark.tone if count.count else Tone.MUTED)
        listed = ShowList("threads", f"status:{state.value.lower()}{query.suffix}")
        figure = Cell(own(f" {present.counted(count):>7}"), Tone.PLAIN if count.count else Tone.MUTED)
        items.append(said(state.value, Mark.NOTE, "", listed, words, figure)[0])
    return tuple(tuple(items[start : start + A_LINE]) for start in range(0, len(items), A_LINE))


def events(now: EventsNow, _query: OverviewQuery) -> Lines:
    """When the newest came, and how many lately."""
    tail = ShowList("events", "")
    if now.thread is None:
        return (said("newest", Mark.NOTE, "no event yet", tail),)
    words = (Cell(own(f"newest {_ago(now.age)} ago  ")), Cell(safe(now.thread), Tone.STRONG))
    newest = said("newest", Mark.NOTE, "", tail, *words)
    return newest, said("minute", Mark.NOTE, f"{number(now.last_minute, 'event')} in the last minute", tail)


def _ago(age: timedelta | None) -> Safe:
    """An age. An event that lands while the overview is read may be younger than it: that is no fault of a clock."""
    beside = age is not None and -SAME_MOMENT < age < timedelta(0)
    return present.age(timedelta(0) if beside else age)


def changed(now: Changes, query: OverviewQuery) -> Lines:
    """How much of each kind, within the span."""
    lately = f"since:{written(now.span)}"
    told = said(
        "threads",
        Mark.NOTE,
        f"{number(now.threads, 'thread')} committed",
        ShowList("threads", lately + query.suffix),
    )
    if now.expired is None or now.deleted is None:
        text = "claims and deletes: not kept by tenant"
        return told, said("expired", Mark.UNKNOWN, text, ShowList("overview", lately))
    ended = bool(now.expired.count)
    over = f"{number(now.expired, 'claim')} ended unreleased" if ended else "no claim ended unreleased"
    return (
        told,
        said("expired", Mark.LOOK if ended else Mark.FINE, over, ShowList("claims", lately)),
        said(
            "deleted",
            Mark.NOTE,
            f"{number(now.deleted, 'thread')} deleted",
            ShowList("threads", f"{filters.TOMBSTONES} {lately}"),
        ),
    )


def tombstones(now: TombstonesNow, _query: OverviewQuery) -> Lines:
    """How many, and since when."""
    listed = ShowList("threads", filters.TOMBSTONES)
    if not now.count.count:
        return (said("count", Mark.NOTE, "none left to be reclaimed", listed),)
    spans = f"{since(now.oldest, 'oldest')}{since(now.newest, 'newest')}"
    return (said("count", Mark.NOTE, f"{number(now.count, 'tombstone')}{spans}", listed),)


def sweep(now: SweepNow, _query: OverviewQuery) -> Lines:
    """Who does the maintenance; between two passes the store does not know when there was one."""
    collects = ShowList("reservations", "state:expired")
    lease = now.lease
    if lease is None:
        none = said("lease", Mark.NOTE, "no maintenance at work right now", collects)
        return none, said(
            "past", Mark.UNKNOWN, "when the last pass ended: the store does not keep it", collects
        )
    holder = safe(lease.holder)
    if lease.left <= timedelta(0):
        text = f"{holder} stopped {present.age(-lease.left)} ago and kept its lease"
        return (said("lease", Mark.BAD, text, collects),)
    text = f"{holder} at work {present.age(lease.running)}, renewed {present.age(lease.renewed)} ago"
    return (said("lease", Mark.FINE, text, collects),)


TELLS: Final[dict[str, Callable[[Any, OverviewQuery], Lines]]] = {
    "claims": claims,
    "incomplete": incomplete,
    "fences": fences,
    "cascades": cascades,
    "threads": threads,
    "events": events,
    "changed": changed,
    "tombstones": tombstones,
    "sweep": sweep,
}
