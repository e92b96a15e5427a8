"""`holdwatch demo`: a fleet of simulated agents at work on a real store, in a process of its own (ruling 61).

Every row an operator sees was written by an agent through the engine's public API.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from console.model import GatewayError

if TYPE_CHECKING:
    from collections.abc import Iterator

READY: Final = "ready"
DAILY_CAP: Final = 500_000_000
"""Micro-dollars that the agents commit to one day, together."""
START_SECONDS: Final = 30.0
STOP_SECONDS: Final = 5.0


@contextmanager
def fleet(store: str | None, *, threads: int, seed: int) -> Iterator[str]:
    """A fleet at work while the block runs; the URL of its store, a private one unless `store` names one."""
    with tempfile.TemporaryDirectory(prefix="holdwatch-") as folder:
        url = store or f"sqlite:///{Path(folder) / 'demo.db'}"
        process = _start(url, folder, threads, seed)
        try:
            _await_ready(process)
            yield url
        finally:
            _stop(process)


def _start(url: str, folder: str, threads: int, seed: int) -> subprocess.Popen[str]:
    # The URL goes over standard input: a command line can be read by every user of the machine.
    process = subprocess.Popen(  # noqa: S603 - this very program, with two numbers
        [sys.executable, "-m", "console.demo", str(threads), str(seed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(f"{json.dumps([url, folder])}\n")
    process.stdin.flush()
    return process


def _await_ready(process: subprocess.Popen[str]) -> None:
    """GatewayError with what the fleet said if it does not begin in time."""
    late = threading.Timer(START_SECONDS, process.kill)
    late.start()
    try:
        assert process.stdout is not None
        begun = process.stdout.readline().strip() == READY
    finally:
        late.cancel()
    if not begun:
        assert process.stderr is not None
        said = process.stderr.read().strip() or "the fleet did not begin in time; try again"
        raise GatewayError(said, code="store_failure", retryable=False)


def _stop(process: subprocess.Popen[str]) -> None:
    """The end of its standard input tells the fleet to stop; what does not listen is killed."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
