"""A list whose rows are marked, and whose window is sorted."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from textual import on

from console.commands import SORT
from console.filter_words import nearest, quoted
from console.lists.sorting import Served, Sort, following, reverse, sorter
from console.present import Tone, own, safe, several
from console.screens.windowed import WindowPage
from console.widgets import marks
from console.widgets.listing import Listing
from console.widgets.picking import Picking

STORES_ORDER = "store"
"""What an address says of a list in the store's own order."""
_UNSEEN = own("this row is gone, or has not been drawn yet: look, and press again")
_RANGE_LOST = (
    "the row that the range began at is no longer in the window: v marks within it; for more set a filter (/), and x "
    "has what is done to all that it means"
)
_FULL = own(f"{marks.MOST:,} marks are as many as a list takes; M drops them")


class MarkingPage(WindowPage):
    """Marks are kept for each kind of ids: those of a list outlive its filter, its order and the way to other
    screens.
    """

    @property
    @abstractmethod
    def served(self) -> Served | None:
        """The column that the store's own order goes by."""

    # Marks

    def do_mark(self) -> None:
        self._picked(taken=self.main_widget().pick(Picking.mark))

    def do_range(self) -> None:
        listing = self.main_widget()
        if listing.window.marks.anchor is None:
            self._picked(taken=listing.pick(Picking.open_range))
            return
        lost = not listing.window.ranged
        made = listing.pick(Picking.close_range)
        if lost:
            self.say(own(_RANGE_LOST), Tone.WARN)
        else:
            self.say(own(f"{several(made, 'row')} marked"))

    def _picked(self, *, taken: bool) -> None:
        if not taken:
            self.say(_UNSEEN if self.main_widget().window.marks.room else _FULL, Tone.WARN)

    def do_only_marked(self) -> None:
        listing = self.main_widget()
        if listing.window.only_marked:
            listing.pick(Picking.show_all)
        elif listing.window.marks:
            listing.pick(Picking.show_only_marked)
        else:
            self.say(own("nothing is marked here; Space marks a row"), Tone.WARN)

    def do_drop_marks(self) -> None:
        dropped = len(self.main_widget().window.marks)
        self.main_widget().pick(Picking.drop_marks)
        self.say(own(f"{several(dropped, 'mark')} dropped"))

    def step_back(self) -> bool:
        """Esc gives an open range up, then shows all rows again, then clears the filter; marks stay."""
        listing = self.main_widget()
        if listing.window.marks.anchor is not None:
            listing.pick(Picking.drop_range)
            return True
        if listing.window.only_marked:
            listing.pick(Picking.show_all)
            return True
        return super().step_back()

    # Order

    @property
    def sort(self) -> Sort | None:
        """The order of the window's rows; None is the store's own."""
        sort = self.session.arrangements.of(self.list_name).sort
        known = sort is not None and any(column.title == sort.title for column in self.all_columns())
        return sort if known else None

    @property
    def turns(self) -> bool:
        """Whether the store serves its order last row first as well."""
        return False

    @property
    def turned(self) -> bool:
        """Whether the operator wants the store's order last row first, and the store serves that."""
        sort, served = self.sort, self.served
        return sort is not None and served is not None and self.turns and sort == reverse(served)

    @property
    def window_sort(self) -> Sort | None:
        """The order that only the rows of the window can be put in; None while the store serves it."""
        return None if self.turned else self.sort

    def begin(self) -> None:
        """Read the list from its top."""

    def do_sort(self) -> None:
        from console.screens.sort import SortScreen

        titles = [column.title for column in self.all_columns()]
        turned = reverse(self.served) if self.turns and self.served is not None else None
        self.app.push_screen(SortScreen(titles, self.sort, self.served, turned), self._sort_by)

    def address_text(self) -> str:
        """The list with its filter and its order, whichever they are."""
        sort = self.sort
        told = STORES_ORDER if sort is None else f"{'-' if sort.falling else ''}{sort.title}"
        return f"{self.MODE} {self.filter} {SORT}{quoted(told)}".replace("  ", " ", 1)

    def stand_in(self, order: str) -> None:
        """Stand in the order that an address names; ValueError for a column that is not there."""
        if order == STORES_ORDER:
            self.order_by(None)
            return
        sort = Sort(self._title(order.removeprefix("-")), order.startswith("-"))
        own_order = self.served == Served(sort.title, sort.falling)
        self.order_by(None if own_order else sort)

    def take_sort(self, text: str) -> None:
        """Sort by the column of this title, or one that begins so; ValueError if there is none."""
        self._sort_by(self._title(text))

    def _title(self, text: str) -> str:
        titles = self.titles()
        found = [title for title in titles if title == text.upper()] or [
            title for title in titles if title.startswith(text.upper())
        ]
        if not found:
            raise ValueError(f"sort {text}: {nearest(text.upper(), titles)}there are {', '.join(titles)}")
        return found[0]

    @on(Listing.TitleClicked)
    def _title_clicked(self, event: Listing.TitleClicked) -> None:
        self._sort_by(event.title)

    def _sort_by(self, title: str | None) -> None:
        if title is None:
            return
        self.order_by(following(self.sort, title, self.served))

    def order_by(self, sort: Sort | None) -> None:
        """Stand in this order from now on; None is the store's own."""
        was_turned = self.turned
        self.session.arrangements.sort(self.list_name, sort)
        if self.turned is not was_turned:
            self.begin()
            for poll in self.polls():
                poll.ask_anew()
        self.main_widget().pick(self._arrange)
        if self.window_sort is not None:
            words = safe(self.window_sort.words)
            self.say(own(f"{words}; no index of the store serves that for all rows"))

    def _arrange(self, window: Picking[Any]) -> None:
        window.arrange(sorter(self.all_columns(), self.window_sort))
