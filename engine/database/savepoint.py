"""A savepoint on anybody's connection, and whether a key was taken in it (ruling 30)."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection
    from sqlalchemy.exc import DBAPIError

_AUTOCOMMIT: Final = "is in AUTOCOMMIT; begin a transaction for this verb"
_IDLE: Final = 0  # libpq's PQTRANS_IDLE
# SQLSTATE of a unique index and of an exclusion constraint; SQLite's extended codes.
_TAKEN: Final = frozenset({"23505", "23P01", "SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"})


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """Undo what is done inside when it raises, and leave the caller's transaction as it was.

    ValidationError for a connection in AUTOCOMMIT, where nothing could be undone (ruling 2).
    """
    _begin(connection)
    with connection.begin_nested():
        yield


def _begin(connection: Connection) -> None:
    if connection.in_transaction():
        _begin_for_real(connection)
        return
    if connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT":
        raise ValidationError("connection", (_AUTOCOMMIT,))
    connection.begin()
    try:
        _begin_for_real(connection)
    except BaseException:
        connection.rollback()
        raise


def _begin_for_real(connection: Connection) -> None:
    """Python's sqlite3 puts off its BEGIN to the first change, and a savepoint before it would commit by itself."""
    driver: Any = connection.connection.driver_connection
    if getattr(driver, "in_transaction", None) is False:
        if driver.isolation_level is None:
            raise ValidationError("connection", (_AUTOCOMMIT,))
        driver.execute("BEGIN IMMEDIATE")
    elif getattr(driver, "autocommit", None) is True and driver.info.transaction_status == _IDLE:
        raise ValidationError("connection", (_AUTOCOMMIT,))


def key_was_taken(error: DBAPIError) -> bool:
    """Whether the database refused a statement because of a unique key or an exclusion constraint."""
    names = ("sqlstate", "pgcode", "sqlite_errorname")
    return any(getattr(error.orig, name, None) in _TAKEN for name in names)
