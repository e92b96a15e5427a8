"""Updates of the screen that write the changed cells only.

Textual keeps which cells of a line have changed, but writes the line from the widget's left edge up to them: in
24-bit colour some 400 bytes where 50 would do, and an idle list has thirty lines (ruling 59).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.control import Control
from textual._compositor import ChopsUpdate

if TYPE_CHECKING:
    from rich.console import Console
    from textual.strip import Strip


class NarrowUpdate(ChopsUpdate):
    """The same update, each line cut at both ends of what has changed."""

    @classmethod
    def of(cls, update: ChopsUpdate) -> NarrowUpdate:
        """A compositor's update in this form."""
        return cls(update.chops, update.spans, update.chop_ends)

    def render_segments(self, console: Console) -> str:
        """What is written to the terminal."""
        return "".join(
            self._piece(console, strip, y, (x, end), (first, last))
            for y, first, last in self.spans
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False)
            if strip is not None and x < last and end > first
        )

    @staticmethod
    def _piece(
        console: Console, strip: Strip, y: int, chop: tuple[int, int], changed: tuple[int, int]
    ) -> str:
        (x, end), (first, last) = chop, changed
        start, stop = max(first, x), min(last, end)
        return f"{Control.move_to(start, y).segment.text}{strip.crop(start - x, stop - x).render(console)}"
