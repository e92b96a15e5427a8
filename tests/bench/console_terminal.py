"""The whole command in a terminal of 120 by 40: when it shows what, what a key takes, what it writes and needs."""

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pexpect  # type: ignore[import-untyped]
import pyte

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COLUMNS, LINES = 120, 40
PATIENCE: Final = 60.0
"""Seconds within which the console must have shown what is waited for."""
_LOOK: Final = 0.002
_ENDS: Final = 5.0
_KEPT: Final = 65_536
"""Bytes, of the last ones written, in which a text is looked for."""


class Terminal:
    """A console that runs in a terminal, over one store."""

    def __init__(self, url: str, *options: str) -> None:
        self.written = 0
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self._raw = b""
        self.began = time.perf_counter()
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "console", url, *options],
            dimensions=(LINES, COLUMNS),
            env=os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": os.getcwd()},  # noqa: PTH109
        )
        self.child.delaybeforesend = None  # fifty milliseconds, else

    @property
    def text(self) -> str:
        """What is on the screen."""
        return "\n".join(self._screen.display)

    @property
    def cursor_line(self) -> int | None:
        """The line of the list's cursor."""
        lines = (number for number in range(LINES) if self._screen.buffer[number][0].data == ">")
        return next(lines, None)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Read until it is so; AssertionError when it takes too long."""
        deadline = time.perf_counter() + PATIENCE
        while not condition():
            if time.perf_counter() > deadline:
                raise AssertionError(f"never seen: {what}\n{self.text}")
            self.read(_LOOK)

    def see(self, pattern: bytes) -> float:
        """Seconds from the command until a text was written."""
        self.until(lambda: re.search(pattern, self._raw) is not None, str(pattern))
        return time.perf_counter() - self.began

    def press(self, keys: str) -> None:
        """Type."""
        self.child.send(keys)

    def idle(self, seconds: float) -> int:
        """Let it run; the bytes it wrote."""
        before, deadline = self.written, time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            self.read(min(left, 0.1))
        return self.written - before

    def read(self, seconds: float) -> None:
        """Take in what it writes, for so long at most."""
        try:
            data = self.child.read_nonblocking(65_536, timeout=seconds)
        except pexpect.TIMEOUT:
            return  # nothing was written: what is waited for is seen by the caller
        self.written += len(data)
        self._raw = (self._raw + data)[-_KEPT:]
        self._stream.feed(data)

    @property
    def most_memory(self) -> int:
        """Bytes of memory it had at most so far; where nobody tells that, 0."""
        status = Path(f"/proc/{self.child.pid}/status")
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
        return 0 if found is None else int(found[1]) * 1024

    @property
    def worked(self) -> float:
        """Seconds of a processor that it has used so far; where nobody tells that, 0."""
        status = Path(f"/proc/{self.child.pid}/stat")
        if not status.exists():
            return 0.0
        fields = status.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def terminal(url: str, *options: str) -> Iterator[Terminal]:
    """A console, told to leave at the end."""
    opened = Terminal(url, *options)
    try:
        yield opened
    finally:
        if opened.child.isalive():
            opened.press("q")
        try:
            opened.child.expect(pexpect.EOF, timeout=_ENDS)
        except pexpect.TIMEOUT:
            opened.child.close(force=True)
        else:
            opened.child.close()
