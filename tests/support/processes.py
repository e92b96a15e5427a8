"""Real processes over one store: started together, waited for within a bound, and killed without warning."""

from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from multiprocessing.synchronize import Barrier

PATIENCE = 60.0
"""Seconds after which a process that has not answered is a failure."""

# Forked from a server that holds no store and runs one thread: quick, and as apart as programs of their own.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    ["engine.store", "engine.database.postgres", "engine.database.sqlite", "engine.desk.jobs.runner"]
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a process's function returned, or the engine's error that ended it."""

    value: Any = None
    error: EngineError | None = None


class Program:
    """A process that runs `function(*arguments)` and says what came of it."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._answers, sender = CONTEXT.Pipe(duplex=False)
        self._process: BaseProcess = CONTEXT.Process(
            target=_run, args=(sender, function, arguments), daemon=True
        )
        self._process.start()
        sender.close()

    def answer(self, within: float = PATIENCE) -> Answer:
        """What came of it; AssertionError when the process died first or is not done in time."""
        assert self._answers.poll(within), f"no answer within {within} s"
        try:
            answer: Answer = self._answers.recv()
        except EOFError:
            self._process.join(within)
            raise AssertionError(f"the process ended with {self._process.exitcode}") from None
        self._process.join(within)
        return answer

    def lives(self) -> bool:
        """True; AssertionError once the process has ended, so that nobody waits for what it will not do."""
        assert self._process.exitcode is None, f"the process ended with {self._process.exitcode}"
        return True

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self.wait_killed()

    def ended(self, within: float = PATIENCE) -> None:
        """Until the process has done its work or was killed by SIGKILL; AssertionError for any other end."""
        if self._answers.poll(within):
            with suppress(EOFError):  # It was killed before it could say anything.
                self._answers.recv()
        self._process.join(within)
        assert self._process.exitcode in (0, -signal.SIGKILL), f"exit code {self._process.exitcode}"

    def wait_killed(self, within: float = PATIENCE) -> None:
        """Until the process was killed by SIGKILL; AssertionError when it ended in any other way."""
        self._process.join(within)
        assert self._process.exitcode == -signal.SIGKILL, f"exit code {self._process.exitcode}"


def _run(sender: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        answer = Answer(value=function(*arguments))
    except EngineError as error:
        answer = Answer(error=error)
    sender.send(answer)


def barrier(parties: int) -> Barrier:
    """Where so many processes meet; each gives up after PATIENCE seconds."""
    return CONTEXT.Barrier(parties, timeout=PATIENCE)


def answers(programs: Sequence[Program]) -> list[Answer]:
    """What came of each, in order."""
    return [program.answer() for program in programs]
