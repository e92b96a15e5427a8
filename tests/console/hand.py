"""A hand on the keys of a console under test: it waits for what a key leads to, and never for a clock.

`Pilot.press` and `Pilot.pause` sleep until the process uses no processor, which takes 20 ms at the least and a second
where other work runs beside it. Here the event loop itself is asked: a console is at rest when nothing in it could
run, no call of its is under way, and what it has to draw is drawn.
"""

from __future__ import annotations

import asyncio
import string
import time
from typing import TYPE_CHECKING, Final

from textual.events import Key, MouseDown, MouseScrollDown, MouseScrollUp, MouseUp

from console.actions import textual_key
from tests.console.idle import could_run, is_asking, is_drawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.events import InputEvent

    from console.app import HoldwatchApp
    from tests.console.test_acting_window import Time

PATIENCE_SECONDS: Final = 20.0
STEP_SECONDS: Final = 0.002
TYPED: Final = tuple(each for each in string.printable if not each.isspace())
"""The characters that a keyboard has."""
CHARACTERS: Final = {textual_key(each): each for each in (*TYPED, " ")}
"""What a key writes, by its name."""


class Hand:
    """What it does to one console; its clock goes on by a second before each key that is pressed, and each click."""

    def __init__(self, app: HoldwatchApp, clock: Time) -> None:
        self.app, self.clock = app, clock

    async def post(self, *keys: str) -> None:
        """All at once, as a terminal sends what was typed ahead; the clock stands still."""
        for key in keys:
            self._send(key)
        await self.at_rest()

    async def press(self, *keys: str) -> None:
        """Each in its own time, when the one before has done what it does."""
        for key in keys:
            self.clock.now += 1
            await self.post(key)

    async def click(self, column: int, line: int) -> None:
        """Twice in the same place, as fast as a double click, when what was done before is over."""
        self.clock.now += 1
        for kind in (MouseDown, MouseUp) * 2:
            self._tell(kind(None, column, line, 0, 0, 1, False, False, False, column, line))
        await self.at_rest()

    async def wheel(self, column: int, line: int, held: str = "") -> None:
        """A turn down and one up there, with these modifiers held."""
        shift, alt, ctrl = ("shift" in held, "alt" in held, "ctrl" in held)
        for kind in (MouseScrollDown, MouseScrollUp):
            self._tell(kind(None, column, line, 0, 0, 0, shift, alt, ctrl, column, line))
        await self.at_rest()

    async def at_rest(self) -> None:
        """Let the console do all that it can."""
        await at_rest(self.app)

    async def come_to(self, condition: Callable[[], bool]) -> None:
        """Let the console run until this holds."""
        await until(self.app, condition)

    def _send(self, key: str) -> None:
        self._tell(Key(key, CHARACTERS.get(key, key if len(key) == 1 else None)))

    def _tell(self, event: InputEvent) -> None:
        driver = self.app._driver
        assert driver is not None
        event.set_sender(self.app)
        driver.send_message(event)


async def until(app: HoldwatchApp, condition: Callable[[], bool]) -> None:
    """Let a console run until this holds; AssertionError after twenty seconds."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        await at_rest(app)
        if condition():
            return
        await asyncio.sleep(STEP_SECONDS)
    raise AssertionError("it did not happen")


async def at_rest(app: HoldwatchApp) -> None:
    """Let a console run until it only waits: for a key, for a time, for a program of the operator's."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        await asyncio.sleep(0)
        if could_run():
            continue
        if is_asking(app):
            await asyncio.sleep(STEP_SECONDS)
        elif not is_drawn(app):
            app.screen._on_timer_update()
        else:
            return
    raise AssertionError("the console does not come to rest")
