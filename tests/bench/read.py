"""Reading the latest checkpoint with its writes."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from engine import open_store
from tests.bench import floor_postgres, ours
from tests.bench.measuring import Contender, Spread, interleave
from tests.bench.peers import Getting, Putting, postgres_saver
from tests.bench.report import Row, bound_row, ratio_row

if TYPE_CHECKING:
    from tests.bench.measuring import Worker
    from tests.bench.places import Places

STEPS = 400
"""Steps committed before anything is read: fifty to a thread."""
SQLITE_MICROSECONDS = 150.0


def read(places: Places, seconds: float) -> list[Row]:
    """The rows of `latest`, in about `seconds`."""
    return [
        *_postgres(places, 1, seconds / 3),
        *_postgres(places, 8, seconds / 3),
        _sqlite(places, seconds / 3),
    ]


def _filled(worker: Worker) -> Worker:
    for given in worker.inputs(STEPS):
        worker.do(given)
    return worker


def _postgres(places: Places, threads: int, seconds: float) -> list[Row]:
    work = f"latest, PostgreSQL, {threads} thread{'s' * (threads > 1)}"
    with ExitStack() as stack:
        url = places.migrated(f"read_{threads}")
        store = stack.enter_context(open_store(url, pool_size=threads))
        pool = stack.enter_context(closing(floor_postgres.Pool(url, threads)))
        savers = [postgres_saver(places.database(f"read_saver_{threads}"))]
        savers += [postgres_saver(savers[0].conn.info.dsn) for _ in range(threads - 1)]
        ids = ours.Committing(store, "w")
        _filled(ids)
        _filled(Putting(savers[0], "w"))
        threads_read = ids.chains.threads
        series = interleave(
            [
                Contender("ours", [ours.Reading(store, threads_read) for _ in savers]),
                Contender("floor", [floor_postgres.Reading(pool, threads_read) for _ in savers]),
                Contender("get_tuple", [Getting(saver, threads_read) for saver in savers]),
            ],
            seconds,
        )
        for saver in savers:
            saver.conn.close()
    return [ratio_row(work, series, "floor", 0.6), ratio_row(work, series, "get_tuple", 1.0)]


def _sqlite(places: Places, seconds: float) -> Row:
    with open_store(f"sqlite:///{places.migrated_file('read')}") as store:
        ids = ours.Committing(store, "w")
        _filled(ids)
        series = interleave([Contender("ours", [ours.Reading(store, ids.chains.threads)])], seconds)
    took = Spread.of([1e6 / rate for rate in series.rates["ours"]])
    return bound_row("latest, SQLite, 1 thread", took, "µs", SQLITE_MICROSECONDS)
