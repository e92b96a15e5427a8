"""Commands of the operator's own, from key, palette and command line (console.md 5.2; 3.1, row 10; 3.2, row 55)."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from console import custom
from console.commands import CommandError
from console.config import ConfigError
from console.config.file import parsed
from console.palette import VerbProvider
from console.programs import Ending
from console.registry import Registry, registry_of
from console.screens.output import OutputScreen
from console.screens.page import Page
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway, make_app, renamed
from tests.console.test_pilot import said
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.config import CustomCommand

SIZE = (80, 24)
SLOW = f'["{sys.executable}", "-S", "-c", "import time; print(1, flush=True); time.sleep(30)"]'
FILE = f"""
[commands.show]
key = "b"
scope = "threads"
capability = "read"
argv = ["echo", "id={{id}}", "{{store}}"]

[commands.slow]
key = "w"
capability = "read"
argv = {SLOW}

[commands.since]
key = "d"
scope = "everywhere"
capability = "read"
inputs = ["from", "to"]
argv = ["echo", "{{from}}..{{to}}", "{{context}}"]

[commands.raw]
capability = "read"
scope = "events"
argv = ["echo", "--", "{{id}}"]
"""


def own() -> Registry:
    """The verbs with the file's commands."""
    return registry_of(parsed(FILE.encode(), Path("config.toml")))


def command(name: str) -> CustomCommand:
    """One of the file's commands."""
    return own().commands[name]


def drive(
    scene: Callable[[Pilot[None], FakeGateway], Awaitable[None]], gateway: FakeGateway | None = None
) -> None:
    """Run a scene on a console with the file's commands."""
    source = gateway or FakeGateway()

    async def play() -> None:
        app = make_app(source)
        app.session.registry = own()
        async with app.run_test(size=SIZE) as pilot:
            await ready(pilot)
            await scene(pilot, source)

    asyncio.run(play())


async def output(pilot: Pilot[None], *, ended: bool = True) -> str:
    """What the sheet in front says, once the program has ended, or has written something."""
    await until(pilot, lambda: isinstance(pilot.app.screen, OutputScreen))
    screen = pilot.app.screen
    assert isinstance(screen, OutputScreen)
    pane = screen.query_one(Pane)
    await until(pilot, lambda: (screen.outcome is not None or not ended) and pane.text.count("\n") >= 2)
    return f"{pane.text}\n{pane.border_subtitle}"


def test_report_10_a_command_without_a_declared_capability_is_refused() -> None:
    with pytest.raises(ConfigError, match='capability: is missing; say capability = "read"'):
        parsed(b'[commands.a]\nargv = ["date"]\n', Path("config.toml"))


def test_a_key_runs_it_for_the_row_under_the_cursor() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("j", "b")
        text = await output(pilot)
        assert f"id={gateway.rows[1].id} postgresql://ops@db-1:5432/ledger-prod" in text.replace("\n", "")
        assert "exit code 0" in text
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, OutputScreen)

    drive(scene)


def test_the_command_line_and_the_palette_run_it_as_well() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("colon", *"show", "enter")
        assert f"id={gateway.rows[0].id}" in await output(pilot)
        await pilot.press("escape")
        provider = VerbProvider(pilot.app.screen)
        assert "show  (b)" in [str(hit.text) async for hit in provider.search("show")]

    drive(scene)


def test_it_is_offered_on_its_screen_alone() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("2")
        await ready(pilot)
        await pilot.press("b")
        assert not isinstance(pilot.app.screen, OutputScreen)
        page = pilot.app.screen
        assert isinstance(page, Page)
        offered = [action.name for action in own().of(page.PLACES) if action.name in own().commands]
        assert offered == ["slow", "since"]

    drive(scene)


def test_report_55_a_command_that_sleeps_leaves_the_console_alive_and_can_be_stopped() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("w")
        assert "running" in await output(pilot, ended=False)
        begun = time.monotonic()
        await pilot.press("j", "k")
        assert time.monotonic() - begun < 2
        await pilot.press("escape")
        screen = pilot.app.screen
        assert isinstance(screen, OutputScreen)
        await until(pilot, lambda: screen.outcome is not None)
        assert screen.outcome is not None
        assert screen.outcome.ending is Ending.STOPPED
        assert "stopped after" in await output(pilot)
        await pilot.press("escape", "j")
        await ready(pilot)

    drive(scene)


def test_report_55_rows_are_read_while_a_command_runs_and_closing_ends_it() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("w")
        await output(pilot, ended=False)
        screen = pilot.app.screen
        assert isinstance(screen, OutputScreen)
        await pilot.press("q")
        asked = len(gateway.asked)
        await pilot.press("r")
        await until(pilot, lambda: len(gateway.asked) > asked)
        await until(pilot, lambda: pilot.app.session.errands.running == 0)  # type: ignore[attr-defined]

    drive(scene)


def test_inputs_are_asked_for_and_given_as_words() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("d", *"10m", "enter")
        assert "since takes from=VALUE to=VALUE; to is missing" in said(pilot)
        await pilot.press(*" to=now", "enter")
        assert "this store was not opened by a context's name" in said(pilot)

    drive(scene)


def test_hostile_output_stays_in_its_sheet() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        gateway.rows[0] = renamed(gateway.rows[0], "thr[/]\x1b]52;c;eA==\x07[red]")
        await pilot.press("r")
        await ready(pilot)
        await pilot.press("b")
        text = await output(pilot)
        assert "\x1b" not in text
        assert "thr[/]<U+001B>]52;c;eA==<U+0007>[red]" in text.replace("\n", "")

    drive(scene)


def test_without_a_row_nothing_is_run() -> None:
    async def scene(pilot: Pilot[None], gateway: FakeGateway) -> None:
        await pilot.press("b")
        assert "no row under the cursor" in said(pilot)
        assert not isinstance(pilot.app.screen, OutputScreen)

    drive(scene, FakeGateway(rows=[]))


@pytest.mark.parametrize(
    ("line", "inputs"),
    [
        ('since from=1 to="a b"', {"from": "1", "to": "a b"}),
        ("since to=2 from==", {"from": "=", "to": "2"}),
    ],
)
def test_a_line_gives_the_inputs(line: str, inputs: dict[str, str]) -> None:
    asked = custom.invoked(own(), line)
    assert asked is not None
    assert asked.inputs == inputs


@pytest.mark.parametrize(
    "line", ["since", "since from=1", "since from=1 to=2 by=3", "since from to=2", 'since from="']
)
def test_a_line_that_lacks_something_is_refused(line: str) -> None:
    with pytest.raises(CommandError):
        custom.invoked(own(), line)


def test_other_lines_are_not_ours() -> None:
    assert custom.invoked(own(), "threads /stuck") is None


def test_a_value_stays_one_word_and_never_becomes_an_option() -> None:
    raw, show = custom.Invocation(command("raw"), {}), custom.Invocation(command("show"), {})
    assert custom.argv_of(show, {"id": "-x; rm *", "store": "s"}) == ("echo", "id=-x; rm *", "s")
    assert custom.argv_of(show, {"id": "{store}", "store": "s"}) == ("echo", "id={store}", "s")
    with pytest.raises(CommandError, match="would be read as an option"):
        custom.argv_of(raw, {"id": "--output=x"})
    with pytest.raises(CommandError, match="NUL"):
        custom.argv_of(raw, {"id": "a\0"})


def test_a_command_about_no_row_needs_none() -> None:
    assert command("show").needs_row
    assert not command("slow").needs_row
    assert not replace(command("show"), argv=("date",)).needs_row
