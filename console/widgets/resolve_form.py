"""The form of a resolution: facts, answer, end; on a small terminal one after the other (console.md 5.3 and 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Input

from console.acting.confirmation import Asked
from console.acting.resolution_form import MOST_ITEMS, Filled, Item, Outcome
from console.actions import Level
from console.present import Cell, Tone, own
from console.styles import beside
from console.widgets.band import Band
from console.widgets.choice import Choice
from console.widgets.closing import Closing
from console.widgets.entry import Entry
from console.widgets.evidence import EvidenceBox
from console.widgets.outcomes import Outcomes
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from textual.app import ComposeResult
    from textual.events import Key
    from textual.widget import Widget

WIDE: Final = (110, 38)
"""Columns and lines from which all of it stands on one screen."""
NOTHING_ASKED: Final = Asked(Level.PHRASE, "Decide", "DECIDE", reasoned=True)
_HEAD: Final = own("WHAT WAS OBSERVED OUTSIDE (at least one item, kept for ever; + adds, - drops)")
CORRECTS: Final = "an earlier operation"
MOST_OPERATION: Final = 120
"""Characters of an operation's id that can be typed."""


class Part(IntEnum):
    """The three steps."""

    FACTS = 0
    ANSWER = 1
    END = 2


class ResolveForm(Vertical):
    """The fields in their order. Tab and arrows go through all of them, PgDn and PgUp from part to part."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "step(1)", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("tab", "step(1)", show=False, priority=True),
        Binding("shift+tab", "step(-1)", show=False, priority=True),
        Binding("pagedown", "part(1)", show=False, priority=True),
        Binding("pageup", "part(-1)", show=False, priority=True),
    ]

    class Moved(Message):
        """Another part is in front."""

    @dataclass
    class TakenAway(Message):
        """An item of evidence was taken out of the form: its number there, and what stood in it."""

        number: int
        item: Item

    def __init__(self, monotonic: Callable[[], float], now: Callable[[], datetime | None]) -> None:
        super().__init__(id="form")
        self._now = now
        self.part = Part.FACTS
        self.narrow = False
        self.outcomes = Outcomes()
        self._amount = Entry("     amount      ", most=40, cells=24)
        self._until = Entry("     next check  ", most=40, cells=24)
        self._note = Entry("     note        ", most=500)
        self._corrects = Entry("  corrects ", most=MOST_OPERATION, cells=24)
        self._boxes: list[EvidenceBox] = []
        self.closing = Closing(NOTHING_ASKED, monotonic)

    def compose(self) -> ComposeResult:
        """Three parts."""
        with Horizontal(id="part-facts"):
            yield Pane(id="reservation", classes="-fixed")
            yield _still(Pane(id="known", classes="-fixed"))
        with VerticalScroll(id="part-answer") as answer:
            answer.can_focus = False
            yield self.outcomes
            yield from (self._amount, self._until, self._note)
            yield Band(id="evidence-head", classes="-raised")
            with Vertical(id="boxes"):
                yield self._box()
            with Horizontal(id="further"):
                yield Choice("+ another item", Tone.INFO, id="more")
                yield self._corrects
        with Vertical(id="part-end"):
            yield Pane(id="checks", classes="-raised -fixed")
            yield _still(Pane(id="effect", classes="-raised -fixed"))
            yield self.closing

    def on_mount(self) -> None:
        """Only what has been chosen is asked for."""
        self._amount.tell("USD")
        self._until.tell("such as 30m")
        self._corrects.tell(CORRECTS)
        self.query_one("#evidence-head", Band).say((Cell(_HEAD, Tone.ACCENT),))
        self._ask_for(None)
        self.closing.display = False

    def _box(self) -> EvidenceBox:
        box = EvidenceBox(len(self._boxes) + 1, self._now)
        self._boxes.append(box)
        return box

    @property
    def filled(self) -> Filled:
        """What stands in it."""
        return Filled(
            self.outcomes.chosen,
            self._amount.value,
            self._until.value,
            self._note.value,
            tuple(box.item for box in self._boxes),
            self._corrects.value,
        )

    @property
    def touched(self) -> bool:
        """Whether anything would be lost with it."""
        filled = self.filled
        typed = (filled.amount, filled.until, filled.note, filled.corrects)
        items = any(not item.blank for item in filled.items)
        return filled.outcome is not None or items or any(typed) or self.closing.typed

    @property
    def shown_part(self) -> str:
        """Which part is in front, where they are shown one by one."""
        return f"step {self.part + 1} of {len(Part)}" if self.narrow else ""

    # What is asked for

    @on(Outcomes.Chosen)
    def _chosen(self, event: Outcomes.Chosen) -> None:
        self._ask_for(event.outcome)

    def _ask_for(self, outcome: Outcome | None) -> None:
        self._amount.display = outcome is Outcome.PART
        self._until.display = self._note.display = outcome is Outcome.LEAVE

    def tell_until(self, text: str, tone: Tone) -> None:
        """What the next check is read as."""
        self._until.tell(text, tone)

    def tell_amount(self, text: str, tone: Tone) -> None:
        """What the amount is read as."""
        self._amount.tell(text, tone)

    @on(Choice.Chosen)
    def _more(self, event: Choice.Chosen) -> None:
        """The confirmation keeps its own choices to itself: this is the one that adds an item."""
        event.stop()
        self.add_item()

    @on(Choice.Pressed)
    def _on_more(self, event: Choice.Pressed) -> None:
        if event.choice.id == "more" and event.character == "+":
            event.stop()
            self.add_item()

    def on_key(self, event: Key) -> None:
        """Outside of a text `+` adds an item, and `-` takes away the one that it is pressed on."""
        box = self._box_in_focus
        if event.character == "+":
            self.add_item()
        elif event.character == "-" and box is not None:
            self.take_away(box)
        else:
            return
        event.stop()
        event.prevent_default()

    @property
    def _box_in_focus(self) -> EvidenceBox | None:
        return next((box for box in self._boxes if box.has_focus_within), None)

    def take_away(self, box: EvidenceBox) -> None:
        """Out of the form with it, the others move up; the last one leaves an empty one behind.

        The focus goes where the same key, held down, takes no other away.
        """
        number, item = self._boxes.index(box) + 1, box.item
        self._boxes.remove(box)
        self.screen.set_focus(self.query_one("#more"))
        box.remove()
        if not self._boxes:
            self.query_one("#boxes").mount(self._box())
        for place, each in enumerate(self._boxes, 1):
            each.become(place)
        self.post_message(self.TakenAway(number, item))

    def add_item(self) -> None:
        """One more, and into it."""
        if len(self._boxes) >= MOST_ITEMS:
            return
        box = self._box()
        mounted = self.query_one("#boxes").mount(box)

        async def into() -> None:
            await mounted  # before that it has no field to go into
            _into(box)

        self.call_later(into)

    # Moving

    def fit(self, columns: int, lines: int) -> None:
        """All parts, or one of them."""
        self.narrow = columns < WIDE[0] or lines < WIDE[1]
        self.set_class(self.narrow, "-narrow")
        self._show_part()

    def _put_in_front(self, part: Part) -> None:
        self.part = part
        self._show_part()
        self.post_message(self.Moved())

    def _show_part(self) -> None:
        for part, name in zip(Part, ("#part-facts", "#part-answer", "#part-end"), strict=True):
            self.query_one(name).display = not self.narrow or part is self.part

    def _stops(self, part: Part) -> list[Widget]:
        name = ("#part-facts", "#part-answer", "#part-end")[part]
        found = (widget for widget in self.query_one(name).query("*") if widget.can_focus)
        return [widget for widget in found if _asked_for(widget)]

    def _all_stops(self) -> list[tuple[Part, Widget]]:
        return [(part, widget) for part in Part for widget in self._stops(part)]

    def action_step(self, by: int) -> None:
        """To the next field, into the next part where this one ends; within the confirmation it is its own matter.

        At once: what is typed behind the key belongs to the next field, however fast it comes.
        """
        if self.closing.has_focus_within:
            self.closing.action_step(by)
            return
        stops = self._all_stops()
        here = next((place for place, (_, widget) in enumerate(stops) if widget is self.screen.focused), None)
        place = 0 if here is None else here + by
        if 0 <= place < len(stops):
            self.go(*stops[place])

    def action_part(self, by: int) -> None:
        """To the next part, or the one before; at the ends nothing moves."""
        part = self.part + by
        if 0 <= part < len(Part):
            self.go(Part(part), self._stops(Part(part))[0])

    def go(self, part: Part, widget: Widget) -> None:
        """Put a part in front and the focus on one of its fields; the end begins on Cancel, after a pause."""
        entering = part is Part.END and self.closing.display and not self.closing.has_focus_within
        self._put_in_front(part)
        if entering:
            self.closing.begin()
        else:
            self.screen.set_focus(widget)

    @on(Closing.Out)
    def _back_up(self, event: Closing.Out) -> None:
        event.stop()
        stops = self._stops(Part.ANSWER)
        self.go(Part.ANSWER, stops[-1])

    @on(Input.Submitted)
    def _next(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_step(1)

    def on_descendant_focus(self) -> None:
        """A click may have gone to another part."""
        focused = self.screen.focused
        for part in Part:
            if part is not self.part and focused is not None and focused in self._stops(part):
                self._put_in_front(part)


def _asked_for(widget: Widget) -> bool:
    """Whether neither it nor the line or confirmation that it belongs to is put away."""
    parents = [each for each in widget.ancestors_with_self if isinstance(each, Entry | Closing)]
    return all(each.display for each in parents)


def _into(box: EvidenceBox) -> None:
    first = next((each for each in box.query("*") if each.can_focus), None)
    if first is not None:
        first.focus()


def _still(pane: Pane) -> Pane:
    pane.can_focus = False
    return pane
