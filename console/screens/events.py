"""The live tail of the store, or of what a filter lets through."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on

from console import facts, filters, jsontext, tables
from console.actions import Place, bindings
from console.lists import catalogue
from console.model import EventBatch, EventRow, GatewayError
from console.present import Cell, Tone, own, safe
from console.refresh import Pace, Poll
from console.screens.thread import ThreadScreen
from console.screens.windowed import WindowPage
from console.styles import beside
from console.tail import FRAME, Tail
from console.widgets.columns import Scene
from console.widgets.listing import Listing
from console.widgets.pane import Pane
from console.widgets.prompt import Purpose
from console.widgets.window import Rest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.jsontext import Line
    from console.session import Session

TAIL_SECONDS: Final = 1.0
"""The interval of a tail while its queries are cheap."""


class EventsScreen(WindowPage):
    """A tail that rests on the newest event until the operator moves; then it stays where he is."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (Place.EVENTS, Place.FILTERED, Place.LIST, Place.EVERYWHERE)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "events"
    FIELDS: ClassVar[tuple[str, ...]] = filters.EVENT_FIELDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._tail = Tail(filters.events(self.filter))
        self._turn = asyncio.Lock()
        self._poll = Poll(
            session.calls,
            lambda: self._tail.ask(session.gateway),
            self._take,
            changed=self.freshened,
            monotonic=session.monotonic,
            pace=Pace(TAIL_SECONDS),
            turn=self._turn,
        )

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

    def polls(self) -> tuple[Poll[Any], ...]:
        """The tail."""
        return (self._poll,)

    def main_widget(self) -> Listing[EventRow]:
        """The tail's list."""
        return self.query_one("#list", Listing)

    def _take(self, batch: EventBatch) -> None:
        self._tail.take(batch)
        self.as_of = batch.as_of
        listing = self.main_widget()
        listing.empty = own("no events for this filter (esc clears it)" if self.filter else "no events yet")
        listing.show(tuple(self._tail.rows), Scene(batch.as_of))

    def crumbs(self) -> tuple[Line, Line]:
        """The filter and whether we follow; then the counters."""
        following = not self.main_widget().window.pinned
        way = (
            Cell(own("  following"), Tone.GOOD)
            if following
            else Cell(own("  anchored (f follows)"), Tone.WARN)
        )
        what = Cell(safe(f"  /{self.filter}"), Tone.WARN) if self.filter else Cell(own(""))
        dropped = Tone.BAD if self._tail.dropped else Tone.MUTED
        counters = (
            Cell(own(f"received {self._tail.received:,}  shown {len(self._tail.rows):,}  "), Tone.MUTED),
            Cell(own(f"dropped {self._tail.dropped:,} "), dropped),
        )
        return (Cell(own(" Events"), Tone.HEAD), what, way), counters

    @on(Listing.Moved)
    def _show_detail(self) -> None:
        event = self.main_widget().window.current
        pane = self.query_one("#detail", Pane)
        if event is None:
            pane.show(lambda _room: (), from_top=True)
        else:
            body = jsontext.lines(event.payload, event.size)
            pane.show(lambda room: self._told(event, body, room), from_top=True)
        self.update_lines()

    def _told(self, event: EventRow, body: tuple[Line, ...], room: int) -> tuple[Line, ...]:
        """Facts, then the payload; on a low screen most facts come after it."""
        first, *others = facts.of_event(event, room)
        return (first, *body, *others) if self.has_class("-low") else (first, *others, *body)

    @on(Listing.Opened)
    def _open(self) -> None:
        row = self.main_widget().target_row
        if row is not None:
            self.app.push_screen(ThreadScreen(self.session, row.thread))

    def copyable(self) -> str | None:
        """The id of the event's thread."""
        row = self.main_widget().target_row
        return None if row is None else row.thread

    def ask_with(self, text: str) -> None:
        """Begin a new tail."""
        self._tail = Tail(filters.events(text))
        self.main_widget().ask_other(own("reading ..."))

    def do_follow(self) -> None:
        listing = self.main_widget()
        if listing.window.pinned:
            listing.rest()
        else:
            listing.go(listing.window.cursor)

    @on(Listing.NearEnd)
    def _reach_back(self, event: Listing.NearEnd) -> None:
        if not event.below and self._tail.room > 0:
            self.run_worker(self._load_older(self._tail), group="older", exclusive=True, exit_on_error=False)

    async def _load_older(self, tail: Tail) -> None:
        before = tail.before
        async with self._turn:
            if before is None or before != tail.before:
                return
            try:
                batch = await self.session.calls.run(
                    lambda: self.session.gateway.older_events(tail.query, before, FRAME)
                )
            except GatewayError as error:
                self.say(safe(error.message, 600), Tone.BAD)
                return
        tail.take_older(batch)
        scene = self.scene()
        if tail is self._tail and scene is not None:
            self.main_widget().show(tuple(tail.rows), scene)

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
        window = self.main_widget().window
        if window.current is None:
            return
        goal = window.current.at + span
        found = window.find(lambda row: row.at >= goal)
        self.main_widget().go(len(window) - 1 if found is None else found)

    def go_to(self, goal: str) -> None:
        """Put the cursor on a time or an event number, among the events held; ValueError if there is none."""
        listing = self.main_widget()
        row = listing.window.current
        if row is None:
            raise ValueError(f"{goal}: no events are held yet")
        found = listing.window.find(_wanted(goal, row, self.as_of or row.at))
        if found is None:
            raise ValueError(f"{goal}: no such event among the {len(listing.window):,} held")
        listing.go(found)


def _wanted(goal: str, near: EventRow, as_of: datetime) -> Callable[[EventRow], bool]:
    """The first event at or after a time of the last day, or the event of that number of the thread under
    the cursor.
    """
    number = re.fullmatch(r"#?(\d{1,18})", goal)
    if number is not None:
        return lambda row: row.thread == near.thread and row.seq == int(number[1])
    at = _instant(goal, as_of)
    return lambda row: row.at >= at


def _instant(goal: str, as_of: datetime) -> datetime:
    parts = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?Z?", goal)
    if parts is None:
        raise ValueError(f"{goal!r} is neither a time (14:03 or 14:03:22, UTC) nor an event number (#41)")
    hour, minute, second = int(parts[1]), int(parts[2]), int(parts[3] or 0)
    at = as_of.astimezone(UTC).replace(hour=hour, minute=minute, second=second, microsecond=0)
    return at if at <= as_of else at - timedelta(days=1)
