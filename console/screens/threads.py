"""The threads of the store, newest first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import on

from console import chrome, facts, filters, present, tables
from console.actions import Place, bindings
from console.model import Counted, Page, ThreadQuery, ThreadRow
from console.pager import Pager
from console.present import Cell, Tone, own, safe
from console.refresh import Pace, Poll
from console.screens.filtered import FilteredPage
from console.screens.thread import ThreadScreen
from console.styles import beside
from console.widgets.columns import Scene
from console.widgets.listing import Listing
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.jsontext import Line
    from console.session import Session

COUNT_SECONDS = 30.0
"""How often the number of threads is asked for."""


class ThreadsScreen(FilteredPage):
    """A paged list with a pane for the row under the cursor."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (Place.THREADS, Place.FILTERED, Place.LIST, Place.EVERYWHERE)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "threads"
    FIELDS: ClassVar[tuple[str, ...]] = filters.THREAD_FIELDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._query = ThreadQuery()
        self._pager = Pager()
        self._total: Counted | None = None
        turn = asyncio.Lock()
        self._rows = Poll(
            session.calls,
            self._ask,
            self._take,
            changed=self.freshened,
            monotonic=session.monotonic,
            turn=turn,
        )
        self._count = Poll(
            session.calls,
            lambda: self.session.gateway.count_threads(self._query),
            self._take_count,
            changed=lambda _freshness: None,
            monotonic=session.monotonic,
            pace=Pace(COUNT_SECONDS),
            turn=turn,
        )

    def compose_body(self) -> Iterable[Widget]:
        """The list, and its pane."""
        yield Listing(tables.THREADS, lambda row: row.id, empty=own("reading ..."), id="list")
        detail = Pane(id="detail", classes="-raised -fixed")
        detail.can_focus = False
        yield detail

    def polls(self) -> tuple[Poll[Page[ThreadRow]], Poll[Counted]]:
        """The rows, and how many there are."""
        return self._rows, self._count

    def main_widget(self) -> Listing[ThreadRow]:
        """The list."""
        return self.query_one("#list", Listing)

    def _ask(self) -> Page[ThreadRow]:
        return self.session.gateway.threads(self._query, self._pager.after, self._pager.limit)

    def _take(self, page: Page[ThreadRow]) -> None:
        self._pager.landed(page.next)
        self.as_of = page.as_of
        listing = self.main_widget()
        listing.empty = own("0 threads for this filter (esc clears it)" if self.filter else "no threads yet")
        listing.show(page.rows, Scene(page.as_of))

    def _take_count(self, total: Counted) -> None:
        self._total = total
        self.update_lines()

    def crumbs(self) -> tuple[Line, Line]:
        """The filter, and which rows of how many."""
        listing = self.main_widget()
        first, last = listing.visible_rows
        above = self._pager.offset
        total = None if self._total is None else present.counted(self._total)
        left = (Cell(own(" Threads"), Tone.HEAD), Cell(own("  newest first"), Tone.MUTED))
        if self.filter:
            left = (Cell(own(" Threads"), Tone.HEAD), Cell(safe(f"  /{self.filter}"), Tone.WARN))
        held = above + len(listing.window)
        right = chrome.rows_line(above + first, above + last, held, more=self._pager.more, total=total)
        return left, right

    def tick(self) -> None:
        """Ages and leases go on."""
        scene = self.scene()
        if scene is not None:
            self.main_widget().tick(scene)
            self._show_detail()

    @on(Listing.Moved)
    def _show_detail(self) -> None:
        row, scene = self.main_widget().window.current, self.scene()
        pane = self.query_one("#detail", Pane)
        if row is None or scene is None:
            pane.show(lambda _room: ())
        else:
            pane.show(lambda room: facts.of_row(row, scene, room))
        self.update_lines()

    @on(Listing.NearEnd)
    def _turn_page(self, event: Listing.NearEnd) -> None:
        if self._pager.down() if event.below else self._pager.up():
            self._rows.ask_now()

    @on(Listing.Rested)
    def _go_home(self) -> None:
        if self._pager.home():
            self._rows.ask_anew()

    @on(Listing.Opened)
    def _open(self, event: Listing.Opened) -> None:
        self.app.push_screen(ThreadScreen(self.session, event.row_id))

    def copyable(self) -> str | None:
        """The thread's id."""
        return self.main_widget().target

    def ask_with(self, text: str) -> None:
        """Begin at the top of what the filter lets through."""
        self._query = filters.threads(text)
        self._pager = Pager()
        self._total = None
        self.main_widget().ask_other(own("reading ..."))
