"""A slip of the hand on the keys, with changes on: beside a key, with a modifier too many or too few, on the way
through a list (console.md 3.1, rows 1, 2 and 21).

The key map of the console puts `S` on `s` and `R` on `r`: those begin a plan, which needs its typed phrase. What is
tested here is that nothing is nearer than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from console import actions
from console.actions import ACTIONS, BY_NAME, Action, Capability, Level, Place, textual_key
from tests.console.test_actions import SCREENS as CLASSES
from tests.console.walk import play

if TYPE_CHECKING:
    from console.screens.page import Page
    from tests.console.walk import Walk

MODIFIERS: Final = ("shift", "ctrl", "alt")
ROWS: Final = ("1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./")
"""The keys of a keyboard, row by row; each row stands a little to the right of the one above."""
LEAVING: Final = frozenset({"escape", "q", "ctrl+q", "&", "ctrl+z", "y", *"0123456789"})
"""Keys of looking that lead away from what is tested here; `y` answers a dialog, on purpose."""
SCROLLING: Final = ("up", "down", "page_up", "page_down", "first", "end", "columns_left", "columns_right")
BEGINNING: Final = frozenset({Capability.PLAN, Capability.WRITE})
BEGUN: Final = frozenset({"make_plan"})
"""A plan changes nothing of what it is about, and ends by itself."""


def by_a_letter(known: tuple[Action, ...]) -> list[Action]:
    """The changes that are confirmed by less than a typed phrase."""
    return [each for each in known if each.capability is not Capability.READ and each.level < Level.PHRASE]


def too_near(known: tuple[Action, ...]) -> list[str]:
    """The changes confirmed by less than a typed phrase that are one modifier from a key of looking."""
    looks = {key for each in known if each.capability is Capability.READ for key in each.keys}
    return [
        each.name
        for each in by_a_letter(known)
        for key in each.keys
        if looks & {key.lower(), *(f"{modifier}+{key.lower()}" for modifier in MODIFIERS)}
    ]


@pytest.mark.parametrize("screen", CLASSES)
def test_report_01_no_change_without_a_typed_phrase_is_one_modifier_from_a_look(screen: type[Page]) -> None:
    assert too_near(actions.of(screen.PLACES)) == []


def test_report_01_what_is_too_near_would_be_found() -> None:
    wrong = Action("drop", ("Y",), "drop", "Drop", Place.EVERYWHERE, Capability.WRITE, Level.ASK)
    assert too_near((*actions.of((Place.EVERYWHERE,)), wrong)) == ["drop"]
    assert by_a_letter(ACTIONS), "there are some of which this is asked"


def neighbours(key: str) -> set[str]:
    """The keys around a letter, with Shift held as it is, and without."""
    row = next(number for number, each in enumerate(ROWS) if key.lower() in each)
    at = ROWS[row].index(key.lower())
    beside = {
        (row, at - 1),
        (row, at + 1),
        (row - 1, at),
        (row - 1, at + 1),
        (row + 1, at - 1),
        (row + 1, at),
    }
    low = {ROWS[r][c] for r, c in beside if 0 <= r < len(ROWS) and 0 <= c < len(ROWS[r])}
    return low | {each.upper() for each in low}


def test_report_01_the_keys_around_a_key_are_those_of_a_keyboard() -> None:
    assert neighbours("G") == {*"fhtyvb", *"FHTYVB"}
    assert neighbours("q") == {*"12wa", *"12WA"}


@pytest.mark.parametrize("name", ["threads", "claims", "reservations", "jobs", "job", "plan"])
def test_report_01_a_change_key_hit_beside_a_look_and_then_any_look_change_nothing(name: str) -> None:
    """The key of a change alone, for each that stands beside a key of looking; then what the hand meant, and Enter."""

    async def scene(walk: Walk) -> None:
        page = await walk.to(name)
        shown = actions.of(page.PLACES, walk.app.session.registry.actions)
        looks = {key for each in shown if each.capability is Capability.READ for key in each.keys} - LEAVING
        changes = {key for each in shown if each.capability in BEGINNING for key in each.keys}
        for key in sorted(changes):
            meant = sorted(looks & neighbours(key))
            await walk.press(key, *map(textual_key, meant), "enter")
            await walk.back_to(page)
        assert changes, name

    assert {call[0] for call in play(scene, reason="INC").changes} <= BEGUN


@pytest.mark.parametrize(
    "name", ["threads", "claims", "reservations", "fences", "jobs", "job", "plan", "audit"]
)
def test_report_21_no_key_that_scrolls_is_one_slip_from_a_change(name: str) -> None:
    """Each key and turn of the wheel that moves a list, with every modifier, alone and with Shift: the list stays in
    front, and not even a plan is begun.
    """
    keys = [textual_key(key) for verb in SCROLLING for key in BY_NAME[verb].keys]
    held = [*MODIFIERS, "ctrl+shift", "alt+shift"]

    async def scene(walk: Walk) -> None:
        page = await walk.to(name)
        for key in keys:
            await walk.press(key, *(f"{modifier}+{key}" for modifier in held))
            assert walk.app.screen is page, key
        for modifier in ("", *held):
            await walk.wheel(30, 8, modifier)
            assert walk.app.screen is page, f"the wheel, {modifier}"

    assert play(scene, reason="INC").changes == []


def test_report_21_a_slip_onto_a_change_would_be_found() -> None:
    async def scene(walk: Walk) -> None:
        page = await walk.to("threads")
        await walk.press("D")
        assert walk.app.screen is not page

    assert [call[0] for call in play(scene, reason="INC").changes] == ["make_plan"]
