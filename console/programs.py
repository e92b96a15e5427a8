"""Running another program: without a shell, within a time and a number of bytes, and stoppable at any moment.

`run` blocks and belongs in a thread. It waits for the program, not for the end of its output: a child that it
leaves behind with the pipe open holds nobody up (console.md 3.4, row 90).
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTPUT_BYTES: Final = 262_144
"""Output that is kept; a program that goes on writing is stopped."""
GRACE_SECONDS: Final = 0.5
"""Between asking a program to end and ending it."""
_LOOK_SECONDS: Final = 0.05
_CHUNK: Final = 16_384


class Ending(StrEnum):
    """How a program came to its end."""

    DONE = "done"
    STOPPED = "stopped"
    TIMED_OUT = "timed out"
    TOO_MUCH = "stopped: too much output"
    NOT_STARTED = "not started"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a program. `code` is its exit code, None where it was ended; `seconds` is how long it ran."""

    ending: Ending
    code: int | None
    seconds: float
    reason: str = ""


class Program:
    """One run of one program. `stop` and `output` are for other threads than the one in `run`.

    Its standard error goes where its output goes, or nowhere. `given` is its standard input, which it may leave unread.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        seconds: float,
        most: int = OUTPUT_BYTES,
        errors: int = subprocess.STDOUT,
        given: bytes = b"",
    ) -> None:
        self._argv = list(argv)
        self._seconds = seconds
        self._most = most
        self._errors = errors
        self._given = given
        self._output = bytearray()
        self._stop = threading.Event()
        self._group: int | None = None
        self._ending = threading.Lock()

    @property
    def output(self) -> bytes:
        """What it has written so far."""
        return bytes(self._output)

    def stop(self) -> None:
        """Ask it to end, now; `run` sees to it that it does."""
        self._stop.set()
        self._signal(signal.SIGTERM)

    def run(self) -> Outcome:
        """Run it to its end; never raises for what the program does."""
        begun = time.monotonic()
        try:
            process = self._started()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "a word of it cannot be given to a program"
            return Outcome(Ending.NOT_STARTED, None, 0.0, reason)
        with process:
            try:
                ending = self._follow(process, begun + self._seconds)
                if ending is not Ending.DONE:
                    self._end(process)
            finally:
                with self._ending:
                    self._group = None
                assert process.stdout is not None
                process.stdout.close()
        code = process.returncode if ending is Ending.DONE else None
        return Outcome(ending, code, time.monotonic() - begun)

    def _started(self) -> subprocess.Popen[bytes]:
        with tempfile.TemporaryFile() as given:  # a file, not a pipe: who does not read it holds nobody up
            given.write(self._given)
            given.seek(0)
            process = self._begun(given if self._given else subprocess.DEVNULL)
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        self._group = process.pid
        return process

    def _begun(self, given: IO[bytes] | int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - the operator's own configuration names it
            self._argv,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # no terminal to draw on, and a group to end it by
        )

    def _follow(self, process: subprocess.Popen[bytes], deadline: float) -> Ending:
        assert process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ)
            while True:
                ended = process.poll() is not None
                open_still = self._read(process.stdout.fileno())
                if len(self._output) >= self._most:
                    return Ending.TOO_MUCH
                if ended:
                    return Ending.STOPPED if self._stop.is_set() else Ending.DONE
                if self._stop.is_set():
                    return Ending.STOPPED
                if time.monotonic() >= deadline:
                    return Ending.TIMED_OUT
                if open_still:
                    ready.select(_LOOK_SECONDS)
                else:
                    self._stop.wait(_LOOK_SECONDS)

    def _read(self, pipe: int) -> bool:
        """Take what is there, up to the bound; whether more may come."""
        while len(self._output) < self._most:
            try:
                chunk = os.read(pipe, min(_CHUNK, self._most - len(self._output)))
            except BlockingIOError:
                return True
            if not chunk:
                return False
            self._output += chunk
        return True

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):  # then it is not asked any more
            process.wait(GRACE_SECONDS)
        self._signal(signal.SIGKILL)  # and what it has started, which may not have listened either
        process.wait()

    def _signal(self, number: int) -> None:
        with self._ending:
            if self._group is None:
                return
            try:
                os.killpg(self._group, number)
            except ProcessLookupError:
                return  # it has ended by itself
