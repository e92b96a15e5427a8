"""LangGraph's savers doing what they have of the same step: the checkpoint and its writes.

They know no claims and no events. The step's two writes are those of two tasks, which a saver is given in two calls
of put_writes, as its runtime does; a second contender puts both into one call, as if one task had made them.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import psycopg
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from psycopg.rows import dict_row

from tests.bench.workload import SNAPSHOT, WRITE_BODIES, Chains, Step

if TYPE_CHECKING:
    from pathlib import Path

Put = tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]


def postgres_saver(url: str) -> PostgresSaver:
    """A saver on a connection of its own, made as `from_conn_string` makes it."""
    connection = psycopg.connect(url, autocommit=True, prepare_threshold=0, row_factory=dict_row)
    saver = PostgresSaver(connection)
    saver.setup()
    return saver


def sqlite_saver(path: Path) -> SqliteSaver:
    """A saver on a file; the one connection is the saver's own idea of sharing."""
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.execute("PRAGMA synchronous = FULL")
    saver = SqliteSaver(connection)
    saver.setup()
    return saver


def _config(thread_id: str, checkpoint_id: str | None) -> dict[str, Any]:
    named = {"thread_id": thread_id, "checkpoint_ns": "", "checkpoint_id": checkpoint_id}
    return {"configurable": named}


def _put_of(step: Step) -> Put:
    """Arguments of `put`: the state is one channel that changed in this step."""
    version = f"{step.n:032d}.0"
    checkpoint = {
        "v": 4,
        "id": step.id,
        "ts": "2026-10-09T12:00:00+00:00",
        "channel_values": {"state": SNAPSHOT},
        "channel_versions": {"state": version},
        "versions_seen": {"node": {"state": version}},
        "updated_channels": ["state"],
    }
    metadata = {"source": "loop", "step": step.n, "parents": {}}
    return _config(step.thread_id, step.parent), checkpoint, metadata, {"state": version}


_SEED = """
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata)
SELECT 'thread-' || n, '', lpad(n::text, 32, '0'), 'json', %(checkpoint)s::jsonb, '{}'::jsonb
FROM generate_series(1, %(threads)s) AS n
"""


def seed_saver(saver: PostgresSaver, threads: int) -> None:
    """Give the saver so many threads of one checkpoint each."""
    checkpoint = {"v": 4, "id": "c1", "channel_values": {}, "channel_versions": {}, "versions_seen": {}}
    with saver.conn.cursor() as cursor:
        cursor.execute(_SEED, {"checkpoint": json.dumps(checkpoint), "threads": threads})
        cursor.execute("ANALYZE")


class Listing:
    """list of the newest checkpoints over all threads."""

    def __init__(self, saver: Any, limit: int) -> None:
        self._saver = saver
        self._limit = limit

    def inputs(self, count: int) -> list[int]:
        """The limit, again and again."""
        return [self._limit] * count

    def do(self, given: int) -> None:
        """Read."""
        assert len(list(self._saver.list(None, limit=given))) == given


class Putting:
    """put, then put_writes for each task."""

    def __init__(self, saver: Any, worker: str) -> None:
        self._saver = saver
        self.chains = Chains(worker)
        self._writes = [("state", body) for body in WRITE_BODIES]

    def inputs(self, count: int) -> list[Put]:
        """Arguments of put."""
        return [_put_of(step) for step in self.chains.steps(count)]

    def do(self, given: Put) -> None:
        """Store one step."""
        config = self._saver.put(*given)
        for n, write in enumerate(self._writes):
            self._saver.put_writes(config, [write], f"task-{n}")


class PuttingAtOnce(Putting):
    """put, then one put_writes with both writes."""

    def do(self, given: Put) -> None:
        """Store one step."""
        config = self._saver.put(*given)
        self._saver.put_writes(config, self._writes, "task-0")


class Getting:
    """get_tuple of threads in turn."""

    def __init__(self, saver: Any, threads: list[str]) -> None:
        self._saver = saver
        self._configs = [{"configurable": {"thread_id": each, "checkpoint_ns": ""}} for each in threads]

    def inputs(self, count: int) -> list[dict[str, Any]]:
        """Configurations that name a thread only."""
        return [self._configs[n % len(self._configs)] for n in range(count)]

    def do(self, given: dict[str, Any]) -> None:
        """Read."""
        assert self._saver.get_tuple(given) is not None
