"""Every gate of the project, in one command: `python -m tests.check`, or `python -m tests.check long`.

Formatting, lint, types, layers, then the tests: last, so that pytest's closing line ends the output. A step
that fails does not keep the others from running; the exit code is 1 if any failed. `long` runs the soaks at
their whole length (ruling 60): tests read it with `is_long()`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).parents[1]
LENGTH: Final = "HOLDWATCH_CHECK"
"""The variable that tells tests how long to go on: `check`, or `long`."""

GATE_SECONDS: Final = 300.0
TEST_SECONDS: Final = {"check": 3_000.0, "long": 4 * 3_600.0}
WORKERS: Final = (3, 8)
"""Fewest and most pytest processes: one more than cores, for each waits for its own PostgreSQL server half the time."""

LAYERS: Final = "from importlinter.cli import lint_imports_command as c; c(['--no-logo'])"


@dataclass(frozen=True, slots=True)
class Gate:
    """One static check: its name and the arguments for this Python."""

    name: str
    arguments: tuple[str, ...]


GATES: Final = (
    Gate("ruff format", ("-m", "ruff", "format", "--check", ".")),
    Gate("ruff check", ("-m", "ruff", "check", ".")),
    Gate("mypy", ("-m", "mypy")),
    Gate("import-linter", ("-c", LAYERS)),
)


def is_long() -> bool:
    """Whether this run is to take the long soaks whole."""
    return os.environ.get(LENGTH) == "long"


def main(arguments: Sequence[str]) -> int:
    """Run everything; 0 if all passed, 1 if anything failed, 64 for other arguments."""
    if list(arguments) not in ([], ["check"], ["long"]):
        _say("usage: python -m tests.check [long]")
        return 64
    length = arguments[0] if arguments else "check"
    failed = [gate.name for gate in GATES if not _passes(gate)]
    if failed:
        _say(f"FAILED so far: {', '.join(failed)}")
    return int(not _tests_pass(length) or bool(failed))


def _passes(gate: Gate) -> bool:
    """Run one gate, with its output only when it failed."""
    begun = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, *gate.arguments],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=GATE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        _say(f"FAILED  {gate.name}: not done after {GATE_SECONDS:.0f} s")
        return False
    passed = done.returncode == 0
    _say(f"{'ok    ' if passed else 'FAILED'}  {gate.name}  {time.monotonic() - begun:.1f} s")
    if not passed:
        _say(done.stdout.rstrip())
    return passed


def _tests_pass(length: str) -> bool:
    """Run pytest, whose own closing line tells how long it took."""
    environment = {**os.environ, LENGTH: length, "HYPOTHESIS_PROFILE": length}
    spread = ("-n", str(_workers()), "--dist", "worksteal")
    command = [sys.executable, "-m", "pytest", *spread, "--durations", "10", "--durations-min", "5"]
    limit = TEST_SECONDS[length]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        _say(f"FAILED  pytest: not done after {limit:.0f} s")
        return False
    return done.returncode == 0


def _workers() -> int:
    fewest, most = WORKERS
    return min(max((os.cpu_count() or 0) + 1, fewest), most)


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
