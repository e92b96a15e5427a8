"""Commits against the one-statement floor, the hand-written transaction and LangGraph's savers."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from engine import open_store
from tests.bench import floor_postgres, floor_sqlite, ours
from tests.bench.measuring import Contender, interleave
from tests.bench.peers import Putting, PuttingAtOnce, postgres_saver, sqlite_saver
from tests.bench.report import Row, ratio_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.bench.places import Places

EIGHT = 8
FLOOR, SAVER, AT_ONCE, SHARED = "floor", "saver", "saver, one put_writes", "one shared saver"
WANTED = {
    ("PostgreSQL", 1): {FLOOR: 0.75, SAVER: 1.1, AT_ONCE: 1.1},
    ("PostgreSQL", EIGHT): {FLOOR: 0.75, SAVER: 1.1, AT_ONCE: 1.1, SHARED: 2.0},
    ("SQLite full sync", 1): {FLOOR: 0.5, SAVER: 1.2, AT_ONCE: 1.2},
    ("SQLite full sync", EIGHT): {FLOOR: 0.5, SAVER: 1.5, AT_ONCE: 1.5},
}


def commit(places: Places, seconds: float) -> list[Row]:
    """The commit rows of the table, in about `seconds`."""
    kinds: dict[str, Callable[[ExitStack, Places, int], list[Contender]]]
    kinds = {"PostgreSQL": _postgres, "SQLite full sync": _sqlite}
    rows: list[Row] = []
    for (kind, threads), wanted in WANTED.items():
        with ExitStack() as stack:
            series = interleave(kinds[kind](stack, places, threads), seconds / len(WANTED))
        work = f"commit, {kind}, {threads} thread{'s' * (threads > 1)}"
        rows += [ratio_row(work, series, other, ratio) for other, ratio in wanted.items()]
    return rows


def _contender(name: str, make: Callable[[Any, str], Any], each: Iterable[Any]) -> Contender:
    """A worker for each of what the workers are made of: a store, a pool or a saver."""
    return Contender(name, [make(source, f"w{n}") for n, source in enumerate(each)])


def _postgres(stack: ExitStack, places: Places, threads: int) -> list[Contender]:
    store = stack.enter_context(open_store(places.migrated(f"ours_{threads}"), pool_size=threads))
    pool = floor_postgres.Pool(places.migrated(f"floor_{threads}"), threads)
    stack.enter_context(closing(pool))
    contenders = [
        _contender("ours", ours.Committing, [store] * threads),
        _contender(FLOOR, floor_postgres.Committing, [pool] * threads),
        _contender(SAVER, Putting, _savers(stack, places.database(f"savers_{threads}"), threads)),
        _contender(AT_ONCE, PuttingAtOnce, _savers(stack, places.database(f"at_once_{threads}"), threads)),
    ]
    if threads > 1:
        shared = _savers(stack, places.database(f"shared_{threads}"), 1)
        contenders.append(_contender(SHARED, PuttingAtOnce, shared * threads))
    return contenders


def _savers(stack: ExitStack, url: str, count: int) -> list[Any]:
    """Savers of one database, each with a connection of its own."""
    savers = [postgres_saver(url) for _ in range(count)]
    for saver in savers:
        stack.callback(saver.conn.close)
    return savers


def _sqlite(stack: ExitStack, places: Places, threads: int) -> list[Contender]:
    url = f"sqlite:///{places.migrated_file(f'ours-{threads}')}"
    store = stack.enter_context(open_store(url, pool_size=threads))
    pool = floor_sqlite.Pool(places.migrated_file(f"floor-{threads}"), threads)
    stack.enter_context(closing(pool))
    by_task, at_once = (sqlite_saver(places.file(f"{name}-{threads}")) for name in ("by-task", "at-once"))
    stack.enter_context(closing(by_task.conn))
    stack.enter_context(closing(at_once.conn))
    return [
        _contender("ours", ours.Committing, [store] * threads),
        _contender(FLOOR, floor_sqlite.Committing, [pool] * threads),
        _contender(SAVER, Putting, [by_task] * threads),
        _contender(AT_ONCE, PuttingAtOnce, [at_once] * threads),
    ]
