"""Sweeps over a store on PostgreSQL: a policy that removes nothing, and one that removes half of what is there."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from engine import open_store
from engine.checkpoints import RetentionPolicy, SweepPolicy
from engine.desk.maintenance import protect_nothing
from tests.bench.measuring import Spread
from tests.bench.report import Row, rate_row
from tests.bench.seed import seed

if TYPE_CHECKING:
    from engine.store import Store
    from tests.bench.places import Places

THREADS: Final = 20_000
EVENTS: Final = 4
NOTHING: Final = RetentionPolicy(timedelta(days=36_500), max_checkpoints=100, max_events=1_000)
HALF: Final = RetentionPolicy(max_events=EVENTS // 2)


def sweep(places: Places, seconds: float) -> list[Row]:
    """Threads a second, page by page, each row in at most about half of `seconds`."""
    url = places.migrated("sweep")
    seed(url, THREADS, EVENTS)
    with open_store(url) as store:
        idle = _pass(store, NOTHING, seconds / 2)
        busy = _pass(store, HALF, seconds / 2)
    return [
        rate_row("sweep that removes nothing, PostgreSQL", idle, "threads/s", 2_000),
        rate_row("sweep that removes half, PostgreSQL", busy, "threads/s", 500),
    ]


def _pass(store: Store, retention: RetentionPolicy, seconds: float) -> Spread:
    rates: list[float] = []
    after: str | None = None
    deadline = time.perf_counter() + seconds
    while True:
        began = time.perf_counter()
        page = store.checkpoints.sweep(SweepPolicy(retention), protect_nothing, after=after)
        rates.append(page.visited / (time.perf_counter() - began))
        after = page.next
        if after is None or time.perf_counter() > deadline:
            return Spread.of(rates)
