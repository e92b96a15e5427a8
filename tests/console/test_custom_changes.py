"""Commands of the operator's own that change something, and the program that hears of every change (row 103)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from console.acting import hook
from console.acting.confirmation import QUIET_SECONDS
from console.acting.model import Order, Person, Route
from console.config.file import parsed
from console.contexts import Contexts
from console.model import GatewayError
from console.registry import registry_of
from console.screens.confirm import ConfirmScreen
from console.screens.output import OutputScreen
from console.widgets.pane import Pane
from tests.console.fake import FakeGateway, make_app
from tests.console.fake_acting import FakeActing, audit_row
from tests.console.test_acting_window import Time
from tests.console.test_pilot import said
from tests.console.waiting import ready, until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.pilot import Pilot

    from console.app import HoldwatchApp

    Scene = Callable[[Pilot[None], HoldwatchApp, Time], Awaitable[None]]

KEEP = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
COMMANDS = f"""
[commands.restart]
key = "X"
scope = "threads"
capability = "write"
argv = ["{sys.executable}", "-S", "-c", "print('restarted')", "{{id}}"]

[commands.evict]
scope = "threads"
capability = "write"
level = 2
argv = ["false"]
"""


def play(scene: Scene, text: str = COMMANDS, acting: FakeActing | None = None, *, on: bool = True) -> None:
    """A scene on a console with this configuration, changes on."""
    config = parsed(text.encode(), Path("config.toml"))
    gateway, time = FakeGateway(), Time()
    app = make_app(gateway)
    app.session.acting, app.session.person = acting or FakeActing(), Person("mk", "bastion-2")
    app.session.registry, app.session.contexts = registry_of(config), Contexts(config)
    app.session.monotonic = app.session.window.monotonic = time
    if on:
        app.session.window.open("INC-1")

    async def run() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            await scene(pilot, app, time)

    asyncio.run(run())


async def confirmed(pilot: Pilot[None], time: Time, *keys: str) -> None:
    """Through the dialog, key by key."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
    time.now += 2 * QUIET_SECONDS
    for key in keys:
        time.now += 0.1
        await pilot.press(key)


REASON = ("up", *"INC", "down", "down", "enter")


def test_report_101_a_command_that_changes_something_is_confirmed_with_a_reason_and_told_twice() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("X")
        await confirmed(pilot, time, "down", "down", "enter")
        assert acting.changes == []
        if not isinstance(app.screen, ConfirmScreen):
            await pilot.press("X")
        await confirmed(pilot, time, *REASON)
        await until(pilot, lambda: isinstance(app.screen, OutputScreen))
        await until(pilot, lambda: [call[0] for call in acting.changes] == ["record", "recorded"])

    play(scene, acting=acting)
    (_, order, intent), (_, again, result) = acting.changes
    assert isinstance(order, Order)
    assert order == again
    assert (order.reason, order.route) == ("INC", Route.CUSTOM)
    assert "print('restarted')" in order.command.replace("'\"'\"'", "'")
    assert isinstance(intent, dict)
    assert isinstance(result, dict)
    assert intent["name"] == "restart"
    assert (result["ending"], result["exit_code"]) == ("done", 0)


def test_report_10_it_does_not_run_while_changes_are_off_by_key_or_by_line() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        await pilot.press("X")
        assert "read-only: restart changes the store" in said(pilot)
        await pilot.press("colon", *"restart", "enter")
        assert "read-only: restart changes the store" in said(pilot)
        assert not isinstance(app.screen, ConfirmScreen | OutputScreen)

    play(scene, acting=acting, on=False)
    assert acting.changes == []


def test_it_is_not_run_where_its_intent_cannot_be_written_down() -> None:
    acting = FakeActing(refusal=GatewayError("disk full", code="store_failure", retryable=False))

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        await pilot.press("X")
        await confirmed(pilot, time, *REASON)
        await until(pilot, lambda: "was not run: its intent could not be recorded: disk full" in said(pilot))
        assert not isinstance(app.screen, OutputScreen)

    play(scene, acting=acting)


def test_at_level_2_its_name_is_typed() -> None:
    acting = FakeActing()

    async def scene(pilot: Pilot[None], app: HoldwatchApp, time: Time) -> None:
        app.screen.perform("evict")  # type: ignore[attr-defined]
        await confirmed(pilot, time, *REASON)
        await pilot.pause()
        assert acting.changes == []

    play(scene, acting=acting)


# The program that hears of every change

ORDER = Order("execute pln_1", "INC-1", Route.KEY, "holdwatch execute pln_1", "op_0021")


async def changed(pilot: Pilot[None], app: HoldwatchApp) -> None:
    """A change that is answered."""
    gateway = app.session.gateway
    assert isinstance(gateway, FakeGateway)
    gateway.entries = [audit_row(41), audit_row(42)]
    await app.session.sending.send(ORDER, lambda: None)
    await pilot.pause()


def test_report_103_after_a_change_a_program_reads_the_audit_record(tmp_path: Path) -> None:
    kept = tmp_path / "record.json"
    text = f"[hooks]\nafter_change = '''{sys.executable} -S -c \"{KEEP}\" {kept}'''"

    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        await changed(pilot, app)
        await until(pilot, lambda: kept.exists() and kept.read_text().endswith("}"))
        assert "after_change" not in said(pilot)

    play(scene, text)
    found: dict[str, Any] = json.loads(kept.read_text())
    assert (found["operation"], found["what"]) == ("op_0021", "execute pln_1")
    assert [(each["seq"], each["phase"]) for each in found["entries"]] == [(41, "intent"), (42, "result")]
    assert found["entries"][1]["body"]["reason"] == "INC-42"


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("sh -c 'echo no such channel; echo more; exit 3'", "after_change sh: exit code 3: no such channel"),
        ("/nowhere/at-all", "after_change /nowhere/at-all: not started: No such file"),
        ("sh -c 'while :; do echo x; done'", "after_change sh: stopped: too much output"),
        ("sleep 30", "after_change sleep: timed out"),
    ],
)
def test_report_103_what_goes_wrong_with_it_is_told_in_one_line(
    program: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook, "SECONDS", 0.3)

    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        await changed(pilot, app)
        await until(pilot, lambda: told in said(pilot).replace("\n", ""))
        assert "more" not in said(pilot)

    play(scene, f'[hooks]\nafter_change = "{program}"')


def test_a_long_command_line_is_shown_whole_or_said_to_be_longer() -> None:
    long = COMMANDS.replace("'restarted'", f"'{'x' * 500}'")

    async def scene(pilot: Pilot[None], app: HoldwatchApp, _time: Time) -> None:
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, ConfirmScreen))
        text = app.screen.query_one("#facts", Pane).text
        assert "it is longer: the audit keeps it whole" in text
        assert "how it ended" in text

    play(scene, long)
