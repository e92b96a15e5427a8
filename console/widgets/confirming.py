"""The end of every change: a reason, a phrase, Cancel and the deed; a yes counts only when it was meant (F4).

The focus begins on Cancel and no key counts before a pause, so that neither the key that opened the dialog nor
what was typed ahead of it confirms anything. Arrows and Tab move; Enter in a field only moves on. The mouse
confirms nothing at levels 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, Label

from console.acting.confirmation import QUIET_SECONDS, Confirmed, Quiet, missing
from console.actions import Level
from console.present import Cell, Tone, own, safe
from console.styles import beside
from console.widgets.band import Band
from console.widgets.choice import Choice
from console.widgets.phrase import PhraseField
from console.widgets.typed import Typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.events import Key
    from textual.widget import Widget

    from console.acting.confirmation import Asked

MOST_REASON: Final = 500
"""Characters of a reason that can be typed."""


class Confirming(Vertical):
    """Gives `Given` or `Left`, and nothing else happens in it. `block` holds it back while something is missing."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,shift+tab", "step(-1)", show=False, priority=True),
        Binding("down,tab", "step(1)", show=False, priority=True),
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
        Binding("escape", "leave", show=False, priority=True),
    ]

    FIELDS_ARE: ClassVar[str] = ": up, or tab, goes to it"
    """How what is missing is reached from an answer."""

    @dataclass
    class Given(Message):
        """The operator meant it."""

        confirmed: Confirmed

    @dataclass
    class Left(Message):
        """The operator did not."""

    def __init__(self, asked: Asked, monotonic: Callable[[], float], *, reason: str = "") -> None:
        super().__init__()
        self._asked = asked
        self._monotonic = monotonic
        self._first_reason = reason
        self._blocker = ""
        self._hasty = ""
        self._given = False
        self.quiet = Quiet(monotonic)

    def compose(self) -> ComposeResult:
        """Reason and phrase where they are asked for, what is missing, the two answers."""
        if self._asked.reasoned:
            with Horizontal(classes="row"):
                yield Label("  Reason ", markup=False, id="reason-label")
                hint = "why: for those who read the audit later"
                yield Typed(self._first_reason, hint=hint, longest=MOST_REASON, id="reason")
        if self._asked.phrase:
            with Horizontal(classes="row"):
                yield Label(safe(f"  Type {self._asked.phrase} : "), markup=False)
                yield PhraseField(self._asked.phrase, self._monotonic, id="phrase")
        yield Band(id="told", classes="-raised")
        with Horizontal(id="choices"):
            yield Choice("Cancel", id="cancel")
            yield Choice(self._asked.verb, Tone.BAD, id="deed")

    def on_mount(self) -> None:
        """Nothing counts yet."""
        self.quiet = Quiet(self._monotonic)
        for cancel in self.query("#cancel"):  # none where its screen is left just as it comes
            cancel.focus()
        self.call_after_refresh(self.tell)
        self.set_timer(QUIET_SECONDS + 0.05, self.tell)

    @property
    def reason(self) -> str:
        """Why, as typed so far."""
        return self.query_one("#reason", Input).value if self._asked.reasoned else ""

    @property
    def phrase(self) -> str:
        """The phrase as typed so far."""
        return self.query_one("#phrase", PhraseField).value if self._asked.phrase else ""

    @property
    def typed(self) -> bool:
        """Whether a reason or a phrase stands there; neither does before it is composed."""
        reasons = (line.value.strip() for line in self.query("#reason").results(Input))
        phrases = (field.value for field in self.query("#phrase").results(PhraseField))
        return any(reasons) or any(phrases)

    @property
    def missing(self) -> str:
        """What is still missing before it can be meant."""
        return missing(self._asked, self.phrase, self.reason, self._blocker)

    def block(self, blocker: str) -> None:
        """Hold the deed back for a reason of the caller's; an empty one lets it go."""
        self._blocker = blocker
        self.tell()

    def again(self) -> None:
        """The deed was refused: the operator may try once more."""
        self._given = False
        self.tell()

    def tell(self) -> None:
        """Say what is missing, or what does it."""
        if not self.is_mounted or not self.query("#deed"):
            return
        self.query_one("#deed", Choice).allow(not self.missing)
        for label in self.query("#reason-label").results(Label):
            here = self.query_one("#reason", Input).has_focus
            label.update(f"{'>' if here else ' '} Reason ")
        self.query_one("#told", Band).say((self._told(),))

    def _told(self) -> Cell:
        if not self.quiet.ready:
            return Cell(own(" what was typed ahead is dropped: pause a moment, then go on"), Tone.MUTED)
        if self._hasty:
            return Cell(safe(f" {self._hasty}"), Tone.WARN)
        if self.missing:
            away = any(choice.has_focus for choice in self.query(Choice)) and not self._blocker
            return Cell(safe(f" {self.missing}{self.FIELDS_ARE if away else ''}"), Tone.MUTED)
        asks = self._asked.level is Level.ASK and not self._asked.reasoned
        return Cell(
            own(" y does it, n or esc does not" if asks else " ready: Enter on the deed does it"), Tone.MUTED
        )

    # Moving

    def _stops(self) -> list[Widget]:
        found = self.query("#reason, #phrase, #cancel, #deed")
        return [widget for widget in found if widget.can_focus]

    def action_step(self, by: int) -> None:
        """To the next field or answer."""
        if not self.quiet.lets_through():
            self.tell()
            return
        stops = self._stops()
        here = next((place for place, widget in enumerate(stops) if widget.has_focus), 0)
        stops[(here + by) % len(stops)].focus()
        self.tell()

    def action_leave(self) -> None:
        """Esc never confirms anything, so it needs no pause."""
        self.post_message(self.Left())

    def on_descendant_focus(self) -> None:
        """Say where the focus is."""
        self.tell()

    @on(Input.Submitted)
    def _reason_given(self, event: Input.Submitted) -> None:
        event.stop()
        self._go_on()

    def on_key(self, event: Key) -> None:
        """Enter in the phrase: on to the deed, once it is the phrase."""
        if event.key == "enter":
            event.stop()
            self._go_on()

    def _go_on(self) -> None:
        """From a field to the next one, and from the last to the deed, where nothing is missing."""
        typing = [field for field in self.query("#reason, #phrase") if field.can_focus]
        last = typing[-1]
        if not last.has_focus:
            last.focus()
        elif not self.missing:
            self.query_one("#deed", Choice).focus()
        self.tell()

    @on(Input.Changed)
    def _reason_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.tell()

    @on(PhraseField.Typed)
    def _phrase_typed(self, event: PhraseField.Typed) -> None:
        event.stop()
        self._hasty = event.refused
        self.tell()

    # Answering

    @on(Choice.Pressed)
    def _pressed(self, event: Choice.Pressed) -> None:
        event.stop()
        if not self.quiet.lets_through():
            self.tell()
        elif self._asked.reasoned:
            if event.character is not None and event.character.isprintable():
                self._add_to_reason(event.character)
        elif self._asked.level is Level.ASK and event.character == "y":
            self._do()
        elif self._asked.level is Level.ASK and event.character == "n":
            self.post_message(self.Left())

    def _add_to_reason(self, character: str) -> None:
        """What is typed while the focus still is on an answer is the reason: no letter of it is an answer."""
        line = self.query_one("#reason", Input)
        line.focus()
        line.insert_text_at_cursor(character)

    @on(Choice.Chosen)
    def _chosen(self, event: Choice.Chosen) -> None:
        event.stop()
        if not self.quiet.lets_through():
            self.tell()
        elif event.choice.id == "cancel":
            self.post_message(self.Left())
        elif not event.key and self._asked.level >= Level.PHRASE:
            self._hasty = "the mouse does not do this: Enter on the deed does"
            self.tell()
        else:
            self._do()

    def _do(self) -> None:
        if self.missing or self._given:
            self.tell()
            return
        self._given = True
        self.post_message(self.Given(Confirmed(self.phrase, self.reason.strip())))
