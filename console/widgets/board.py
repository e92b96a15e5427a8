"""A board of cards: draws a `Sheet`, moves the cursor over its items, and says which of them was opened.

What Enter does belongs to the item that was drawn under the cursor, not to one that has arrived since (console.md
F2). Only what looks different is drawn again (ruling 59).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console import theme
from console.cards import TONES
from console.present import Tone, clip, own, width
from console.sheet import MARK, SIGN, Sheet, Spot, lay_out
from console.styles import beside
from console.widgets.painter import difference

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.style import Style
    from textual.events import Blur, Click, Focus, Resize

    from console.cards import Card, Item
    from console.commands import Command
    from console.sheet import Address


class Board(ScrollView, can_focus=True, inherit_bindings=False):
    """Cards with a cursor on one of their items."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    class Opened(Message):
        """The operator wants what an item leads to."""

        def __init__(self, command: Command) -> None:
            super().__init__()
            self.command = command

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(id=id)
        self._cards: Sequence[Card] = ()
        self._sheet = Sheet((), 0)
        self._cursor: Address | None = None
        self._aim: Item | None = None
        self._sought = ""
        self._drawn: dict[int, Strip] = {}

    def show(self, cards: Sequence[Card]) -> None:
        """Show these cards, the cursor where it was."""
        self._cards = cards
        self._lay_out()
        self.redraw()

    @property
    def target(self) -> Item | None:
        """The item that the operator means: the one drawn under the cursor."""
        return self._aim

    @property
    def text(self) -> str:
        """All lines as text, for tests."""
        return "\n".join(self._strip(y).text.rstrip() for y in range(self._sheet.height))

    # What the operator does

    def do_up(self) -> None:
        self._step(-1)

    def do_down(self) -> None:
        self._step(1)

    def do_page_up(self) -> None:
        self._step(-self.size.height)

    def do_page_down(self) -> None:
        self._step(self.size.height)

    def do_first(self) -> None:
        self._go(self._sheet.stops[0] if self._sheet.stops else None)

    def do_last(self) -> None:
        self._go(self._sheet.stops[-1] if self._sheet.stops else None)

    def do_next_card(self) -> None:
        self._leave(1)

    def do_previous_card(self) -> None:
        self._leave(-1)

    def do_open(self) -> None:
        if self._aim is not None:
            self.post_message(self.Opened(self._aim.opens))

    def go_to_card(self, name: str) -> None:
        """Put the cursor on the first item of a card, and keep it there while the cards above are read."""
        self._go(self._sheet.of((name, "")))
        self._sought = name
        self._seek()

    def on_click(self, event: Click) -> None:
        """One click moves the cursor, two open."""
        x, y = event.x, event.y + self.scroll_offset.y
        here = next((s for s in self._sheet.stops if s.y == y and s.x <= x < s.x + s.cells), None)
        if here is None:
            return
        if event.chain >= 2 and here.address == self._cursor:
            self.do_open()
        else:
            self._go(here)

    def _step(self, count: int) -> None:
        here = self._sheet.of(self._cursor)
        self._go(None if here is None else self._sheet.beside(here, count))

    def _leave(self, count: int) -> None:
        here = self._sheet.of(self._cursor)
        self._go(None if here is None else self._sheet.other_card(here, count))

    def _go(self, spot: Spot | None) -> None:
        if spot is None:
            return
        self._sought = ""
        self._cursor, self._aim = spot.address, spot.item
        self._keep_in_view(spot)
        self.redraw()

    # Drawing

    def on_resize(self, _event: Resize) -> None:
        """Cards follow the size."""
        self._lay_out()
        self.refresh()

    def on_focus(self, _event: Focus) -> None:
        """The cursor's colour shows the focus."""
        self.redraw()

    def on_blur(self, _event: Blur) -> None:
        """The cursor's colour shows the focus."""
        self.redraw()

    def _lay_out(self) -> None:
        room = self.scrollable_content_region.width
        if room < 1:
            return
        self._sheet = lay_out(self._cards, room, self.size.height)
        self.virtual_size = Size(room, self._sheet.height)
        here = self._sheet.of(self._cursor)
        if here is not None and here.address != self._cursor:
            self._cursor = here.address
            self._keep_in_view(here)
        self._seek()

    def _keep_in_view(self, spot: Spot) -> None:
        """The line of the cursor, and the title above it where that is what is in the way."""
        top, page = self.scroll_offset.y, max(self.size.height, 1)
        wanted = 0 if spot.y <= 1 else spot.y - 1
        if wanted < top:
            self.scroll_to(y=wanted, animate=False, immediate=True, force=True)
        elif spot.y >= top + page:
            self.scroll_to(y=spot.y - page + 1, animate=False, immediate=True, force=True)

    def _seek(self) -> None:
        """All lines of the card that is looked for, or as many as fit from its first on."""
        spot = self._sheet.of((self._sought, ""))
        if spot is None or spot.address is None or spot.address[0] != self._sought:
            return
        self._cursor = spot.address
        lines = [each.y for each in self._sheet.spots if each.address and each.address[0] == self._sought]
        wanted = min(max(lines) - max(self.size.height, 1) + 1, *lines)
        if wanted > self.scroll_offset.y:
            self.scroll_to(y=wanted, animate=False, immediate=True, force=True)

    def redraw(self) -> None:
        """Draw again what looks different from what was drawn."""
        top = self.scroll_offset.y
        regions = []
        for y in range(self.size.height):
            span = difference(self._drawn.get(y), self._strip(top + y))
            if span is not None:
                regions.append(Region(span[0], y, span[1] - span[0], 1))
        if regions:
            self.refresh(*regions)

    def render_line(self, y: int) -> Strip:
        """The finished line at a place of the screen."""
        strip = self._drawn[y] = self._strip(self.scroll_offset.y + y)
        under = self._sheet.of(self._cursor)
        if under is not None and under.y == self.scroll_offset.y + y:
            self._aim = under.item
        return strip

    def _strip(self, y: int) -> Strip:
        look, room = theme.look_of(self.app), self.scrollable_content_region.width
        segments: list[Segment] = []
        used = 0
        for spot in sorted((spot for spot in self._sheet.spots if spot.y == y), key=lambda spot: spot.x):
            segments.append(Segment(" " * (spot.x - used), look.ground))
            segments += self._segments(spot, look)
            used = spot.x + spot.cells
        return Strip(segments).adjust_cell_length(max(room, 0), look.ground).simplify()

    def _segments(self, spot: Spot, look: theme.Look) -> list[Segment]:
        """A spot in exactly its cells."""
        ground = self._ground(spot, look)
        parts: list[tuple[str, Tone]] = []
        if spot.address is not None:
            here = spot.item is not None and spot.address == self._cursor
            mark = spot.item.mark if spot.item is not None else None
            parts += [("> " if here else " " * SIGN, Tone.ACCENT)]
            parts += [(f"{mark or '':<{MARK}}", Tone.PLAIN if mark is None else TONES[mark])]
        parts += [(cell.text, cell.tone) for cell in spot.line]
        return _filled(
            parts, spot.cells, lambda tone: ground if tone is Tone.PLAIN else look.style(tone, ground)
        )

    def _ground(self, spot: Spot, look: theme.Look) -> Style:
        if spot.band:
            return look.band
        if spot.address is None or spot.address != self._cursor:
            return look.ground
        return look.cursor if self.has_focus else look.faded_cursor


def _filled(parts: Sequence[tuple[str, Tone]], cells: int, style: Callable[[Tone], Style]) -> list[Segment]:
    """The parts clipped to so many cells, and blanks up to them."""
    segments: list[Segment] = []
    for text, tone in parts:
        shown = clip(own(text), cells)
        segments.append(Segment(shown, style(tone)))
        cells -= width(shown)
    return [*segments, Segment(" " * cells, style(Tone.PLAIN))]
