"""Lists whose rows can be changed: each verb begins a plan of what is marked, of the row under the cursor, or of all
that the filter means (console.md 5.1: the same four steps for each).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from console.acting import targets
from console.acting.deeds import Deed
from console.filter_words import FilterError
from console.present import Tone, own, safe, several
from console.screens.listed import ListedPage
from console.widgets.aim import Refused
from console.widgets.picking import Picking

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.acting.plans import Wish
    from console.lists.meant import Asked
    from console.reading import Gateway

BY_ROW = "row"
"""The word behind `reconcile` that means the marked rows, or the one under the cursor."""
BY_FILTER = "filter"
"""The word behind a verb that means all that the filter does."""


class ChangingPage(ListedPage):
    """The verbs of plans; the screen's places say which of them are keys."""

    def do_delete(self) -> None:
        self._begin_on_threads(Deed.DELETE)

    def do_release(self) -> None:
        self._begin_on_threads(Deed.RELEASE)

    def take_delete(self, word: str) -> None:
        """`delete filter`: all that the filter means; ValueError for another word."""
        self._begin_on_filter(Deed.DELETE, word)

    def take_release(self, word: str) -> None:
        """`release filter`; ValueError for another word."""
        self._begin_on_filter(Deed.RELEASE, word)

    def do_reconcile(self) -> None:
        """The marked rows, else all that the filter means; without one, all that is due."""
        if self.main_widget().window.marks:
            self._reconcile_rows()
        elif self._takes(Deed.RECONCILE):
            self._reconcile_all()

    def take_reconcile(self, word: str) -> None:
        """`reconcile row`: the marked rows, else the one under the cursor; `reconcile filter`: all that the filter
        means, whatever is marked, without one all that is due. ValueError for another word.
        """
        if word not in {BY_ROW, BY_FILTER}:
            raise ValueError(
                f"reconcile {word}: `reconcile {BY_ROW}` means the marked rows or this one, "
                f"`reconcile {BY_FILTER}` all that the filter does"
            )
        if word == BY_ROW:
            self._reconcile_rows()
        elif self._takes(Deed.RECONCILE):
            self._reconcile_all()

    def _reconcile_rows(self) -> None:
        from console.screens import asking

        chosen = self._chosen() if self._takes(Deed.RECONCILE) else None
        if chosen is not None:
            about = asking.Rows(tuple(map(targets.address_of_key, chosen)))
            asking.reconcile(self, about, self.address_text(), partial(self._spend, chosen))

    def _reconcile_all(self) -> None:
        from console.screens import asking

        if not self.filter:
            asking.reconcile(self, asking.Due(), self.address_text())
            return
        asked = self._asked()
        if asked is not None:
            rows = self._extent().of
            about = asking.Meant(asked, f"/{self.filter}", f"{rows} {'row' if rows == '1' else 'rows'}")
            asking.reconcile(self, about, self.address_text())

    def do_sweep(self) -> None:
        from console.screens import asking

        asking.sweep(self, self.address_text())

    def do_changes(self) -> None:
        """What can be done to the row under the cursor."""
        from console.acting import offers
        from console.screens.menu import MenuScreen

        row = self.main_widget().target_row
        entries = () if row is None else offers.of_row(row, self.filter)
        if not entries:
            self.say(own("changes: nothing of this row can be changed from here"), Tone.WARN)
            return
        marked = len(self.main_widget().window.marks)
        of = f"{several(marked, 'row')} marked" if marked else self.copyable() or "this row"
        title = f"changes of {of}"
        self.app.push_screen(MenuScreen(title, entries), self._chosen_change)

    def _chosen_change(self, letter: str | None) -> None:
        verbs = {"L": "release", "D": "delete", "R": "reconcile", "e": "resolve"}
        if letter in {"l", "d", "r"}:
            self.perform(verbs[letter.upper()], BY_FILTER)
        elif letter == "R":
            self.perform("reconcile", BY_ROW)
        elif letter is not None:
            self.perform(verbs[letter])

    # What it is about

    def _chosen(self) -> tuple[str, ...] | None:
        """The ids that the operator has seen; None, and said why, where he has not (console.md F2)."""
        found = self.main_widget().targets()
        if isinstance(found, Refused):
            self.say(found.reason, Tone.WARN)
            return None
        return found.ids

    def _spend(self, chosen: tuple[str, ...]) -> None:
        """The marks of what a job does now are of no more use, where they still are those."""
        listing = self.main_widget()
        if set(listing.window.marks) == set(chosen):
            listing.pick(Picking.drop_marks)

    def _begin_on_threads(self, deed: Deed) -> None:
        if not self._takes(deed):
            return
        chosen = self._chosen()
        if chosen is not None:
            wish = targets.threads_wish(deed, chosen)
            of = chosen[0] if len(chosen) == 1 else f"{len(chosen):,} marked"
            spent = partial(self._spend, chosen)
            self._begin(deed, lambda _gateway: wish, f"{self._question.view.title} > {of}", spent)

    def _begin_on_filter(self, deed: Deed, word: str) -> None:
        if word != BY_FILTER:
            raise ValueError(
                f"{deed.value} {word}: `{deed.value} {BY_FILTER}` means all that the filter does"
            )
        if not self._takes(deed):
            return
        if not self.filter:
            raise ValueError(
                f"{deed.value} {BY_FILTER}: this list has no filter, and there is no `all`; / sets one"
            )
        asked = self._asked()
        if asked is None:
            return
        way = f"{self._question.view.title} /{self.filter}"
        self._begin(
            deed, lambda gateway: targets.threads_wish(deed, [str(each) for each in asked(gateway)]), way
        )

    def _asked(self) -> Asked | None:
        """How the store is asked for all that the filter means; None, and said why, where it cannot be."""
        from console.lists.meant import ids_of

        try:
            return ids_of(self.MODE, self.filter)
        except FilterError as error:
            self.say(safe(str(error), 300), Tone.WARN)
            return None

    def _takes(self, deed: Deed) -> bool:
        try:
            targets.check(deed, self._question.view.ids)
        except targets.NotAboutError as error:
            self.say(safe(str(error), 300), Tone.WARN)
            return False
        return True

    def _begin(
        self,
        deed: Deed,
        wish: Callable[[Gateway], Wish],
        way: str,
        spent: Callable[[], object] = lambda: None,
    ) -> None:
        from console.acting.planning import Want
        from console.screens import asking

        asking.begin(self, Want(deed, wish, self.address_text(), way, spent))
