"""Going to a screen and doing something there once it has read the store: what a jump from elsewhere needs."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from console.present import Tone, safe
from console.screens import modes
from console.screens.filtered import FilteredPage
from console.screens.page import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from console.app import HoldwatchApp

LOOKS: Final = 100
LOOK_SECONDS: Final = 0.05
"""How often, and at which distance, a screen is looked at before a jump in it is given up."""


def among_events(app: HoldwatchApp, goal: str) -> None:
    """To a time or a number among the events; from any other screen to theirs first. ValueError where the one in front
    has no such place.
    """
    page = app.screen
    if isinstance(page, Page) and page.MODE == modes.EVENTS:
        page.go_to(goal)
        return
    app.switch_mode(modes.EVENTS)
    app.run_worker(_once_read(app, goal), group="goto", exclusive=True, exit_on_error=False)


async def _once_read(app: HoldwatchApp, goal: str) -> None:
    for _ in range(LOOKS):
        page = app.screen
        if isinstance(page, Page) and page.MODE == modes.EVENTS and page.freshness.since is not None:
            _say_if_refused(page, partial(page.go_to, goal))
            return
        await asyncio.sleep(LOOK_SECONDS)
    if isinstance(app.screen, Page):
        app.screen.say(safe(f"at {goal}: the events have not been read yet; try again", 600), Tone.WARN)


def in_a_list(app: HoldwatchApp, text: str, sort: str | None) -> None:
    """Narrow the list of the mode in front and put it in order, closing what was opened over it."""
    at_root(app)
    page = app.screen
    if isinstance(page, FilteredPage):
        _say_if_refused(page, lambda: _arrange(page, text, sort))


def at_root(app: App[None]) -> None:
    """Close all that was opened over the list of the mode in front."""
    for _ in app.screen_stack[1:]:
        app.pop_screen()


def _arrange(page: FilteredPage, text: str, sort: str | None) -> None:
    page.narrow(text)
    if sort is not None:
        page.stand_in(sort)


def _say_if_refused(page: Page, act: Callable[[], None]) -> None:
    try:
        act()
    except ValueError as error:
        page.say(safe(str(error), 600), Tone.WARN)
