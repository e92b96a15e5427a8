"""The line at the bottom where filters and commands are typed. While it is open no key reaches the list."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Label

from console.completion import NO_OFFER, of_words
from console.present import Cell, Tone, own, safe, width
from console.styles import beside
from console.widgets.band import Band
from console.widgets.typed import Typed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult

    from console.completion import Completer, Offer
    from console.jsontext import Line


class Purpose(StrEnum):
    """What the typed line is; its value is the sign before it."""

    FILTER = "/"
    COMMAND = ":"
    EXPORT = "export to"


class Prompt(Vertical):
    """A one-line input with a sign before it, and above it the words that may be meant.

    Tab types what those have in common; once nothing more is, it puts them in one after the other.
    """

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("tab", "complete(1)", show=False, priority=True),
        Binding("shift+tab", "complete(-1)", show=False, priority=True),
    ]

    @dataclass
    class Given(Message):
        """The operator pressed Enter."""

        purpose: Purpose
        text: str

    @dataclass
    class Closed(Message):
        """The operator pressed Esc; nothing was given."""

    def __init__(self) -> None:
        super().__init__()
        self.purpose = Purpose.COMMAND
        self._completer: Completer = of_words(())
        self._offer = NO_OFFER
        self._origin = ""
        self._place = -1

    def compose(self) -> ComposeResult:
        """What is offered; then the sign and the input."""
        yield Band(id="offers", classes="-plain")
        with Horizontal():
            yield Label("", markup=False)
            yield Typed()

    def open(self, purpose: Purpose, text: str, words: Iterable[str] | Completer) -> None:
        """Show the line with a text to go on from, and what completes it: words, or what finds them."""
        self.purpose = purpose
        self._completer = words if callable(words) else of_words(words)
        self.query_one(Label).update(purpose.value)
        line = self.query_one(Input)
        line.suggester = _Suggester(self._completer)
        line.value = text
        line.cursor_position = len(text)
        self.add_class("-open")
        self.set_class(purpose is not Purpose.EXPORT, "-offering")
        self._look(text)
        self.screen.set_focus(line)  # at once: what is typed ahead belongs here already

    def close(self) -> None:
        """Hide the line."""
        self.remove_class("-open", "-offering")

    def type_ahead(self, character: str) -> None:
        """Take a character that was typed before the line had the focus."""
        self.query_one(Input).insert_text_at_cursor(character)

    @property
    def is_open(self) -> bool:
        """Whether the operator is typing here."""
        return self.has_class("-open")

    @property
    def offered(self) -> tuple[str, ...]:
        """The words that may stand in the place of the last one."""
        return self._offer.words

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Given(self.purpose, event.value))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._catch_up()

    def on_resize(self) -> None:
        """As many words as there is room for."""
        self._tell()

    def action_close(self) -> None:
        """Esc: leave without giving anything."""
        self.post_message(self.Closed())

    def action_complete(self, step: int) -> None:
        """Tab: take what is sure, then one word after the other."""
        self._catch_up()
        line = self.query_one(Input)
        if self._place < 0:
            sure = self._offer.taken(line.value)
            if sure != line.value:
                self._type(sure)
                self._look(sure)
                return
        if self._offer.words:
            count = len(self._offer.words)
            self._place = (self._place + step) % count if self._place >= 0 else (0 if step > 0 else count - 1)
            self._type(self._put_in)
            self._tell()

    @property
    def _put_in(self) -> str:
        """The line with the word that Tab has come to."""
        return self._origin if self._place < 0 else self._offer.with_word(self._origin, self._place)

    def _catch_up(self) -> None:
        """What is typed may be ahead of the news of it, or behind what Tab has put in."""
        typed = self.query_one(Input).value
        if self.is_open and typed != self._put_in:
            self._look(typed)

    def _type(self, text: str) -> None:
        line = self.query_one(Input)
        line.value = text
        line.cursor_position = len(text)

    def _look(self, text: str) -> None:
        self._origin, self._place = text, -1
        self._offer = self._completer(text)
        self._tell()

    def _tell(self) -> None:
        self.query_one("#offers", Band).say(_told(self._offer, self._place, self.size.width))


class _Suggester(Suggester):
    """The rest of the first word that is offered, behind the cursor."""

    def __init__(self, completer: Completer) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._completer = completer

    async def get_suggestion(self, value: str) -> str | None:
        """The line as Tab would make it, if that goes on from what is typed."""
        offer = self._completer(value)
        if not value or not offer.words:
            return None
        made = offer.with_word(value, 0)
        return made if made.startswith(value) else None


def _told(offer: Offer, place: int, room: int) -> Line:
    """As many of the words as fit, from the one that Tab has come to on."""
    cells: list[Cell] = []
    first = max(place, 0)
    left = room - 8
    for number, word in enumerate(offer.words[first:], first):
        text = safe(word)
        left -= width(text) + 2
        if left < 0 and cells:
            cells.append(Cell(own(f" +{len(offer.words) - number:,}"), Tone.MUTED))
            break
        cells.append(Cell(own(f" {text} "), Tone.HEAD if number == place else Tone.ACCENT))
    return tuple(cells) or (Cell(own(" nothing to complete"), Tone.MUTED),)
