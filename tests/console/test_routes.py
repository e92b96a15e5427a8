"""While changes are off no way into a verb changes anything, on any screen (console.md F3, rows 9 and 10).

Screens share a console, group by group: nothing is changed on any of them, so each finds them all as they were.
"""

from __future__ import annotations

import string
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from console import actions
from console.acting.model import Route
from console.actions import Capability
from console.config import ConfigError
from console.config.file import parsed
from console.palette import VerbProvider
from console.present import safe
from console.registry import registry_of
from console.screens.thread import ThreadScreen
from console.widgets.prompt import Purpose
from tests.console.fake_acting import FakeActing
from tests.console.walk import GROUPS, play

if TYPE_CHECKING:
    from console.actions import Action
    from console.app import HoldwatchApp
    from console.screens.page import Page
    from tests.console.walk import Walk

LETTERS: Final = tuple(each for each in string.ascii_uppercase if each not in "EGMNY")
"""The capitals that start changes, taken or not yet: the harmless ones are ruling 52's."""
LINES: Final = (0, 3, 7, 15, 20, 22, 23)
MIDDLE: Final = 30
"""Where the mouse goes on each screen."""
ANSWER: Final = "Choice, Cycle"


def changing(app: HoldwatchApp) -> list[Action]:
    """Every verb that changes something or begins to, the operator's own as well."""
    return [each for each in app.session.registry.actions if each.capability is not Capability.READ]


def by_palette(page: Page, action: Action) -> bool:
    """Choose a verb in the palette, if it is offered there."""
    provider = VerbProvider(page)
    offered = action in provider._offered()
    if offered:
        provider._run(action)()
    return offered


def by_command(page: Page, action: Action) -> None:
    """Type its name."""
    try:
        page.take(Purpose.COMMAND, action.name)
    except ValueError as refused:
        page.say(safe(str(refused)))


def told(page: Page) -> str:
    """What the screen said last."""
    return "" if page._said is None else page._said.text


async def name_verbs(walk: Walk, page: Page) -> None:
    """Every verb of the registry, by its name: on the command line, and in the palette."""
    for action in changing(walk.app):
        refusal = actions.refusal(action, writable=False)
        by_command(page, action)
        if refusal is not None:
            assert refusal in told(page), (action.name, "command line")
        await walk.at_rest()
        await walk.back_to(page)
        if by_palette(page, action) and refusal is not None:
            assert refusal in told(page), (action.name, "palette")
        await walk.at_rest()
        await walk.back_to(page)


async def press_capitals(walk: Walk, page: Page) -> None:
    """With what a hasty hand adds to each: y and Enter reach whatever was opened, and only ever leave it."""
    known = {each.keys[0]: each for each in walk.app.session.registry.of(page.PLACES) if each.keys}
    focused = page.focused
    for letter in LETTERS:
        await walk.press(letter)
        if letter in known and known[letter].capability is Capability.WRITE:
            assert told(page) == actions.refusal(known[letter], writable=False), letter
        if walk.app.screen is not page:
            await walk.press("y", "enter")
        await walk.back_to(page)
        page.set_focus(focused)  # a letter that is no key may have begun a reason


async def click_about(walk: Walk, page: Page) -> None:
    """Twice on every answer there is, further down in a long form as well, and on each part of a screen."""
    for line in LINES:
        await walk.click(MIDDLE, line)
        await walk.back_to(page)
    for _ in range(2):
        for answer in answers(page):
            await walk.click(*answer)
            await walk.back_to(page)
        await walk.press("pagedown", "pagedown")


def answers(page: Page) -> list[tuple[int, int]]:
    """Where the answers and choices stand that can be seen."""
    found = [(each, int(each.region.center[0]), int(each.region.center[1])) for each in page.query(ANSWER)]
    return [
        (x, y) for each, x, y in found if page.region.contains(x, y) and page.get_widget_at(x, y)[0] is each
    ]


WAYS: Final = (name_verbs, press_capitals, click_about)


@pytest.mark.parametrize("group", GROUPS)
def test_report_09_no_screen_changes_anything_by_any_way_while_changes_are_off(group: str) -> None:
    async def scene(walk: Walk) -> None:
        acting = walk.app.session.acting
        assert isinstance(acting, FakeActing)
        for name in GROUPS[group]:
            page = await walk.to(name)
            for way in WAYS:
                await way(walk, page)
                assert acting.calls == [], (name, way.__name__)

    assert play(scene).calls == []


def test_what_the_mouse_hits_is_heard() -> None:
    """What the clicks above assert could hold for a mouse that nobody listens to."""

    async def scene(walk: Walk) -> None:
        page = await walk.to("threads")
        await walk.click(30, 5)
        assert isinstance(walk.app.screen, ThreadScreen)
        await walk.back_to(page)
        form = await walk.to("preview")
        await walk.click(*answers(form)[0])
        assert walk.app.screen is page

    play(scene)


def test_the_audit_is_told_which_way_a_verb_was_asked_for() -> None:
    async def scene(walk: Walk) -> None:
        page = await walk.to("threads")
        by_command(page, actions.BY_NAME["wrap"])
        by_command(page, actions.BY_NAME["copy"])
        told_of = [walk.app.session.route]
        assert by_palette(page, actions.BY_NAME["copy"])
        told_of.append(walk.app.session.route)
        await walk.press("y")
        assert [*told_of, walk.app.session.route] == [Route.COMMAND, Route.PALETTE, Route.KEY]

    play(scene)


@pytest.mark.parametrize("verb", sorted(each.name for each in actions.ACTIONS if each.level and each.keys))
def test_no_configuration_puts_the_beginning_of_a_change_on_a_small_letter(verb: str) -> None:
    text = f'[keys]\n{verb} = "b"\n'
    with pytest.raises(ConfigError, match="needs a capital"):
        registry_of(parsed(text.encode(), Path("config.toml")))
