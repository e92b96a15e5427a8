"""One reservation: what it holds, what a default does with it, its runs, its day or account, its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from console import filters, money_story
from console.actions import Place, bindings
from console.addresses import address_of
from console.commands import OpenThread, ShowList
from console.money_model import Kind
from console.present import Cell, Tone, own, safe
from console.refresh import Poll
from console.screens.page import Page
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.money_model import Address, ReservationRow, ReservationStory
    from console.session import Session


class ReservationScreen(Page):
    """Its head above, all the rest below, to be scrolled."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (Place.RESERVATION, Place.OWNED, Place.LIST, Place.EVERYWHERE)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "reservations"

    def __init__(self, session: Session, address: Address) -> None:
        super().__init__(session)
        self.address = address
        self._story: ReservationStory | None = None
        self._gone = False
        self._stories = Poll(
            session.calls, self._ask, self._take, changed=self.freshened, monotonic=session.monotonic
        )

    def compose_body(self) -> Iterable[Widget]:
        """The head, and the text below it."""
        head = Pane(id="head", classes="-raised -fixed")
        head.can_focus = False
        yield head
        yield Pane(id="story")

    def polls(self) -> tuple[Poll[Any], ...]:
        """The story."""
        return (self._stories,)

    def main_widget(self) -> Pane:
        """What is scrolled."""
        return self.query_one("#story", Pane)

    def _ask(self) -> ReservationStory | None:
        return self.session.gateway.reservation(self.address)

    def _take(self, story: ReservationStory | None) -> None:
        self._gone = story is None
        if story is None:
            self.say(own("the store holds no reservation at this address"), Tone.WARN)
            return
        self._story = story
        self.as_of = story.as_of

    def tick(self) -> None:
        """Spans go on."""
        story, scene = self._story, self.scene()
        if story is None or scene is None:
            return
        self.query_one("#head", Pane).show(lambda room: money_story.head(story, scene, room))
        cap = self.session.cap
        self.query_one("#story", Pane).show(lambda room: money_story.body(story, cap, scene, room))

    def capped(self) -> None:
        """The bar of the day changes."""
        self.tick()

    def crumbs(self) -> tuple[Line, Line]:
        """Of what kind it is and where it is kept, and its id."""
        kept = " ".join(each for each in (self.address.kind.value, self.address.source) if each)
        way = Cell(own(f" Reservations > {safe(kept)} > "), Tone.MUTED)
        gone = Cell(own("  GONE "), Tone.GONE) if self._gone else Cell(own(""))
        return (way, Cell(safe(self.address.id), Tone.HEAD)), (gone,)

    def do_owner(self) -> None:
        thread = None if self._story is None else self._story.row.thread
        if thread is None:
            self.say(own("owner: no thread is kept with this row"), Tone.WARN)
        else:
            cast("HoldwatchApp", self.app).carry_out(OpenThread(thread))

    def do_beside(self) -> None:
        if self._story is not None:
            beside_it = ShowList("reservations", _peers(self._story.row))
            cast("HoldwatchApp", self.app).carry_out(beside_it)

    def copyable(self) -> str:
        """The reservation's id."""
        return self.address.id

    def address_text(self) -> str:
        """The reservation as a command."""
        return address_of(self.address)


def _peers(row: ReservationRow) -> str:
    """The filter for what is reserved beside it."""
    if row.address.kind is Kind.DAY:
        return f"day:{row.period}"
    if row.address.kind is Kind.METER:
        return f"meter:{row.address.source} owner:{filters.quoted(row.owner or '')}"
    return f"table:{filters.quoted(row.address.source)}"
