"""`holdwatch maintain` and `holdwatch metrics`: real processes, what they print, and their exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from console import cli
from console.spans import span_of
from engine import open_store
from engine.clock import SystemClock
from engine.desk.maintenance import LEASE, MAINTENANCE_THREAD
from engine.reserved import convention_columns_ddl
from tests.support.background import until
from tests.support.builders import chain, claim
from tests.support.cascades import grow
from tests.support.queued import history
from tests.support.rows import rows_of
from tests.support.slots import MINUTE, Slots
from tests.tidy.sources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.checkpoints import Checkpointer
    from tests.support.harness import Harness

PATIENCE = 30.0
GUARD = """
asked = []

def keep(ids):
    return {"a": frozenset({"r1"})} if "a" in ids else {}

def fail(ids):
    raise LookupError("the owners' service is away")

number = 5
"""


class Running:
    """A `holdwatch` process whose output is read line by line."""

    def __init__(self, *arguments: str, path: Path | None = None) -> None:
        search = [str(ROOT), *([str(path)] if path is not None else [])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(search), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "console", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def line(self) -> str:
        """The next line it prints; AssertionError once it has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"it ended: {self.end()}"
        return line.rstrip("\n")

    def end(self, number: signal.Signals | None = None) -> tuple[int, str, str]:
        """Send the signal and wait: exit code, the rest of the output, standard error."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


@contextmanager
def running(*arguments: str, path: Path | None = None) -> Iterator[Running]:
    """The process, killed in the end if it still lives."""
    program = Running(*arguments, path=path)
    try:
        yield program
    finally:
        if program.process.poll() is None:
            program.process.kill()
            program.process.communicate(timeout=PATIENCE)


def fill(store: Checkpointer, *threads: str) -> None:
    """Threads of two checkpoints and two events each."""
    for t in threads:
        token = claim(store, t).token
        chain(store, t, token, ["c1"], run_id="r1")
        chain(store, t, token, ["c2"], run_id="r2")
        store.release(t, token)


@pytest.fixture
def live(harness: Harness) -> Checkpointer:
    """The test's storage by the real clock."""
    return harness.open(clock=None).checkpoints


@pytest.fixture
def guards(tmp_path: Path) -> Path:
    """A folder with a module of guards."""
    (tmp_path / "night_watch.py").write_text(GUARD)
    return tmp_path


def test_maintain_sweeps_until_it_is_told_to_end(harness: Harness, live: Checkpointer) -> None:
    fill(live, "a", "b")
    with running("maintain", harness.url, "--interval", "1s", "--max-checkpoints", "1", "--json") as program:
        first = json.loads(program.line())
        assert first == {
            "pages": 1,
            "visited": 3,
            "checkpoints_removed": 2,
            "events_removed": 2,
            "tombstones_reclaimed": 0,
            "next": None,
            "reserved_examined": 0,
            "reserved_collected": 0,
            "reserved_errors": 0,
            "units_purged": 0,
            "accounts_purged": 0,
            "meter_errors": 0,
        }
        fill(live, "later")
        until(lambda: history(live, "later") == ["c2"], "the next pass", limit=PATIENCE)
        code, _, err = program.end(signal.SIGTERM)
    assert (code, err) == (0, "")
    assert [history(live, t) for t in ("a", "b")] == [["c2"], ["c2"]]
    with harness.raw() as connection:
        assert rows_of(connection, MAINTENANCE_THREAD) == {}


def test_maintain_ends_at_ctrl_c(harness: Harness, live: Checkpointer) -> None:
    with running("maintain", harness.url, "--interval", "1h") as program:
        assert (
            program.line() == "1 thread visited in 1 page: 0 checkpoints, 0 events and 0 tombstones removed"
        )
        began = time.monotonic()
        code, out, err = program.end(signal.SIGINT)
    assert (code, out, err) == (130, "", "")
    assert time.monotonic() - began < 10


def once(harness: Harness, *arguments: str, path: Path | None = None) -> tuple[int, str, str]:
    """One pass: exit code, output, errors."""
    with running("maintain", harness.url, "--once", *arguments, path=path) as program:
        return program.end()


def test_maintain_once_applies_the_whole_policy(harness: Harness, live: Checkpointer) -> None:
    fill(live, "a")
    grow(live, {"gone": None})
    live.delete_thread("gone", claim(live, "gone").token)
    time.sleep(1.1)
    code, out, err = once(harness, "--max-events", "1", "--max-age", "1s", "--tombstone-age", "1s", "--json")
    assert (code, err) == (0, "")
    done: dict[str, Any] = json.loads(out)
    removed = [done[name] for name in ("checkpoints_removed", "events_removed", "tombstones_reclaimed")]
    assert removed == [1, 2, 1]
    assert history(live, "a") == ["c2"]


def test_maintain_sweeps_reserved_rows(harness: Harness, capsys: pytest.CaptureFixture[str]) -> None:
    slots = Slots(harness, harness.store.engine)
    real = SystemClock().now() - slots.now()
    for by in (-MINUTE, -2 * MINUTE, 60 * MINUTE):
        slots.reserve("room-101", "txn-A", real + by)
    assert cli.run(["maintain", harness.url, "--once"]) == cli.Exit.OK
    assert "2 of 3 reserved rows had lapsed and were removed\n" in capsys.readouterr().out
    assert cli.run(["maintain", harness.url, "--once", "--json"]) == cli.Exit.OK
    done = json.loads(capsys.readouterr().out)
    assert (done["reserved_examined"], done["reserved_collected"], done["reserved_errors"]) == (1, 0, 0)


def test_maintain_tells_of_tables_that_cannot_be_swept(
    sqlite_harness: Harness, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    columns = convention_columns_ddl("sqlite")
    with sqlite_harness.store.engine.begin() as connection:
        connection.connection.driver_connection.execute(f'CREATE TABLE "%(x)s" ({columns})')  # type: ignore[union-attr]
    assert cli.run(["maintain", sqlite_harness.url, "--once"]) == cli.Exit.OK
    assert "0 of 0 reserved rows" in (said := capsys.readouterr().out)
    assert "1 tables could not be swept" in said
    assert "rename the table" in caplog.text


def test_maintain_once_leaves_a_store_that_is_maintained(harness: Harness, live: Checkpointer) -> None:
    fill(live, "a")
    claim(live, MAINTENANCE_THREAD, "another", ttl=LEASE)
    code, out, err = once(harness, "--max-checkpoints", "1")
    assert (code, out) == (1, "")
    assert "another process" in err
    assert history(live, "a") == ["c2", "c1"]


def test_maintain_asks_its_guard(harness: Harness, live: Checkpointer, guards: Path) -> None:
    fill(live, "a", "b")
    code, _, err = once(harness, "--max-checkpoints", "1", "--guard", "night_watch:keep", path=guards)
    assert (code, err) == (0, "")
    assert [history(live, t) for t in ("a", "b")] == [["c2", "c1"], ["c2"]]


def test_a_failing_guard_is_told_about(harness: Harness, live: Checkpointer, guards: Path) -> None:
    fill(live, "a")
    arguments = ("--max-checkpoints", "1", "--guard", "night_watch:fail")
    code, out, err = once(harness, *arguments, path=guards)
    assert (code, out) == (1, "")
    assert "the owners' service is away" in err
    assert "Traceback" not in err
    with running("maintain", harness.url, *arguments, "--interval", "1h", path=guards) as program:
        assert program.process.stderr is not None
        assert "the owners' service is away" in program.process.stderr.readline()
        assert program.end(signal.SIGTERM)[0] == 0
    assert history(live, "a") == ["c2", "c1"]
    claim(live, MAINTENANCE_THREAD, "the lease is free")


@pytest.mark.parametrize(
    ("guard", "told"),
    [
        ("night_watch", "module:function"),
        (":keep", "module:function"),
        ("no_such_module:keep", "no_such_module"),
        ("night_watch:nothing", "nothing"),
        ("night_watch:number", "called"),
    ],
)
def test_a_guard_that_is_none(
    sqlite_harness: Harness,
    guards: Path,
    guard: str,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(guards)
    assert cli.run(["maintain", sqlite_harness.url, "--once", "--guard", guard]) == cli.Exit.USAGE
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--interval", "0s"],
        ["--interval", "soon"],
        ["--max-age", "10"],
        ["--max-age", "-1d"],
        ["--tombstone-age", "1w"],
        ["--max-checkpoints", "0"],
        ["--max-events", "-1"],
        ["--max-events", "many"],
    ],
)
def test_arguments_out_of_bounds(
    sqlite_harness: Harness, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["maintain", sqlite_harness.url, *arguments]) == cli.Exit.USAGE
    assert arguments[0] in capsys.readouterr().err


@pytest.mark.parametrize("command", ["maintain", "metrics"])
def test_a_missing_store_is_never_made(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "none.db"
    assert cli.run([command, str(missing)]) == cli.Exit.STORE_FAILURE
    assert "migrate" in capsys.readouterr().err
    assert not missing.exists()


def test_maintain_makes_no_tables(harness: Harness) -> None:
    url = harness.fresh_url()
    if harness.kind == "sqlite":
        Path(url.removeprefix("sqlite:///")).touch()
    with running("maintain", url, "--once") as program:
        code, out, err = program.end()
    assert (code, out) == (2, "")
    assert "holdwatch migrate" in err


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("1s", timedelta(seconds=1)),
        ("90m", timedelta(minutes=90)),
        ("36h", timedelta(hours=36)),
        ("7d", timedelta(days=7)),
    ],
)
def test_spans(text: str, span: timedelta) -> None:
    assert span_of(text) == span


@pytest.mark.parametrize("text", ["", "0s", "10", "s", "1.5h", "-1d", "1d2h", "1 d", "1D", "9999999s", "١s"])
def test_what_is_no_span(text: str) -> None:
    with pytest.raises(ValueError, match="no span"):
        span_of(text)


def scraped(where: str) -> dict[str, float]:
    """What the address serves, by name and labels."""
    with urllib.request.urlopen(where, timeout=PATIENCE) as answer:
        lines = answer.read().decode().splitlines()
    pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name: float(value) for name, _, value in pairs}


def where_of(program: Running) -> str:
    """The address that the process says it serves at."""
    return program.line().rpartition(" ")[2]


def test_metrics_are_served_until_told_to_end(harness: Harness, live: Checkpointer) -> None:
    with running("metrics", harness.url, "--listen", "127.0.0.1:0") as program:
        said = program.line()
        where = said.rpartition(" ")[2]
        assert where.startswith("http://127.0.0.1:")
        assert scraped(where)['holdwatch_threads{status="idle"}'] == 0
        fill(live, "a", "b")
        until(lambda: scraped(where)['holdwatch_threads{status="idle"}'] == 2, "the new threads")
        found = scraped(where)
        assert found["holdwatch_up"] == 1
        assert found["holdwatch_oldest_incomplete_seconds"] > 0
        code, out, err = program.end(signal.SIGTERM)
    assert (code, out, err) == (0, "", "")
    with pytest.raises(urllib.error.URLError):
        scraped(where)


def test_metrics_of_a_store_that_comes_and_goes(tmp_path: Path) -> None:
    path = tmp_path / "fleet.db"
    open_store(f"sqlite:///{path}").close()
    with running("metrics", str(path), "--listen", "127.0.0.1:0") as program:
        where = where_of(program)
        assert scraped(where)["holdwatch_up"] == 1
        hidden = path.rename(tmp_path / "hidden.db")
        until(lambda: scraped(where) == {"holdwatch_up": 0}, "the store is gone")
        assert not path.exists()
        hidden.rename(path)
        until(lambda: scraped(where)["holdwatch_up"] == 1, "the store is back")
        code, out, err = program.end(signal.SIGINT)
    assert (code, out) == (130, "")
    assert "cannot be read" in err
    assert "Traceback" not in err


def test_metrics_of_a_server_that_is_away() -> None:
    away = "postgresql://somebody:hush-hush@127.0.0.1:1/none"
    with running("metrics", away, "--listen", "127.0.0.1:0") as program:
        said = program.line()
        assert scraped(said.rpartition(" ")[2]) == {"holdwatch_up": 0}
        code, _, err = program.end(signal.SIGTERM)
    assert code == 0
    assert "Traceback" not in err
    assert "hush-hush" not in said + err


@pytest.mark.parametrize("listen", ["9187", "127.0.0.1:99999", "no-such-host.invalid:1", "192.0.2.1:9187"])
def test_an_address_that_cannot_be_had(
    sqlite_harness: Harness, listen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["metrics", sqlite_harness.url, "--listen", listen]) == cli.Exit.USAGE
    assert listen in capsys.readouterr().err


def test_signals_are_given_back(sqlite_harness: Harness) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert cli.run(["maintain", sqlite_harness.url, "--once"]) == cli.Exit.OK
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
