"""The same work by hand on psycopg: a pool checkout, one statement, the same records out of it (ruling 64)."""

from __future__ import annotations

import json
from contextlib import contextmanager
from queue import LifoQueue
from typing import TYPE_CHECKING, Any

import psycopg

from engine.checkpoints import (
    Checkpoint,
    CheckpointStatus,
    Commit,
    EventRecord,
    PendingWrite,
    StoredCheckpoint,
)
from engine.clock import from_ns, to_ns
from tests.bench.workload import Chains, commit_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000"
_COMMIT = f"""
WITH head AS (
  UPDATE thread SET tenant_key = '', latest_id = %(id)s, latest_place = last_place + 1, latest_status = %(status)s,
    latest_run_id = %(run)s, last_place = last_place + 1, next_write = %(n_writes)s, updated_at = {_NOW},
    next_seq = next_seq + %(n_events)s
  WHERE thread_id = %(thread)s AND claim_token = %(token)s AND latest_id IS NOT DISTINCT FROM %(parent)s::text
  RETURNING thread_id, latest_place, next_seq - %(n_events)s AS first, updated_at
), c AS (
  INSERT INTO checkpoint (thread_id, place, checkpoint_id, run_id, status, parent, created_at, committed_at,
    first_seq, format, body)
  SELECT thread_id, latest_place, %(id)s, %(run)s, %(status)s, %(parent)s, %(created)s, updated_at, first, 1,
    %(snapshot)s FROM head
), d AS (
  DELETE FROM pending_write p USING head WHERE p.thread_id = head.thread_id AND p.place < head.latest_place
), w AS (
  INSERT INTO pending_write (thread_id, place, n, task_id, node_id, body)
  SELECT thread_id, latest_place, n - 1, task, node, body
  FROM head, unnest(%(w_tasks)s::text[], %(w_nodes)s::text[], %(w_bodies)s::text[])
    WITH ORDINALITY AS w(task, node, body, n)
), e AS (
  INSERT INTO event (thread_id, seq, kind, run_id, checkpoint_id, task_id, node_id, timestamp, committed_at, token,
    payload)
  SELECT thread_id, first + n - 1, kind, run, checkpoint, task, node, at, updated_at, %(token)s, payload
  FROM head, unnest(%(kinds)s::text[], %(runs)s::text[], %(checkpoints)s::text[], %(tasks)s::text[],
    %(nodes)s::text[], %(ats)s::bigint[], %(payloads)s::text[])
    WITH ORDINALITY AS e(kind, run, checkpoint, task, node, at, payload, n)
)
SELECT first FROM head
"""
_CLAIM = f"""
INSERT INTO thread (thread_id, claim_token, claim_holder, claim_expires_at, claim_granted_at, claim_renewed_at,
  claim_renewals, first_seq, next_seq, floor_seq, created_at)
VALUES (%s, nextval('token'), 'bench-run', {_NOW} + 3600000000000, {_NOW}, {_NOW}, 0, 1, 1, 1, {_NOW})
RETURNING claim_token
"""
_LATEST = """
SELECT c.checkpoint_id, c.thread_id, c.run_id, c.status, c.body, c.parent, c.created_at, c.tenant, c.token, c.format,
  w.task_id, w.node_id, w.body
FROM thread t
JOIN checkpoint c ON c.thread_id = t.thread_id AND c.place = t.latest_place
LEFT JOIN pending_write w ON w.thread_id = t.thread_id AND w.place = t.latest_place
WHERE t.thread_id = %s ORDER BY w.n
"""


class Pool:
    """The simplest pool there is: the connection given back last goes out first."""

    def __init__(self, url: str, size: int) -> None:
        self._idle: LifoQueue[psycopg.Connection[Any]] = LifoQueue()
        for _ in range(size):
            self._idle.put(psycopg.connect(url, autocommit=True, prepare_threshold=0))

    @contextmanager
    def checkout(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection, given back at the end."""
        connection = self._idle.get()
        try:
            yield connection
        finally:
            self._idle.put(connection)

    def close(self) -> None:
        """Close what is idle."""
        while not self._idle.empty():
            self._idle.get().close()


def dump(value: object) -> str:
    """The text the engine stores."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def arguments(thread_id: str, commit: Commit) -> dict[str, Any]:
    """A commit as the statement's parameters."""
    kept, writes, events = commit.checkpoint, commit.writes, commit.events
    assert kept is not None
    return {
        "thread": thread_id,
        "token": commit.token,
        "id": kept.id,
        "run": kept.run_id,
        "status": kept.status.value,
        "parent": kept.parent,
        "created": None if kept.created_at is None else to_ns(kept.created_at),
        "snapshot": dump(kept.snapshot),
        "n_writes": len(writes),
        "n_events": len(events),
        "w_tasks": [each.task_id for each in writes],
        "w_nodes": [each.node_id for each in writes],
        "w_bodies": [dump(each.body) for each in writes],
        "kinds": [each.kind for each in events],
        "runs": [each.run_id for each in events],
        "checkpoints": [each.checkpoint_id for each in events],
        "tasks": [each.task_id for each in events],
        "nodes": [each.node_id for each in events],
        "ats": [None if each.timestamp is None else to_ns(each.timestamp) for each in events],
        "payloads": [dump(each.payload) for each in events],
    }


def records(thread_id: str, commit: Commit, payloads: list[str], first: int) -> list[EventRecord]:
    """The numbered events, their payloads decoded again."""
    return [
        EventRecord(
            thread_id, seq, each.kind, json.loads(payload), each.run_id, each.checkpoint_id, each.task_id,
            each.node_id, each.timestamp, commit.token,
        )
        for seq, (each, payload) in enumerate(zip(commit.events, payloads, strict=True), first)
    ]  # fmt: skip


class Committing:
    """One statement for each commit."""

    def __init__(self, pool: Pool, worker: str) -> None:
        self._pool = pool
        self.chains = Chains(worker)
        with pool.checkout() as connection:
            self._tokens = {each: _claimed(connection, each) for each in self.chains.threads}

    def inputs(self, count: int) -> list[tuple[str, Commit]]:
        """The next commits."""
        steps = self.chains.steps(count)
        return [(step.thread_id, commit_of(step, self._tokens[step.thread_id])) for step in steps]

    def do(self, given: tuple[str, Commit]) -> list[EventRecord]:
        """Commit; zero rows would be a stale claim."""
        thread_id, commit = given
        values = arguments(thread_id, commit)
        with self._pool.checkout() as connection:
            row = connection.execute(_COMMIT, values).fetchone()
        assert row is not None
        return records(thread_id, commit, values["payloads"], row[0])


def _claimed(connection: psycopg.Connection[Any], thread_id: str) -> int:
    row = connection.execute(_CLAIM, (thread_id,)).fetchone()
    assert row is not None
    return int(row[0])


class Reading:
    """One statement for each read of the latest checkpoint."""

    def __init__(self, pool: Pool, threads: list[str]) -> None:
        self._pool, self._threads = pool, threads

    def inputs(self, count: int) -> list[str]:
        """Thread ids."""
        return [self._threads[n % len(self._threads)] for n in range(count)]

    def do(self, given: str) -> StoredCheckpoint:
        """Read."""
        with self._pool.checkout() as connection:
            rows = connection.execute(_LATEST, (given,)).fetchall()
        return stored(rows)


def stored(rows: list[Any]) -> StoredCheckpoint:
    """Rows of `_LATEST` as the engine's record."""
    name, thread_id, run, status, body, parent, created, tenant, token, version = rows[0][:10]
    kept = Checkpoint(
        name, thread_id, run, CheckpointStatus(status), json.loads(body), parent,
        None if created is None else from_ns(created), tenant, token, None, version,
    )  # fmt: skip
    writes = [
        PendingWrite(name, row[10], row[11], json.loads(row[12])) for row in rows if row[10] is not None
    ]
    return StoredCheckpoint(kept, writes)
