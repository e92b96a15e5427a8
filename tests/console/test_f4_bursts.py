"""Haste on every screen and in every dialog, with changes on and off: no key that comes too fast changes anything
(console.md F4, rows 17, 19 and 21).

Keys are posted as a terminal does that has been typed ahead of: all at once, and the clock stands still meanwhile.
"""

from __future__ import annotations

import string
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from console.actions import ACTIONS, Capability, textual_key
from console.screens.confirm import ConfirmScreen
from tests.console.hand import TYPED
from tests.console.walk import SCREENS, play

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.console.walk import Walk

BEGINS_ONLY: Final = frozenset({"make_plan"})
"""What a key may do while changes are on: a plan changes nothing of what it is about, and ends by itself."""
OF_THE_REGISTRY: Final = tuple(dict.fromkeys(key for action in ACTIONS for key in action.keys))
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
STREWN: Final = 4
"""How often Enter, y and Esc come among the other keys."""
DIALOGS: Final[dict[str, tuple[str, ...]]] = {
    "changes on": ("W",),
    "menu": ("1", "x"),
    "sweep": ("1", "S"),
    "who decides": ("3", "R"),
    "run a job": ("6", "B"),
    "halt": ("6", "H"),
    "give a job up": ("6", "F"),
    "give a plan up": ("6", "tab", "enter", "F"),
    "approve": ("6", "tab", "enter", "O"),
    "close an intent": ("u", "F"),
    "leave": ("q",),
    "own command": ("1", "X"),
    "sort": ("1", "s"),
    "palette": ("1", "semicolon"),
    "command line": ("1", "colon"),
}
"""What opens each dialog, from the first screen; W is pressed while changes are off."""


def changed(scene: Callable[[Walk], Awaitable[None]], *, reason: str = "") -> set[object]:
    """What a scene changed, by name; with a reason changes are on."""
    return {call[0] for call in play(scene, reason=reason).changes}


@pytest.mark.parametrize("name", SCREENS)
def test_report_17_and_19_enter_and_then_every_key_at_once_on_every_screen_change_nothing(name: str) -> None:
    """With Enter and y strewn among them, in an order that differs from screen to screen."""
    assert changed(hasty(name), reason="INC") <= BEGINS_ONLY


@pytest.mark.parametrize("name", SCREENS)
def test_report_17_and_19_nor_do_they_on_any_screen_while_changes_are_off(name: str) -> None:
    assert changed(hasty(name)) == set()


def hasty(name: str) -> Callable[[Walk], Awaitable[None]]:
    """Goes to a screen and lets all keys loose on it."""
    keys = [*HERE, *["enter", "y", "escape"] * STREWN]
    Random(name).shuffle(keys)

    async def scene(walk: Walk) -> None:
        await walk.to(name)
        await walk.post(*["enter"] * 20, "escape", "escape", *keys)

    return scene


@pytest.mark.parametrize("name", DIALOGS)
def test_report_17_no_burst_in_any_dialog_changes_anything(name: str) -> None:
    async def scene(walk: Walk) -> None:
        await walk.go(DIALOGS[name])
        await walk.post(*["y"] * 20, *["enter"] * 20, *HERE)

    assert changed(scene, reason="" if name == "changes on" else "INC") <= BEGINS_ONLY


def test_a_dialog_that_a_burst_has_hit_still_takes_a_yes_that_was_meant() -> None:
    """What the others assert could hold for a console that takes no yes at all."""

    async def scene(walk: Walk) -> None:
        await walk.go(DIALOGS["halt"])
        await walk.post(*["y"] * 20)
        assert isinstance(walk.app.screen, ConfirmScreen)
        await walk.press("y")
        assert not isinstance(walk.app.screen, ConfirmScreen)

    assert changed(scene, reason="INC") == {"pause_job"}
