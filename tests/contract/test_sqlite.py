"""The SQLite store's own cases: 116 to 122, 124, 125 and 128 of checkpoints.md.

123 is in test_undecodable.py; 126 and 127 are under tests/concurrency, with more of 117.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from engine import open_store
from engine.checkpoints import ClaimRequest, Commit
from engine.clock import ManualClock
from engine.database import migrations
from engine.errors import (
    SchemaMismatch,
    StoreClosed,
    StoreFailure,
    ThreadBusy,
    ValidationError,
    WaitCancelled,
)
from tests.support.background import LIMIT, background
from tests.support.builders import STEP, claim, emit, ev, fresh_id, latest_id, seqs
from tests.support.files import SCHEME, dump, open_descriptors, path_of, query, writing
from tests.support.refusals import named, refused
from tests.support.together import all_succeeded, together

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from engine.checkpoints import Checkpointer
    from engine.store import Store
    from tests.support.harness import Harness

META = "SELECT schema_version, reclamation_mark, last_token FROM meta"


def journal_mode(path: Path) -> str:
    return str(query(path, "PRAGMA journal_mode")[0][0])


def test_core_116_a_new_file(sqlite_harness: Harness) -> None:
    url = sqlite_harness.fresh_url()
    fresh = [(migrations.SCHEMA_VERSION, 1, 0)]

    sqlite_harness.open(url).close()
    assert query(path_of(url), META) == fresh
    assert journal_mode(path_of(url)) == "wal"

    sqlite_harness.open(url).close()
    assert query(path_of(url), META) == fresh


def test_core_117_eight_openers_of_one_new_file(sqlite_harness: Harness) -> None:
    for _ in range(40):
        url = sqlite_harness.fresh_url()
        stores: list[Store] = all_succeeded(together(*[partial(open_store, url)] * 8))
        for store in stores:
            assert store.checkpoints.latest("t") is None
            store.close()
        assert query(path_of(url), META) == [(migrations.SCHEMA_VERSION, 1, 0)]
        assert journal_mode(path_of(url)) == "wal"


def test_core_118_a_file_of_a_newer_version(sqlite_harness: Harness) -> None:
    path = path_of(sqlite_harness.url)
    query(path, "UPDATE meta SET schema_version = 4711")
    before, bytes_before = dump(path), path.read_bytes()

    with pytest.raises(SchemaMismatch) as caught:
        open_store(sqlite_harness.url)

    assert (caught.value.found, caught.value.supported) == (4711, migrations.SCHEMA_VERSION)
    assert "4711" in str(caught.value)
    assert str(path) in str(caught.value)
    assert (dump(path), path.read_bytes()) == (before, bytes_before)
    assert open_descriptors(path) == 0


def test_core_118_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("milk, bread, and a long list of other things" * 100)

    with pytest.raises(StoreFailure):
        open_store(f"{SCHEME}{path}")

    assert path.read_text().startswith("milk")
    assert open_descriptors(path) == 0


def test_core_118_a_missing_directory(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "agents.db"

    with pytest.raises(StoreFailure):
        open_store(f"{SCHEME}{path}")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["what?.db", "a#b.db", "100%.db", "%41.db", "two words.db", "x?mode=memory&cache=y", "ü.db"]
)
def test_core_119_a_path_is_taken_verbatim(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with open_store(f"{SCHEME}{path}") as store:
        t = fresh_id()
        emit(store.checkpoints, t, claim(store, t).token, "a")
        found = {entry.name for entry in tmp_path.iterdir()}
        assert name in found
        assert found <= {name, f"{name}-wal", f"{name}-shm"}

    with open_store(f"{SCHEME}{path}", read_only=True) as store:
        assert seqs(store.checkpoints, t) == [1]
    assert {entry.name for entry in tmp_path.iterdir()} <= {name, f"{name}-wal", f"{name}-shm"}


def test_core_120_an_interrupt_while_waiting_to_open_a_busy_file(tmp_path: Path) -> None:
    path, cancel = tmp_path / "busy.db", threading.Event()
    patience = timedelta(minutes=5)
    with writing(path):
        opener = background(open_store, f"{SCHEME}{path}", busy_timeout=patience, cancel=cancel)
        time.sleep(0.2)
        assert not opener.done()
        cancel.set()
        with pytest.raises(WaitCancelled) as caught:
            opener.result(LIMIT)
        assert "open" in caught.value.operation
        assert cancel.is_set()
    # SQLite keeps a closed descriptor while this process still holds a lock on the file; now it does not.
    assert open_descriptors(path) == 0

    with open_store(f"{SCHEME}{path}") as store:
        assert store.checkpoints.latest("t") is None


def test_core_121_a_ttl_of_a_second_and_a_half(sqlite_harness: Harness) -> None:
    t, start = fresh_id(), datetime(2026, 10, 9, 9, 0, 0, 123456, tzinfo=UTC)
    clock, ttl = ManualClock(start), timedelta(seconds=1.5)
    granted = sqlite_harness.open(clock=clock).checkpoints.claim(t, ClaimRequest("first", ttl))
    assert granted.expires_at == datetime(2026, 10, 9, 9, 0, 1, 623456, tzinfo=UTC)

    reopened = sqlite_harness.open(clock=clock).checkpoints
    clock.advance(ttl - STEP)
    refused(ThreadBusy(t, None, named("first")), claim, reopened, t, "second")
    clock.advance(STEP)
    assert claim(reopened, t, "second").taken_over_from == "first"


def test_core_121_the_whole_nanosecond_is_stored(sqlite_harness: Harness) -> None:
    start = datetime(2026, 10, 9, 9, 0, 0, 123456, tzinfo=UTC)
    store = sqlite_harness.open(clock=ManualClock(start))
    store.checkpoints.claim("t", ClaimRequest("first", timedelta(seconds=1.5)))

    rows = query(path_of(sqlite_harness.url), "SELECT claim_expires_at FROM thread WHERE thread_id = 't'")
    assert rows == [(1_791_536_401_623_456_000,)]


def test_core_122_the_steps_lead_to_the_target(sqlite_harness: Harness) -> None:
    url = sqlite_harness.fresh_url()
    refused_open(SchemaMismatch, url, ensure_schema=False)
    assert dump(path_of(url)) == ["BEGIN TRANSACTION;", "COMMIT;"]

    sqlite_harness.open(url).close()
    assert query(path_of(url), "SELECT schema_version FROM meta") == [(migrations.SCHEMA_VERSION,)]


def test_core_122_a_missing_step_is_reported(
    sqlite_harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(path_of(sqlite_harness.url))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", migrations.SCHEMA_VERSION + 1)

    refused_open(StoreFailure, sqlite_harness.url)

    assert dump(path_of(sqlite_harness.url)) == before


def test_core_122_a_version_that_has_no_step_is_reported(sqlite_harness: Harness) -> None:
    path = path_of(sqlite_harness.url)
    query(path, "UPDATE meta SET schema_version = -3")
    before = dump(path)

    refused_open(StoreFailure, sqlite_harness.url)

    assert dump(path) == before


def refused_open(kind: type[Exception], url: str, **options: Any) -> None:
    """Opening is refused, and leaves no connection."""
    with pytest.raises(kind):
        open_store(url, **options)
    assert open_descriptors(path_of(url)) == 0


def every_call(checkpoints: Checkpointer) -> list[Callable[[], Any]]:
    """One call of each verb."""
    short = timedelta(milliseconds=10)
    return [
        lambda: checkpoints.claim("t", ClaimRequest("first", short)),
        lambda: checkpoints.renew("t", 1, short),
        lambda: checkpoints.release("t", 1),
        lambda: checkpoints.commit("t", Commit(1, events=[ev("a")])),
        lambda: checkpoints.latest("t"),
        lambda: checkpoints.checkpoint("t", "c1"),
        lambda: checkpoints.history("t"),
        lambda: checkpoints.events_after("t", 0, 10),
        lambda: checkpoints.await_events_after("t", 0, 10, short),
        lambda: checkpoints.compact_events("t", 1),
        lambda: checkpoints.delete_thread("t", 1),
        lambda: checkpoints.effect("t", "key"),
    ]


def test_core_124_a_closed_store_answers_nothing(harness: Harness) -> None:
    store = harness.open()
    store.close()
    store.close()

    for call in every_call(store.checkpoints):
        with pytest.raises(StoreClosed) as caught:
            call()
        assert isinstance(caught.value, StoreFailure)
        assert "closed" in str(caught.value)
    store.close()


def test_core_124_closing_ends_a_wait(harness: Harness) -> None:
    store = harness.open()
    waiter = background(store.checkpoints.await_events_after, "t", 0, 10, timedelta(hours=1))
    time.sleep(0.1)
    store.close()

    with pytest.raises(StoreClosed):
        waiter.result(LIMIT)


def test_core_125_a_commit_waits_for_a_busy_file_and_gives_up(sqlite_harness: Harness) -> None:
    store = sqlite_harness.open(busy_timeout=timedelta(milliseconds=200))
    t = fresh_id()
    token = claim(store, t).token

    with writing(path_of(sqlite_harness.url)):
        began = time.monotonic()
        commit = background(store.checkpoints.commit, t, Commit(token, events=[ev("lost")]))
        assert latest_id(store.checkpoints, t) is None
        assert seqs(store.checkpoints, t) == []
        assert isinstance(commit.exception(LIMIT), StoreFailure)
        assert time.monotonic() - began >= 0.15

    assert seqs(store.checkpoints, t) == []
    assert emit(store.checkpoints, t, token, "a") == [1]


def test_core_125_a_commit_goes_through_once_the_file_is_free(sqlite_harness: Harness) -> None:
    checkpoints = sqlite_harness.checkpoints
    t = fresh_id()
    token = claim(checkpoints, t).token

    with writing(path_of(sqlite_harness.url)):
        commit = background(emit, checkpoints, t, token, "a")
        time.sleep(0.2)
        assert not commit.done()
    assert commit.result(LIMIT) == [1]


@pytest.mark.parametrize("milliseconds", [0, -1, -5000, 2**31])
def test_core_128_a_busy_timeout_out_of_bounds(tmp_path: Path, milliseconds: int) -> None:
    with pytest.raises(ValidationError) as caught:
        open_store(f"{SCHEME}{tmp_path / 'a.db'}", busy_timeout=timedelta(milliseconds=milliseconds))
    assert caught.value.field == "busy_timeout"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("milliseconds", [1, 2**31 - 1])
def test_core_128_a_busy_timeout_within_bounds(tmp_path: Path, milliseconds: int) -> None:
    url = f"{SCHEME}{tmp_path / 'a.db'}"
    open_store(url).close()
    with open_store(url, busy_timeout=timedelta(milliseconds=milliseconds)) as store:
        assert store.checkpoints.latest("t") is None


def test_core_128_five_seconds_by_default(sqlite_harness: Harness) -> None:
    with sqlite_harness.open().engine.connect() as connection:
        patience = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
    assert patience == pytest.approx(5000, abs=10)


def test_core_118_what_was_opened_is_closed_after_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE meta (unrelated TEXT)")
        other.execute("INSERT INTO meta VALUES ('somebody else''s')")
    other.close()
    before = dump(path)

    refused_open(StoreFailure, f"{SCHEME}{path}")

    assert dump(path) == before
