"""The live tail of the store, or of what a filter lets through."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on

from console import facts, filters, goals, jsontext, tables, tail_words
from console.actions import Place, bindings
from console.lists import catalogue, fields
from console.model import EventRow, GatewayError
from console.present import Tone, own, safe, width
from console.screens.tailing import TailPage
from console.screens.thread import ThreadScreen
from console.sieve import held
from console.styles import beside
from console.tail_model import ThreadEvent
from console.widgets.listing import Listing
from console.widgets.pane import Pane
from console.widgets.prompt import Purpose
from console.widgets.window import Rest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.jsontext import Line
    from console.session import Session

SOUGHT: Final = 2_000
"""Characters of a payload that are looked through for a text."""
_READS_ON: Final = "; enter reads the whole"


class EventsScreen(TailPage):
    """A tail that rests on the newest event until the operator moves; then it stays where he is."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.EVENTS,
        Place.OWNED,
        Place.FILTERED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "events"
    FIELDS: ClassVar[tuple[str, ...]] = filters.EVENT_FIELDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._told: str | None = None
        self._sought = ""

    def compose_body(self) -> Iterable[Widget]:
        """The tail, and the event under the cursor."""
        yield Listing(
            self.shown_columns(),
            lambda row: row.position,
            rest=Rest.BOTTOM,
            empty=own("reading ..."),
            id="list",
        )
        yield Pane(id="detail", classes="-raised")

    @property
    def list_name(self) -> str:
        """What the list is called in a configuration."""
        return catalogue.EVENTS

    def all_columns(self) -> tuple[Any, ...]:
        """All columns that the list has."""
        return tables.EVENTS

    def held_values(self) -> dict[str, tuple[str, ...]]:
        """What the events held have of the filter's fields."""
        return {name: held(self._tail.rows, value_of) for name, value_of in fields.EVENTS.items()}

    def crumbs(self) -> tuple[Line, Line]:
        """The filter and how the tail goes on; then the counters."""
        going = tail_words.Going(
            paused=self._poll.paused,
            pinned=self.main_widget().window.pinned,
            catching_up=self._catching_up,
        )
        room = self.size.width
        way = tail_words.way(self._tail, self.filter, going, room)
        return way, tail_words.counters(self._tail, room - sum(width(cell.text) for cell in way))

    # One event

    @on(Listing.Moved)
    def _show_detail(self) -> None:
        event = self.main_widget().window.current
        if (None if event is None else event.position) != self._told:
            self._told = None if event is None else event.position
            self._tell(event, None)
        self.update_lines()

    def _tell(self, event: EventRow | None, whole: str | None) -> None:
        """Show an event; `whole` is its payload, where the list has only the beginning of that."""
        pane = self.query_one("#detail", Pane)
        if event is None:
            pane.show(lambda _room: (), from_top=True)
            return
        text = event.payload if whole is None else whole
        body = jsontext.lines(text, event.size, _READS_ON, jsontext.Keys.SORTED)
        pane.show(lambda room: self._facts_and(event, body, room), from_top=True)

    def _facts_and(self, event: EventRow, body: tuple[Line, ...], room: int) -> tuple[Line, ...]:
        """Facts, then the payload; on a low screen most facts come after it."""
        first, *others = facts.of_event(event, room)
        return (first, *body, *others) if self.has_class("-low") else (first, *others, *body)

    @on(Listing.Opened)
    def _read(self) -> None:
        """Into the event: more room for it, all of its payload, and the tail stays here."""
        listing = self.main_widget()
        row = listing.target_row
        if row is None:
            return
        listing.go(listing.window.cursor)
        pane = self.query_one("#detail", Pane)
        pane.display = True
        self.add_class("-reading")
        pane.focus()
        if jsontext.is_cut(row.payload, row.size):
            self.run_worker(self._fetch(row), group="text", exclusive=True, exit_on_error=False)

    async def _fetch(self, row: EventRow) -> None:
        gateway = self.session.gateway
        try:
            whole = await self.session.calls.run(partial(gateway.payload, row.thread, row.seq))
        except GatewayError as error:
            self.say(safe(error.message, 600), Tone.BAD)
            return
        if self._told == row.position:
            self._tell(row, whole)

    def step_back(self) -> bool:
        """Out of the event that is read; then esc clears the filter."""
        if not self.has_class("-reading"):
            return super().step_back()
        self.remove_class("-reading")
        self.set_focus(self.main_widget())
        return True

    def do_owner(self) -> None:
        row = self.main_widget().target_row
        if row is None:
            self.say(own("owner: no event under the cursor"), Tone.WARN)
        else:
            self.app.push_screen(ThreadScreen(self.session, row.thread))

    def do_wrap(self) -> None:
        pane = self.query_one("#detail", Pane)
        pane.wrap(on=not pane.wraps)
        self.say(
            own("long lines are folded" if pane.wraps else "long lines are cut at the edge (z folds them)")
        )

    def copyable(self) -> str | None:
        """The id of the event's thread."""
        row = self.main_widget().target_row
        return None if row is None else row.thread

    # Moving in time

    def do_goto(self) -> None:
        self.open_prompt(Purpose.COMMAND, "at ", ())

    def do_minute_back(self) -> None:
        self._shift(timedelta(minutes=-1))

    def do_minute_on(self) -> None:
        self._shift(timedelta(minutes=1))

    def do_hour_back(self) -> None:
        self._shift(timedelta(hours=-1))

    def do_hour_on(self) -> None:
        self._shift(timedelta(hours=1))

    def _shift(self, span: timedelta) -> None:
        row = self.main_widget().window.current
        if row is None:
            self.say(own("no event under the cursor to go on from"), Tone.WARN)
        else:
            self._go(row.at + span, f"{span.total_seconds() / 60:+.0f} min")

    def go_to(self, goal: str) -> None:
        """Put the cursor on a time or on a thread's number, wherever in the log it is; ValueError for neither."""
        near = self.main_widget().window.current
        if self.as_of is None:
            raise ValueError(f"{goal}: the store has not answered yet")
        self._go(goals.goal_of(goal, near, self.as_of), goal)

    def _go(self, goal: goals.Goal, words: str) -> None:
        """Within the events held, or else elsewhere in the store; the first one held may not be the first of all."""
        listing = self.main_widget()
        found = listing.window.find(lambda row: goals.is_held(goal, row))
        by_number = isinstance(goal, ThreadEvent)
        if found is None and not by_number and not self._tail.travelled and not self._tail.waiting:
            listing.go(len(listing.window) - 1)
            self.say(safe(f"{words}: nothing that late; this is the newest"), Tone.WARN)
        elif found is None or (found == 0 and not by_number):
            self.travel(goal, words)
        else:
            listing.go(found)

    # Matches

    def take_find(self, text: str) -> None:
        """Look for a text from here on, among the events held."""
        self._sought = text.casefold()
        self._find(1)

    def do_find(self) -> None:
        self.open_prompt(Purpose.COMMAND, "find ", ())

    def do_next_match(self) -> None:
        self._find(1)

    def do_previous_match(self) -> None:
        self._find(-1)

    def _find(self, step: int) -> None:
        if not self._sought:
            self.do_find()
            return
        listing = self.main_widget()
        window = listing.window
        ahead = range(window.cursor + step, len(window) if step > 0 else -1, step)
        place = next((index for index in ahead if self._matches(window.rows[index])), None)
        if place is not None:
            listing.go(place)
            return
        other = "N looks before it" if step > 0 else "n looks after it"
        where = "after" if step > 0 else "before"
        self.say(safe(f"{self._sought!r}: none {where} this event among those held; {other}"), Tone.WARN)

    def _matches(self, row: EventRow) -> bool:
        texts = (row.kind, row.thread, row.run, row.tenant or "", row.payload[:SOUGHT])
        return any(self._sought in text.casefold() for text in texts)
