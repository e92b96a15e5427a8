"""Refused writers are counted for the operator: best effort, once a second a thread at most (ruling 20)."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select, text
from sqlalchemy.dialects import postgresql, sqlite

from engine.checkpoints.tables import meta, refusal, thread
from engine.database.constructs import Now
from engine.database.statement import Statement

if TYPE_CHECKING:
    from sqlalchemy import Connection, Executable

INTERVAL = 1.0  # seconds between two counted refusals of a thread in this process
REMEMBERED = 10_000  # threads whose last refusal is remembered

_LAST_TOKEN: dict[str, Executable] = {
    "sqlite": select(meta.c.last_token),
    "postgresql": text("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM token"),
}
# Locked just enough that the thread does not go before the count is there to go with it.
_KNOWN = Statement(
    select(thread.c.thread_id)
    .where(thread.c.thread_id == bindparam("id"))
    .with_for_update(read=True, key_share=True)
)


def _upsert(insert: object) -> Statement:
    values = {
        "thread_id": bindparam("id"),
        "count": 1,
        "last_token": bindparam("shown"),
        "last_verb": bindparam("verb"),
        "last_at": Now(),
    }
    statement = insert(refusal).values(**values)  # type: ignore[operator]
    seen = {key: statement.excluded[key] for key in ("last_token", "last_verb", "last_at")}
    return Statement(
        statement.on_conflict_do_update(
            index_elements=["thread_id"], set_={"count": refusal.c.count + 1, **seen}
        )
    )


_COUNT = {"sqlite": _upsert(sqlite.insert), "postgresql": _upsert(postgresql.insert)}


def last_token(connection: Connection) -> int:
    """The newest token that this store gave out; 0 before the first. The next one is higher."""
    return int(connection.execute(_LAST_TOKEN[connection.dialect.name]).scalar_one())


def record_refusal(connection: Connection, thread_id: str, token: int, verb: str) -> None:
    """Count a refusal of `token`, unless it was never issued or nothing is known of the thread."""
    if 1 <= token <= last_token(connection) and _KNOWN.one(connection, id=thread_id) is not None:
        _COUNT[connection.dialect.name].count(connection, id=thread_id, shown=token, verb=verb)


class RefusalThrottle:
    """Says whether a thread's refusal is due to be counted again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: OrderedDict[str, float] = OrderedDict()

    def due(self, thread_id: str) -> bool:
        """True at most once a second for each thread."""
        now = time.monotonic()
        with self._lock:
            if now - self._last.get(thread_id, -INTERVAL) < INTERVAL:
                return False
            self._last[thread_id] = now
            self._last.move_to_end(thread_id)
            if len(self._last) > REMEMBERED:
                self._last.popitem(last=False)
            return True
