"""How a list's line looks: a sign, then the cells of the columns, on the ground that says where the cursor
is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from rich.segment import Segment
from textual.strip import Strip

from console.present import Safe, Tone, own, title
from console.widgets.columns import GAP

if TYPE_CHECKING:
    from rich.style import Style

    from console.theme import Look
    from console.widgets.columns import Fitted, Scene

MARGIN: Final = 2
"""Cells before the first column: the sign, and the mark."""
BLANK: Final = own("")


class Pick(StrEnum):
    """What stands before a row that is marked, or lies in the range that is being marked."""

    NONE = " "
    MARKED = "*"
    RANGED = "+"


class Sign(StrEnum):
    """What stands before a row. The row under the cursor may be a ghost, or be known from elsewhere only."""

    NONE = " "
    CURSOR = ">"
    GHOST = "~"
    AWAY = "?"


_OLD: Final = frozenset({Sign.GHOST, Sign.AWAY})
"""Rows that are shown as they were last read."""


@dataclass(frozen=True, slots=True)
class Painter:
    """Makes lines of `width` cells from finished segments; nothing is parsed."""

    look: Look
    fitted: tuple[Fitted[Any], ...]
    width: int

    def titles(self) -> Strip:
        """The columns' titles."""
        texts = [each.column.fitted(title(each.column.title), each.width) for each in self.fitted]
        style = self.look.style(Tone.MUTED, self.look.band)
        return self._filled([Segment(" " * MARGIN + (" " * GAP).join(texts), style)], self.look.band)

    def row(self, row: Any, scene: Scene, sign: Sign, ground: Style, pick: Pick = Pick.NONE) -> Strip:
        """One row; one that is shown as it was is muted."""
        segments = [
            Segment(sign.value, self.look.style(Tone.ACCENT, ground)),
            Segment(pick.value, self.look.style(Tone.WARN, ground)),
        ]
        for place, each in enumerate(self.fitted):
            cell = each.column.cell_of(row, scene, each.width)
            tone = Tone.MUTED if sign in _OLD else cell.tone
            style = ground if tone is Tone.PLAIN else self.look.style(tone, ground)
            gap = " " * GAP if place else ""
            segments += _worded(gap + each.column.fitted(cell.text, each.width), style, ground)
        return self._filled(segments, ground)

    def note(self, text: Safe) -> Strip:
        """A line of prose where rows would be."""
        style = self.look.style(Tone.MUTED, self.look.ground)
        return self._filled([Segment(" " * MARGIN + text, style)], self.look.ground)

    def ground(self, *, here: bool, focused: bool) -> Style:
        """What a row is drawn on: the line of the cursor stands out."""
        if not here:
            return self.look.ground
        return self.look.cursor if focused else self.look.faded_cursor

    def _filled(self, segments: list[Segment], ground: Style) -> Strip:
        return Strip(segments).adjust_cell_length(self.width, ground).simplify()


def _worded(text: str, style: Style, ground: Style) -> list[Segment]:
    """A cell; where its style is turned, only the words are: a turned blank would look like a mark."""
    if bool(style.reverse) == bool(ground.reverse):
        return [Segment(text, style)]
    words = text.strip()
    begin = text.index(words)
    parts = (text[:begin], ground), (words, style), (text[begin + len(words) :], ground)
    return [Segment(part, look) for part, look in parts if part]


def difference(old: Strip | None, new: Strip) -> tuple[int, int] | None:
    """The cells from which and up to which two lines differ; None if they do not."""
    if old == new:
        return None
    if old is None or old.cell_length != new.cell_length:
        return 0, new.cell_length
    before, after = _cells(old), _cells(new)
    if not len(before) == len(after) == new.cell_length:  # wide characters: places are not cells
        return 0, new.cell_length
    places = [place for place, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    return (places[0], places[-1] + 1) if places else None


def _cells(strip: Strip) -> list[tuple[str, Style | None]]:
    return [(character, segment.style) for segment in strip for character in segment.text]
