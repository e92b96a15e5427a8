"""A dialog for one change that needs no plan: what it does, then the confirmation (console.md F4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from console import actions
from console.acting.confirmation import Confirmed
from console.action import Capability
from console.present import Tone
from console.screens.leavable import Leavable
from console.screens.paced import Paced
from console.styles import beside
from console.widgets.confirming import Confirming
from console.widgets.pane import Pane

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from console.acting.confirmation import Asked
    from console.jsontext import Line
    from console.present import Safe


LOOK_SECONDS: Final = 0.25
"""Between two looks at whether the deed may still be done."""
AWAY: Final = "the store does not answer: this waits until it does"
BANNER: Final = "!! NO ANSWER FROM THE STORE"


@dataclass(frozen=True, slots=True)
class Question:
    """What the dialog says: its title, the facts, and what has to be confirmed.

    `verb` is the action that it is about, held back while that may not run or the store does not answer; without one
    the store is not needed.
    """

    title: Safe
    lines: tuple[Line, ...]
    asked: Asked
    verb: str = ""


class ConfirmScreen(ModalScreen[Confirmed | None], Leavable[Confirmed | None]):
    """Gives the operator's yes, or None; the page below goes on looking whether the store answers (console.md F7)."""

    DEFAULT_CSS: ClassVar[str] = beside(__file__)
    QUESTION: ClassVar[bool] = True

    def __init__(self, question: Question, monotonic: Callable[[], float]) -> None:
        super().__init__()
        self._question = question
        self._monotonic = monotonic
        self._held_back = ""

    def compose(self) -> ComposeResult:
        """The facts, and under them the confirmation."""
        with Vertical(id="sheet"):
            facts = Pane(classes="-raised -fixed", id="facts")
            facts.can_focus = False
            yield facts
            yield Confirming(self._question.asked, self._monotonic)

    def on_mount(self) -> None:
        """Fill it."""
        self.query_one("#sheet").border_title = Content(self._question.title)  # no markup
        facts = self.query_one("#facts", Pane)
        facts.styles.height = len(self._question.lines)
        facts.show(lambda _room: self._question.lines)
        if self._question.verb:
            self.set_interval(LOOK_SECONDS, self._look)
            self._look()

    def _look(self) -> None:
        """Hold the deed back, with the reason, as long as there is one."""
        page = next((each for each in reversed(self.app.screen_stack) if isinstance(each, Paced)), None)
        if page is None or not self.is_mounted:
            return
        text = AWAY if not page.connected else refused(page, self._question.verb) or ""
        if text != self._held_back:
            self._held_back = text
            self.query_one("#sheet").border_subtitle = Content("" if page.connected else BANNER)
            self.query_one(Confirming).block(text)

    @on(Confirming.Given)
    def _given(self, event: Confirming.Given) -> None:
        self.dismiss(event.confirmed)

    @on(Confirming.Left)
    def _left(self) -> None:
        self.dismiss(None)


def ask(page: Paced, question: Question, then: Callable[[Confirmed], object]) -> None:
    """Let the question's verb be confirmed over its page; `then` hears the yes, if the verb may still run by then."""

    def answered(confirmed: Confirmed | None) -> None:
        if confirmed is not None and still_may(page, question.verb):
            then(confirmed)

    page.app.push_screen(ConfirmScreen(question, page.session.monotonic), answered)


def still_may(page: Paced, verb: str) -> bool:
    """Whether the verb may run now that its dialog was answered; if not, that is said.

    The read-write window may have ended meanwhile, or the store be lost (console.md F3).
    """
    text = refused(page, verb)
    if text is not None:
        page.say(text, Tone.WARN)
    return text is None


def refused(page: Paced, verb: str) -> Safe | None:
    """Why the verb may not run now; None where it may.

    What is confirmed changes the store, also where its key may do less: a job is handed over without a question.
    """
    session = page.session
    action = session.registry.named(verb)
    if action.capability is Capability.PLAN:
        action = replace(action, capability=Capability.WRITE)
    return actions.refusal(action, writable=session.writable, connected=page.connected)
