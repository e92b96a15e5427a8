"""The whole command in a real terminal, over a real store, from the first frame to a clean leave."""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pexpect  # type: ignore[import-untyped]
import pyte
import pytest

from engine import open_store
from engine.checkpoints import Checkpoint, CheckpointStatus, ClaimRequest, Commit, EventDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from engine import Store

COLUMNS, LINES = 80, 24
PATIENCE_SECONDS = 20.0
ENTER_SCREEN, LEAVE_SCREEN = "\x1b[?1049h", "\x1b[?1049l"


class Terminal:
    """A program in a terminal of eighty by twenty-four."""

    def __init__(self, *arguments: str) -> None:
        self.screen = pyte.Screen(COLUMNS, LINES)
        self.raw = ""
        self._stream = pyte.Stream(self.screen)
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "console", *arguments],
            dimensions=(LINES, COLUMNS),
            env=os.environ | {"TERM": "xterm-256color", "TEXTUAL_ANIMATIONS": "none"},
            encoding="utf-8",
            timeout=PATIENCE_SECONDS,
        )

    def see(self, wanted: str) -> None:
        """Wait until a text is on the screen."""
        self._until(lambda: wanted in self.text, wanted)

    def see_gone(self, unwanted: str) -> None:
        """Wait until a text is not on the screen."""
        self._until(lambda: unwanted not in self.text, f"no {unwanted}")

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(self.screen.display)

    def press(self, keys: str) -> None:
        """Type."""
        self.child.send(keys)

    def ends(self) -> int:
        """Wait for the program's end; its exit code."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._read() and time.monotonic() < deadline:
            pass
        self.child.close()
        status = self.child.exitstatus
        return -1 if status is None else status

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            if time.monotonic() > deadline or not self._read():
                raise AssertionError(f"not seen: {what}\n{self.text}")

    def _read(self) -> bool:
        try:
            data = self.child.read_nonblocking(65_536, timeout=0.2)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += data
        self._stream.feed(data)
        return True


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "fleet.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """A store in which one thread has begun."""
    with open_store(f"sqlite:///{path}") as opened:
        step(opened, "thr_one")
        yield opened


@pytest.fixture
def terminal(path: Path, store: Store) -> Iterator[Terminal]:
    """The console on that store."""
    opened = Terminal(str(path))
    yield opened
    opened.child.close(force=True)


def check_clean(terminal: Terminal) -> None:
    """The program went back to the screen it came from and left cursor, mouse and pasting as they were."""
    assert terminal.raw.count(ENTER_SCREEN) == terminal.raw.count(LEAVE_SCREEN) == 1
    for mode in ("?1000", "?1003", "?1006", "?2004"):
        assert terminal.raw.rfind(f"\x1b[{mode}l") > terminal.raw.rfind(f"\x1b[{mode}h"), mode
    assert terminal.raw.rfind("\x1b[?25h") > terminal.raw.rfind("\x1b[?25l")


def step(store: Store, thread: str, kind: str = "step") -> int:
    """An agent's claim and first commit; its token."""
    claim = store.checkpoints.claim(thread, ClaimRequest(holder=f"r-{thread}", ttl=timedelta(minutes=5)))
    checkpoint = Checkpoint(
        f"ck-{thread}", thread, f"r-{thread}", CheckpointStatus.RUNNING, {"hello": "world"}
    )
    event = EventDraft(kind, {"text": "\x1b]52;c;ZXZpbA==\x07\x9b2J"}, f"r-{thread}")
    store.checkpoints.commit(thread, Commit(claim.token, checkpoint, events=(event,)))
    return claim.token


def test_from_start_to_quit(terminal: Terminal, store: Store) -> None:
    terminal.see("thr_one")
    terminal.see("o RUNNING")
    terminal.see("r-thr_one")
    terminal.see("RO")
    step(store, "thr_two")
    terminal.see("thr_two")
    terminal.press("G\r")
    terminal.see("Threads > thr_one")
    terminal.press("\t")
    terminal.see('"hello": "world"')
    terminal.press("\x1b")
    terminal.see("newest first")
    terminal.press("5")
    terminal.see("following")
    step(store, "thr_three", "landed")
    terminal.see("kind      landed")  # in the detail: the cursor is on it
    terminal.press("y")
    terminal.see("sent to terminal (OSC 52): thr_three")
    assert "\x1b]52;c;dGhyX3RocmVl\x07" in terminal.raw
    assert "\x1b]52;c;ZXZpbA" not in terminal.raw
    assert "\x9b" not in terminal.raw
    terminal.press("q")
    assert terminal.ends() == 0
    check_clean(terminal)


def test_a_store_that_goes_away_and_comes_back(terminal: Terminal, path: Path) -> None:
    terminal.see("thr_one")
    away = path.with_suffix(".away")
    path.rename(away)
    terminal.see("NO ANSWER FROM THE STORE")
    terminal.see("thr_one")
    away.rename(path)
    terminal.see_gone("NO ANSWER FROM THE STORE")
    terminal.see("LIVE")
    terminal.press(":q\r")
    assert terminal.ends() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_clean(terminal: Terminal, number: signal.Signals) -> None:
    terminal.see("thr_one")
    terminal.child.kill(number)
    assert terminal.ends() == 128 + signal.SIGTERM
    check_clean(terminal)


def test_the_first_frame_comes_before_the_store_answers(path: Path, store: Store) -> None:
    opened = Terminal(str(path))
    opened.see("reading ...")
    opened.see("thr_one")
    opened.press("q")
    assert opened.ends() == 0
