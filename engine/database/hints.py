"""Hints leave when a connection is given back, so a caller's own transaction sends them too (ruling 21)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import event

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from engine.database.wakeups import Signals

_KEY = "holdwatch_hints"


def hint(connection: Connection, thread_id: str) -> None:
    """Say that readers of `thread_id` should read again once this transaction has ended."""
    connection.info.setdefault(_KEY, {})[thread_id] = None


def taken_hints(info: dict[str, Any]) -> list[str]:
    """What the transaction of a connection with this `info` would say, which is then forgotten."""
    return list(info.pop(_KEY, ()))


def publish_on_return(engine: Engine, signals: Signals) -> None:
    """Send a connection's hints when the pool takes it back; a rollback drops them."""

    def drop(connection: Connection) -> None:
        if not connection.invalidated:
            taken_hints(connection.info)

    def publish(_driver: Any, record: Any) -> None:
        threads = taken_hints(record.info)
        if threads:
            signals.publish(threads)

    event.listen(engine, "rollback", drop)
    event.listen(engine.pool, "checkin", publish)
