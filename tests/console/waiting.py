"""Waiting for a console under test, with a bound."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.pilot import Pilot

    from console.screens.page import Page

PATIENCE_SECONDS = 30.0
STEP_SECONDS = 0.01


async def until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """Let the console run until the condition holds; AssertionError after the patience."""
    for _ in range(int(PATIENCE_SECONDS / STEP_SECONDS)):
        await pilot.pause()
        if condition():
            return
        await asyncio.sleep(STEP_SECONDS)
    raise AssertionError("it did not happen")


def asks(app: App[Any]) -> bool:
    """Whether a confirmation is in front and waits for its first key: from then on its pause is counted."""
    return any(choice.has_focus for choice in app.screen.query("#cancel"))


async def ready(pilot: Pilot[None]) -> Page:
    """The screen in front, once it has its first answer, the header knows the store and nothing is being asked."""
    from console.app import HoldwatchApp
    from console.screens.page import Page

    app = pilot.app
    assert isinstance(app, HoldwatchApp)
    await until(pilot, lambda: isinstance(app.screen, Page) and app.screen.freshness.since is not None)
    await until(pilot, lambda: app.session.identity is not None)
    await until(pilot, lambda: app.session.calls.running == 0)
    assert isinstance(app.screen, Page)
    return app.screen


async def refreshed(pilot: Pilot[None]) -> Page:
    """The screen after it has asked the store once more."""
    from console.app import HoldwatchApp

    app = pilot.app
    assert isinstance(app, HoldwatchApp)
    asked = app.session.calls.finished
    await pilot.press("r")
    await until(pilot, lambda: app.session.calls.finished > asked)
    return await ready(pilot)
