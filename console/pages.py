"""A list that is read page by page: where it stands in the store, and the loop that keeps it fresh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic

from console.model import Page, Row
from console.pager import QUERY, WINDOW, Pager
from console.refresh import Poll

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    from console.refresh import Freshness
    from console.session import Session

    Read = Callable[[str | None, int], Page[Row]]
    Stretch = tuple[bool, str | None, int]

_MOST_QUERIES: Final = 2 * WINDOW // QUERY
"""For one window, should the store give short pages."""


class Pages(Generic[Row]):
    """Asks `read(after, limit)` for the window the pager stands at, and hands what comes to `show`: to `show_stretch`
    where it is another stretch of the store than before.

    `from_end` reads the same rows from the other end, where the store can; `spare` is how many rows more than the
    window are asked for, because as many wait to be shown. `sift` leaves rows of a window out, in the call's thread;
    `looked` is how many it was given.
    """

    def __init__(
        self,
        session: Session,
        read: Read[Row],
        show: Callable[[Page[Row]], None],
        *,
        changed: Callable[[Freshness], None],
        turn: asyncio.Lock | None = None,
        show_stretch: Callable[[Page[Row]], None] | None = None,
        sift: Callable[[Sequence[Row]], tuple[Row, ...]] = tuple,
    ) -> None:
        self._read = read
        self._show = show
        self._show_stretch = show if show_stretch is None else show_stretch
        self._from_end: Read[Row] | None = None
        self._asked: Stretch | None = None
        self._shown: Stretch | None = None
        self._sift = sift
        self.spare = self.looked = 0
        self.pager = Pager()
        self.poll: Poll[Page[Row]] = Poll(
            session.calls, self._ask, self._take, changed=changed, monotonic=session.monotonic, turn=turn
        )

    @property
    def at_end(self) -> bool:
        """Whether the window is counted from the end of the list."""
        return self._from_end is not None

    def turn(self, *, below: bool) -> None:
        """The cursor has come near an end of the window: read on there."""
        away = below is not self.at_end
        if self.pager.down() if away else self.pager.up():
            self.poll.ask_now()

    def home(self) -> None:
        """Back to the first page."""
        if self.at_end:
            self.restart()
            self.poll.ask_anew()
        elif self.pager.home():
            self.poll.ask_anew()

    def end(self, from_end: Read[Row]) -> None:
        """To the last page, read from the other end."""
        self.restart()
        self._from_end = from_end
        self.poll.ask_anew()

    def restart(self) -> None:
        """Another question: begin at its first page. Whoever changed it asks anew."""
        self.pager = Pager()
        self._from_end = None

    def _ask(self) -> Page[Row]:
        """The window's rows, in as many queries as they need, one behind the other."""
        pager, from_end = self.pager, self._from_end
        read = self._read if from_end is None else from_end
        wanted = min(pager.limit + self.spare, WINDOW)
        self._asked = (from_end is not None, pager.after, pager.limit)
        page = read(pager.after, min(wanted, QUERY))
        rows, following = page.rows, page.next
        for _ in range(_MOST_QUERIES):
            if following is None or len(rows) >= wanted:
                break
            more = read(following, min(wanted - len(rows), QUERY))
            rows, following = rows + more.rows, more.next
        self.looked = len(rows)
        kept = self._sift(rows)
        return Page(kept if from_end is None else kept[::-1], following, page.as_of)

    def _take(self, page: Page[Row]) -> None:
        self.pager.landed(page.next)
        before, self._shown = self._shown, self._asked
        if before == self._shown:
            self._show(page)
        else:
            self._show_stretch(page)
