"""Leaving for the shell and coming back (row 99), and terminals that cannot show the console (console.md F12)."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from console import cli
from console.app import HoldwatchApp
from tests.console.fake import make_app
from tests.console.test_terminal import (
    ENTER_SCREEN,
    LEAVE_SCREEN,
    PATIENCE_SECONDS,
    Terminal,
    path,
    store,
    terminal,
)
from tests.console.waiting import ready

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine import Store

__all__ = ["path", "store", "terminal"]


def awaited(terminal: Terminal, condition: Callable[[], bool], what: str) -> None:
    """Read what the console writes until the condition holds, with a bound."""
    terminal._until(condition, what)


def is_stopped(process: int) -> bool:
    """Whether the shell's job control has the process."""
    return b"State:\tT" in Path(f"/proc/{process}/status").read_bytes()


@pytest.mark.parametrize("key", ["\x1a", "&"], ids=["ctrl+z", "&"])
def test_report_99_suspending_gives_the_screen_back_and_coming_back_restores_it(
    key: str, terminal: Terminal
) -> None:
    terminal.see("thr_one")
    terminal.press(key)
    awaited(terminal, lambda: is_stopped(terminal.child.pid), "a stopped process")
    terminal._read()
    assert terminal.raw.count(LEAVE_SCREEN) == 1
    before = terminal.raw.count(ENTER_SCREEN)
    terminal.screen.reset()  # as a shell that has written over all of it
    os.kill(terminal.child.pid, signal.SIGCONT)
    awaited(terminal, lambda: terminal.raw.count(ENTER_SCREEN) == before + 1, "the screen again")
    awaited(terminal, lambda: "thr_one" in terminal.text and "LIVE" in terminal.text, "the rows again")
    terminal.press("q")
    assert terminal.ends() == 0
    assert terminal.raw.count(ENTER_SCREEN) == terminal.raw.count(LEAVE_SCREEN) == 2


def test_report_99_the_read_write_window_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    app = make_app()
    stopped: list[bool] = []
    monkeypatch.setattr(
        HoldwatchApp, "action_suspend_process", lambda app: stopped.append(app.session.writable)
    )

    async def play() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            await ready(pilot)
            app.session.window.open("INC-1")
            assert app.session.writable
            await pilot.press("&")
            assert stopped == [False]  # it ends before, not when somebody has come back
            assert not app.session.writable

    asyncio.run(play())


def test_report_92_ascii_in_a_real_terminal(path: Path, store: Store) -> None:
    opened = Terminal("console", "--ascii", str(path))
    try:
        opened.see("thr_one")
        opened.press("?")
        opened.see("keys of this screen")
        assert opened.text.isascii()
        assert opened.raw.isascii()
        opened.press("\x1b")
        opened.see_gone("keys of this screen")
        opened.press("q")
        assert opened.ends() == 0
    finally:
        opened.child.close(force=True)


def test_a_dumb_terminal_is_told_what_is_wrong_with_it(
    path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for stream in ("stdin", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    begun = time.monotonic()
    assert cli.run([str(path)]) == cli.Exit.USAGE
    assert "TERM=dumb" in capsys.readouterr().err
    assert time.monotonic() - begun < PATIENCE_SECONDS
