"""The children of a thread, earliest adopted first: read page by page, and only while they are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on

from console import tables
from console.model import Page, ThreadRow
from console.pages import Pages
from console.present import own
from console.styles import beside
from console.widgets.columns import Scene
from console.widgets.listing import Listing

if TYPE_CHECKING:
    from console.refresh import Poll
    from console.session import Session


class Children(Listing[ThreadRow], inherit_bindings=False):
    """A list of threads that reads itself; Enter drills down into the child under the cursor."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(self, session: Session, parent: str, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(tables.THREADS, lambda row: row.id, empty=own("reading ..."), id=id)
        self._pages: Pages[ThreadRow] = Pages(
            session,
            lambda after, limit: session.gateway.children(parent, after, limit),
            self._take,
            changed=lambda _freshness: None,
        )
        self._pages.poll.hide()

    @property
    def poll(self) -> Poll[Page[ThreadRow]]:
        """The reading loop; hidden until the children are looked at."""
        return self._pages.poll

    @property
    def counted(self) -> str:
        """Which of the children are in view, once they were read."""
        first, last = self.visible_rows
        above = self._pages.pager.offset
        held = f"{above + len(self.window):,}{'+' if self._pages.pager.more else ''}"
        return f"rows {above + first:,}-{above + last:,} of {held}" if len(self.window) else ""

    def do_read(self) -> None:
        self.do_open()

    def _take(self, page: Page[ThreadRow]) -> None:
        self.empty = own("no children")
        self.show(page.rows, Scene(page.as_of))

    @on(Listing.NearEnd)
    def _turn_page(self, event: Listing.NearEnd) -> None:
        event.stop()
        self._pages.turn(below=event.below)

    @on(Listing.Rested)
    def _go_home(self, event: Listing.Rested) -> None:
        event.stop()
        self._pages.home()
