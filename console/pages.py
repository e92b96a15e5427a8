"""A list that is read page by page: where it stands in the store, and the loop that keeps it fresh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from console.model import Page, Row
from console.pager import Pager
from console.refresh import Poll

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from console.refresh import Freshness
    from console.session import Session


class Pages(Generic[Row]):
    """Asks `read(after, limit)` for the window the pager stands at, and hands what comes to `show`."""

    def __init__(
        self,
        session: Session,
        read: Callable[[str | None, int], Page[Row]],
        show: Callable[[Page[Row]], None],
        *,
        changed: Callable[[Freshness], None],
        turn: asyncio.Lock | None = None,
    ) -> None:
        self._read = read
        self._show = show
        self.pager = Pager()
        self.poll: Poll[Page[Row]] = Poll(
            session.calls, self._ask, self._take, changed=changed, monotonic=session.monotonic, turn=turn
        )

    def turn(self, *, below: bool) -> None:
        """The cursor has come near an end of the window: read on there."""
        if self.pager.down() if below else self.pager.up():
            self.poll.ask_now()

    def home(self) -> None:
        """Back to the first page."""
        if self.pager.home():
            self.poll.ask_anew()

    def restart(self) -> None:
        """Another question: begin at its first page. Whoever changed it asks anew."""
        self.pager = Pager()

    def _ask(self) -> Page[Row]:
        return self._read(self.pager.after, self.pager.limit)

    def _take(self, page: Page[Row]) -> None:
        self.pager.landed(page.next)
        self._show(page)
