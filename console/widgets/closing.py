"""The end of a form: its confirmation, whose phrase follows what the form says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.message import Message

from console.acting.confirmation import QUIET_SECONDS, Quiet
from console.widgets.choice import Choice
from console.widgets.confirming import Confirming

if TYPE_CHECKING:
    from console.acting.confirmation import Asked


class Closing(Confirming):
    """As `Confirming`; moving up from its first field says `Out`, and W is said as `Window`."""

    @dataclass
    class Out(Message):
        """Back to the form above."""

    @dataclass
    class Window(Message):
        """Turn changes on, or off."""

    @property
    def asked(self) -> Asked:
        """What is to be confirmed."""
        return self._asked

    def become(self, asked: Asked) -> None:
        """Ask for another phrase; the reason stays, what was typed of the phrase goes, and the pause begins anew."""
        if asked == self._asked:
            return
        if self._asked.reasoned and self.query("#reason"):
            self._first_reason = self.reason
        self._asked, self._hasty = asked, ""
        self.quiet = Quiet(self._monotonic)
        self.refresh(recompose=True)
        self.call_after_refresh(self.tell)
        self.set_timer(QUIET_SECONDS + 0.05, self.tell)

    def tell(self) -> None:
        """As before; between two phrases there is nothing to say it on."""
        whole = self.query("#deed") and self.query("#told") and bool(self.query("#phrase"))
        if whole and (not self._asked.reasoned or self.query("#reason")):
            super().tell()

    def begin(self) -> None:
        """Take the focus: on Cancel, after a pause."""
        self.quiet = Quiet(self._monotonic)
        found = self.query("#cancel")
        if found:
            self.screen.set_focus(found.first())
        self.tell()
        self.set_timer(QUIET_SECONDS + 0.05, self.tell)

    def action_step(self, by: int) -> None:
        """To the next field; up from the first one leaves it."""
        stops = self._stops()
        if by < 0 and stops and stops[0].has_focus:
            self.post_message(self.Out())
        else:
            super().action_step(by)

    @on(Choice.Pressed)
    def _window(self, event: Choice.Pressed) -> None:
        """It is no letter of the reason, and it counts as little in the pause as any other key."""
        if event.character != "W":
            return
        event.stop()
        event.prevent_default()
        if self.quiet.lets_through():
            self.post_message(self.Window())
        else:
            self.tell()
