"""Haste on every screen and in every dialog, with changes on and off: no key that comes too fast changes anything
(console.md F4, rows 17, 19 and 21).

Keys are posted as a terminal does that has been typed ahead of: all at once, and the clock stands still meanwhile.
"""

from __future__ import annotations

import asyncio
import string
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

import pytest
from textual.events import Key

from console.acting.model import Person
from console.acting.plans import PlanState
from console.actions import ACTIONS, Capability, textual_key
from console.config.file import parsed
from console.contexts import Contexts
from console.registry import registry_of
from console.screens.confirm import ConfirmScreen
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing, audit_row, plan_view
from tests.console.resolve_play import day_row, resolvable
from tests.console.test_acting_window import Time
from tests.console.test_routes import COMMANDS, SCREENS
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from textual.pilot import Pilot

    from console.app import HoldwatchApp

BEGINS_ONLY: Final = frozenset({"make_plan"})
"""What a key may do while changes are on: a plan changes nothing of what it is about, and ends by itself."""
OF_THE_REGISTRY: Final = tuple(dict.fromkeys(key for action in ACTIONS for key in action.keys))
TYPED: Final = tuple(each for each in string.printable if not each.isspace())
SLIPS: Final = tuple(
    f"{modifier}+{key.lower()}"
    for action in ACTIONS
    if action.capability is not Capability.READ
    for key in action.keys
    for modifier in ("ctrl", "alt", "shift")
    if f"{modifier}+{key.lower()}" != "ctrl+c"
)
"""Each key of a change with one modifier more (rows 2 and 21); the letters without one are among those typed."""
KEYS: Final = tuple(
    dict.fromkeys(textual_key(each) for each in (*TYPED, *OF_THE_REGISTRY, *SLIPS, "backspace", "delete"))
)
LEAVING: Final = frozenset(string.digits) | {"escape", "q", "ctrl+q", "W", "ampersand", "ctrl+z"}
HERE: Final = tuple(key for key in KEYS if key not in LEAVING)
"""Those that neither go to another screen of their own nor turn changes off."""
CHARACTERS: Final = {textual_key(each): each for each in TYPED}
DIALOGS: Final[dict[str, tuple[str, ...]]] = {
    "changes on": ("W",),
    "menu": ("1", "x"),
    "sweep": ("1", "S"),
    "who decides": ("3", "R"),
    "halt": ("6", "H"),
    "give a job up": ("6", "F"),
    "give a plan up": ("6", "tab", "enter", "F"),
    "approve": ("6", "tab", "enter", "O"),
    "leave": ("q",),
    "own command": ("1", "X"),
    "sort": ("1", "s"),
    "palette": ("1", "semicolon"),
    "command line": ("1", "colon"),
}
"""What opens each dialog, from the first screen; W is pressed while changes are off."""
OVERLAY: Final = frozenset({"enter", "D", "e", "u", "x", "S", "R", "H", "F", "O", "q", "X", "s", "semicolon"})


class Burst:
    """One console whose clock moves only between bursts, and on which changes are on, or off."""

    def __init__(self, pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        self.pilot, self.app, self.time = pilot, app, time

    async def post(self, *keys: str) -> None:
        """All at once; returns when none of them waits any more."""
        driver = self.app._driver
        assert driver is not None
        for key in keys:
            character = key if len(key) == 1 else CHARACTERS.get(key)
            event = Key(key, character)
            event.set_sender(self.app)
            driver.send_message(event)
        await until(self.pilot, self.app._message_queue.empty)
        await self.settled()

    async def settled(self) -> None:
        """Nothing is being asked or changed."""
        session = self.app.session
        await until(self.pilot, lambda: session.calls.running == session.acts.running == 0)

    async def go(self, keys: Iterable[str]) -> None:
        """By the keys of a hand that waits."""
        for key in keys:
            before, self.time.now = self.app.screen, self.time.now + 1
            await self.pilot.press(key)
            if key in OVERLAY:
                await until(self.pilot, lambda before=before: self.app.screen is not before)  # type: ignore[misc]
            await self.settled()


def play(scene: Callable[[Burst], Awaitable[None]], *, on: bool) -> list[object]:
    """What a scene changed, by name."""
    gateway, acting, time = FakeGateway(entries=[audit_row(seq) for seq in range(1, 9)]), FakeActing(), Time()
    gateway.to_resolve = resolvable(day_row(gateway))
    waiting = plan_view(id="pln_0", state=PlanState.AWAITING, actor="jo@laptop")
    gateway.plan_rows = [waiting, plan_view(id="pln_1")]
    app, config = make_app(gateway), parsed(COMMANDS.encode(), Path("config.toml"))
    app.session.acting, app.session.person = acting, Person("mk", "bastion-2")
    app.session.registry, app.session.contexts = registry_of(config), Contexts(config)
    app.session.monotonic = app.session.window.monotonic = time

    async def run() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            if on:
                app.session.window.open("INC")
            burst = Burst(pilot, app, time)
            await scene(burst)
            await burst.settled()

    asyncio.run(run())
    return [call[0] for call in acting.changes]


@pytest.mark.parametrize("name", SCREENS)
def test_report_17_and_19_enter_and_then_every_key_at_once_on_every_screen_change_nothing(name: str) -> None:
    """With Enter and y strewn among them, in an order that differs from screen to screen."""
    assert set(play(hasty(name), on=True)) <= BEGINS_ONLY


@pytest.mark.parametrize("name", ["threads", "job", "plan", "resolve"])
def test_report_17_and_19_nor_do_they_while_changes_are_off(name: str) -> None:
    assert play(hasty(name), on=False) == []


def hasty(name: str) -> Callable[[Burst], Awaitable[None]]:
    """Goes to a screen and lets all keys loose on it."""
    keys = [*HERE, *["enter", "y", "escape"] * 12]
    Random(name).shuffle(keys)

    async def scene(burst: Burst) -> None:
        await burst.go(SCREENS[name])
        await burst.post(*["enter"] * 20, "escape", "escape", *keys)

    return scene


@pytest.mark.parametrize("name", DIALOGS)
def test_report_17_no_burst_in_any_dialog_changes_anything(name: str) -> None:
    async def scene(burst: Burst) -> None:
        await burst.go(DIALOGS[name])
        await burst.post(*["y"] * 20, *["enter"] * 20, *HERE)

    assert set(play(scene, on=name != "changes on")) <= BEGINS_ONLY


def test_a_dialog_that_a_burst_has_hit_still_takes_a_yes_that_was_meant() -> None:
    """What the others assert could hold for a console that takes no yes at all."""

    async def scene(burst: Burst) -> None:
        await burst.go(DIALOGS["halt"])
        await burst.post(*["y"] * 20)
        assert isinstance(burst.app.screen, ConfirmScreen)
        burst.time.now += 1
        await burst.post("y")
        await until(burst.pilot, lambda: not isinstance(burst.app.screen, ConfirmScreen))

    assert play(scene, on=True) == ["pause_job"]
