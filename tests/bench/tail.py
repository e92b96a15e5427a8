"""From a commit to a waiter in another process, and what telling of commits costs those who write."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from engine import open_store
from engine.checkpoints import Commit, EventDraft
from tests.bench import ours
from tests.bench.measuring import Contender, Spread, interleave
from tests.bench.report import Row, bound_row, ratio_row
from tests.bench.workload import LEASE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from engine.store import Store
    from tests.bench.places import Places

WRITERS = 8
MOST_MS = {"PostgreSQL": 10.0, "SQLite": 60.0}
PAUSES = (0.005, 0.060)
"""Seconds between two commits: shorter and longer than any interval at which hints are gathered or looked for."""
FEWEST = 20


def tail(places: Places, seconds: float) -> list[Row]:
    """The rows of waiting, in about `seconds`."""
    urls = {"PostgreSQL": places.migrated("tail"), "SQLite": f"sqlite:///{places.migrated_file('tail')}"}
    rows = [_latency(name, url, seconds / 4) for name, url in urls.items()]
    loud, silent = places.migrated("loud"), places.migrated("silent")
    rows.append(_cost("PostgreSQL", loud, silent, seconds / 4))
    loud, silent = (f"sqlite:///{places.migrated_file(name)}" for name in ("loud", "silent"))
    rows.append(_cost("SQLite", loud, silent, seconds / 4))
    return rows


@contextmanager
def _waiter(url: str, thread_id: str) -> Iterator[subprocess.Popen[str]]:
    """A waiting process, ready when given."""
    command = [sys.executable, "-m", "tests.bench.waiter", url, thread_id]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert _said(process) == ["ready"]
            yield process
        finally:
            process.kill()


def _said(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return process.stdout.readline().split()


def _latency(name: str, url: str, seconds: float) -> Row:
    with open_store(url) as store, _waiter(url, "told") as process:
        token = store.checkpoints.claim("told", LEASE).token
        _sample(store, token, process)  # the first one starts helpers on both sides
        took: list[float] = []
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline or len(took) < FEWEST:
            took.append(_sample(store, token, process))
    return bound_row(f"commit → other process, {name}, p50", Spread.of(took), "ms", MOST_MS[name])


def _sample(store: Store, token: int, process: subprocess.Popen[str]) -> float:
    """Milliseconds from the call of commit to the event's having been read over there."""
    time.sleep(random.uniform(*PAUSES))
    start = time.time_ns()
    store.checkpoints.commit("told", Commit(token, events=[EventDraft("custom", {"n": 1}, "bench-run")]))
    return (int(_said(process)[1]) - start) / 1e6


def _cost(name: str, loud: str, silent: str, seconds: float) -> Row:
    """Eight writers who tell, with somebody listening in another process, against eight who do not."""
    with ExitStack() as stack:
        telling = stack.enter_context(open_store(loud, pool_size=WRITERS))
        quiet = stack.enter_context(open_store(silent, pool_size=WRITERS))
        _silence(quiet)
        stack.enter_context(_waiter(loud, "nobody-writes-here"))
        series = interleave([_writers("ours", telling), _writers("no hints", quiet)], seconds)
    return ratio_row(f"{WRITERS} writers with hints, {name}", series, "no hints", 0.9)


def _writers(name: str, store: Store) -> Contender:
    workers: Sequence[Any] = [ours.Committing(store, f"w-{n}") for n in range(WRITERS)]
    return Contender(name, workers)


def _silence(store: Store) -> None:
    """A store that tells nobody; there is no public way to that, on purpose."""
    signals: Any = store._backend.signals
    signals.publish = lambda _threads: None
