"""`e`: opens the form over a reservation, on top of the reservation's own screen (console.md F5 and 5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.acting import targets
from console.acting.deciding import told
from console.money_words import Kind
from console.present import Tone, own, safe
from console.screens.changing import ChangingPage
from console.screens.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.acting.model import Approved
    from console.acting.resolving import Resolution
    from console.money_words import Address
    from console.screens.resolve import ResolveScreen

ONE_AT_A_TIME = own(
    "resolve: one at a time, each on evidence of its own; R plans a pass over many, and with source ask leads "
    "through them; M drops the marks"
)
NO_ROW = own("resolve: no row under the cursor that has been drawn")
NOT_OURS = own(
    "resolve: a tentative row is its writer's to confirm or to release; it is swept once it lapsed"
)


def open_form(
    page: Page,
    address: Address,
    *,
    queue: str = "",
    approved: Approved | None = None,
    before: str = "",
    then: Callable[[Resolution | None], None] = lambda _made: None,
) -> None:
    """Put the form in front; `then` hears what was decided, or None, once it is left.

    `approved` is another person's yes to the plan that leads to it; `queue` says where in that plan it stands,
    `before` what became of the row before it there.
    """
    if address.kind is Kind.TENTATIVE:
        page.say(NOT_OURS, Tone.WARN)
        return
    from console.screens.resolve import ResolveScreen

    screen, app = ResolveScreen(page.session, address, queue, approved, before), page.app

    def left(_nothing: None) -> None:
        page.call_later(lambda: _tell(app.screen, screen))
        page.call_later(lambda: then(screen.made))

    app.push_screen(screen, left)


def _tell(front: object, screen: ResolveScreen) -> None:
    """The screen below shows the new state at once, and says what was done."""
    if screen.made is None or not isinstance(front, Page):
        return
    for poll in front.polls():
        poll.ask_now()
    front.say(safe(told(screen.made, screen.address.id), 600), Tone.GOOD)


class DecidingPage(ChangingPage):
    """A list of reservations whose rows are decided by hand, one at a time."""

    def do_resolve(self) -> None:
        listing = self.main_widget()
        key = listing.target
        if listing.window.marks:
            self.say(ONE_AT_A_TIME, Tone.WARN)
        elif key is None or listing.target_row is None:
            self.say(NO_ROW, Tone.WARN)
        else:
            above_detail(self, targets.address_of_key(key))


def above_detail(page: Page, address: Address) -> None:
    """The same from a list: the reservation's screen comes between, so that the way back shows the new state."""
    from console.screens.reservation import ReservationScreen

    if address.kind is Kind.TENTATIVE:
        page.say(NOT_OURS, Tone.WARN)
        return
    detail = ReservationScreen(page.session, address)
    page.app.push_screen(detail)
    open_form(detail, address)
