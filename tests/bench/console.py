"""What the console takes on a large store, and what it takes from it (console.md F6)."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from statistics import median
from typing import TYPE_CHECKING, Final

from console.refresh import BASE_SECONDS
from tests.bench.console_asking import commits, statements_of_an_idle_console
from tests.bench.console_questions import WHOLE, Took, slowest
from tests.bench.console_terminal import Terminal, terminal
from tests.bench.measuring import Spread
from tests.bench.report import Row, bound_row, report_row
from tests.bench.seed import seed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.places import Places

FRAME_SECONDS, ROWS_SECONDS = 0.6, 1.5
KEY_MS, DATABASE_MS = 50.0, 50.0
QUERIES, BYTES, MEBIBYTES = 20.0, 2_000.0, 150.0
STARTS: Final = 5
KEYS: Final = 200
CONSOLES: Final = 20
IDLE_SECONDS: Final = 20.0
SETTLED_SECONDS: Final = 6.0
"""After which a console has asked for whatever it asks once."""
RESERVATIONS, ENTRIES = 100_000, 100_000
_FRAME: Final = b"reading|newest first"
_ROWS: Final = rb"rows 1-\d"
_WALK: Final = ("0", "2", "3", "4", "5", "8", "9", "1")
_P95: Final = 0.95
_TURN: Final = 0.01
"""Seconds for one terminal to write, before it is the next one's turn."""


def console(places: Places, _seconds: float) -> list[Row]:
    """The table's rows, on either back end; each takes the time it takes, whatever `--seconds` says."""
    rows: list[Row] = []
    for name, url in _stores(places):
        rows += [*_starts(name, url), *_database(name, url), *_looking(name, url), *_idle(name, url)]
    return rows


def _stores(places: Places) -> Iterator[tuple[str, str]]:
    """The stores given on the command line, else one of each kind, filled for this."""
    if places.stores:
        for url in places.stores:
            yield ("SQLite" if url.startswith("sqlite") else "PostgreSQL"), url
        return
    each = max(1, places.events // places.threads)
    for name, url in (
        ("SQLite", f"sqlite:///{places.migrated_file('console')}"),
        ("PostgreSQL", places.migrated("console")),
    ):
        seed(url, places.threads, each, RESERVATIONS, ENTRIES)
        yield name, url


def _starts(name: str, url: str) -> list[Row]:
    """From the command to what is on the screen."""
    frames: list[float] = []
    rows: list[float] = []
    worked: list[float] = []
    worked_on: list[float] = []
    for _ in range(STARTS):
        with terminal(url) as shown:
            frames.append(shown.see(_FRAME))
            worked.append(shown.worked)
            rows.append(shown.see(_ROWS))
            worked_on.append(shown.worked)
    return [
        bound_row(f"command to first frame, {name}", Spread.of(frames), "s", FRAME_SECONDS, digits=2),
        bound_row(f"command to first rows, {name}", Spread.of(rows), "s", ROWS_SECONDS, digits=2),
        report_row(
            f"its own processor time to either, {name}", f"{median(worked):.2f} s, {median(worked_on):.2f} s"
        ),
    ]


def _database(name: str, url: str) -> list[Row]:
    """The database's time for the slowest question of each screen."""
    return [_database_row(f"{screen}, {name}", took, screen) for screen, took in slowest(url)]


def _database_row(where: str, took: Took, screen: str) -> Row:
    if screen == WHOLE:  # several questions, asked every twenty seconds
        return report_row(f"{where}: {took.what}", f"{took.seconds.middle * 1000:.0f} ms of the database")
    return _slowest_row(where, took)


def _slowest_row(where: str, took: Took) -> Row:
    work = f"slowest of {took.calls} questions, {where}: {took.what}"
    least, middle, most = (
        1000 * each for each in (took.seconds.least, took.seconds.middle, took.seconds.most)
    )
    return bound_row(work, Spread(middle, least, most), "ms", DATABASE_MS)


def _looking(name: str, url: str) -> list[Row]:
    """What a key takes while the list is read twice a second, and the memory after a walk over all screens."""
    with terminal(url, "--refresh", "0.5") as shown:
        shown.see(_ROWS)
        took = sorted(_keys(shown))
        p95 = Spread(took[int(len(took) * _P95)] * 1000, took[0] * 1000, took[-1] * 1000)
        for key in _WALK:
            shown.press(key)
            shown.idle(1.0)
        memory = shown.most_memory / 2**20
    return [
        bound_row(f"key to repaint, p95 of {KEYS}, {name}", p95, "ms", KEY_MS),
        bound_row(f"memory at most, {name}", Spread.of([memory]), "MiB", MEBIBYTES),
    ]


def _keys(shown: Terminal) -> Iterator[float]:
    """Seconds from a key to the cursor's new line, at times that the console cannot foresee."""
    dice = random.Random(1)
    for number in range(KEYS):
        shown.idle(dice.uniform(0.02, 0.12))
        yield _key(shown, "j" if number // 20 % 2 == 0 else "k")


def _key(shown: Terminal, key: str) -> float:
    before, start = shown.cursor_line, time.perf_counter()
    shown.press(key)
    shown.until(lambda: shown.cursor_line not in {before, None}, "the cursor's new line")
    return time.perf_counter() - start


def _idle(name: str, url: str) -> list[Row]:
    """What consoles that nobody touches ask, and what one of them writes."""
    statements = statements_of_an_idle_console(url, SETTLED_SECONDS, IDLE_SECONDS)
    with terminal(url) as shown:
        shown.see(_ROWS)
        shown.idle(SETTLED_SECONDS)
        written = shown.idle(IDLE_SECONDS) / (IDLE_SECONDS / BASE_SECONDS)
    rows = [
        bound_row(f"bytes of an idle refresh, {name}", Spread.of([written]), "bytes", BYTES),
        bound_row(
            f"statements of {CONSOLES} idle consoles, one traced, {name}",
            Spread.of([statements * CONSOLES]),
            "/s",
            QUERIES,
        ),
    ]
    if name == "PostgreSQL":
        rows.append(_counted_by_the_server(url))
    return rows


def _counted_by_the_server(url: str) -> Row:
    """Transactions of twenty consoles, each in a terminal of its own."""
    with ExitStack() as stack:
        shown: list[Terminal] = []
        for _ in range(CONSOLES):  # one behind the other: together they would take a minute to start
            shown.append(stack.enter_context(terminal(url)))
            shown[-1].see(_ROWS)
        _all_idle(shown, SETTLED_SECONDS)
        before, began = commits(url), time.perf_counter()
        _all_idle(shown, IDLE_SECONDS)
        rate = (commits(url) - before) / (time.perf_counter() - began)
    work = f"transactions of {CONSOLES} idle consoles, counted by the server"
    return bound_row(work, Spread.of([rate]), "/s", QUERIES)


def _all_idle(shown: list[Terminal], seconds: float) -> None:
    """Every one of them is read, or it would wait for its terminal."""
    deadline = time.perf_counter() + seconds
    while time.perf_counter() < deadline:
        for each in shown:
            each.read(_TURN)
        time.sleep(_TURN)
