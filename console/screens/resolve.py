"""Deciding by hand what became of a reservation: both sides, an outcome, evidence, a reason (console.md F5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import on
from textual.widgets import Input

from console import chrome
from console.acting import decisions, evidence_file, resolution_facts
from console.acting.confirmation import Asked
from console.acting.deciding import Deciding, Seen, look
from console.acting.effect import effect_of, phrase_of
from console.acting.resolution_form import Meant, meant
from console.acting.resolution_words import amount_told, outcome_words, until_told
from console.acting.resolving import Deferred
from console.actions import Level, Place, bindings
from console.money_words import HoldState
from console.present import Cell, Tone, middle, own, safe, width
from console.refresh import Pace, Poll
from console.screens.resolve_sending import SendingPage
from console.widgets.closing import Closing
from console.widgets.cycle import Cycle
from console.widgets.evidence import EvidenceBox
from console.widgets.outcomes import Outcomes
from console.widgets.pane import Pane
from console.widgets.prompt import Prompt
from console.widgets.resolve_form import ResolveForm

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from textual.binding import BindingType
    from textual.timer import Timer
    from textual.widget import Widget

    from console.acting.decisions import Decision
    from console.acting.model import Approved
    from console.acting.resolving import EvidenceFile, Resolvable
    from console.jsontext import Line
    from console.money_model import ReservationStory
    from console.money_words import Address
    from console.refresh import Freshness
    from console.session import Session

WEIGH_SECONDS: Final = 0.3
"""So long after the last key the store is asked to weigh what was typed."""
HOW: Final = own(" tab next  PgDn part  + - evidence  esc leaves ")
CHECK_LINES: Final = 8
EFFECT_LINES: Final = 4
DECIDED_SECONDS: Final = 10.0
"""How often the audit is asked who decided it before."""
NARROW_ID: Final = 20
WIDE_ID: Final = 40
"""Cells of the id; `y` copies it whole."""
_EMPTY: Final = Meant(None, (), ())


class ResolveScreen(SendingPage):
    """The form over one reservation. What it was shown as stays; each look tells whether it still is so."""

    PLACES: ClassVar[tuple[Place, ...]] = (Place.EVERYWHERE,)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "reservations"

    def __init__(
        self,
        session: Session,
        address: Address,
        queue: str = "",
        approved: Approved | None = None,
        before: str = "",
    ) -> None:
        """`before` is said first: what became of the row before it in a plan."""
        super().__init__(session)
        self._before = before
        self.address = address
        self._place = queue
        self.deciding = Deciding(approved=approved)
        self.meant = _EMPTY
        self._timer: Timer | None = None
        self._filled: dict[str, tuple[Line, ...]] = {}
        self._hindered = ""
        self._look: Poll[Seen] = Poll(
            session.calls, self._ask, self._take, changed=self.freshened, monotonic=session.monotonic
        )
        self._decided: tuple[Decision, ...] | None = None
        self._undecided = ""
        self._past: Poll[tuple[Decision, ...]] = Poll(
            session.calls,
            lambda: decisions.asked_of(session.gateway, address),
            self._take_decided,
            changed=self._decided_known,
            monotonic=session.monotonic,
            pace=Pace(DECIDED_SECONDS),
        )

    def compose_body(self) -> Iterable[Widget]:
        """The form."""
        yield ResolveForm(self.session.monotonic, self.now)

    def polls(self) -> tuple[Poll[Any], ...]:
        """How it stands and what is to be said of the evidence, one read; and who decided it before."""
        return self._look, self._past

    def on_mount(self) -> None:
        """In a pass, what became of the one before."""
        if self._before:
            self.say(safe(self._before, 600), Tone.GOOD)

    @property
    def form(self) -> ResolveForm:
        """The fields."""
        return self.query_one(ResolveForm)

    def main_widget(self) -> Widget:
        """Where it begins: with the facts where they stand alone, else with the outcome."""
        return self.query_one("#reservation") if self.form.narrow else self.form.outcomes

    def on_resize(self) -> None:
        """One part or all."""
        super().on_resize()
        self.form.fit(*self.size)

    def now(self) -> datetime | None:
        """The store's time."""
        scene = self.scene()
        return None if scene is None else scene.as_of + scene.elapsed

    # Reading

    def _ask(self) -> Seen:
        return look(self.session, self.address, self.meant)

    def _take(self, seen: Seen) -> None:
        first = self.deciding.shown is None
        self.deciding.take(seen)
        if seen.found is not None:
            self.as_of = seen.found.story.as_of
        if first:
            self._offer()

    def _take_decided(self, found: tuple[Decision, ...]) -> None:
        self._decided = found
        self.tick()

    def _decided_known(self, state: Freshness) -> None:
        self._undecided = "" if state.cause is None else state.cause.message

    def _offer(self) -> None:
        if self.deciding.shown is not None:
            row = self.deciding.shown.story.row
            self.form.outcomes.offer(row, outcome_words(row))

    def do_refresh(self) -> None:
        """Ask now; where another version stands by now it is taken, as the checks say."""
        if self.deciding.can_take_anew:
            self.deciding.take_anew()
            self._offer()
            self.say(own("this is what stands now, and what is decided; what was typed stayed"), Tone.WARN)
            self.edited()
        super().do_refresh()

    # Editing

    @on(Input.Changed)
    @on(Cycle.Turned)
    @on(Outcomes.Chosen)
    def _on_edit(self) -> None:
        self.edited()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(WEIGH_SECONDS, self._weigh)

    @on(ResolveForm.TakenAway)
    def _taken_away(self, event: ResolveForm.TakenAway) -> None:
        """What was in it is said, so that it can be typed again."""
        self._on_edit()
        if not event.item.blank:
            text = f"evidence {event.number} was taken away: {event.item.kind}, {event.item.reference}"
            self.say(safe(text, 600), Tone.WARN)

    def _weigh(self) -> None:
        self._timer = None
        self._phrase()
        self._look.ask_anew()

    @on(EvidenceBox.FileNamed)
    def _file_named(self, event: EvidenceBox.FileNamed) -> None:
        work = self._digest(event.box, event.path)
        self.run_worker(work, group=f"file-{id(event.box)}", exclusive=True, exit_on_error=False)

    async def _digest(self, box: EvidenceBox, path: str) -> None:
        """Off the event loop: the disk may hang."""
        found: EvidenceFile | str
        try:
            found = await self.session.errands.run(lambda: evidence_file.digest(path))
        except ValueError as error:
            found = str(error)
        if box.file_read(path, found):
            self._on_edit()

    def edited(self) -> None:
        """Read the form, and say what it comes to."""
        now, shown = self.now(), self.deciding.shown
        if now is None or shown is None:
            return
        filled, row = self.form.filled, shown.story.row
        self.meant = meant(row, filled, now)
        self.form.tell_until(*until_told(filled, now))
        self.form.tell_amount(*amount_told(row, filled, self.meant))
        if self._timer is None:
            self._phrase()
        self.draw()

    def _phrase(self) -> None:
        """The confirmation stands once there is an answer to confirm; where one is being typed it stays."""
        shown, answer, closing = self.deciding.shown, self.meant.answer, self.form.closing
        if shown is None or answer is None:
            closing.display = closing.has_focus_within
            return
        left = isinstance(answer, Deferred)
        verb = "Leave deferred" if left else "Decide"
        closing.become(Asked(Level.PHRASE, verb, phrase_of(shown.story.row, answer), reasoned=not left))
        closing.display = True

    def hindrance(self) -> str:
        """The first thing that keeps the decision from being sent; empty where nothing does."""
        if self.sending:
            return "it is being written"
        found = self.deciding.hindrances(self.meant, self.session.bounds)
        if found:
            return found[0]
        if not self.session.writable:
            return "preview, changes are off: W turns changes on"
        return "" if self.connected else "the store does not answer: changes are off until it does"

    # Drawing

    def tick(self) -> None:
        """Ages go on, and a fresh answer is drawn."""
        self._draw_facts()
        self.edited()

    def draw(self) -> None:
        """The checks, the effect, and what keeps it from being sent; drawn again only where they say something else."""
        shown = self.deciding.shown
        if shown is None:
            return
        found = self.deciding.checks(self.meant, self.session.bounds)
        story = self._story(shown)
        effect = effect_of(story, self.meant.answer)
        room = max(self.size.width - 2, 2)
        self._fill("#checks", resolution_facts.checks(found, room), CHECK_LINES)
        effect_lines = (
            resolution_facts.over(story.row, self._decided, room)
            if story.row.state is HoldState.SETTLED
            else resolution_facts.effect(story, effect, room, self.form.filled.outcome)
        )
        self._fill("#effect", effect_lines, EFFECT_LINES)
        hindrance = self.hindrance()
        if hindrance != self._hindered:
            self._hindered = hindrance
            self.form.closing.block(hindrance)

    def _draw_facts(self) -> None:
        shown, scene = self.deciding.shown, self.scene()
        if shown is None or scene is None:
            return
        story = self._story(shown)
        self.query_one("#reservation", Pane).show(
            lambda room: resolution_facts.reservation(story, scene, room)
        )
        decided, unread = self._decided, self._undecided
        self.query_one("#known", Pane).show(lambda room: resolution_facts.known(story, decided, room, unread))

    def _story(self, shown: Resolvable) -> ReservationStory:
        """As it stands, where it still is what was shown: the totals beside it move on."""
        now = self.deciding.now
        return now.story if now is not None and self.deciding.same else shown.story

    def _fill(self, selector: str, lines: tuple[Line, ...], most: int) -> None:
        if self._filled.get(selector) == lines:
            return
        self._filled[selector] = lines
        pane = self.query_one(selector, Pane)
        pane.styles.height = min(len(lines), most)
        pane.show(lambda _room: lines)

    def crumbs(self) -> tuple[Line, Line]:
        """Which one, of how many; that nothing is locked, or that nothing can be done yet."""
        step, preview = self.form.shown_part, not self.session.writable
        title = Cell(own(f" Resolve by hand{self._place}  "), Tone.HEAD)
        which = Cell(middle(safe(self.address.id), NARROW_ID if step else WIDE_ID), Tone.STRONG)
        apart = Cell(own("  "))
        looks = Cell(own("PREVIEW: W turns changes on  " if preview and not step else ""), Tone.WARN)
        if step:
            looks = Cell(own("PREVIEW " if preview else ""), Tone.WARN)
            return (title, which), (apart, looks, Cell(own(f"{step}: PgDn PgUp "), Tone.MUTED))
        return (title, which), (
            apart,
            looks,
            Cell(own("it locks nothing: checked again at commit "), Tone.MUTED),
        )

    def _key_cells(self, room: int) -> Line:
        """How the form is gone through, then the verbs as everywhere."""
        if self.query_one(Prompt).is_open:
            return super()._key_cells(room)
        verbs = chrome.keys(self.footer(), room - width(HOW))
        return Cell(HOW, Tone.MUTED), *verbs

    @on(ResolveForm.Moved)
    def _moved(self) -> None:
        self.update_lines()

    def copyable(self) -> str:
        """The reservation's id, whole."""
        return self.address.id

    @on(Closing.Window)
    def _turn_window(self) -> None:
        self.perform("window")
