"""Which store a connection has reached, in its own words: never what somebody asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import text

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Identity:
    """Server, database and role of a connection.

    `server` stays with the data: PostgreSQL's system identifier, which its standbys share. Where that may not be
    read it is the address, and of a file the word sqlite. `login` is who connected, `role` as whom he now acts;
    both are empty for a file, which knows no roles.
    """

    server: str
    database: str
    role: str
    login: str
    version: str
    standby: bool


_SERVER: Final = text(
    "SELECT current_database() AS database, current_user AS role, session_user AS login,"
    " current_setting('server_version') AS version, pg_is_in_recovery() AS standby,"
    " coalesce(host(inet_server_addr()), 'local') || ':' || current_setting('port') AS address,"
    " has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') AS may_ask"
)
_SYSTEM: Final = text("SELECT system_identifier FROM pg_control_system()")


def identity(connection: Connection) -> Identity:
    """The identity of what is behind a connection of a store; any kind of transaction will do."""
    return _ASKS[connection.dialect.name](connection)


def _sqlite(connection: Connection) -> Identity:
    place = connection.exec_driver_sql("PRAGMA database_list").first()
    version = connection.exec_driver_sql("SELECT sqlite_version()").scalar_one()
    database = "" if place is None else str(place[2])
    return Identity("sqlite", database or "memory", "", "", f"SQLite {version}", standby=False)


def _postgresql(connection: Connection) -> Identity:
    row: Any = connection.execute(_SERVER).one()
    server = str(connection.execute(_SYSTEM).scalar_one()) if row.may_ask else row.address
    return Identity(server, row.database, row.role, row.login, f"PostgreSQL {row.version}", row.standby)


_ASKS: Final[dict[str, Callable[[Connection], Identity]]] = {"sqlite": _sqlite, "postgresql": _postgresql}
