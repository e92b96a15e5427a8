"""The stores a state machine drives: a file, one in memory, or PostgreSQL; wiped between two runs."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from engine import open_store
from engine.clock import ManualClock
from tests.support.builders import T0

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

    from engine.checkpoints import Checkpointer, RunQueue
    from engine.store import Store
    from tests.support.harness import Harness

OF_THREADS = (
    "thread",
    "checkpoint",
    "pending_write",
    "event",
    "effect",
    "thread_metadata",
    "child_place",
    "refusal",
    "queue_entry",
    "queue_run",
)
"""The tables that durable threads fill."""


class Ids:
    """Stands in for the module `uuid` where ids are made: the same ones in every run, and not in the order made."""

    def __init__(self) -> None:
        self._made = 0

    def restart(self) -> None:
        """A new run begins."""
        self._made = 0

    def uuid4(self) -> str:
        """The next id."""
        self._made += 1
        return hashlib.md5(str(self._made).encode(), usedforsecurity=False).hexdigest()


IDS = Ids()
"""Of queue entries, in every test that says so; restarted with each run."""


class Subject:
    """One storage through two stores over it, of which the second always commits by the ordinary form."""

    durable = True

    def __init__(self, harness: Harness) -> None:
        self.kind, self.clock = harness.kind, harness.clock
        self._harness = harness
        self.stores = self._open()

    @property
    def queues(self) -> list[RunQueue]:
        """One for each store."""
        return [store.queue for store in self.stores]

    @property
    def checkpointers(self) -> list[Checkpointer]:
        """One for each store."""
        return [store.checkpoints for store in self.stores]

    def reopen(self) -> None:
        """Close every store and open the same storage again."""
        for store in self.stores:
            store.close()
        self.stores = self._open()

    def raw(self) -> AbstractContextManager[Connection]:
        """A transaction that sees the tables themselves."""
        return self.stores[0].engine.begin()

    def wipe(self) -> None:
        """Forget every thread, every entry and the mark; tokens go on."""
        IDS.restart()
        with self.raw() as connection:
            for table in OF_THREADS:
                connection.execute(text(f"DELETE FROM {table}"))
            connection.execute(text("UPDATE meta SET reclamation_mark = 1"))

    def _open(self) -> list[Store]:
        return [self._harness.open(), ordinary(self._harness.open())]


class MemorySubject(Subject):
    """A store in memory: there is only one, and closing it is its end."""

    durable = False

    def __init__(self) -> None:
        self.kind, self.clock = "memory", ManualClock(T0)
        self.stores = [open_store("memory:", clock=self.clock)]

    def reopen(self) -> None:
        """Not for this one."""
        raise AssertionError("a store in memory does not survive its end")

    def close(self) -> None:
        """End the store."""
        self.stores[0].close()


def ordinary(store: Store) -> Store:
    """The store, made to commit by the ordinary form alone, which decides every commit by itself."""
    checkpoints: Any = store.checkpoints
    checkpoints._plain = _not_done
    return store


def _not_done(thread_id: str, *rest: object) -> None:
    """What a plain form answers when the ordinary one is to decide (ruling 2)."""
