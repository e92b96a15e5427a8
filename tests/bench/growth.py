"""What a store grows by: bytes on the disk for an idle thread, and for an event. Reported, not judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import psycopg

from tests.bench.report import Row, report_row
from tests.bench.seed import seed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.places import Places

THREADS: Final = 20_000
EVENTS: Final = 10


def growth(places: Places, _seconds: float) -> list[Row]:
    """Bytes a thread with one checkpoint of some 60 bytes, and bytes an event of some 20."""
    rows: list[Row] = []
    for name, sizes in (("PostgreSQL", _postgres(places)), ("SQLite", _sqlite(places))):
        empty, idle, busy = sizes
        rows.append(report_row(f"an idle thread, {name}", f"{(idle - empty) / THREADS:,.0f} bytes"))
        rows.append(report_row(f"an event, {name}", f"{(busy - idle) / THREADS / EVENTS:,.0f} bytes"))
    return rows


def _postgres(places: Places) -> tuple[int, int, int]:
    empty = places.migrated("growth_0")
    idle, busy = places.migrated("growth_1"), places.migrated("growth_2")
    seed(idle, THREADS, 0)
    seed(busy, THREADS, EVENTS)
    return _database(empty), _database(idle), _database(busy)


def _database(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None
    return int(row[0])


def _sqlite(places: Places) -> tuple[int, int, int]:
    files = [places.migrated_file(f"growth_{number}") for number in range(3)]
    seed(f"sqlite:///{files[1]}", THREADS, 0)
    seed(f"sqlite:///{files[2]}", THREADS, EVENTS)
    return _size(files[0]), _size(files[1]), _size(files[2])


def _size(path: Path) -> int:
    return path.stat().st_size
