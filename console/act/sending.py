"""Sending one change: its id is told first, and where its answer is lost the store is asked what became of it.

Nothing is ever sent a second time (console.md F8).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TypeVar

from console.acting import equivalent, hook
from console.acting.model import UNKNOWN_CODE, Order, Route
from console.model import GatewayError
from console.read.output import refuse, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from console.act.site import Site
    from console.acting.model import Outcome

T = TypeVar("T")

ATTEMPTS: Final = 10
"""Times that a store which cannot be reached is asked again what became of a change."""
PAUSE_SECONDS: Final = 0.2


def order(what: str, reason: str | None, command: str) -> Order:
    """A change as it is about to be sent, its id on standard error: whoever loses the answer can ask for it."""
    made = Order(what, reason, Route.SCRIPT, equivalent.kept(command))
    warn(f"operation {made.operation}")
    return made


def sent(site: Site, given: Order, call: Callable[[], T], landed: Callable[[], T | None]) -> T:
    """The call's answer; where that was lost, what `landed` reads of the change once it is known to be in the store.

    The operator's program hears of either.
    """
    value = _answer(site, given, call, landed)
    _tell_hook(site, given)
    return value


def _tell_hook(site: Site, given: Order) -> None:
    """What becomes of the program is said, and changes nothing of what the command comes to."""
    command = site.config.after_change
    if command is None:
        return
    try:
        rows = site.gateway.audit_of(given.operation)
    except GatewayError as error:
        warn(hook.unread(error))
        return
    failed = hook.run(command.value, given, rows)
    if failed:
        warn(failed)


def _answer(site: Site, given: Order, call: Callable[[], T], landed: Callable[[], T | None]) -> T:
    try:
        return call()
    except GatewayError as error:
        if error.code != UNKNOWN_CODE:
            raise
        warn(f"{given.what}: the answer was lost; asking the store what became of it")
        found = _looked_up(site, given)
        if found is None:
            raise _not_there(site, given) from error
        if not found.applied:
            refuse(f"{given.what}: it was refused, and nothing was changed: {found.told}")
        value = landed()
        if value is None:
            raise _not_there(site, given) from error
        warn(f"{given.what}: it was done at {found.at.isoformat()}; it was not sent again")
        return value


def _looked_up(site: Site, given: Order) -> Outcome | None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return site.gateway.outcome(given.operation)
        except GatewayError as error:
            if not error.retryable or attempt == ATTEMPTS:
                raise _unknown(site, given, f"the store cannot be asked: {error}") from error
            time.sleep(PAUSE_SECONDS)
    raise AssertionError("unreachable: every attempt returns or raises")


def _not_there(site: Site, given: Order) -> GatewayError:
    return _unknown(site, given, "it has no effect in the store so far, but may still be under way")


def _unknown(site: Site, given: Order, why: str) -> GatewayError:
    text = (
        f"{given.what}: UNKNOWN: {why}; before you repeat it: {equivalent.asking(site.aim, given.operation)}"
    )
    return GatewayError(text, code=UNKNOWN_CODE, retryable=False)
