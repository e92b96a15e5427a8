"""What may happen to a SQLite store's file: it moves, it fills its disk, it may not be written."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine import open_store
from engine.checkpoints import Commit
from engine.database.sqlite import SqliteBackend
from engine.errors import ReadOnlyStore, StoreFailure, ValidationError
from tests.support.background import promptly
from tests.support.builders import claim, emit, ev, fresh_id, seqs
from tests.support.files import SCHEME, path_of

if TYPE_CHECKING:
    from pathlib import Path

    from engine.database.writer import WriterConnection
    from engine.store import Store
    from tests.support.harness import Harness

SEVERAL = 4
"""Connections at once, of which at most one was open before."""


def _several_at_once(store: Store) -> list[int]:
    """Tokens drawn by several threads, each of which waits until all of them have a connection."""
    meeting = threading.Barrier(SEVERAL)

    def use() -> int:
        with store.engine.connect():
            meeting.wait(10)
        return claim(store, fresh_id()).token

    with ThreadPoolExecutor(SEVERAL) as threads:
        return sorted(future.result() for future in [threads.submit(use) for _ in range(SEVERAL)])


@pytest.mark.parametrize("name", ["agents.db", ":memory:", "file:x.db?mode=memory"])
def test_a_relative_path_stays_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    with open_store(f"{SCHEME}{name}") as store:
        monkeypatch.chdir(elsewhere)
        assert _several_at_once(store) == [1, 2, 3, 4]
    assert (tmp_path / name).stat().st_size > 0
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_a_name_that_no_file_can_have_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        open_store(f"{SCHEME}/{name}")


def test_a_file_that_was_removed_takes_no_more_commits(sqlite_harness: Harness) -> None:
    store, t = sqlite_harness.store, fresh_id()
    token = claim(store, t).token
    emit(store.checkpoints, t, token, "a")
    path = path_of(sqlite_harness.url)
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()

    for call in (lambda: emit(store.checkpoints, t, token, "b"), lambda: claim(store, fresh_id())):
        with pytest.raises(StoreFailure, match="removed or replaced"):
            call()
    assert not path.exists()


def test_a_file_that_was_replaced_takes_no_more_commits(sqlite_harness: Harness) -> None:
    store, t = sqlite_harness.store, fresh_id()
    token = claim(store, t).token
    emit(store.checkpoints, t, token, "a")
    other = sqlite_harness.fresh_url()
    sqlite_harness.open(other).close()
    path_of(other).replace(path_of(sqlite_harness.url))

    with pytest.raises(StoreFailure, match="removed or replaced"):
        emit(store.checkpoints, t, token, "b")


def test_a_failed_opening_names_the_store(tmp_path: Path) -> None:
    with pytest.raises(StoreFailure, match="nowhere"):
        open_store(f"{SCHEME}{tmp_path}/nowhere/agents.db")


def _with_pragma(monkeypatch: pytest.MonkeyPatch, pragma: str) -> None:
    prepare = SqliteBackend._prepare

    def prepared(self: SqliteBackend, connection: WriterConnection) -> None:
        prepare(self, connection)
        connection.execute(f"PRAGMA {pragma}")

    monkeypatch.setattr(SqliteBackend, "_prepare", prepared)


def test_after_a_full_disk_others_write_on(sqlite_harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite undoes the whole transaction by itself then: the writer lock must be freed all the same."""
    sqlite_harness.open().close()
    _with_pragma(monkeypatch, "max_page_count = 400")
    store, t = sqlite_harness.open(busy_timeout=timedelta(seconds=1)), fresh_id()
    token = claim(store, t).token
    emit(store.checkpoints, t, token, "a")

    for _ in range(2):
        with pytest.raises(StoreFailure, match="full"):
            store.checkpoints.commit(t, Commit(token, events=[ev("big", payload="x" * 3_000_000)]))

    assert promptly(claim, store, fresh_id()).token > token
    assert promptly(emit, store.checkpoints, t, token, "b") == [2]
    assert seqs(store.checkpoints, t) == [1, 2]


def test_a_file_that_may_not_be_written_is_not_called_opened_read_only(
    sqlite_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_pragma(monkeypatch, "query_only = ON")
    with pytest.raises(ReadOnlyStore, match="write access") as refused:
        claim(sqlite_harness.store, fresh_id())
    assert "without read_only" not in str(refused.value)


def test_a_transaction_that_was_forgotten_keeps_nobody_out(sqlite_harness: Harness) -> None:
    store = sqlite_harness.open(busy_timeout=timedelta(seconds=1))
    forgotten = store.engine.raw_connection()
    forgotten.driver_connection.begin_immediate()  # type: ignore[union-attr]
    del forgotten
    gc.collect()

    assert promptly(claim, store, fresh_id()).token == 1
