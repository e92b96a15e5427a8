"""The overview's cards: what is known of each part, how old that is, and why it is not newer.

A part that cannot be read says so in its own card; what was read of it before stays below that, and the other
parts live (console.md 3.2, row 49).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from console import context_facts, overview_facts, overview_money_facts, present
from console.cards import Card, Item, Mark, said
from console.commands import Perform
from console.held_model import Failed
from console.overview_filters import written
from console.present import Cell, Tone, own, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from console.overview_facts import Lines
    from console.overview_filters import OverviewQuery
    from console.session import Session

YOUNG: Final = 30
"""Seconds below which an age is not told exactly: longer than one interval, so that on an idle screen no card's
age changes from one answer to the next (ruling 59).
"""
ERROR_LINES: Final = 3
"""Lines that a part's error gets in its card; enter asks again."""
ASK: Final = Perform("refresh")


@dataclass(frozen=True, slots=True)
class Known:
    """A part as it was last read, when that was (seconds of the local monotonic clock), and why not since.

    `part` is None where a tenant has none.
    """

    part: Any = None
    since: float | None = None
    failed: Failed | None = None

    def then(self, answer: Any, now: float) -> Known:
        """After another answer, which may be that it cannot be read."""
        if isinstance(answer, Failed):
            return replace(self, failed=answer)
        return Known(answer, now)


@dataclass(frozen=True, slots=True)
class Sight:
    """What the cards are made for: the question, the session, the moment, and whether answers still come."""

    query: OverviewQuery
    session: Session
    now: float
    fresh: bool = True


def cards(known: Mapping[str, Known], sight: Sight) -> tuple[Card, ...]:
    """All of them, in their order."""
    tellers = _tellers(sight)
    return tuple(
        _contexts(sight)
        if name == "contexts"
        else _card(name, known.get(name, Known()), tellers[name], sight)
        for name in overview_facts.TITLES
    )


def _tellers(sight: Sight) -> dict[str, Callable[[Any], Lines]]:
    return {
        **{name: partial(_told, tell, sight.query) for name, tell in overview_facts.TELLS.items()},
        "money": partial(overview_money_facts.of_money, cap=sight.session.cap),
        "queue": overview_money_facts.of_queue,
    }


def _told(tell: Callable[[Any, OverviewQuery], Lines], query: OverviewQuery, part: Any) -> Lines:
    return tell(part, query)


def _card(name: str, known: Known, tell: Callable[[Any], Lines], sight: Sight) -> Card:
    card = Card(name, _title(name, sight), (), _age(known, sight), overview_facts.TALL[name])
    if known.since is None and known.failed is None:
        return replace(card, lines=(said("wait", Mark.NOTE, "reading ...", ASK),))
    lines: Lines = () if known.part is None else tell(known.part)
    if known.failed is not None:
        return replace(card, lines=(_failed(known), *lines))
    return replace(card, lines=lines or (_not_of_tenants(),))


def _title(name: str, sight: Sight) -> present.Safe:
    title = overview_facts.TITLES[name]
    return own(f"{title} {written(sight.query.span)}") if name == "changed" else title


def _failed(known: Known) -> tuple[Item, ...]:
    assert known.failed is not None
    below = "" if known.part is None else "; what stands below is OLD"
    text = own(f"NOT READ{below}: {safe(known.failed.message, 300)}")
    return (Item("failed", Mark.BAD, (Cell(text, Tone.BAD),), ASK, folds=ERROR_LINES),)


def _not_of_tenants() -> tuple[Item, ...]:
    return said(
        "whole", Mark.UNKNOWN, "not kept by tenant; the whole store's: enter", overview_facts.WHOLE_STORE
    )


def _age(known: Known, sight: Sight) -> Cell:
    """How long ago the card's figures were read."""
    if known.since is None:
        return Cell(own(""))
    seconds = int(max(0.0, sight.now - known.since))
    old = known.failed is not None or not sight.fresh
    text = f"<{YOUNG}s" if seconds < YOUNG else present.age(timedelta(seconds=seconds))
    return Cell(own(f"OLD {text}" if old else f"{text} old"), Tone.BAD if old else Tone.MUTED)


def _contexts(sight: Sight) -> Card:
    """The configuration's; nothing is asked of a store for it."""
    lines = context_facts.of_session(sight.session)
    title = overview_facts.TITLES["contexts"]
    return Card("contexts", title, lines, tall=max(overview_facts.TALL["contexts"], len(lines)))
