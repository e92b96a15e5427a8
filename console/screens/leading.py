"""Leading the operator through a plan with source ask: one form after the other, past the rows that moved on since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.acting.deciding import told
from console.acting.model import Approved
from console.acting.names import address_named
from console.acting.plan_file import items_of
from console.acting.plans import PlanState
from console.model import GatewayError
from console.money_words import HoldState
from console.present import Tone, safe
from console.screens.page import Page
from console.screens.resolving import open_form

if TYPE_CHECKING:
    from console.acting.model import Person
    from console.acting.plans import PlanItem, PlanView
    from console.acting.resolving import Resolution
    from console.app import HoldwatchApp
    from console.money_words import Address
    from console.reading import Gateway


def ask_through(app: HoldwatchApp, plan: str) -> None:
    """Open the form of each row of a stored plan, in its order; begun again it passes by what was decided."""
    leading = Leading(app, plan)
    app.run_worker(leading.begin(), group="leading", exclusive=True, exit_on_error=False)


class Leading:
    """One way through one plan. Leaving a form without an answer ends it."""

    def __init__(self, app: HoldwatchApp, plan: str) -> None:
        self._app = app
        self._plan = plan
        self._items: tuple[PlanItem, ...] = ()
        self._approved: Approved | None = None
        self._next = self._decided = self._passed = 0
        self._at: Address | None = None
        self._last = ""

    async def begin(self) -> None:
        """Read the plan's items, then open the first form."""
        gateway = self._app.session.gateway
        try:
            self._items = await self._app.session.calls.run(lambda: items_of(gateway, self._plan))
            view = await self._app.session.calls.run(lambda: gateway.plan(self._plan))
        except GatewayError as error:
            self._say(error.message, Tone.BAD)
            return
        self._approved = None if view is None else _approval(view, self._app.session.person)
        await self.go_on()

    async def go_on(self) -> None:
        """The form of the next row that is as it was planned, or the word that there is none."""
        gateway = self._app.session.gateway
        while self._next < len(self._items):
            item = self._items[self._next]
            self._next += 1
            address = address_named(item.id)
            try:
                waits = await self._app.session.calls.run(lambda: _waits(gateway, item, address))  # noqa: B023 - awaited
            except GatewayError as error:
                self._say(error.message, Tone.BAD)
                return
            if address is not None and waits:
                self._ask(address)
                return
            self._passed += 1
        self._say(f"{self._before}{self._told()}: those were all of {self._plan}", Tone.GOOD)

    def _ask(self, address: Address) -> None:
        page = self._app.screen
        if isinstance(page, Page):
            queue = f"{self._next} of {len(self._items)} of {self._plan}"
            self._at = address
            open_form(
                page,
                address,
                queue=f"  {queue}",
                approved=self._approved,
                before=self._last,
                then=self._answered,
            )

    def _answered(self, made: Resolution | None) -> None:
        if made is None:
            left = len(self._items) - self._next + 1
            self._say(f"{self._told()}, {left:,} left: e on the plan goes on with them", Tone.WARN)
            return
        self._decided += 1
        self._last = f"the one before: {told(made, '' if self._at is None else self._at.id)}"
        self._app.run_worker(self.go_on(), group="leading", exclusive=True, exit_on_error=False)

    @property
    def _before(self) -> str:
        return f"{self._last}; " if self._last else ""

    def _told(self) -> str:
        return f"{self._decided:,} decided, {self._passed:,} passed by"

    def _say(self, text: str, tone: Tone) -> None:
        if isinstance(self._app.screen, Page):
            self._app.screen.say(safe(text, 600), tone)


def _approval(view: PlanView, person: Person) -> Approved | None:
    """Another's yes to it. It is good for a plan that was executed in its time, and never for who gave it."""
    if view.id is None or view.approved_by is None or view.state is not PlanState.EXECUTED:
        return None
    approver = view.approved_by.rpartition("@")[0]
    same = approver.casefold() == person.user.casefold()
    return None if same else Approved(view.id, view.approved_by)


def _waits(gateway: Gateway, item: PlanItem, address: Address | None) -> bool:
    """Whether the row still has to be decided, and is as it was planned; blocks, GatewayError."""
    found = None if address is None else gateway.resolvable(address)
    if found is None or found.story.row.state is HoldState.SETTLED:
        return False
    return dict(found.guard) == dict(item.guard)
