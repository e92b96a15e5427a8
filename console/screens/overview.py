"""The whole store at a glance: a card a part, each with its own age and its own error (console.md 5.1)."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import on

from console import overview_filters
from console.actions import Place, bindings
from console.commands import OpenReservation, OpenThread, ShowList
from console.held_model import Failed
from console.overview_cards import Known, Sight, cards
from console.overview_model import Overview
from console.present import Cell, Tone, own, safe
from console.refresh import Condition, Pace, Poll
from console.screens import asking
from console.screens.filtered import FilteredPage
from console.widgets.board import Board
from console.worries import worries

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.overview_model import Changes
    from console.refresh import Freshness
    from console.session import Session

OVERVIEW_SECONDS: Final = 20.0
"""The least time between two looks at all parts: one look is ten statements and their settings (console.md F6)."""
CHANGES_SECONDS: Final = 60.0
"""The same for what changed lately, three counts of up to 10,000 rows."""
PARTS: Final = tuple(field.name for field in fields(Overview))
CHANGED: Final = "changed"


class OverviewScreen(FilteredPage):
    """Reads the parts together and what changed by itself; each card keeps what it last knew."""

    PLACES: ClassVar[tuple[Place, ...]] = (Place.OVERVIEW, Place.SWEPT, Place.LIST, Place.EVERYWHERE)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "overview"
    FIELDS: ClassVar[tuple[str, ...]] = overview_filters.FIELDS

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._query = overview_filters.overview(self.filter)
        self._known: dict[str, Known] = {}
        self._looked_at = True
        turn = asyncio.Lock()
        self._parts: Poll[Overview] = Poll(
            session.calls,
            lambda: session.gateway.overview(self._query.tenant),
            self._take,
            changed=self.freshened,
            monotonic=session.monotonic,
            pace=Pace(OVERVIEW_SECONDS),
            turn=turn,
        )
        self._changes: Poll[Changes] = Poll(
            session.calls,
            lambda: session.gateway.changes(self._query.span, self._query.tenant),
            self._take_changes,
            changed=self._changes_freshened,
            monotonic=session.monotonic,
            pace=Pace(CHANGES_SECONDS),
            turn=turn,
        )

    def compose_body(self) -> Iterable[Widget]:
        """The board."""
        yield Board(id="board")

    def polls(self) -> tuple[Poll[Any], ...]:
        """All parts at one moment, and what changed."""
        return self._parts, self._changes

    def main_widget(self) -> Board:
        """The board."""
        return self.query_one("#board", Board)

    def terminal_focus(self, has_focus: bool) -> None:
        """Nothing is asked while nobody looks; the application's own heartbeat goes on."""
        super().terminal_focus(has_focus)
        self._looked_at = has_focus
        for poll in self.polls():
            if has_focus:
                poll.reveal()
            else:
                poll.hide()
        self.update_lines()

    def _take(self, overview: Overview) -> None:
        for name in PARTS:
            self._learn(name, getattr(overview, name))
        read = [part.as_of for name in PARTS if (part := self._known[name].part) is not None]
        self.as_of = max(read, default=self.as_of)

    def _take_changes(self, changes: Changes) -> None:
        self._learn(CHANGED, changes)

    def _changes_freshened(self, state: Freshness) -> None:
        if state.cause is not None:
            self._learn(CHANGED, Failed(state.cause.message))
        self.update_lines()

    def _learn(self, name: str, answer: Any) -> None:
        self._known[name] = self._known.get(name, Known()).then(answer, self.session.monotonic())

    def update_lines(self) -> None:
        """Cards follow time and session as the lines around them do."""
        super().update_lines()
        if self.is_mounted:
            self.main_widget().show(cards(self._known, self._sight()))

    def _sight(self) -> Sight:
        fresh = self.freshness.condition is not Condition.STALE
        return Sight(self._query, self.session, self.session.monotonic(), fresh=fresh)

    def crumbs(self) -> tuple[Line, Line]:
        """Whose overview, and how many cards say that somebody is needed."""
        left = [Cell(own(" Overview"), Tone.HEAD)]
        if self.filter:
            left.append(Cell(safe(f"  /{self.filter}"), Tone.WARN))
        if not self._looked_at:
            left.append(Cell(own("  not asking: the terminal has no focus"), Tone.WARN))
        return tuple(left), (worries(cards(self._known, self._sight()), known=bool(self._known)),)

    def ask_with(self, text: str) -> None:
        """Another tenant or span: what was known answers another question."""
        self._query = overview_filters.overview(text)
        self._known = {}
        if "since:" in text:
            self.call_after_refresh(lambda: self.main_widget().go_to_card(CHANGED))

    def do_sweep(self) -> None:
        asking.sweep(self, self.address_text())

    def do_narrow(self) -> None:
        self.do_filter()

    def do_next_card(self) -> None:
        self.main_widget().do_next_card()

    def do_previous_card(self) -> None:
        self.main_widget().do_previous_card()

    @on(Board.Opened)
    def _open(self, event: Board.Opened) -> None:
        try:
            cast("HoldwatchApp", self.app).carry_out(event.command)
        except ValueError as error:
            self.say(safe(str(error), 600), Tone.WARN)

    def copyable(self) -> str | None:
        """The thread under the cursor, else the address of the list that its line counts."""
        item = self.main_widget().target
        match None if item is None else item.opens:
            case OpenThread(thread):
                return thread
            case ShowList(screen, text):
                return f"{screen} {text or '/'}"
            case OpenReservation(address):
                return address.id
        return None if item is None else item.key
