"""The README keeps its word: its worker runs, its commands exist, its links lead somewhere."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import pytest

from console.actions import ACTIONS
from console.config.file import parsed
from console.registry import registry_of
from engine import open_store
from engine.checkpoints import CheckpointStatus, ClaimRequest
from engine.errors import StaleClaim
from tests.support.builders import MANY, TTL, claim
from tests.tidy.sources import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from engine.store import Store
    from tests.support.harness import Harness

TEXT: Final = (ROOT / "README.md").read_text(encoding="utf-8")
THREAD: Final = "report-1"
PACE: Final = "STEP_SECONDS = 1.0"
SECONDS: Final = 60.0
MOST_LINES: Final = 350


def blocks(language: str) -> list[str]:
    """The README's fenced blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def worker(tmp_path: Path) -> Path:
    """The README's worker as a file, with steps that take no time."""
    code, _ = blocks("python")
    assert PACE in code
    script = tmp_path / "worker.py"
    script.write_text(code.replace(PACE, "STEP_SECONDS = 0.01"), encoding="utf-8")
    return script


@pytest.fixture
def spender(tmp_path: Path) -> Path:
    """The README's paid call as a file."""
    script = tmp_path / "spend.py"
    script.write_text(blocks("python")[1], encoding="utf-8")
    return script


def run(worker: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it where it lies."""
    command = [sys.executable, worker.name, *arguments]
    return subprocess.run(
        command, cwd=worker.parent, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def check_turns(store: Store, turns: int) -> None:
    """So many turns stand in the store, whole, and nobody holds the thread."""
    latest = store.checkpoints.latest(THREAD)
    assert latest is not None
    assert latest.checkpoint.status is CheckpointStatus.COMPLETED
    events = store.checkpoints.events_after(THREAD, 0, MANY)
    assert [(event.kind, event.payload["step"]) for event in events] == turns * [
        ("step_done", step) for step in range(1, 21)
    ]
    assert len(store.checkpoints.history(THREAD, limit=MANY)) == 20 * turns
    store.checkpoints.claim(THREAD, ClaimRequest("test", TTL))


def test_the_worker_writes_to_agents_db_and_goes_on_where_it_stopped(worker: Path) -> None:
    for _ in range(2):
        done = run(worker)
        assert (done.returncode, done.stderr) == (0, "")
    with open_store(f"sqlite:///{worker.parent / 'agents.db'}") as store:
        check_turns(store, turns=2)


def test_the_worker_writes_to_postgresql_as_well(worker: Path, postgres_harness: Harness) -> None:
    done = run(worker, postgres_harness.url)
    assert (done.returncode, done.stderr) == (0, "")
    check_turns(postgres_harness.store, turns=1)


def test_the_worker_leaves_a_held_thread_alone(worker: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'held.db'}"
    with open_store(url) as store:
        claim(store, THREAD, "somebody-else")
        done = run(worker, url)
        assert done.returncode == 1
        assert "not now" in done.stderr
        assert store.checkpoints.latest(THREAD) is None


def test_the_worker_stops_when_another_has_taken_over(worker: Path, sqlite_harness: Harness) -> None:
    script: dict[str, Any] = runpy.run_path(str(worker))
    threads = sqlite_harness.checkpoints
    late = claim(threads, THREAD, "late")
    sqlite_harness.advance(2 * TTL)
    claim(threads, THREAD, "successor")
    with pytest.raises(StaleClaim):
        script["work"](threads, THREAD, late)
    assert threads.latest(THREAD) is None


def test_the_paid_call_is_counted_once(spender: Path, harness: Harness) -> None:
    first, again, another = (run(spender, harness.url, f"report-1/call-{number}") for number in (1, 1, 2))
    assert (first.returncode, first.stderr) == (0, "")
    assert (again.returncode, again.stderr) == (1, "not now: already_consumed\n")
    assert another.returncode == 0
    rows = harness.store.desk.days().rows
    assert (sum(row.reserved_micro for row in rows), sum(row.settled_micro for row in rows)) == (0, 240_000)


def test_a_paid_call_that_died_stays_counted_until_somebody_decides(
    spender: Path, sqlite_harness: Harness
) -> None:
    script: dict[str, Any] = runpy.run_path(str(spender))
    script["paid_call"].__globals__["call_provider"] = _dies
    store = sqlite_harness.store
    meter = store.meter(
        allowance_for=lambda *_: 9, period_of=lambda now, _: f"{now:%Y-%m}", require_shared=False
    )
    with pytest.raises(KeyboardInterrupt):
        script["paid_call"](store, meter, THREAD, "op")
    later = datetime.now(UTC) + timedelta(hours=1)
    assert store.days.sweep(later).left == 1
    assert meter.reconcile(now=later).released == 0
    assert meter.snapshot("acme").reserved == 1


def _dies() -> int:
    raise KeyboardInterrupt


def test_the_configuration_is_one() -> None:
    (text,) = blocks("toml")
    config = parsed(text.encode(), ROOT / "config.toml")
    assert list(config.contexts) == ["prod", "staging"]
    assert "logs" in {action.name for action in registry_of(config).actions}


def test_every_command_of_holdwatch_is_told_about() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "console", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    listed = done.stdout.partition("Commands:\n")[2]
    commands = re.findall(r"^  (\w+)", listed, flags=re.MULTILINE)
    assert "console" in commands
    assert [name for name in commands if f"`holdwatch {name}" not in TEXT] == []


def test_the_keys_it_names_are_bound() -> None:
    table = TEXT.partition("| key | in the console |")[2].partition("\n\n")[0]
    named = {
        key
        for row in table.splitlines()
        for key in re.findall(r"`(.)`", row.split("|")[1] if "|" in row else "")
    }
    bound = {key for action in ACTIONS for key in action.keys}
    assert "?" in named
    assert named <= bound


def test_ci_installs_and_tests_with_the_readmes_own_commands() -> None:
    (line,) = [block.strip() for block in blocks("sh") if "[dev]" in block and "check" in block]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert script[-2:] == line.split(" && ")


def test_the_links_lead_to_files() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert targets
    assert [target for target in targets if "://" not in target and not (ROOT / target).is_file()] == []


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) < MOST_LINES
