"""The items of a plan one by one: what each is, and the guard it was seen under (console.md F1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on

from console import jsontext
from console.acting import plan_facts, plan_file
from console.acting.deeds import WORDS
from console.actions import Place, bindings
from console.pages import Pages
from console.present import Cell, Tone, middle, own, safe
from console.screens.page import Page
from console.styles import beside
from console.widgets.columns import Column, Scene
from console.widgets.listing import Listing
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType

    from console.acting.plans import PlanItem, PlanView
    from console.jsontext import Line
    from console.model import Page as Items
    from console.refresh import Poll
    from console.session import Session

COLUMNS: Final[tuple[Column[PlanItem], ...]] = (
    Column(own("N"), 6, lambda row, _: Cell(own(f"{row.n:,}"), Tone.MUTED), right=True),
    Column(own("ITEM"), 24, lambda row, _: Cell(safe(row.id), Tone.STRONG), most=60, shorten=middle),
    Column(own("KIND"), 12, lambda row, _: Cell(safe(row.kind)), most=18),
    Column(
        own("GUARD AND NOTE"), 30, lambda row, _: Cell(safe(plan_facts.told(row), 300), Tone.MUTED), most=160
    ),
)


class PlanItemsScreen(Page):
    """The list above, the item under the cursor below, exactly as it is stored."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (Place.LIST, Place.EVERYWHERE)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "jobs"

    def __init__(self, session: Session, view: PlanView) -> None:
        super().__init__(session)
        self._view = view
        self._items: Listing[PlanItem] = Listing(
            COLUMNS, lambda row: str(row.n), empty=own("reading ..."), id="items"
        )
        self._pages: Pages[PlanItem] = Pages(
            session,
            lambda after, limit: plan_file.page_of(session.gateway, view, after, limit),
            self._take,
            changed=self.freshened,
        )

    def compose_body(self) -> Iterable[Any]:
        """The items, and the one under the cursor."""
        yield self._items
        detail = Pane(id="detail", classes="-raised")
        detail.can_focus = False
        yield detail

    def polls(self) -> tuple[Poll[Any], ...]:
        """The pages."""
        return (self._pages.poll,)

    def main_widget(self) -> Listing[PlanItem]:
        """The list."""
        return self._items

    def _take(self, page: Items[PlanItem]) -> None:
        self.as_of = page.as_of
        self._items.empty = own("no item: nothing here can be changed this way")
        self._items.show(page.rows, Scene(page.as_of))

    @on(Listing.NearEnd)
    def _turn_page(self, event: Listing.NearEnd) -> None:
        self._pages.turn(below=event.below)

    @on(Listing.Rested)
    def _go_home(self) -> None:
        self._pages.home()

    @on(Listing.Moved)
    def _moved(self) -> None:
        item = self._items.window.current
        pane = self.query_one("#detail", Pane)
        if item is None:
            pane.show(lambda _room: ())
            return
        text = json.dumps({"guard": dict(item.guard), "note": dict(item.note)})
        lines = jsontext.lines(text, len(text))
        pane.show(lambda _room: lines, from_top=True)
        self.update_lines()

    def crumbs(self) -> tuple[Line, Line]:
        """Of which plan, and which of them are in view."""
        named = plan_facts.short(self._view) or "preview"
        way = Cell(safe(f" {WORDS[self._view.deed].title} {named} > "), Tone.MUTED)
        first, last = self._items.visible_rows
        above = self._pages.pager.offset
        told = f"in the order of the changes  {above + first:,}-{above + last:,} of {self._view.items:,} "
        right = Cell(own(told), Tone.MUTED)
        return (way, Cell(own("items"), Tone.HEAD)), (right,)

    def copyable(self) -> str | None:
        """The id of the item."""
        item = self._items.target_row
        return None if item is None else item.id

    def address_text(self) -> str:
        """The plan that they belong to."""
        return "plans" if self._view.id is None else f"plan {self._view.id}"
