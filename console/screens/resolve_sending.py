"""What a form does with the operator's yes: sends it once, tells what came of it, and loses nothing that was typed."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual import on

from console.acting import equivalent
from console.acting.deciding import told
from console.acting.model import Order
from console.acting.resolving import Came, Deferred
from console.addresses import address_of
from console.model import GatewayError
from console.present import Tone, safe
from console.screens.page import Page
from console.widgets.closing import Closing

if TYPE_CHECKING:
    from console.acting.confirmation import Confirmed
    from console.acting.deciding import Deciding
    from console.acting.resolution_form import Meant
    from console.acting.resolving import Answer, Resolution, Resolvable
    from console.money_words import Address
    from console.session import Session
    from console.widgets.resolve_form import ResolveForm

MOST_SAID = 1_500
"""Characters of what the first one said that are shown to the second."""


class SendingPage(Page):
    """A subclass says what is meant and what still hinders it."""

    address: Address
    deciding: Deciding
    meant: Meant

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.sending = False
        self.made: Resolution | None = None

    @property
    @abstractmethod
    def form(self) -> ResolveForm:
        """The fields."""

    @abstractmethod
    def hindrance(self) -> str:
        """What keeps the decision from being sent."""

    @abstractmethod
    def draw(self) -> None:
        """Say again what stands around the fields."""

    @on(Closing.Given)
    def _confirmed(self, event: Closing.Given) -> None:
        shown, answer = self.deciding.shown, self.meant.answer
        hindrance = self.hindrance()
        if shown is None or answer is None or hindrance:
            self._again(hindrance or "there is no answer yet")
            return
        work = self._send(shown, answer, self.meant, event.confirmed)
        self.sending = True
        self.draw()
        self.run_worker(work, group="deed", exclusive=False, exit_on_error=False)

    async def _send(self, shown: Resolvable, answer: Answer, meant: Meant, confirmed: Confirmed) -> None:
        acting, order = self.session.acting, self._order(answer, meant, confirmed)
        assert acting is not None  # changes are on, so there is a door
        try:
            made = await self.session.sending.send(
                order, lambda: acting.resolve(shown, answer, meant.evidence, order, meant.corrects)
            )
        except GatewayError as error:
            self.sending = False
            self._again(f"nothing is known to be changed, what was typed stays: {error.message}")
        else:
            self.sending = False
            self._came(made)

    def _order(self, answer: Answer, meant: Meant, confirmed: Confirmed) -> Order:
        reason = answer.note if isinstance(answer, Deferred) else confirmed.reason
        target = equivalent.aim_of(self.session)
        command = equivalent.resolving(
            target,
            self.address,
            answer,
            meant.evidence,
            confirmed.phrase,
            confirmed.reason,
            meant.corrects,
        )
        return Order(
            f"resolve {self.address.id}",
            reason,
            self.session.route,
            equivalent.kept(command),
            approved=self.deciding.approved,
        )

    def _again(self, text: str) -> None:
        """Refused: the operator may try once more."""
        self.say(safe(text, MOST_SAID), Tone.WARN)
        self.form.closing.again()
        self.draw()

    def _came(self, made: Resolution) -> None:
        if made.came in {Came.RESOLVED, Came.DEFERRED}:
            self.made = made
            self.dismiss()
            return
        self._again(told(made, self.address.id))
        for poll in self.polls():
            poll.ask_anew()

    # Leaving

    def on_screen_resume(self) -> None:
        """It was written while something else was in front: then it is left now."""
        if self.made is not None:
            self.dismiss()

    @on(Closing.Left)
    def _left(self) -> None:
        self.do_back()

    @property
    def typed_work(self) -> str:
        """Whatever stands in the form."""
        touched = bool(self.query("#form")) and self.form.touched  # it may be asked before it is composed
        return f"what was typed to resolve {self.address.id}" if touched else ""

    @property
    def is_writing(self) -> bool:
        """Nobody leaves while it is being written."""
        return self.sending

    def address_text(self) -> str:
        """The reservation that it is about: the form itself has no address, for it begins empty."""
        return address_of(self.address)
