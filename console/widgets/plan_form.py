"""The confirmation at the end of a plan: keys that mean nothing to it are given to the screen around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.message import Message

from console.acting.confirmation import Quiet
from console.widgets.choice import Choice
from console.widgets.confirming import Confirming
from console.widgets.phrase import PhraseField


class PlanForm(Confirming):
    """Stays open as long as its plan is looked at, and begins anew each time that is."""

    FIELDS_ARE: ClassVar[str] = ": tab or up goes to it; letters here are keys of this screen"

    @dataclass
    class Other(Message):
        """A key came, while one of the answers had the focus, that answers nothing."""

        key: str
        character: str | None = None

    @on(Choice.Pressed)
    def _hand_on(self, event: Choice.Pressed) -> None:
        event.stop()
        event.prevent_default()
        if self.quiet.lets_through():
            self.post_message(self.Other(event.key, event.character))
        else:
            self.tell()

    def begin_reason(self, character: str) -> None:
        """A character that is no key of the screen around is the first one of the reason."""
        if character.isprintable():
            self._add_to_reason(character)

    def begin_anew(self) -> None:
        """The screen is in front again: what was typed of the phrase is gone, and no key counts before a pause."""
        self.quiet = Quiet(self._monotonic)
        for phrase in self.query(PhraseField):
            phrase.clear()
        for cancel in self.query("#cancel"):
            cancel.focus()
        self.tell()
