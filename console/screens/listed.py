"""A screen with one paged list, whatever list of the store its filter asks for, and a pane for its row."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on

from console import extent
from console.extent import Extent
from console.extras import Extras
from console.lists import catalogue
from console.lists.view import Question, Tally
from console.pages import Pages
from console.present import Cell, Tone, own, safe
from console.refresh import Pace, Poll
from console.screens.marking import MarkingPage
from console.sieve import held, without
from console.styles import beside
from console.widgets.columns import Scene
from console.widgets.listing import Listing
from console.widgets.marks import Marks
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.timer import Timer
    from textual.widget import Widget

    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.lists.sorting import Served
    from console.model import Page
    from console.session import Session

TALLY_SECONDS = 30.0
"""How often the number of rows is asked for."""
_READING = own("reading ...")


class ListedPage(MarkingPage):
    """Rows and their number are read by loops that take turns; a subclass says what its filter asks for."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PANE: ClassVar[str] = "-two-lines"
    """How many lines the pane keeps on a low screen, as a class of the stylesheet."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.add_class(self.PANE)
        self._question = self.question(self.filter)
        self._tally = Tally()
        self._timer: Timer | None = None
        self._marks: dict[str, Marks[Any]] = {}
        self._to_last = False
        turn = asyncio.Lock()
        self._pages: Pages[Any] = Pages(
            session,
            lambda after, limit: self._reading.page(session.gateway, after, limit),
            self._take,
            changed=self.freshened,
            turn=turn,
            show_stretch=self._take_stretch,
            sift=self._sift,
        )
        self._count = Poll(
            session.calls,
            lambda: self._question.tally(session.gateway),
            self._take_tally,
            changed=lambda _freshness: None,
            monotonic=session.monotonic,
            pace=Pace(TALLY_SECONDS),
            turn=turn,
        )
        self._extras = Extras(
            session,
            later=self._later,
            start=lambda work: self.run_worker(work, group="extra", exclusive=True, exit_on_error=False),
            arrived=self._show_detail,
        )

    @abstractmethod
    def question(self, text: str) -> Question[Any]:
        """What a filter asks for; raises FilterError."""

    def compose_body(self) -> Iterable[Widget]:
        """The list, and its pane."""
        view = self._question.view
        marks = self._marks.setdefault(view.ids, Marks())
        yield Listing(self.shown_columns(), view.key, empty=_READING, marks=marks, id="list")
        detail = Pane(id="detail", classes="-raised -fixed")
        detail.can_focus = False
        yield detail

    def polls(self) -> tuple[Poll[Any], ...]:
        """The rows, and how many there are."""
        return self._pages.poll, self._count

    @property
    def _reading(self) -> Question[Any]:
        """The question in the order that the operator wants of the store."""
        return self._question.turned if self.turned else self._question

    @property
    def turns(self) -> bool:
        """Whether the store serves its order last row first as well."""
        return self._question.from_end is not None

    def main_widget(self) -> Listing[Any]:
        """The list."""
        return self.query_one("#list", Listing)

    def ask_with(self, text: str) -> None:
        """Begin at the top of the list that the filter asks for."""
        self._question = self.question(text)
        self.begin()

    def begin(self) -> None:
        """Read the list from its top."""
        self._tally = Tally(below=self._tally.below)
        self._pages.restart()
        self._extras.forget()
        self._to_last = False
        view, listing = self._question.view, self.main_widget()
        listing.become(self.shown_columns(), view.key, _READING, self._marks.setdefault(view.ids, Marks()))
        self._arrange(listing.window)

    @property
    def list_name(self) -> str:
        """What the list is called in a configuration."""
        return catalogue.name_of(self._question.view)

    @property
    def served(self) -> Served | None:
        """The column that the store's own order goes by."""
        return self._question.view.served

    def all_columns(self) -> tuple[Any, ...]:
        """All columns that the list has."""
        return self._question.view.columns

    def _take(self, page: Page[Any]) -> None:
        self._taken(page, self.main_widget().show)

    def _take_stretch(self, page: Page[Any]) -> None:
        listing = self.main_widget()
        if self._to_last:
            listing.window.rest()  # he goes to the end, not to where that row has gone
        self._taken(page, listing.show_stretch)
        if self._to_last:
            self._to_last = False
            listing.go(len(listing.window) - 1)

    def _taken(self, page: Page[Any], show: Callable[[Sequence[Any], Scene], None]) -> None:
        self.as_of = page.as_of
        listing = self.main_widget()
        nothing = f"{self._none_of()} for filter {self.filter} (clear: esc)"
        listing.empty = safe(nothing) if self.filter else self._question.view.none
        show(page.rows, Scene(page.as_of))
        self._pages.spare = listing.window.pushed

    def _none_of(self) -> str:
        """What an empty list is empty of."""
        if not self._question.sieve:
            return "0 rows"
        on = "; PgDn reads on" if self._pages.pager.more else ""
        return f"0 of the {self._pages.looked:,} rows of this window{on}"

    def held_values(self) -> dict[str, tuple[str, ...]]:
        """What the rows of the window have of the filter's fields."""
        rows = self.main_widget().window.rows
        return {name: held(rows, value_of) for name, value_of in self._question.values.items()}

    def _sift(self, rows: Sequence[Any]) -> tuple[Any, ...]:
        """The rows that the present question leaves in; in a call's thread."""
        return self._question.sieve.sift(rows)

    def _take_tally(self, tally: Tally) -> None:
        self._tally = tally
        self.update_lines()

    def crumbs(self) -> tuple[Line, Line]:
        """Which list, its filter, what is worth a word, its order; then the marks, and which rows of how many."""
        listing, view = self.main_widget(), self._reading.view
        left: list[Cell] = [Cell(own(f" {view.title}"), Tone.HEAD)]
        asked, sifted = self.filter, self._question.sieve.words
        if sifted:
            asked = without(asked, sifted)
        if asked:
            left.append(Cell(safe(f"  /{asked}"), Tone.WARN))
        if sifted:
            left.append(extent.sifted(sifted, self._pages.looked))
        left += [*self._tally.said, *extent.order(listing.window, view.order, self.window_sort)]
        rows = extent.rows(self._extent(), self.window_sort, only_marked=listing.window.only_marked)
        right = (*extent.marks(listing.window), rows)
        keys = "< >" if listing.scrolled else ">"
        return (*left, *extent.columns(listing.hidden_columns, keys, self.size.width, left, right)), right

    def _extent(self) -> Extent:
        listing, pages = self.main_widget(), self._pages
        first, last = listing.visible_rows
        return Extent(
            first=first,
            last=last,
            held=len(listing.window),
            before=0 if self._question.sieve else pages.pager.offset,
            more=pages.pager.more,
            total=self._tally.total,
            at_end=pages.at_end,
        )

    def tick(self) -> None:
        """Ages and leases go on."""
        scene = self.scene()
        if scene is not None:
            self.main_widget().tick(scene)
            self._show_detail()

    @on(Listing.Moved)
    def _show_detail(self) -> None:
        view, window, scene = self._question.view, self.main_widget().window, self.scene()
        row, row_id = window.current, window.current_id
        pane = self.query_one("#detail", Pane)
        if row is None or row_id is None or scene is None:
            pane.show(lambda _room: ())
        else:
            pane.show(lambda room: view.facts(row, self._extras.of(row_id), scene, room))
            if view.extra is not None:
                self._extras.want(view.extra, row_id, row)
        self.update_lines()

    def _later(self, seconds: float, call: Callable[[], object]) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(seconds, call)

    @on(Listing.NearEnd)
    def _turn_page(self, event: Listing.NearEnd) -> None:
        if self.window_sort is None and not self.main_widget().window.only_marked:
            self._pages.turn(below=event.below)

    @on(Listing.LastWanted)
    def _go_to_last(self) -> None:
        """Ask for the list's last rows, where the cursor is not on them already."""
        pages, from_end, gateway = self._pages, self._reading.from_end, self.session.gateway
        there = pages.pager.offset == 0 if pages.at_end else not pages.pager.more
        if there or self.window_sort is not None or self.main_widget().window.only_marked:
            return
        if from_end is None:
            self.say(
                own("the last row loaded: the store reads this list from its first row only; PgDn goes on")
            )
            return
        self._to_last = True
        pages.end(lambda after, limit: from_end(gateway, after, limit))

    @on(Listing.Rested)
    def _go_home(self) -> None:
        self._pages.home()

    @on(Listing.Opened)
    def _open(self) -> None:
        row = self.main_widget().target_row
        if row is not None:
            cast("HoldwatchApp", self.app).carry_out(self._question.view.opens(row))

    def audited(self) -> str | None:
        """What was done by hand to the row under the cursor."""
        row = self.main_widget().target_row
        return None if row is None else self._question.view.history(row)

    def do_owner(self) -> None:
        row = self.main_widget().target_row
        owner = None if row is None else self._question.view.owner(row)
        if owner is None:
            self.say(own(f"owner: {self._question.view.orphan}"), Tone.WARN)
        else:
            cast("HoldwatchApp", self.app).carry_out(owner)

    def copyable(self) -> str | None:
        """The row's id."""
        row, copies = self.main_widget().target_row, self._question.view.copies
        if row is None or copies is None:
            return self.main_widget().target
        return copies(row)
