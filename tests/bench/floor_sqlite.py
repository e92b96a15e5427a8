"""The same work by hand on sqlite3: a pooled connection, a process lock before BEGIN IMMEDIATE, cached statements."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import contextmanager
from queue import LifoQueue
from typing import TYPE_CHECKING, Any

from engine.clock import to_ns
from tests.bench.floor_postgres import dump, records
from tests.bench.workload import Chains, commit_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from engine.checkpoints import Commit, EventRecord

_HEAD = "SELECT claim_token, latest_id, last_place, next_seq FROM thread WHERE thread_id = ?"
_KEEP = """
INSERT INTO checkpoint (thread_id, place, checkpoint_id, run_id, status, parent, created_at, committed_at, first_seq,
  format, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)
"""
_DROP = "DELETE FROM pending_write WHERE thread_id = ? AND place < ?"
_WRITE = "INSERT INTO pending_write (thread_id, place, n, task_id, node_id, body) VALUES (?, ?, ?, ?, ?, ?)"
_EVENT = """
INSERT INTO event (thread_id, seq, kind, run_id, checkpoint_id, task_id, node_id, timestamp, committed_at, token,
  payload) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LAND = """
UPDATE thread SET tenant_key = '', latest_id = ?, latest_place = ?, latest_status = ?, latest_run_id = ?,
  last_place = ?, next_write = ?, updated_at = ?, next_seq = ? WHERE thread_id = ?
"""
_CLAIM = """
INSERT INTO thread (thread_id, claim_token, claim_holder, claim_expires_at, claim_granted_at, claim_renewed_at,
  claim_renewals, first_seq, next_seq, floor_seq, created_at) VALUES (?, ?, 'bench-run', ?, ?, ?, 0, 1, 1, 1, ?)
"""


class Pool:
    """Connections to one file, and the lock that its writers take first."""

    def __init__(self, path: Path, size: int) -> None:
        self.writer = threading.Lock()
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()
        for _ in range(size):
            self._idle.put(_opened(path))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a write transaction, committed at the end."""
        connection = self._idle.get()
        try:
            with self.writer:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
        finally:
            self._idle.put(connection)

    def close(self) -> None:
        """Close what is idle."""
        while not self._idle.empty():
            self._idle.get().close()


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


class Committing:
    """One hand-written transaction for each commit."""

    def __init__(self, pool: Pool, worker: str) -> None:
        self._pool = pool
        self.chains = Chains(worker)
        self._token = time.time_ns()
        with pool.writing() as connection:
            for each in self.chains.threads:
                connection.execute(_CLAIM, (each, self._token, self._token + 10**13, *[self._token] * 3))

    def inputs(self, count: int) -> list[tuple[str, Commit]]:
        """The next commits."""
        return [(step.thread_id, commit_of(step, self._token)) for step in self.chains.steps(count)]

    def do(self, given: tuple[str, Commit]) -> list[EventRecord]:
        """Serialise, then write everything under the lock."""
        thread_id, commit = given
        kept = commit.checkpoint
        assert kept is not None
        body = dump(kept.snapshot)
        writes = [(each.task_id, each.node_id, dump(each.body)) for each in commit.writes]
        payloads = [dump(each.payload) for each in commit.events]
        with self._pool.writing() as connection:
            first = _written(connection, thread_id, commit, body, writes, payloads)
        return records(thread_id, commit, payloads, first)


def _written(
    connection: sqlite3.Connection,
    thread_id: str,
    commit: Commit,
    body: str,
    writes: list[Any],
    payloads: list[str],
) -> int:
    kept = commit.checkpoint
    assert kept is not None
    now = time.time_ns()
    token, latest, last, seq = connection.execute(_HEAD, (thread_id,)).fetchone()
    assert (token, latest) == (commit.token, kept.parent)
    place = last + 1
    created = None if kept.created_at is None else to_ns(kept.created_at)
    row = (thread_id, place, kept.id, kept.run_id, kept.status.value, kept.parent, created, now, seq, body)
    connection.execute(_KEEP, row)
    connection.execute(_DROP, (thread_id, place))
    connection.executemany(_WRITE, [(thread_id, place, n, *write) for n, write in enumerate(writes)])
    connection.executemany(_EVENT, _events(thread_id, commit, payloads, seq, now))
    end = seq + len(payloads)
    head = (kept.id, place, kept.status.value, kept.run_id, place, len(writes), now, end, thread_id)
    connection.execute(_LAND, head)
    return int(seq)


def _events(
    thread_id: str, commit: Commit, payloads: list[str], first: int, now: int
) -> list[tuple[Any, ...]]:
    return [
        (
            thread_id, seq, each.kind, each.run_id, each.checkpoint_id, each.task_id, each.node_id,
            None if each.timestamp is None else to_ns(each.timestamp), now, commit.token, payload,
        )
        for seq, (each, payload) in enumerate(zip(commit.events, payloads, strict=True), first)
    ]  # fmt: skip
