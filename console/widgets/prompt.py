"""The line at the bottom where filters and commands are typed. While it is open no key reaches the list."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label

from console.styles import beside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.app import ComposeResult


class Purpose(StrEnum):
    """What the typed line is; its value is the sign before it."""

    FILTER = "/"
    COMMAND = ":"
    EXPORT = "export to"


class Prompt(Horizontal):
    """A one-line input with a sign before it."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("tab", "complete", show=False, priority=True),
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

    def compose(self) -> ComposeResult:
        """The sign and the input."""
        yield Label("", markup=False)
        line = Input(compact=True, select_on_focus=False)
        line.cursor_blink = False
        yield line

    def open(self, purpose: Purpose, text: str, words: Iterable[str]) -> None:
        """Show the line with a text to go on from and words to complete."""
        self.purpose = purpose
        self.query_one(Label).update(purpose.value)
        line = self.query_one(Input)
        line.suggester = SuggestFromList(list(words), case_sensitive=True)
        line.value = text
        line.cursor_position = len(text)
        self.add_class("-open")
        self.screen.set_focus(line)  # at once: what is typed ahead belongs here already

    def close(self) -> None:
        """Hide the line."""
        self.remove_class("-open")

    def type_ahead(self, character: str) -> None:
        """Take a character that was typed before the line had the focus."""
        self.query_one(Input).insert_text_at_cursor(character)

    @property
    def is_open(self) -> bool:
        """Whether the operator is typing here."""
        return self.has_class("-open")

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Given(self.purpose, event.value))

    def action_close(self) -> None:
        """Esc: leave without giving anything."""
        self.post_message(self.Closed())

    def action_complete(self) -> None:
        """Tab: take what is suggested."""
        self.query_one(Input).action_cursor_right()
