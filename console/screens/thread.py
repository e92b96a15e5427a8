"""One thread: its claim and who was refused, checkpoints, effects, events, children, queue, what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual import on
from textual.widgets import ContentSwitcher

from console import audit_filters, claim_facts, facts
from console.acting import offers, targets
from console.acting.deeds import Deed
from console.acting.planning import Want
from console.actions import Place, bindings
from console.addresses import thread_address
from console.commands import OpenReservation
from console.filter_words import nearest
from console.model import EventBatch, EventQuery, ThreadStory
from console.present import Cell, Tone, middle, own, safe
from console.refresh import Poll
from console.screens import asking, tabs
from console.screens.menu import MenuScreen
from console.screens.page import Page
from console.screens.tabs import TABS
from console.styles import beside
from console.tail import Tail
from console.widgets.band import Band
from console.widgets.columns import Scene
from console.widgets.listing import Listing
from console.widgets.pair import Pair
from console.widgets.pane import Pane
from console.widgets.self_reading import SelfReading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.app import HoldwatchApp
    from console.jsontext import Line
    from console.session import Session

DEEPEST: Final = 30
"""Threads that may be open one above the other: drilling into children ends there."""
CRUMB: Final = 24
"""Cells that an ancestor gets in the line that says where we are."""


class ThreadScreen(Page):
    """Facts above, tabs below. `trail` are the threads that were drilled through to come here."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (
        Place.THREAD,
        Place.DELETABLE,
        Place.CLAIMED,
        Place.AUDITED,
        Place.TOLD,
        Place.OWNED,
        Place.LIST,
        Place.EVERYWHERE,
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "threads"

    def __init__(
        self, session: Session, thread: str, trail: tuple[str, ...] = (), tab: str = TABS[0]
    ) -> None:
        """ValueError for a tab that there is not."""
        super().__init__(session)
        if tab not in TABS:
            raise ValueError(f"no tab {tab!r}; {nearest(tab, TABS)}there are {', '.join(TABS)}")
        self.thread = thread
        self.trail = trail
        self.tab = tab
        self._story: ThreadStory | None = None
        self._gone = False
        self._tail = Tail(EventQuery(thread=thread))
        self._stories = Poll(
            session.calls, self._ask, self._take, changed=self.freshened, monotonic=session.monotonic
        )
        self._events = Poll(
            session.calls,
            lambda: self._tail.ask(session.gateway),
            self._take_events,
            changed=lambda _freshness: None,
            monotonic=session.monotonic,
        )
        if tab != "events":
            self._events.hide()
        self._children = tabs.children_of(session, thread)
        self._holds = tabs.holds_of(session, thread)

    def compose_body(self) -> Iterable[Widget]:
        """The head, the strip of tabs, and the tabs."""
        head = Pane(id="head", classes="-raised -fixed")
        head.can_focus = False
        yield head
        yield Band(id="tabs")
        yield ContentSwitcher(
            *tabs.widgets(self.session, self.thread, self._children, self._holds), initial=self.tab
        )

    def polls(self) -> tuple[Poll[Any], ...]:
        """The thread's story; its events, children and holds while their tab is in front."""
        return self._stories, *self._of_tabs().values()

    def _of_tabs(self) -> dict[str, Poll[Any]]:
        return {"events": self._events, "children": self._children.poll, "holds": self._holds.poll}

    def main_widget(self) -> Widget:
        """The list or pane of the tab in front."""
        widget = self.query_one(f"#{self.tab}")
        return widget.listing if isinstance(widget, Pair) else widget

    def _pair(self, name: str) -> Pair[Any]:
        return cast("Pair[Any]", self.query_one(f"#{name}"))

    def _ask(self) -> ThreadStory | None:
        return self.session.gateway.story(self.thread)

    def _take(self, story: ThreadStory | None) -> None:
        self._gone = story is None
        if story is None:
            more = "" if self._story is None else " any more"
            self.say(own(f"the store holds nothing of this thread{more}"), Tone.WARN)
            return
        self._story = story
        self.as_of = story.as_of
        scene = Scene(story.as_of)
        for name in ("checkpoints", "writes", "effects", "queue", "metadata"):
            self._pair(name).show(getattr(story, name), scene)

    def _take_events(self, batch: EventBatch) -> None:
        self._tail.take(batch)
        self._pair("events").show(tuple(self._tail.rows), Scene(batch.as_of))
        self.update_lines()

    def tick(self) -> None:
        """The lease goes on."""
        story, scene = self._story, self.scene()
        if story is None or scene is None:
            return
        self.query_one("#head", Pane).show(lambda room: facts.of_story(story, scene, room))
        self.query_one("#claim", Pane).show(lambda room: claim_facts.of_tab(story, scene, room))

    def crumbs(self) -> tuple[Line, Line]:
        """The way we came, and the thread's id; what the tab leaves out."""
        self.query_one("#tabs", Band).say(tabs.strip(self._story, self.tab, self.size.width))
        way = [Cell(own(" Threads > "), Tone.MUTED)]
        if len(self.trail) > 1:
            way.append(Cell(own(".. > "), Tone.MUTED))
        way += [Cell(own(f"{middle(safe(each), CRUMB)} > "), Tone.MUTED) for each in self.trail[-1:]]
        word = Cell(own("GONE "), Tone.GONE) if self._gone else Cell(own(""))
        return (*way, Cell(safe(self.thread), Tone.HEAD)), (self._extent(), word)

    def _extent(self) -> Cell:
        """How much of what there is the tab shows."""
        widget = self.query_one(f"#{self.tab}")
        if isinstance(widget, SelfReading):
            return Cell(own(f"  {widget.order}  {widget.counted} "), Tone.MUTED)
        return Cell(own(tabs.cut_note(self._story, self.tab)), Tone.WARN)

    def go_to_tab(self, name: str) -> None:
        """Put a tab in front, and read only what it shows."""
        self.tab = name
        self.query_one(ContentSwitcher).current = name
        for poll in self._of_tabs().values():
            if poll in self.awake():
                poll.reveal()
            else:
                poll.hide()
        self.set_focus(self.main_widget())
        self.update_lines()

    def awake(self) -> tuple[Poll[Any], ...]:
        """What a tab reads by itself only while it is in front."""
        of_tab = self._of_tabs().get(self.tab)
        return (self._stories,) if of_tab is None else (self._stories, of_tab)

    def do_next_tab(self) -> None:
        self.go_to_tab(TABS[(TABS.index(self.tab) + 1) % len(TABS)])

    def do_previous_tab(self) -> None:
        self.go_to_tab(TABS[TABS.index(self.tab) - 1])

    @on(Listing.Moved, "SelfReading")
    def _rows_moved(self) -> None:
        self.update_lines()

    @on(Listing.Opened, "#children")
    def _drill_down(self, event: Listing.Opened) -> None:
        self._open(event.row_id, (*self.trail, self.thread))

    @on(Listing.Opened, "#holds")
    def _open_hold(self) -> None:
        row = self._holds.target_row
        if row is not None:
            cast("HoldwatchApp", self.app).carry_out(OpenReservation(row.address))

    def do_owner(self) -> None:
        parent = None if self._story is None else self._story.parent
        if parent is None:
            self.say(own("owner: this thread is nobody's child"), Tone.WARN)
        else:
            self._open(parent, ())

    def do_delete(self) -> None:
        self._begin(Deed.DELETE)

    def do_release(self) -> None:
        self._begin(Deed.RELEASE)

    def do_changes(self) -> None:
        """What can be done to this thread, mildest first."""
        row = None if self._story is None else self._story.row
        if row is None:
            self.say(own("changes: the store holds nothing of this thread"), Tone.WARN)
        else:
            menu = MenuScreen(f"changes of {self.thread}", offers.of_row(row, None))
            self.app.push_screen(menu, self._chosen_change)

    def _chosen_change(self, letter: str | None) -> None:
        if letter is not None:
            self.perform({"L": "release", "D": "delete"}[letter])

    def _begin(self, deed: Deed) -> None:
        wish = targets.threads_wish(deed, (self.thread,))
        asking.begin(self, Want(deed, lambda _gateway: wish, self.address_text(), self.thread))

    def _open(self, thread: str, trail: tuple[str, ...]) -> None:
        if len(self.app.screen_stack) > DEEPEST:
            self.say(own(f"{DEEPEST} threads are open one above the other; esc goes back"), Tone.WARN)
        else:
            self.app.push_screen(ThreadScreen(self.session, thread, trail))

    def step_back(self) -> bool:
        """Esc comes back from a text to its list."""
        widget = self.query_one(f"#{self.tab}")
        return isinstance(widget, Pair) and widget.leave_text()

    def audited(self) -> str:
        """What was done by hand to this thread and its claim."""
        return audit_filters.of_thread(self.thread)

    def copyable(self) -> str | None:
        """The id of the row under the cursor, or the thread's where the row has none of its own."""
        if self.tab in {"claim", "writes", "events"}:
            return self.thread
        if self.tab == "holds" and self._holds.target_row is not None:
            return self._holds.target_row.address.id
        return cast("Listing[Any]", self.main_widget()).target or self.thread

    def address_text(self) -> str:
        """The thread as a command, with its tab."""
        return thread_address(self.thread, self.tab)
