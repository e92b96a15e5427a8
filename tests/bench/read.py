"""Reading the latest checkpoint with its writes."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import psycopg

from engine import open_store
from tests.bench import floor_postgres, ours
from tests.bench.measuring import Contender, Spread, interleave
from tests.bench.peers import Getting, PuttingAtOnce, postgres_saver
from tests.bench.report import Row, bound_row, ratio_row

if TYPE_CHECKING:
    from tests.bench.places import Places

STEPS = 800
"""Steps committed before anything is read: a hundred to a thread."""
SQLITE_MICROSECONDS = 150.0


def read(places: Places, seconds: float) -> list[Row]:
    """The rows of `latest`, in about `seconds`."""
    share = seconds / 3
    return [*_postgres(places, 1, share), *_postgres(places, 8, share), _sqlite(places, share)]


def _filled(worker: Any) -> list[str]:
    """The worker's threads, once they have their steps."""
    for given in worker.inputs(STEPS):
        worker.do(given)
    return list(worker.chains.threads)


def _settle(url: str) -> None:
    """The planner's statistics as they would be after a while, instead of whenever autovacuum comes by."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _postgres(places: Places, threads: int, seconds: float) -> list[Row]:
    with ExitStack() as stack:
        series = interleave(_readers(stack, places, threads), seconds)
    work = f"latest, PostgreSQL, {threads} thread{'s' * (threads > 1)}"
    return [ratio_row(work, series, "floor", 0.6), ratio_row(work, series, "get_tuple", 1.0)]


def _readers(stack: ExitStack, places: Places, threads: int) -> list[Contender]:
    url, peer = places.migrated(f"read_{threads}"), places.database(f"read_saver_{threads}")
    store = stack.enter_context(open_store(url, pool_size=threads))
    pool = stack.enter_context(closing(floor_postgres.Pool(url, threads)))
    savers: list[Any] = [postgres_saver(peer) for _ in range(threads)]
    for saver in savers:
        stack.callback(saver.conn.close)
    ids = _filled(ours.Committing(store, "w"))
    _filled(PuttingAtOnce(savers[0], "w"))
    _settle(url)
    _settle(peer)
    return [
        Contender("ours", [ours.Reading(store, ids) for _ in savers]),
        Contender("floor", [floor_postgres.Reading(pool, ids) for _ in savers]),
        Contender("get_tuple", [Getting(saver, ids) for saver in savers]),
    ]


def _sqlite(places: Places, seconds: float) -> Row:
    with open_store(f"sqlite:///{places.migrated_file('read')}") as store:
        ids = _filled(ours.Committing(store, "w"))
        series = interleave([Contender("ours", [ours.Reading(store, ids)])], seconds)
    took = Spread.of([1e6 / rate for rate in series.rates["ours"]])
    return bound_row("latest, SQLite, 1 thread", took, "µs", SQLITE_MICROSECONDS)
