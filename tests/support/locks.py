"""Who waits for whom on the PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from tests.support.harness import Harness

_WAITING = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
_END = text(
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def waiting_for_locks(harness: Harness) -> int:
    """How many connections to the test's database wait for a lock."""
    with harness.raw() as connection:
        return int(connection.execute(_WAITING).scalar_one())


def end_other_connections(harness: Harness) -> None:
    """What a server's restart does to whoever is connected to the test's database."""
    with harness.raw() as connection:
        connection.execute(_END)
