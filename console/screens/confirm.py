"""A dialog for one change that needs no plan: what it does, then the confirmation (console.md F4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from console import actions
from console.acting.confirmation import Confirmed
from console.present import Tone
from console.screens.leavable import Leavable
from console.styles import beside
from console.widgets.confirming import Confirming
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from console.acting.confirmation import Asked
    from console.jsontext import Line
    from console.present import Safe
    from console.screens.page import Page


@dataclass(frozen=True, slots=True)
class Question:
    """What the dialog says: its title, the facts, and what has to be confirmed; `reason` is there to begin with."""

    title: Safe
    lines: tuple[Line, ...]
    asked: Asked
    reason: str = ""


class ConfirmScreen(ModalScreen[Confirmed | None], Leavable[Confirmed | None]):
    """Gives the operator's yes, or None."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)

    def __init__(self, question: Question, monotonic: Callable[[], float]) -> None:
        super().__init__()
        self._question = question
        self._monotonic = monotonic

    def compose(self) -> ComposeResult:
        """The facts, and under them the confirmation."""
        with Vertical(id="sheet"):
            facts = Pane(classes="-raised -fixed", id="facts")
            facts.can_focus = False
            yield facts
            yield Confirming(self._question.asked, self._monotonic, reason=self._question.reason)

    def on_mount(self) -> None:
        """Fill it."""
        self.query_one("#sheet").border_title = Content(self._question.title)  # no markup
        facts = self.query_one("#facts", Pane)
        facts.styles.height = len(self._question.lines)
        facts.show(lambda _room: self._question.lines)

    @on(Confirming.Given)
    def _given(self, event: Confirming.Given) -> None:
        self.dismiss(event.confirmed)

    @on(Confirming.Left)
    def _left(self) -> None:
        self.dismiss(None)


def still_may(page: Page, verb: str) -> bool:
    """Whether the verb may run now that its dialog was answered; if not, that is said.

    The read-write window may have ended meanwhile, or the store be lost (console.md F3).
    """
    session = page.session
    refused = actions.refusal(
        session.registry.named(verb), writable=session.writable, connected=page.connected
    )
    if refused is not None:
        page.say(refused, Tone.WARN)
    return refused is None
