"""A screen over a tail: when it asks, how it reads on, and that it never skips in silence (ruling 58).

It is woken by hints while it is in front and looked at, at most ten times a second; a lost hint costs one interval.
While paused, or while the operator reads far from the end, it only counts what waits.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from textual import on
from textual.message import Message

from console.hearing import Hearing
from console.lists import questions
from console.model import EventBatch, EventRow, GatewayError
from console.present import Tone, own, safe
from console.refresh import BASE_SECONDS, Pace, Poll
from console.screens.windowed import WindowPage
from console.tail import FRAME, Tail, Way
from console.widgets.columns import Scene
from console.widgets.listing import Listing

if TYPE_CHECKING:
    from datetime import datetime

    from textual.timer import Timer

    from console.session import Session
    from console.tail_model import EventsAhead, ThreadEvent

TAIL_SECONDS: Final = 1.0
"""The interval of a tail while its queries are cheap: what a lost hint costs."""
FRAME_SECONDS: Final = 0.1
"""Between two frames at least."""
HEARTBEAT_SECONDS: Final = 2.0
"""How often a paused tail counts what waits."""


class TailPage(WindowPage):
    """Keeps a tail; a subclass draws it."""

    class Heard(Message):
        """Something was committed."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._tail = Tail(*questions.of_events(self.filter))
        self._way = Way.NEWEST
        self._catching_up = False
        self._in_front = self._focused = True
        self._frame: Timer | None = None
        self._turn = asyncio.Lock()
        self._hearing = Hearing(session.gateway, self._tell_heard)
        self._poll: Poll[EventBatch | EventsAhead] = Poll(
            session.calls,
            lambda: self._tail.ask_by(session.gateway, self._way),
            self._take,
            changed=self.freshened,
            monotonic=session.monotonic,
            pace=Pace(TAIL_SECONDS),
            turn=self._turn,
        )

    def polls(self) -> tuple[Poll[Any], ...]:
        """The tail."""
        return (self._poll,)

    def main_widget(self) -> Listing[EventRow]:
        """The tail's list."""
        return self.query_one("#list", Listing)

    # When to ask

    def on_mount(self) -> None:
        """A pause has a heartbeat."""
        self.set_interval(HEARTBEAT_SECONDS, self._beat)
        self._steer()

    def on_unmount(self) -> None:
        """Nobody listens for a screen that is gone."""
        self._hearing.turn(on=False)

    def on_screen_suspend(self) -> None:
        """Another screen is in front: its connection to listen on is given back."""
        self._in_front = False
        self._steer()

    def on_screen_resume(self) -> None:
        """In front again."""
        self._in_front = True
        self._steer()

    def terminal_focus(self, has_focus: bool) -> None:
        """Hints are for somebody who looks."""
        super().terminal_focus(has_focus)
        self._focused = has_focus
        self._steer()

    def _beat(self) -> None:
        if self._poll.paused and self._in_front and self._focused:
            self._poll.ask_now()

    def _tell_heard(self) -> None:
        """In the listener's thread."""
        self.post_message(self.Heard())

    @on(Heard)
    def _heard(self) -> None:
        if self._way is not Way.COUNT:
            self._ask_soon()

    def _ask_soon(self) -> None:
        """The next frame, unless the store finds them dear or the operator wants a slower pace than the usual one."""
        if self._frame is None and self._poll.pace.interval <= BASE_SECONDS:
            self._frame = self.set_timer(FRAME_SECONDS, self._frame_due)

    def _frame_due(self) -> None:
        self._frame = None
        self._poll.ask_now()

    # How to read on

    def _steer(self) -> None:
        """Decide again how the tail reads on, and whether hints are heard."""
        self._way = self._decided()
        self._hearing.turn(on=self._in_front and self._focused and not self._poll.paused)

    def _decided(self) -> Way:
        if self._poll.paused:
            return Way.COUNT
        window = self.main_widget().window if self.is_mounted else None
        if window is not None and window.pinned:
            return Way.FORWARD if len(window) - window.cursor <= FRAME else Way.COUNT
        return Way.FORWARD if self._catching_up else Way.NEWEST

    def _take(self, answer: EventBatch | EventsAhead) -> None:
        begun = self._tail.position is not None
        self._tail.take(answer)
        self.as_of = answer.as_of
        listing, scene = self.main_widget(), Scene(answer.as_of)
        listing.empty = own("no events for this filter (esc clears it)" if self.filter else "no events yet")
        if isinstance(answer, EventBatch) and (answer.rows or not begun):
            listing.show(tuple(self._tail.rows), scene)
        else:
            listing.tick(scene)
        if isinstance(answer, EventBatch):
            self._go_on(answer)
        self._steer()

    def _go_on(self, batch: EventBatch) -> None:
        if batch.behind:
            self._ask_soon()
        else:
            self._catching_up = False

    @on(Listing.Moved)
    def _moved(self) -> None:
        before = self._way
        self._steer()
        if self._way is Way.FORWARD and before is Way.COUNT and self._tail.waiting:
            self._ask_soon()

    @on(Listing.Rested)
    def _rested(self) -> None:
        """Back at the end: the newest, at once; a tail that was taken elsewhere begins anew there."""
        self._catching_up = False
        if self._tail.travelled:
            self._begin(Tail(self._tail.query, self._tail.sieve))
            self._poll.ask_anew()
        elif self._tail.waiting and not self._poll.paused:
            self._poll.ask_now()
        self._steer()

    def do_pause(self) -> None:
        super().do_pause()
        self._catching_up = not self._poll.paused  # what came meanwhile is read in its turn, none passed over
        self._steer()

    def do_follow(self) -> None:
        listing = self.main_widget()
        if listing.window.pinned or self._catching_up:
            listing.rest()
        else:
            listing.go(listing.window.cursor)
        self._steer()

    # Another tail in its place

    def ask_with(self, text: str) -> None:
        """Begin a new tail."""
        self._begin(Tail(*questions.of_events(text)))

    def _begin(self, tail: Tail) -> None:
        self._tail = tail
        self._catching_up = False
        self.main_widget().ask_other(own("reading ..."))

    def travel(self, goal: datetime | ThreadEvent, words: str) -> None:
        """Take the tail to a place of the log that it does not hold."""
        self.run_worker(
            self._travel(self._tail, goal, words), group="older", exclusive=True, exit_on_error=False
        )

    async def _travel(self, tail: Tail, goal: datetime | ThreadEvent, words: str) -> None:
        async with self._turn:
            try:
                found = await self.session.calls.run(lambda: tail.elsewhere(self.session.gateway, goal))
            except GatewayError as error:
                self.say(safe(error.message, 600), Tone.BAD)
                return
            if tail is not self._tail:
                return
            if found is None:
                self.say(safe(f"{words}: the store holds no such event"), Tone.WARN)
            else:
                self._arrive(*found, words)

    def _arrive(self, tail: Tail, wanted: str | None, words: str) -> None:
        scene = self.scene() or Scene(self.as_of or tail.rows[0].at)
        self._begin(tail)
        listing = self.main_widget()
        listing.show(tuple(tail.rows), scene)
        place = listing.window.find(lambda row: row.position == wanted)
        listing.go(len(tail.rows) - 1 if place is None else place)
        if wanted is None:
            self.say(safe(f"{words}: nothing that late; this is the newest"), Tone.WARN)
        self._steer()

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
                    lambda: tail.sifted(self.session.gateway.older_events(tail.query, before, FRAME))
                )
            except GatewayError as error:
                self.say(safe(error.message, 600), Tone.BAD)
                return
        tail.take_older(batch)
        scene = self.scene()
        if tail is self._tail and scene is not None:
            self.main_widget().show(tuple(tail.rows), scene)
