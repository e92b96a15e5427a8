"""Leading the operator through a plan with source ask: one form after the other, past the rows that moved on since."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.acting.names import address_named
from console.acting.plan_file import items_of
from console.model import GatewayError
from console.money_words import HoldState
from console.present import Tone, safe
from console.screens.page import Page
from console.screens.resolving import open_form

if TYPE_CHECKING:
    from console.acting.plans import PlanItem
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
        self._approved = ""
        self._next = self._decided = self._passed = 0

    async def begin(self) -> None:
        """Read the plan's items, then open the first form."""
        gateway = self._app.session.gateway
        try:
            self._items = await self._app.session.calls.run(lambda: items_of(gateway, self._plan))
            view = await self._app.session.calls.run(lambda: gateway.plan(self._plan))
        except GatewayError as error:
            self._say(error.message, Tone.BAD)
            return
        self._approved = "" if view is None or view.approved_by is None else view.approved_by
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
        self._say(f"{self._told()}: those were all of {self._plan}", Tone.GOOD)

    def _ask(self, address: Address) -> None:
        page = self._app.screen
        if isinstance(page, Page):
            queue = f"{self._next} of {len(self._items)} of {self._plan}"
            open_form(page, address, queue=f"  {queue}", approved=self._approved, then=self._answered)

    def _answered(self, made: Resolution | None) -> None:
        if made is None:
            left = len(self._items) - self._next + 1
            self._say(f"{self._told()}, {left:,} left: e on the plan goes on with them", Tone.WARN)
            return
        self._decided += 1
        self._app.run_worker(self.go_on(), group="leading", exclusive=True, exit_on_error=False)

    def _told(self) -> str:
        return f"{self._decided:,} decided, {self._passed:,} passed by"

    def _say(self, text: str, tone: Tone) -> None:
        if isinstance(self._app.screen, Page):
            self._app.screen.say(safe(text, 600), tone)


def _waits(gateway: Gateway, item: PlanItem, address: Address | None) -> bool:
    """Whether the row still has to be decided, and is as it was planned; blocks, GatewayError."""
    found = None if address is None else gateway.resolvable(address)
    if found is None or found.story.row.state is HoldState.SETTLED:
        return False
    return dict(found.guard) == dict(item.guard)
