"""Schema versions, brought up to date in process (ruling 11).

A revision's id is the whole number that `meta.schema_version` holds after it. An up-to-date store costs one
SELECT and imports no alembic. An upgrade is one transaction, so that of two processes opening a new store one
waits for the other.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text
from sqlalchemy.exc import DBAPIError

from engine.database.backend import Fault, backend_of
from engine.errors import SchemaMismatch, StoreFailure

if TYPE_CHECKING:
    from sqlalchemy import Connection

SCHEMA_VERSION = 3
_FOLDER = Path(__file__).parent
_ONE_AT_A_TIME = threading.Lock()  # alembic keeps its context in module globals
# The second key keeps it apart from every other advisory lock of the project.
_LOCK = text("SELECT pg_advisory_xact_lock(1212369485, 1)")


def version_of(connection: Connection) -> int:
    """The store's schema version; 0 for an empty database."""
    if not inspect(connection).has_table("meta"):
        return 0
    return _recorded(connection)


def _recorded(connection: Connection) -> int:
    found = connection.execute(text("SELECT schema_version FROM meta LIMIT 2")).scalars().all()
    if not found:
        return 0
    if len(found) > 1 or not isinstance(found[0], int):
        raise StoreFailure("open_store", "its table `meta` is not Holdwatch's; use a database of its own")
    return found[0]


def check_version(connection: Connection) -> None:
    """SchemaMismatch unless the store is exactly at this build's version, for which one SELECT is enough."""
    try:
        found = _recorded(connection)
    except DBAPIError as error:
        if error.orig is None or backend_of(connection).classify(error.orig) is not Fault.OTHER:
            raise
        # Most likely there is no such table; if it is anything else, the same SELECT fails again in here.
        connection.rollback()
        found = version_of(connection)
    if found != SCHEMA_VERSION:
        raise SchemaMismatch(found, SCHEMA_VERSION)


def upgrade(connection: Connection) -> int:
    """Bring the store to this build's version inside the caller's transaction; answer the one it had."""
    if connection.dialect.name == "postgresql":
        connection.execute(_LOCK)
    found = version_of(connection)
    if found == SCHEMA_VERSION:
        return found
    if not 0 <= found < SCHEMA_VERSION:
        raise SchemaMismatch(found, SCHEMA_VERSION)
    with _ONE_AT_A_TIME:
        _run_steps(connection)
    reached = version_of(connection)
    if reached != SCHEMA_VERSION:
        raise SchemaMismatch(
            reached, SCHEMA_VERSION, message=f"the steps end at schema version {reached}; reinstall"
        )
    return found


def _run_steps(connection: Connection) -> None:
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    config.set_main_option("path_separator", "os")
    script = ScriptDirectory.from_config(config)
    target = "head"

    def steps(revision: object, _context: object) -> object:
        return script._upgrade_revs(target, revision)  # type: ignore[arg-type]  # noqa: SLF001

    with EnvironmentContext(config, script, fn=steps, destination_rev=target) as environment:
        environment.configure(connection=connection, transactional_ddl=False, version_table="schema_revision")
        environment.run_migrations()
