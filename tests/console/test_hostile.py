"""Hostile text is only text (console.md F11): every column that an agent writes, on every screen, byte by byte."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

import pytest
from textual.events import Paste

from console.app import HoldwatchApp
from console.calls import Calls
from console.gateway import EngineGateway
from console.present import safe
from console.screens import modes
from console.screens.page import Page
from console.session import Session
from tests.check import is_long
from tests.console.raw_output import strange, taped
from tests.console.test_pilot import said
from tests.console.waiting import ready
from tests.support import hostile
from tests.support.commands import Command
from tests.support.harness import Harness

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from textual.pilot import Pilot

    from tests.console.raw_output import Tape
    from tests.support.storages import Storage

SIZE: Final = (120, 40)
TABS: Final = 7
OPENED: Final = len(hostile.PIECES) if is_long() else 1
"""Rows of each list that are opened."""
BROKEN: Final = ("has stopped", "NO ANSWER", "REFUSES THIS")
LISTS: Final = (
    "incomplete",
    "tombstones",
    "holders",
    "days",
    "changed 1h",
    "threads status:idle",
    "events kind:line",
    "queue state:dead",
    "plans",
    "audit unfinished",
)


@pytest.fixture(scope="module")
def filled(sqlite_storage: Storage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    """A store with hostile text in every column; nobody changes it any more."""
    harness = Harness(sqlite_storage, tmp_path_factory.mktemp("hostile"))
    hostile.fill(harness)
    hostile.break_encoding(harness)
    yield harness
    harness.close()


@pytest.fixture
def tape(monkeypatch: pytest.MonkeyPatch) -> Tape:
    """What the consoles of the test write to their terminals."""
    return taped(monkeypatch)


def walk(harness: Harness, scene: Callable[[Pilot[None]], Awaitable[None]]) -> None:
    """Run a scene on a console over the store."""

    async def play() -> None:
        session = Session(EngineGateway(harness.url, harness.clock), Calls(), time.monotonic)
        async with HoldwatchApp(session).run_test(size=SIZE, tooltips=True, notifications=True) as pilot:
            await ready(pilot)
            await scene(pilot)

    asyncio.run(play())


def check(tape: Tape) -> None:
    """Nothing reached the terminal but text and what the driver makes, and no view broke."""
    assert tape.strange() == set()
    assert "evil" not in tape.copied
    assert [word for word in BROKEN if word in tape.text] == []
    assert all(strange(text) == set() for text in tape.copied)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, and wait for what they ask of the store."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
    if isinstance(pilot.app.screen, Page):
        await ready(pilot)


async def command(pilot: Pilot[None], text: str) -> None:
    """Give a command, wherever we are."""
    await pilot.press("colon")
    pilot.app.screen.focused.post_message(Paste(text))  # type: ignore[union-attr]
    await press(pilot, "enter")


async def hover(pilot: Pilot[None]) -> None:
    """Let the mouse rest on a few places of the screen."""
    for line in range(1, SIZE[1], 13):
        await pilot.hover(offset=(20, line))
        await pilot.click(offset=(60, line))
    await press(pilot, "escape")


def test_report_87_no_list_writes_what_its_rows_would(filled: Harness, tape: Tape) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, HoldwatchApp)
        for mode in modes.MODES:
            app.switch_mode(mode)
            await press(pilot, "j", "i", "y", "Y", "greater_than_sign", "k")
        for each in LISTS:
            await command(pilot, each)
            await press(pilot, "j", "y", "Y")

    walk(filled, scene)
    check(tape)
    assert "<U+001B>]52;c;" in tape.text
    assert "[red]tag" in tape.text
    assert "[[open [/" in tape.text
    assert len(tape.copied) > len(LISTS)


def test_report_83_a_thread_is_shown_whole_in_every_tab(filled: Harness, tape: Tape) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        for piece in hostile.PIECES[:OPENED]:
            await command(pilot, "threads")
            pilot.app.push_screen(_thread(pilot, piece))
            await pilot.pause()
            for _ in range(TABS):
                await press(pilot, "tab", "j", "enter", "G", "y", "escape")

    walk(filled, scene)
    check(tape)
    for exact in (f"{hostile.EXACT}", "0.30000000000000004", f"{10**60}", "5e-324"):
        assert exact in tape.text
    assert "[/]close" in tape.text


def _thread(pilot: Pilot[None], piece: str) -> Page:
    from console.screens.thread import ThreadScreen

    assert isinstance(pilot.app, HoldwatchApp)
    return ThreadScreen(pilot.app.session, hostile.thread_of(piece))


def test_report_87_money_and_its_evidence_are_exact_and_harmless(filled: Harness, tape: Tape) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        for digit in "349":
            await press(pilot, digit)
            for _ in range(OPENED):
                await press(pilot, "enter", "pagedown", "y", "Y", "enter", "escape", "escape", "j")
            await press(pilot, "G", "enter", "pagedown")

    walk(filled, scene)
    check(tape)
    assert "419,430,400.000001" in tape.text
    assert f"{hostile.MOST:,}" in tape.text


def test_report_87_plans_jobs_and_what_operators_said_are_only_text(filled: Harness, tape: Tape) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        for way in (("6",), ("6", "tab"), ("7",)):
            await press(pilot, *way)
            for _ in range(OPENED):
                await press(pilot, "j", "enter", "tab", "j", "y", "v", "escape", "escape")

    walk(filled, scene)
    check(tape)
    assert "release" in tape.text
    assert "APPLIED" in tape.text.upper()


def test_report_87_events_of_ten_megabytes_and_half_letters(filled: Harness, tape: Tape) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        await press(pilot, "5")
        for _ in range(2 * OPENED):
            await press(pilot, "k", "enter", "G", "escape")
        await command(pilot, "events kind:line")
        await press(pilot, "k", "enter", "G", "y", "escape")

    walk(filled, scene)
    check(tape)
    assert "u001b[31mxxx" in tape.text
    assert "D800" in tape.text.upper()


def test_report_85_hovering_over_hostile_rows(filled: Harness, tape: Tape) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        for digit in "01345":
            await press(pilot, digit)
            await hover(pilot)

    walk(filled, scene)
    check(tape)


def test_report_84_filters_crumbs_refusals_and_sheets(filled: Harness, tape: Tape) -> None:
    async def scene(pilot: Pilot[None]) -> None:
        for piece in hostile.PIECES[: 4 * OPENED]:
            await _typed(pilot, "slash", f"tenant:{piece}")
            await press(pilot, "escape", "escape")
            await _typed(pilot, "colon", piece)
            await press(pilot, "escape")
        await press(pilot, "question_mark", "slash", "left_square_bracket", "slash", "x", "escape", "escape")
        for key in ("question_mark", "c", "s", "f12", "semicolon"):
            await pilot.press(key)
            await pilot.pause()
            await press(pilot, "escape")

    walk(filled, scene)
    check(tape)
    assert "no command" in tape.text
    assert "/[/x" in tape.text


async def _typed(pilot: Pilot[None], key: str, text: str) -> None:
    """Open the prompt, paste a text into it and give it."""
    await pilot.press("1", key)
    focused = pilot.app.screen.focused
    assert focused is not None
    focused.post_message(Paste(text))
    await press(pilot, "enter")
    await pilot.pause()


def test_report_88_and_89_a_copy_is_shown_and_says_how_it_was_sent(filled: Harness, tape: Tape) -> None:
    lines: list[str] = []
    ceiling = 56_244  # bytes whose base64 is just what a terminal takes

    async def scene(pilot: Pilot[None]) -> None:
        page = await ready(pilot)
        for text in (*hostile.PIECES, "x" * ceiling, "x" * (ceiling + 3)):
            page.send(text)
            await pilot.pause()
            lines.append(said(pilot))

    walk(filled, scene)
    check(tape)
    assert tape.copied == [*(safe(piece, 600) for piece in hostile.PIECES), "x" * ceiling]
    assert "copied" not in "".join(lines).lower()
    *sent, whole, refused = lines
    for piece, line in zip(hostile.PIECES, sent, strict=True):
        assert "sent to terminal" in line
        assert "(OSC 52)" in line
        assert ("escaped" in line) == (safe(piece, 600) != piece)
        assert safe(piece)[:40] in line
    assert "sent to terminal (OSC 52):" in whole
    assert "not sent" in refused
    assert "OSC" not in refused
    assert "xxx" in refused


def test_report_83_the_reading_commands_print_only_text(
    filled: Harness, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Command(capsys)
    thread = hostile.thread_of(hostile.PIECES[0])
    lines = [
        ("overview",), ("changed",), ("threads",), ("thread", thread), ("incomplete",),
        ("children", thread), ("tombstones",), ("claims",), ("queue",), ("events",), ("reservations",), ("fences",),
        ("accounts",), ("days",), ("account", hostile.PIECES[0]),
        ("reservation", "meter", "agentos_spend", hostile.PIECES[0]), ("audit",), ("jobs",), ("plans",),
    ]  # fmt: skip
    for name, *rest in lines:
        for form in ((), ("--json",)):
            said = run(name, filled.url, *rest, *form)
            assert said.code == 0, (name, said.err)
            assert said.err == ""
            plain = said.out.replace("\n", "")
            assert strange(plain) == set(), (name, form)
            assert len(said.out) > 20
