"""A change as a screen sends it: its order, made before it is sent, and one call, whose answer or refusal is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from console.acting import equivalent
from console.acting.model import Order
from console.model import GatewayError
from console.present import Tone, safe

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.acting.door import Acting
    from console.screens.paced import Paced
    from console.session import Session

    T = TypeVar("T")

MOST_SAID = 600
"""Characters of an answer that are said."""


def order_of(session: Session, what: str, reason: str, command: str) -> Order:
    """A change of this session, with the shell line that does the same as the audit keeps it."""
    return Order(what, reason or None, session.route, equivalent.kept(command))


def of_window(session: Session, what: str, line: Callable[[str], str]) -> Order:
    """The same at level 1, which asks for no reason of its own: it has that of the window. `line` is told it."""
    reason = session.window.reason
    return order_of(session, what, reason, line(reason or equivalent.UNSAID))


async def send(
    page: Paced, order: Order, call: Callable[[Acting], T], told: Callable[[T], str], failed: str
) -> None:
    """Send it once, say what came of it - behind `failed` where it was refused -, and read the page anew."""
    acting = page.session.acting
    assert acting is not None, "nothing gets here while this console only looks"
    try:
        answer = await page.session.sending.send(order, lambda: call(acting))
    except GatewayError as error:
        page.say(safe(f"{failed}: {error}", MOST_SAID), Tone.WARN)
    else:
        page.say(safe(told(answer), MOST_SAID), Tone.INFO)
    page.do_refresh()
