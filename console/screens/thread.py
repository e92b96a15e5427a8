"""One thread: its claim and who was refused, checkpoints, pending writes, effects, events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from textual.widgets import ContentSwitcher

from console import facts, tables
from console.actions import Place, bindings
from console.model import EventBatch, EventQuery, ThreadStory
from console.present import Cell, Tone, own, safe
from console.refresh import Poll
from console.screens.page import Page
from console.styles import beside
from console.tail import Tail
from console.widgets.band import Band
from console.widgets.columns import Scene
from console.widgets.pair import Pair
from console.widgets.pane import Pane
from console.widgets.snapshots import Snapshots
from console.widgets.window import Rest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from console.jsontext import Line
    from console.session import Session

TABS: Final = ("claim", "checkpoints", "writes", "effects", "events")


class ThreadScreen(Page):
    """Facts above, tabs below."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    PLACES: ClassVar[tuple[Place, ...]] = (Place.THREAD, Place.LIST, Place.EVERYWHERE)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(*PLACES)]
    MODE: ClassVar[str] = "threads"

    def __init__(self, session: Session, thread: str) -> None:
        super().__init__(session)
        self.thread = thread
        self.tab = TABS[0]
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
        self._events.hide()

    def compose_body(self) -> Iterable[Widget]:
        """The head, the strip of tabs, and the tabs."""
        head = Pane(id="head", classes="-raised -fixed")
        head.can_focus = False
        yield head
        yield Band(id="tabs")
        yield ContentSwitcher(
            Pane(id="claim"),
            Snapshots(self.session, self.thread, id="checkpoints"),
            Pair(
                tables.WRITES,
                lambda row: row.id,
                lambda row: (row.body, row.size),
                empty=own("no pending writes"),
                id="writes",
            ),
            Pair(
                tables.EFFECTS,
                lambda row: row.key,
                lambda row: (row.value, row.size),
                empty=own("no effects"),
                id="effects",
            ),
            Pair(
                tables.THREAD_EVENTS,
                lambda row: row.position,
                lambda row: (row.payload, row.size),
                empty=own("no events held"),
                rest=Rest.BOTTOM,
                id="events",
            ),
            initial=self.tab,
        )

    def polls(self) -> tuple[Poll[Any], ...]:
        """The thread's story, and its events while their tab is in front."""
        return self._stories, self._events

    def main_widget(self) -> Widget:
        """The list or pane of the tab in front."""
        return self.query_one("#claim", Pane) if self.tab == "claim" else self._pair(self.tab).listing

    def _pair(self, name: str) -> Pair[Any]:
        return cast("Pair[Any]", self.query_one(f"#{name}"))

    def _ask(self) -> ThreadStory | None:
        return self.session.gateway.story(self.thread)

    def _take(self, story: ThreadStory | None) -> None:
        self._gone = story is None
        if story is None:
            self.say(own("the store holds nothing of this thread any more"), Tone.WARN)
            return
        self._story = story
        self.as_of = story.as_of
        scene = Scene(story.as_of)
        self._pair("checkpoints").show(story.checkpoints, scene)
        self._pair("writes").show(story.writes, scene)
        self._pair("effects").show(story.effects, scene)

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
        self.query_one("#claim", Pane).show(lambda room: facts.of_holding(story, scene, room))

    def crumbs(self) -> tuple[Line, Line]:
        """Where we came from, and the thread's id."""
        word = Cell(own("GONE "), Tone.GONE) if self._gone else Cell(own(""))
        self.query_one("#tabs", Band).say(self._tab_cells())
        left = (Cell(own(" Threads > "), Tone.MUTED), Cell(safe(self.thread), Tone.HEAD))
        return left, (word,)

    def _tab_cells(self) -> Line:
        cells: list[Cell] = []
        for name in TABS:
            here = name == self.tab
            left, right = ("[", "]") if here else (" ", " ")
            text = f"{name.capitalize()}{self._tab_count(name)}"
            cells.append(Cell(own(f"{left}{text}{right} "), Tone.HEAD if here else Tone.MUTED))
        return tuple(cells)

    def _tab_count(self, name: str) -> str:
        story = self._story
        if story is None or name == "claim":
            return ""
        if name == "events":
            return f" {(story.next_seq or 0) - (story.floor_seq or 0):,}"
        rows = {"checkpoints": story.checkpoints, "writes": story.writes, "effects": story.effects}[name]
        return f" {len(rows):,}"

    def go_to_tab(self, name: str) -> None:
        """Put a tab in front."""
        self.tab = name
        self.query_one(ContentSwitcher).current = name
        if name == "events":
            self._events.reveal()
        else:
            self._events.hide()
        self.set_focus(self.main_widget())
        self.update_lines()

    def do_next_tab(self) -> None:
        self.go_to_tab(TABS[(TABS.index(self.tab) + 1) % len(TABS)])

    def do_previous_tab(self) -> None:
        self.go_to_tab(TABS[TABS.index(self.tab) - 1])

    def on_screen_resume(self) -> None:
        """In front again: the events only if their tab is."""
        self._stories.reveal()
        if self.tab == "events":
            self._events.reveal()

    def step_back(self) -> bool:
        """Esc comes back from a text to its list."""
        return self.tab != "claim" and self._pair(self.tab).leave_text()

    def copyable(self) -> str | None:
        """The id of the row under the cursor, or the thread's where the row has none of its own."""
        if self.tab in {"checkpoints", "effects"}:
            return self._pair(self.tab).listing.target or self.thread
        return self.thread

    def address_text(self) -> str:
        """The thread as a command."""
        return f"thr:{self.thread}"
