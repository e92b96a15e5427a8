"""One reservation: what it holds, what a default does with it, its runs, its day or account, its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, cast

from console import audit_filters, filters, money_story
from console.acting import decisions, offers
from console.actions import Place, bindings
from console.addresses import address_of
from console.commands import OpenThread, ShowList
from console.money_words import Kind
from console.present import Cell, Tone, own, safe
from console.refresh import Pace, Poll
from console.screens import asking, resolving
from console.screens.menu import MenuScreen
from console.screens.page import Page
from console.styles import beside
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.acting.decisions import Decision
    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.money_model import ReservationRow, ReservationStory
    from console.money_words import Address
    from console.refresh import Freshness
    from console.session import Session

DECIDED_SECONDS = 10.0
"""How often past decisions are asked for; they are asked for at once after one that was made here."""


class ReservationScreen(Page):
    """Its head above, all the rest below, to be scrolled."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.RESERVATION,
        Place.DECIDED,
        Place.AUDITED,
        Place.TOLD,
        Place.OWNED,
        Place.LIST,
        Place.EVERYWHERE,
    )
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
        self._decisions: tuple[Decision, ...] = ()
        self._decided = Poll(
            session.calls,
            self._ask_decided,
            self._take_decided,
            changed=self._decided_known,
            monotonic=session.monotonic,
            pace=Pace(DECIDED_SECONDS),
        )
        self._undecided = ""

    def compose_body(self) -> Iterable[Widget]:
        """The head, and the text below it."""
        head = Pane(id="head", classes="-raised -fixed")
        head.can_focus = False
        yield head
        yield Pane(id="story")

    def polls(self) -> tuple[Poll[Any], ...]:
        """The story, and who decided it."""
        return self._stories, self._decided

    def main_widget(self) -> Pane:
        """What is scrolled."""
        return self.query_one("#story", Pane)

    def _ask(self) -> ReservationStory | None:
        return self.session.gateway.reservation(self.address)

    def _ask_decided(self) -> tuple[Decision, ...]:
        return decisions.asked_of(self.session.gateway, self.address)

    def _take_decided(self, found: tuple[Decision, ...]) -> None:
        self._decisions = found
        self.tick()

    def _decided_known(self, state: Freshness) -> None:
        self._undecided = "" if state.cause is None else state.cause.message
        self.tick()

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
        found, unread = self._decisions, self._undecided
        self.query_one("#story", Pane).show(
            lambda room: (
                *decisions.lines_of(found, room, unread),
                *money_story.body(story, cap, scene, room),
            )
        )

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

    def do_resolve(self) -> None:
        resolving.open_form(self, self.address)

    def do_reconcile(self) -> None:
        asking.reconcile(self, asking.Rows((self.address,)), self.address_text())

    def do_changes(self) -> None:
        """What can be done to it, mildest first."""
        if self._story is None:
            self.say(own("changes: it has not been read yet"), Tone.WARN)
            return
        menu = MenuScreen(f"changes of {self.address.id}", offers.of_row(self._story.row, None))
        self.app.push_screen(menu, self._chosen_change)

    def _chosen_change(self, letter: str | None) -> None:
        if letter is not None:
            self.perform({"R": "reconcile", "e": "resolve"}[letter])

    def do_beside(self) -> None:
        if self._story is not None:
            beside_it = ShowList("reservations", _peers(self._story.row))
            cast("HoldwatchApp", self.app).carry_out(beside_it)

    def audited(self) -> str | None:
        """What was done by hand to this reservation."""
        return audit_filters.of_reservation(self.address)

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
