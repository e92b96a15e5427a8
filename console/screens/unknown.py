"""Changes whose end is not known: those of this session with what the store says now, and the intents that nobody
told the end of.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on

from console.acting import equivalent
from console.acting.confirmation import Asked
from console.acting.jobs import JobQuery, JobState
from console.acting.loose import MOST, Loose, ended, loose_rows
from console.acting.records import AuditQuery
from console.actions import Level, Place, bindings
from console.commands import OpenOperation
from console.lists import loose as listing_of
from console.present import Cell, Tone, own, safe
from console.refresh import Poll
from console.screens import ordering
from console.screens.confirm import Question, ask
from console.screens.page import Page
from console.styles import beside
from console.widgets.columns import Scene
from console.widgets.listing import Listing
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.acting.model import Outcome
    from console.acting.records import AuditRow
    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.model import Page as Rows
    from console.session import Session

    Found = tuple[Rows[AuditRow], tuple[str, ...], Mapping[str, Outcome | None]]

_NOTHING = own("every change has an end that is known")


class UnknownScreen(Page):
    """`r` asks the store again; nothing here is ever sent again."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.INTENTS,
        Place.TOLD,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "audit"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._more = False
        self._intents: tuple[AuditRow, ...] = ()
        self._poll = Poll(
            session.calls, self._ask, self._take, changed=self.freshened, monotonic=session.monotonic
        )

    def compose_body(self) -> Iterable[Widget]:
        """The list, and its pane."""
        yield Listing(listing_of.COLUMNS, lambda row: row.operation, empty=own("reading ..."), id="list")
        detail = Pane(id="detail", classes="-raised -fixed")
        detail.can_focus = False
        yield detail

    def polls(self) -> tuple[Poll[Any], ...]:
        """Outcomes and open intents together."""
        return (self._poll,)

    def main_widget(self) -> Listing[Loose]:
        """The list."""
        return self.query_one("#list", Listing)

    def _ask(self) -> Found:
        """Of the store: this person's open intents, the jobs that run, and what became of this session's orders."""
        session = self.session
        page = session.gateway.audit(AuditQuery(actor=session.person.name, unfinished=True), None, MOST)
        running = session.gateway.jobs(JobQuery(JobState.RUNNING), None, MOST)
        waiting = [sent.order.operation for sent in session.sending.unknown]
        return (
            page,
            tuple(row.id for row in running.rows if row.state is JobState.RUNNING),
            session.sending.asked(waiting),
        )

    def _take(self, found: Found) -> None:
        page, running, outcomes = found
        self.as_of, self._more = page.as_of, page.next is not None
        self._intents = ended(page.rows, self.session.window.operation, running)
        self.session.sending.take(outcomes)
        self.main_widget().empty = _NOTHING
        self._show()

    def _show(self) -> None:
        scene = self.scene()
        if scene is not None:
            rows = loose_rows(self.session.sending.orders, self._intents, scene.as_of)
            self.main_widget().show(rows, Scene(scene.as_of))
            self._show_detail()

    def on_mount(self) -> None:
        """What this session knows by itself stands there before the store has answered."""
        super().on_mount()
        self.main_widget().show(loose_rows(self.session.sending.orders, (), None), listing_of.BEFORE)

    def tick(self) -> None:
        """What is still being waited for comes nearer."""
        self._show()

    @on(Listing.Moved)
    def _show_detail(self) -> None:
        row = self.main_widget().window.current
        self.query_one("#detail", Pane).show(lambda room: () if row is None else listing_of.facts(row, room))
        self.update_lines()

    @on(Listing.Opened)
    def _open(self) -> None:
        row = self.main_widget().target_row
        if row is not None:
            cast("HoldwatchApp", self.app).carry_out(OpenOperation(row.operation))

    def do_close_intent(self) -> None:
        """Level 1: it adds an entry to the audit and touches nothing else."""
        row = self.main_widget().target_row
        if row is None:
            self.say(own("no change under the cursor"), Tone.WARN)
            return
        lines = (
            (Cell(safe(row.what, 200), Tone.HEAD), Cell(own("  "), Tone.PLAIN), listing_of.fate(row.fate)),
            (Cell(safe(row.operation), Tone.PLAIN),),
            (Cell(own("Its end is written down in your name. Nothing is done again."), Tone.MUTED),),
        )
        question = Question(own("close intent"), lines, Asked(Level.ASK, "Close it"), verb="close_intent")
        ask(self, question, lambda _yes: self._close(row.operation))

    def _close(self, operation: str) -> None:
        aim = equivalent.aim_of(self.session)
        order = ordering.of_window(self.session, "close intent", partial(equivalent.closing, aim, operation))
        work = ordering.send(
            self,
            order,
            lambda acting: acting.close_intent(operation, order),
            lambda outcome: f"{operation} is closed: {outcome.told}",
            order.what,
        )
        self.run_worker(work, group="change", exit_on_error=False)

    def audited(self) -> str | None:
        """What was done by hand to the object of the row."""
        row = self.main_widget().target_row
        return None if row is None else row.history

    def crumbs(self) -> tuple[Line, Line]:
        """How many of this session, and how many open intents."""
        count = len(self.session.sending.unknown)
        tone = Tone.BAD if count else Tone.GOOD
        number = f"{len(self._intents)}{'+' if self._more else ''}"
        noun = "open intent" if number == "1" else "open intents"
        intents = f"{number} {noun} of {safe(self.session.person.name)} "
        return (
            Cell(own(" Unknown outcomes"), Tone.HEAD),
            Cell(own(f"  {count} of this session"), tone),
            Cell(own("  never resent"), Tone.MUTED),
        ), (Cell(own(intents), Tone.MUTED),)

    def copyable(self) -> str | None:
        """The operation's id."""
        return self.main_widget().target

    def address_text(self) -> str:
        """The screen as a command."""
        return "unknown"
