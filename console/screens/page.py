"""What every screen has in common: the lines around it, the prompt, the verbs everywhere, and the one way
into verbs.
"""

from __future__ import annotations

from abc import abstractmethod
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import on
from textual.binding import BindingsMap
from textual.message import Message
from textual.worker import Worker, WorkerState

from console import actions, chrome, header, own_commands, times
from console.acting.model import Route
from console.present import Cell, Safe, Tone, own, safe, width, wrap
from console.refresh import BASE_SECONDS, Condition, Freshness
from console.screens.leavable import Leavable
from console.screens.prompted import Prompted
from console.styles import beside
from console.times import Telling
from console.widgets.band import Band
from console.widgets.columns import Scene
from console.widgets.listing import Listing
from console.widgets.pane import Pane
from console.widgets.prompt import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from textual.app import ComposeResult
    from textual.dom import DOMNode
    from textual.widget import Widget

    from console.actions import Action, Place
    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.refresh import Poll
    from console.registry import Registry
    from console.session import Session

TICK_SECONDS = 1.0
VERB = "screen.verb("
"""How the action of a verb's key begins."""
_PROSE_LINES = 5


class Page(Prompted):
    """A screen over the store. A subclass gives body, polls, crumbs, and `do_<verb>` methods of its own."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = ()
    MODE: ClassVar[str] = ""
    FIELDS: ClassVar[tuple[str, ...]] = ()
    HORIZONTAL_BREAKPOINTS = [(0, "-small"), (80, "-wide")]  # noqa: RUF012 - as Textual declares it
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (24, "-low"), (34, "-tall")]  # noqa: RUF012 - as Textual declares it

    class Recovered(Message):
        """The store answers again: what it is may have changed meanwhile."""

    class Lost(Message):
        """The store does not answer any more."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self._bind(session.registry)
        self.as_of: datetime | None = None
        self.freshness = Freshness(Condition.WAITING, 0.0)
        self._said: Cell | None = None

    def _bind(self, registry: Registry) -> None:
        """Put the operator's keys in the place of those that the class was declared with."""
        if registry.actions is actions.ACTIONS:
            return
        kept = (each for _, each in self._bindings if not each.action.startswith(VERB))
        self._bindings = BindingsMap([*kept, *registry.bindings(self.PLACES)])

    # For subclasses

    @abstractmethod
    def compose_body(self) -> Iterable[Widget]:
        """The widgets between header and footer."""

    @abstractmethod
    def polls(self) -> tuple[Poll[Any], ...]:
        """The reading loops; the first one's freshness is the screen's."""

    def awake(self) -> tuple[Poll[Any], ...]:
        """The loops whose answers can be seen while this screen is in front."""
        return self.polls()

    @abstractmethod
    def crumbs(self) -> tuple[Line, Line]:
        """The line under the header: where we are, and how much there is."""

    @abstractmethod
    def copyable(self) -> str | None:
        """What `y` copies: the id that was drawn under the cursor."""

    @abstractmethod
    def address_text(self) -> str:
        """This screen as a command."""

    def tick(self) -> None:
        """A second went by: draw again what shows an age."""

    def capped(self) -> None:
        """The operator gave another cap for a day: show what is compared with it anew."""

    def go_to(self, goal: str) -> None:
        """Move to a time or a number; ValueError on screens that have neither."""
        raise ValueError(f"{goal}: only the events can be searched by time or number (5 goes there)")

    def step_back(self) -> bool:
        """Undo one step inside the screen; False if there is none."""
        return False

    # Lifetime

    def compose(self) -> ComposeResult:
        """Header, banner, body, prompt, footer."""
        yield Band(id="too-small")
        yield Band(id="status")
        yield Band(id="crumbs", classes="-plain")
        yield _quiet(Pane(id="banner", classes="-raised -fixed"))
        yield from self.compose_body()
        yield _quiet(Pane(id="notice", classes="-raised -fixed"))
        yield Prompt()
        yield Band(id="screens")
        yield Band(id="keys", classes="-plain")

    def on_mount(self) -> None:
        """Start reading once the first frame is drawn."""
        self.call_after_refresh(self._start)
        self.update_lines()

    def _start(self) -> None:
        self.set_focus(self.main_widget())
        for index, poll in enumerate(self.polls()):
            poll.keep_to(self.seconds)
            self.run_worker(poll.run(), name=f"poll-{index}", group=f"poll-{index}", exit_on_error=False)
        self.set_interval(TICK_SECONDS, self._tick)

    def on_screen_suspend(self) -> None:
        """Another screen is in front: read nothing; below a question go on asking what tells of the store's loss."""
        front = self.app.screen
        asked = isinstance(front, Leavable) and front.QUESTION
        for poll in self.polls()[1 if asked else 0 :]:
            poll.hide()

    def on_screen_resume(self) -> None:
        """In front again: pace and times may have been changed elsewhere."""
        self.keep_pace()
        for poll in self.awake():
            poll.reveal()
        self.retell()

    def on_resize(self) -> None:
        """The lines follow the width."""
        self.call_after_refresh(self.update_lines)

    @on(Worker.StateChanged)
    def _worker_ended(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.say(
                safe(f"this view has stopped: {event.worker.error!r}; leave and come back to start it"),
                Tone.BAD,
            )

    def _tick(self) -> None:
        if self.is_current:
            self.update_lines()
            if self.freshness.condition is Condition.LIVE and self.freshness.interval > BASE_SECONDS:
                self.tick()  # at the usual pace the next answer brings the ages: fewer bytes over ssh

    # The lines around the body

    def freshened(self, state: Freshness) -> None:
        """A poll's news about its data."""
        if self.freshness.cause is not None and state.cause is None:
            self.post_message(self.Recovered())
        if self.freshness.cause is None and state.cause is not None:
            self.post_message(self.Lost())
        if state.condition is Condition.LIVE and state.since != self.freshness.since:
            self._compare_clocks()
        self.freshness = state
        self.update_lines()
        self.tick()
        if times.TOLD.telling is Telling.RELATIVE:
            self.retell()

    def _compare_clocks(self) -> None:
        """How far this machine's clock is ahead of the store's, by the answer that has just come."""
        if self.session.wall is not None and self.as_of is not None:
            self.session.skew = self.session.wall() - self.as_of

    def retell(self) -> None:
        """Tell all times again, in the way that holds now."""
        self.update_lines()
        for pane in self.query(Pane):
            pane.retell()
        for listing in self.query(Listing):
            listing.redraw()

    def scene(self) -> Scene | None:
        """The time that rows are drawn for; ages go on only while the data is live.

        None before the first answer.
        """
        if self.as_of is None:
            return None
        since, condition = self.freshness.since, self.freshness.condition
        live = condition is Condition.LIVE and since is not None
        elapsed = max(0.0, self.session.monotonic() - since) if live and since is not None else 0.0
        return Scene(self.as_of, timedelta(seconds=elapsed), fresh=condition is not Condition.STALE)

    def update_lines(self) -> None:
        """Say again what the lines say; a line that says the same is not drawn."""
        if not self.is_mounted:
            return
        if self.is_current:
            scene = self.scene()
            times.TOLD.now = None if scene is None else scene.as_of + scene.elapsed
        room, now = self.size.width, self.session.monotonic()
        self.query_one("#too-small", Band).say(chrome.too_small(*self.size))
        told = chrome.freshness(self.freshness, self.as_of, now, self.session.skew)
        self.query_one("#status", Band).say(header.store(self.session, room), told)
        self.query_one("#crumbs", Band).say(*self.crumbs())
        unknown = len(self.session.sending.unknown)
        self._show_prose("#banner", chrome.banner(self.freshness, self.as_of, now, unknown))
        self._update_notice(room)
        self.query_one("#keys", Band).say(self._key_cells(room))

    def _key_cells(self, room: int) -> Line:
        prompt = self.query_one(Prompt)
        if prompt.is_open:
            return chrome.prompt_keys(prompt.purpose, self.FIELDS, room)
        return chrome.keys(self.footer(), room)

    def footer(self) -> list[Action]:
        """The verbs that the footer offers: those of the registry, less what could do nothing here as it stands."""
        idle = self.idle_verbs()
        return [action for action in self.session.registry.footer(self.PLACES) if action.name not in idle]

    def idle_verbs(self) -> frozenset[str]:
        """Names of verbs that make sense on such a screen, but not with what it shows now; their keys say why not."""
        return frozenset()

    def _update_notice(self, room: int) -> None:
        said = self._said
        screens = chrome.screens(self.MODE, self.session, room)
        beside_screens = said is not None and width(said.text) + chrome.screens_room(room) <= room
        self.query_one("#screens", Band).say(
            screens, (said, Cell(own(" "))) if said and beside_screens else ()
        )
        self._show_prose("#notice", (said,) if said and not beside_screens else ())

    def _show_prose(self, selector: str, paragraphs: tuple[Cell, ...]) -> None:
        pane = self.query_one(selector, Pane)
        pane.display = bool(paragraphs)
        room = self.size.width - 2
        lines = [(Cell(text, cell.tone),) for cell in paragraphs for text in wrap(cell.text, room)]
        shown = lines[:_PROSE_LINES]
        if shown:
            pane.show(lambda _width: shown)
            pane.styles.height = len(shown)

    def say(self, text: Safe, tone: Tone = Tone.INFO) -> None:
        """Tell the operator something; it stays until the next verb."""
        self._said = Cell(text, tone)
        self.update_lines()

    # Verbs

    def action_verb(self, name: str) -> None:
        """A key was pressed."""
        self.session.route = Route.KEY
        self.perform(name)

    def perform(self, name: str, argument: str = "") -> None:
        """Run a verb: the one way in, for keys, palette and command line alike; ValueError for a word that it cannot
        do anything with. A key that comes when another has put a screen in front of this one, or before there is
        anything on it, is dropped.
        """
        if not self.is_active or not self.query(Prompt):
            return
        action = self.session.registry.named(name)
        self._said = None
        refused = actions.refusal(action, writable=self.session.writable, connected=self.connected)
        if refused is not None:
            self.say(refused, Tone.WARN)
            return
        handler = self._handler(name, argument)
        if handler is None:
            self.say(own(f"{action.label}: nothing here to do that with"), Tone.WARN)
        else:
            handler()
        self.update_lines()

    def _handler(self, name: str, argument: str) -> Callable[[], None] | None:
        if argument:
            taking = getattr(self, f"take_{name}", None)
            return None if taking is None else partial(cast("Callable[[str], None]", taking), argument)
        nodes: list[DOMNode] = [*(self.focused.ancestors_with_self if self.focused else (self, self.app))]
        command = self.session.registry.commands.get(name)
        if command is not None:
            return partial(own_commands.start, self, command)
        found = next((node for node in nodes if hasattr(node, f"do_{name}")), None)
        return None if found is None else cast("Callable[[], None]", getattr(found, f"do_{name}"))

    def check_action(self, action: str, _parameters: tuple[object, ...]) -> bool | None:
        """No verb is reached by a key while the operator types."""
        return not (action == "verb" and any(prompt.is_open for prompt in self.query(Prompt)))

    def do_changes(self) -> None:
        self.say(
            own("changes: nothing here can be changed; 1 lists threads, 2 claims, 3 reservations"), Tone.WARN
        )

    def do_copy(self) -> None:
        text = self.copyable()
        if text is None:
            self.say(own("copy: no row under the cursor"), Tone.WARN)
        else:
            self.send(text)

    def do_address(self) -> None:
        self.send(self.address_text())

    def send(self, text: str) -> None:
        """Ask the terminal to take a text, and show it; whether the terminal did is unknown."""
        self.say(cast("HoldwatchApp", self.app).send_to_terminal(text))

    def do_back(self) -> None:
        if self.stop_asking() or self.step_back():
            return
        if len(self.app.screen_stack) > 1:
            from console.screens import leaving

            leaving.leave(self.app, (self,), self.session.monotonic, self.dismiss)


def _quiet(pane: Pane) -> Pane:
    pane.can_focus = False
    return pane
