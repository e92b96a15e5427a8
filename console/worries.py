"""How many cards of a board say that somebody is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.cards import Mark
from console.present import Cell, Tone, own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.cards import Card


def worries(cards: Sequence[Card], *, known: bool) -> Cell:
    """A word for the corner: nothing is said to be well before anything is known."""
    if not known:
        return Cell(own(" "))
    bad = _with(cards, Mark.BAD)
    look = [name for name in _with(cards, Mark.LOOK) if name not in bad]
    if not bad and not look:
        return Cell(own("ok nothing needs anybody "), Tone.GOOD)
    parts = [f"X {len(bad)} bad"] if bad else []
    parts += [f"! {len(look)} to look at"] if look else []
    return Cell(own(f"{'  '.join(parts)} "), Tone.BAD if bad else Tone.WARN)


def _with(cards: Sequence[Card], mark: Mark) -> list[str]:
    return [card.name for card in cards if any(item.mark is mark for line in card.lines for item in line)]
