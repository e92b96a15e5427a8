"""A list in a tab that reads itself page by page, and only while it is looked at: children, holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual import on

from console.model import Page, Row
from console.pages import Pages
from console.present import Safe, own
from console.styles import beside
from console.widgets.columns import Scene
from console.widgets.listing import Listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.refresh import Poll
    from console.session import Session
    from console.widgets.columns import Column


class SelfReading(Listing[Row], inherit_bindings=False):
    """`read(after, limit)` gives a page; `order` says how the rows stand, `nothing` that there are none."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(
        self,
        session: Session,
        columns: tuple[Column[Row], ...],
        key: Callable[[Row], str],
        read: Callable[[str | None, int], Page[Row]],
        *,
        order: Safe,
        nothing: Safe,
        id: str,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(columns, key, empty=own("reading ..."), id=id)
        self.order = order
        self._nothing = nothing
        self._pages: Pages[Row] = Pages(session, read, self._take, changed=lambda _freshness: None)
        self._pages.poll.hide()

    @property
    def poll(self) -> Poll[Page[Row]]:
        """The reading loop; hidden until the rows are looked at."""
        return self._pages.poll

    @property
    def counted(self) -> str:
        """Which of the rows are in view, once they were read."""
        first, last = self.visible_rows
        above = self._pages.pager.offset
        held = f"{above + len(self.window):,}{'+' if self._pages.pager.more else ''}"
        return f"rows {above + first:,}-{above + last:,} of {held}" if len(self.window) else ""

    def do_read(self) -> None:
        self.do_open()

    def _take(self, page: Page[Any]) -> None:
        self.empty = self._nothing
        self.show(page.rows, Scene(page.as_of))

    @on(Listing.NearEnd)
    def _turn_page(self, event: Listing.NearEnd) -> None:
        event.stop()
        self._pages.turn(below=event.below)

    @on(Listing.Rested)
    def _go_home(self, event: Listing.Rested) -> None:
        event.stop()
        self._pages.home()
