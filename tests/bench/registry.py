"""A page of fifty threads of one owner among a million, the first one and one deep inside."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from engine import open_store
from engine.checkpoints import CheckpointStatus, ThreadPage, ThreadQuery, ThreadSummary
from engine.checkpoints.model import judge
from engine.clock import from_ns
from tests.bench import floor_postgres
from tests.bench.measuring import Contender, interleave
from tests.bench.peers import Listing, postgres_saver, seed_saver
from tests.bench.report import Row, ratio_row
from tests.bench.seed import seed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from engine.store import Store
    from tests.bench.places import Places

OWNER: Final = "tenant-7"
LIMIT: Final = 50
EVENTS: Final = 1
PEER_SHARE: Final = 5
"""The peer lists a fifth of the threads: it sorts them all, and a million would take it minutes to be given."""
_COLUMNS = "thread_id, tenant_key, latest_status, updated_at, created_at, latest_id, latest_run_id"
_WHERE = "tenant_key = {0} AND latest_id IS NOT NULL AND parent_id IS NULL AND (updated_at, thread_id) < ({0}, {0})"
_ORDER = "ORDER BY updated_at DESC, thread_id DESC LIMIT 51"
_POSTGRES = f"""
SELECT {_COLUMNS}, coalesce(claim_expires_at > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000, false)
FROM thread WHERE {_WHERE.format("%s")} {_ORDER}
"""
_SQLITE = f"""
SELECT {_COLUMNS}, coalesce(claim_expires_at > CAST(unixepoch() AS integer) * 1000000000, 0)
FROM thread WHERE {_WHERE.format("?")} {_ORDER}
"""


class Paging:
    """The engine's page."""

    def __init__(self, store: Store, after: str | None) -> None:
        self._threads = store.checkpoints.threads
        self._query = ThreadQuery(OWNER, limit=LIMIT, after=after)

    def inputs(self, count: int) -> Sequence[ThreadQuery]:
        """The same page again and again."""
        return [self._query] * count

    def do(self, given: ThreadQuery) -> None:
        """Read."""
        assert len(self._threads(given).threads) == LIMIT


class RawPaging:
    """The keyset query by hand, decoded into the same records."""

    def __init__(
        self, fetch: Callable[[tuple[Any, ...]], list[tuple[Any, ...]]], start: tuple[int, str]
    ) -> None:
        self._fetch = fetch
        self._arguments = (f"t{OWNER}", *start)

    def inputs(self, count: int) -> Sequence[tuple[Any, ...]]:
        """The same page again and again."""
        return [self._arguments] * count

    def do(self, given: tuple[Any, ...]) -> None:
        """Read."""
        page = ThreadPage.of([_summary(*row) for row in self._fetch(given)], LIMIT)
        assert len(page.threads) == LIMIT


def _summary(
    thread_id: str, owner: str, status: str, updated: int, created: int, latest: str, run: str, held: bool
) -> ThreadSummary:
    judged = judge(CheckpointStatus(status), live=bool(held))
    return ThreadSummary(
        thread_id, owner[1:] or None, judged, bool(held), from_ns(updated), from_ns(created), latest, run, {}
    )


def registry(places: Places, seconds: float) -> list[Row]:
    """The rows of the registry, in about `seconds` besides the filling."""
    url = places.migrated("registry")
    path = places.migrated_file("registry")
    for each in (url, f"sqlite:///{path}"):
        seed(each, places.threads, EVENTS)
    saver = postgres_saver(places.database("registry_saver"))
    seed_saver(saver, places.threads // PEER_SHARE)
    listing = Contender("list()", [Listing(saver, LIMIT)])
    rows = _rows("PostgreSQL", url, _postgres_fetch(url), [listing], seconds / 2)
    rows += _rows("SQLite", f"sqlite:///{path}", _sqlite_fetch(path), [], seconds / 2)
    saver.conn.close()
    return rows


def _rows(
    name: str, url: str, fetch: Callable[[tuple[Any, ...]], list[Any]], peers: list[Contender], seconds: float
) -> list[Row]:
    found: list[Row] = []
    with open_store(url) as store:
        for place, after, start in (("first", None, (2**62, "")), ("deep", *_middle(store))):
            ours = Contender("ours", [Paging(store, after)])
            floor = Contender("floor", [RawPaging(fetch, start)])
            series = interleave([ours, floor, *peers], seconds / 2)
            work = f"page of {LIMIT}, {place}, {name}"
            found.append(ratio_row(work, series, "floor", 0.4))
            found += [ratio_row(work, series, peer.name, 50.0) for peer in peers]
    return found


def _middle(store: Store) -> tuple[str, tuple[int, str]]:
    """A cursor half-way through the owner's threads, and the same for the query by hand."""
    from engine.paging import decode_cursor, encode_cursor

    first = store.checkpoints.threads(ThreadQuery(OWNER, limit=1))
    last = store.checkpoints.find_threads(OWNER, "thread-1", limit=1)
    assert first.next is not None
    updated, thread_id = decode_cursor(first.next, int, str)
    newest, oldest = int(str(thread_id)[7:]), int(last[0][7:])
    middle = (newest + oldest) // 2
    instant = int(updated) - (newest - middle) * 3_000_000_000
    return encode_cursor(instant, f"thread-{middle}"), (instant, f"thread-{middle}")


def _postgres_fetch(url: str) -> Callable[[tuple[Any, ...]], list[tuple[Any, ...]]]:
    pool = floor_postgres.Pool(url, 1)

    def fetch(arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with pool.checkout() as connection:
            return connection.execute(_POSTGRES, arguments).fetchall()

    return fetch


def _sqlite_fetch(path: Path) -> Callable[[tuple[Any, ...]], list[tuple[Any, ...]]]:
    connection = sqlite3.connect(path)

    def fetch(arguments: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with closing(connection.execute(_SQLITE, arguments)) as cursor:
            return cursor.fetchall()

    return fetch
