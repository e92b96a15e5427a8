"""Commits: against the one-statement floor, the hand-written transaction, and LangGraph's savers, with one thread and with eight."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from engine import open_store
from tests.bench import floor_postgres, floor_sqlite, ours
from tests.bench.measuring import Contender, interleave
from tests.bench.peers import Putting, postgres_saver, sqlite_saver
from tests.bench.report import Row, ratio_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.bench.places import Places

EIGHT = 8
FLOOR, SAVER, SHARED = "floor", "saver", "shared saver"


def commit(places: Places, seconds: float) -> list[Row]:
    """The commit rows of the table, in about `seconds`."""
    share = seconds / 4
    return [
        *_postgres(places, 1, share),
        *_postgres(places, EIGHT, share),
        *_sqlite(places, 1, share),
        *_sqlite(places, EIGHT, share),
    ]


def _names(prefix: str, threads: int) -> Sequence[str]:
    return [f"{prefix}-{n}" for n in range(threads)]


def _postgres(places: Places, threads: int, seconds: float) -> list[Row]:
    work = f"commit, PostgreSQL, {threads} thread{'s' * (threads > 1)}"
    names = _names("w", threads)
    with ExitStack() as stack:
        store = stack.enter_context(open_store(places.migrated(f"ours_{threads}"), pool_size=threads))
        pool = stack.enter_context(closing(floor_postgres.Pool(places.migrated(f"floor_{threads}"), threads)))
        own = places.database(f"savers_{threads}")
        savers = [postgres_saver(own) for _ in names]
        contenders = [
            Contender("ours", [ours.Committing(store, name) for name in names]),
            Contender(FLOOR, [floor_postgres.Committing(pool, name) for name in names]),
            Contender(SAVER, [Putting(saver, name) for saver, name in zip(savers, names, strict=True)]),
        ]
        if threads > 1:
            contenders.append(_shared(places.database(f"shared_{threads}"), names))
        series = interleave(contenders, seconds)
        for saver in savers:
            saver.conn.close()
    rows = [ratio_row(work, series, FLOOR, 0.75), ratio_row(work, series, SAVER, 1.1)]
    return rows + ([ratio_row(work, series, SHARED, 2.0)] if threads > 1 else [])


def _shared(url: str, names: Sequence[str]) -> Contender:
    saver = postgres_saver(url)
    return Contender(SHARED, [Putting(saver, name) for name in names])


def _sqlite(places: Places, threads: int, seconds: float) -> list[Row]:
    work = f"commit, SQLite full sync, {threads} thread{'s' * (threads > 1)}"
    names = _names("w", threads)
    with ExitStack() as stack:
        url = f"sqlite:///{places.migrated_file(f'ours-{threads}')}"
        store = stack.enter_context(open_store(url, pool_size=threads))
        pool = stack.enter_context(
            closing(floor_sqlite.Pool(places.migrated_file(f"floor-{threads}"), threads))
        )
        saver = sqlite_saver(places.file(f"saver-{threads}"))
        stack.enter_context(closing(saver.conn))
        series = interleave(
            [
                Contender("ours", [ours.Committing(store, name) for name in names]),
                Contender(FLOOR, [floor_sqlite.Committing(pool, name) for name in names]),
                Contender(SAVER, [Putting(saver, name) for name in names]),
            ],
            seconds,
        )
    wanted = 1.2 if threads == 1 else 1.5
    return [ratio_row(work, series, FLOOR, 0.5), ratio_row(work, series, SAVER, wanted)]
