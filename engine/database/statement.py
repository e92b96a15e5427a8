"""Core statements compiled once per dialect and run on the driver's own cursor (ruling 13).

A `Statement` is built at import. Running it costs one cursor and no SQLAlchemy result machinery; rows come
back as named tuples. Statements whose shape depends on the call (IN lists, optional filters) use
`Connection.execute`.
"""

from __future__ import annotations

from collections import namedtuple
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, Update
from sqlalchemy.sql.dml import DMLWhereBase, Insert, ValuesBase

from engine.database.backend import ALONE, MODE_OPTION, backend_of
from engine.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlalchemy.sql import ClauseElement

Row = Any  # a named tuple whose fields are the statement's columns


class Statement:
    """One statement, ready to run on any connection of a store. Bind parameters are passed by name."""

    def __init__(self, core: ClauseElement) -> None:
        self._core = core
        self._forms: dict[str, _Form] = {}

    def all(self, connection: Connection, **values: Any) -> list[Row]:
        """Every row."""
        form, cursor = self._run(connection, values)
        return list(map(form.row, cursor.fetchall()))

    def one(self, connection: Connection, **values: Any) -> Row | None:
        """The first row, or None."""
        form, cursor = self._run(connection, values)
        first = cursor.fetchone()
        return None if first is None else form.row(first)

    def count(self, connection: Connection, **values: Any) -> int:
        """How many rows were changed."""
        return int(self._run(connection, values)[1].rowcount)

    def many(self, connection: Connection, rows: Iterable[dict[str, Any]]) -> None:
        """Run once for each set of values."""
        form = self._form(connection)
        arguments = [form.arguments(values) for values in rows]
        if arguments:
            begun(connection).kept_cursor().executemany(form.text, arguments)

    def _run(self, connection: Connection, values: dict[str, Any]) -> tuple[_Form, Any]:
        form = self._form(connection)
        driver = begun(connection)  # before the clock is read: on SQLite this is where the lock is waited for
        if form.wants_now and "now" not in values:
            values["now"] = backend_of(connection).now()
        return form, driver.kept_cursor().execute(form.text, form.arguments(values))

    def _form(self, connection: Connection) -> _Form:
        form = self._forms.get(connection.dialect.name)
        if form is None:
            form = self._forms[connection.dialect.name] = _Form(self._core, connection)
        return form


class _Form:
    """A statement's text and argument order for one dialect."""

    def __init__(self, core: ClauseElement, connection: Connection) -> None:
        keys = _insert_keys(core)
        compiled: Any = core.compile(dialect=connection.dialect, column_keys=keys)
        self.text: str = compiled.string
        self._ordered = _picker(compiled.positiontup) if compiled.positional else None
        self._fixed = {name: bind.value for bind, name in compiled.bind_names.items() if not bind.required}
        self.wants_now = "now" in compiled.bind_names.values()
        self.row: Callable[[Sequence[Any]], Row] = _row_type(core)

    def arguments(self, values: dict[str, Any]) -> Any:
        whole = {**self._fixed, **values} if self._fixed else values
        return whole if self._ordered is None else self._ordered(whole)


def _picker(names: Sequence[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """The values of these names, in order."""
    if len(names) > 1:
        return itemgetter(*names)
    return lambda values: tuple(values[name] for name in names)


def _insert_keys(core: ClauseElement) -> list[str] | None:
    """A bare INSERT takes every column without a default as a parameter of the column's own name."""
    if not isinstance(core, Insert) or core._values or core.select is not None:  # noqa: SLF001
        return None
    return [column.key for column in core.table.columns if column.server_default is None]


def _row_type(core: ClauseElement) -> Callable[[Sequence[Any]], Row]:
    if isinstance(core, Select):
        names = [column.key for column in core.selected_columns]
    elif isinstance(core, (ValuesBase, DMLWhereBase, Update)):
        names = [column.key for column in core.exported_columns]
    else:
        names = []
    row: Any = namedtuple("Row", [str(name) for name in names]) if names else None  # noqa: PYI024
    return tuple if row is None else row._make


def begun(connection: Connection) -> Any:
    """The driver's connection, inside the caller's transaction."""
    options = connection.get_execution_options()
    if MODE_OPTION not in options:
        backend_of(connection)  # which says whose connections verbs take
    if not connection.in_transaction():
        if options.get("isolation_level") == "AUTOCOMMIT":
            raise ValidationError("connection", ("is in AUTOCOMMIT; begin a transaction for this verb",))
        if options[MODE_OPTION] not in ALONE:
            connection.begin()
    return connection.connection.driver_connection
