"""While changes are off no way into a verb changes anything, on any screen (console.md F3, rows 9 and 10)."""

from __future__ import annotations

import asyncio
import string
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from console import actions
from console.acting.model import Person, Route
from console.actions import Capability
from console.config import ConfigError
from console.config.file import parsed
from console.contexts import Contexts
from console.palette import VerbProvider
from console.present import safe
from console.registry import registry_of
from console.screens.page import Page
from console.widgets.prompt import Purpose
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing, audit_row
from tests.console.resolve_play import day_row, resolvable
from tests.console.test_acting_window import Time
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.actions import Action
    from console.app import HoldwatchApp

COMMANDS: Final = f"""
[commands.restart]
key = "X"
scope = "everywhere"
capability = "write"
argv = ["{sys.executable}", "-c", "raise SystemExit('ran')"]
"""
SCREENS: Final[dict[str, tuple[str, ...]]] = {
    "overview": ("0",),
    "threads": ("1",),
    "claims": ("2",),
    "reservations": ("3",),
    "fences": ("4",),
    "events": ("5",),
    "jobs": ("6",),
    "audit": ("7",),
    "queue": ("8",),
    "budgets": ("9",),
    "thread": ("1", "enter"),
    "reservation": ("3", "enter"),
    "job": ("6", "enter"),
    "entry": ("7", "enter"),
    "unknown": ("u",),
    "preview": ("1", "D"),
    "plan": ("6", "tab", "enter"),
    "resolve": ("3", "enter", "e"),
}
"""Keys from the first screen to each kind that there is."""
LETTERS: Final = tuple(each for each in string.ascii_uppercase if each not in "EGMNY")
"""The capitals that start changes, taken or not yet: the harmless ones are ruling 52's."""
STEPS_BACK: Final = 6
BUTTONS: Final = frozenset({"cancel", "deed"})


def play(
    scene: Callable[[Pilot[None], HoldwatchApp, Time], Awaitable[None]], acting: FakeActing
) -> HoldwatchApp:
    """A scene on a console that may change things, and on which nobody has turned changes on."""
    gateway = FakeGateway(entries=[audit_row(seq) for seq in range(1, 9)])
    gateway.to_resolve = resolvable(day_row(gateway))
    app, config, time = make_app(gateway), parsed(COMMANDS.encode(), Path("config.toml")), Time()
    app.session.acting, app.session.person = acting, Person("mk", "bastion-2")
    app.session.registry, app.session.contexts = registry_of(config), Contexts(config)
    app.session.monotonic = app.session.window.monotonic = time

    async def run() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            await scene(pilot, app, time)
            assert not app.session.writable

    asyncio.run(run())
    return app


async def stand_on(pilot: Pilot[None], time: Time, keys: tuple[str, ...]) -> Page:
    """Go to a screen, and wait until it has what it shows."""
    for key in keys:
        before, time.now = pilot.app.screen, time.now + 1
        await pilot.press(key)
        if key in {"enter", "D", "e", "u"}:
            await until(pilot, lambda before=before: pilot.app.screen is not before)  # type: ignore[misc]
        await settled(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, Page)
    return screen


async def settled(pilot: Pilot[None]) -> None:
    """Nothing is being asked or changed."""
    app = pilot.app
    await until(pilot, lambda: app.session.calls.running == app.session.acts.running == 0)  # type: ignore[attr-defined]


async def come_back(pilot: Pilot[None], page: Page) -> None:
    """Esc, until the screen stands in front again, and a word on it that nothing else would say."""
    for _ in range(STEPS_BACK):
        if pilot.app.screen is page:
            return
        await pilot.press("escape")
        await pilot.pause()
    assert pilot.app.screen is page


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


@pytest.mark.parametrize("name", SCREENS)
def test_report_09_no_screen_changes_anything_by_any_way_while_changes_are_off(name: str) -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        page = await stand_on(pilot, time, SCREENS[name])
        for action in changing(app):
            refusal = actions.refusal(action, writable=False)
            by_command(page, action)
            if refusal is not None:
                assert refusal in told(page), (action.name, "command line")
            await come_back(pilot, page)
            if by_palette(page, action) and refusal is not None:
                assert refusal in told(page), (action.name, "palette")
            await come_back(pilot, page)
        await settled(pilot)

    play(scene, acting)
    assert acting.calls == []


@pytest.mark.parametrize("name", SCREENS)
def test_report_09_no_capital_changes_anything_while_changes_are_off(name: str) -> None:
    """With what a hasty hand adds to it: y and Enter reach whatever was opened, and only ever leave it."""
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        page = await stand_on(pilot, time, SCREENS[name])
        known = {each.keys[0]: each for each in app.session.registry.of(page.PLACES) if each.keys}
        for letter in LETTERS:
            time.now += 1
            await pilot.press(letter)
            if letter in known and known[letter].capability is Capability.WRITE:
                assert told(page) == actions.refusal(known[letter], writable=False)
            if app.screen is not page:
                await pilot.press("y", "enter")
            await come_back(pilot, page)
        await settled(pilot)

    play(scene, acting)
    assert acting.calls == []


@pytest.mark.parametrize("name", ["threads", "reservation", "job", "preview", "plan", "resolve"])
def test_report_09_no_click_changes_anything_while_changes_are_off(name: str) -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        page = await stand_on(pilot, time, SCREENS[name])
        buttons = [each for each in page.query("*") if each.id in BUTTONS]
        for button in buttons:
            await pilot.click(button, times=2)
            await come_back(pilot, page)
        for line in (0, 3, 7, 15, 20, 22, 23):
            await pilot.click(offset=(30, line), times=2)
            await come_back(pilot, page)
        await settled(pilot)

    play(scene, acting)
    assert acting.calls == []


def test_the_audit_is_told_which_way_a_verb_was_asked_for() -> None:
    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        page = await stand_on(pilot, time, SCREENS["threads"])
        by_command(page, actions.BY_NAME["wrap"])
        by_command(page, actions.BY_NAME["copy"])
        told_of = [app.session.route]
        assert by_palette(page, actions.BY_NAME["copy"])
        told_of.append(app.session.route)
        await pilot.press("y")
        assert [*told_of, app.session.route] == [Route.COMMAND, Route.PALETTE, Route.KEY]

    play(scene, FakeActing())


@pytest.mark.parametrize("verb", sorted(each.name for each in actions.ACTIONS if each.level and each.keys))
def test_no_configuration_puts_the_beginning_of_a_change_on_a_small_letter(verb: str) -> None:
    text = f'[keys]\n{verb} = "b"\n'
    with pytest.raises(ConfigError, match="needs a capital"):
        registry_of(parsed(text.encode(), Path("config.toml")))
