"""Changes whose end is not known, as a list."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from console import present
from console.acting.sending import Fate
from console.facts import fact, grid
from console.present import Cell, Tone, middle, own, safe
from console.widgets.columns import Column, Scene

if TYPE_CHECKING:
    from console.acting.loose import Loose
    from console.jsontext import Line

BEFORE: Final = Scene(datetime(1970, 1, 1, tzinfo=UTC), fresh=False)
"""The time of rows that were made before the store has told its own."""
_TEXT: Final = 4_000
_FATES: Final = {
    Fate.UNKNOWN: ("? UNKNOWN", Tone.BAD),
    Fate.APPLIED: ("# applied", Tone.GOOD),
    Fate.NOT_APPLIED: ("- not applied", Tone.WARN),
}


def fate(value: Fate) -> Cell:
    """A sign and a word."""
    word, tone = _FATES.get(value, (f". {value.value}", Tone.MUTED))
    return Cell(own(word), tone)


def _at(row: Loose, scene: Scene) -> Cell:
    text = present.NOTHING if row.at is None else present.clock(row.at, scene.as_of)
    return Cell(text, Tone.MUTED)


COLUMNS: Final[tuple[Column[Loose], ...]] = (
    Column(own("OUTCOME"), 13, lambda row, _: fate(row.fate)),
    Column(own("CHANGE"), 20, lambda row, _: Cell(safe(row.what), Tone.STRONG), most=60, shorten=middle),
    Column(own("INTENT AT"), 10, _at, right=True, by=lambda row: row.at),
    Column(own("KNOWN FROM"), 12, lambda row, _: Cell(safe(row.origin), Tone.MUTED), leaves=1),
    Column(own("OPERATION"), 14, lambda row, _: Cell(safe(row.operation)), most=35, leaves=2, shorten=middle),
)


def facts(row: Loose, room: int) -> tuple[Line, ...]:
    """The pane below: what is known, and how to do it again where that is wanted."""
    told = (
        fact("change", safe(row.what), Tone.STRONG),
        fact("operation", safe(row.operation)),
        fact("intent at", present.instant(row.at)),
    )
    lines = (
        ("now", row.told, Tone.STRONG),
        ("reason", row.reason or "", Tone.PLAIN),
        ("command", row.command, Tone.PLAIN),
    )
    said = tuple(
        (Cell(own(f"{name}  "), Tone.MUTED), Cell(safe(text, _TEXT), tone))
        for name, text, tone in lines
        if text
    )
    return (*said, *grid(told, room, most=2))
