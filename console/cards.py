"""What a board is made of: cards with lines, each of which leads somewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from console.present import Cell, Safe, Tone, own

if TYPE_CHECKING:
    from console.commands import Command
    from console.jsontext import Line


class Mark(StrEnum):
    """What stands before a line, so that its worth is told without colour (console.md F12)."""

    FINE = "ok"
    BAD = "X"
    LOOK = "!"
    UNKNOWN = "?"
    NOTE = ""


TONES: Final = {
    Mark.FINE: Tone.GOOD,
    Mark.BAD: Tone.BAD,
    Mark.LOOK: Tone.WARN,
    Mark.UNKNOWN: Tone.MUTED,
    Mark.NOTE: Tone.PLAIN,
}
NO_AGE: Final = Cell(own(""))
"""Of what is not read from a store."""


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a card, or a part of one. `key` names it within its card, `opens` is what Enter does on it.

    `folds` is how many lines it may take where it is prose.
    """

    key: str
    mark: Mark
    words: Line
    opens: Command
    folds: int = 1


@dataclass(frozen=True, slots=True)
class Card:
    """One thing that is known of the store.

    `lines` hold one item each, or several that share the line; `age` says how old they are. `tall` is how many
    lines it has where room is kept for all that it may ever say.
    """

    name: str
    title: Safe
    lines: tuple[tuple[Item, ...], ...]
    age: Cell = NO_AGE
    tall: int = 1


def said(key: str, mark: Mark, text: str, opens: Command, *more: Cell) -> tuple[Item, ...]:
    """A line of one item in its mark's tone; `text` is the console's own or was made harmless."""
    return (Item(key, mark, (Cell(own(text), TONES[mark]), *more), opens),)
